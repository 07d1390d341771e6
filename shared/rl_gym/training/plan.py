"""What a run would do, before any compute: its stages with their work and memory, what is wanting here, time and cost.

Imports no torch, so that it is quick; whatever it says of memory and tokens is an upper estimate.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from rl_gym.infra.errors import UsageError
from rl_gym.infra.settings import Settings, load_settings
from rl_gym.training.chain import candidate, incumbent, maker, trainers
from rl_gym.training.checks import Check, Gpu, check_machine, check_model, find_gpu
from rl_gym.training.config import Config
from rl_gym.training.estimate import Estimate, estimate
from rl_gym.training.memory import Memory, evaluation_memory, grpo_memory, sft_memory
from rl_gym.training.recipe import Supervised
from rl_gym.training.shape import Shape

__all__ = ["Plan", "StagePlan", "make_plan", "require_ready"]


@dataclass(frozen=True, slots=True)
class StagePlan:
    """A stage: what it does in words, the most tokens that it reads and writes, and the memory of one process of it."""

    name: str
    work: str
    steps: int
    tokens: int
    memory: Memory | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """A resolved configuration and what follows from it; `shape` is None for a base of unknown size."""

    config: Config
    device: str
    gpu: Gpu | None
    shape: Shape | None
    stages: tuple[StagePlan, ...]
    checks: tuple[Check, ...]
    estimate: Estimate

    @property
    def ready(self) -> bool:
        """Whether all that was checked is there, and enough of it."""
        return all(check.ok for check in self.checks)

    def to_dict(self) -> dict[str, Any]:
        """The plan as JSON holds it; memory in bytes."""
        stages = [asdict(stage) for stage in self.stages]
        for document, stage in zip(stages, self.stages, strict=True):
            if stage.memory is not None:
                document["memory"]["total"] = stage.memory.total
        return {
            "ready": self.ready,
            "device": self.device,
            "gpu": asdict(self.gpu) if self.gpu else None,
            "parameters": self.shape.parameters if self.shape else None,
            "stages": stages,
            "checks": [asdict(check) for check in self.checks],
            "estimate": asdict(self.estimate),
            "config": self.config.model_dump(mode="json"),
        }


def make_plan(config: Config, settings: Settings | None = None, *, price: float | None = None) -> Plan:
    """The plan of a run here; `price` is dollars an hour of the machine. Fetches nothing."""
    settings = settings or load_settings()
    shape, model = check_model(config, settings)
    gpu = find_gpu()
    device = "gpu" if gpu or config.machine.device == "gpu" else "cpu"
    stages = _stages(config, shape, device)
    training = [stage.memory.total for stage in stages if stage.memory and stage.steps]
    most = max(training, default=0)
    found = check_machine(config, shape, gpu, settings, memory=most, disk=_disk(config, shape))
    return Plan(config, device, gpu, shape, stages, (model, *found), estimate(config, price))


def require_ready(plan: Plan) -> None:
    """Raises UsageError that names the first thing that is wanting here. An estimate alone refuses nothing."""
    for check in plan.checks:
        if not (check.ok or check.estimated):
            more = f"`rl-gym pipeline --preset {plan.config.preset} --dry-run` tells all"
            raise UsageError(f"preset {plan.config.preset!r}: {check.name}: {check.detail} ({more})")


def _section(config: Config, name: str) -> str:
    """The section of the configuration that a stage which trains goes by."""
    return config.update.first if name == "update" else name


def _stages(config: Config, shape: Shape | None, device: str) -> tuple[StagePlan, ...]:
    return tuple(_stage(config, name, shape, device) for name in config.stages if name != "promote")


def _stage(config: Config, name: str, shape: Shape | None, device: str) -> StagePlan:
    """What a stage does; one that trains goes by its own section, an update by that of its method."""
    match kind := _section(config, name):
        case "sft" | "raft" | "repair":
            return _supervised(config, name, getattr(config, kind), shape, device)
        case "grpo":
            return _reinforced(config, name, shape, device)
        case "rollout" | "evaluate":
            return _sampled(config, name, shape, device)
    episodes, stages = config.episodes, config.stages
    drawn = f"{episodes.sft} demonstrations, {episodes.grpo} prompts, {episodes.held_out} held out"
    sides = candidate(stages), incumbent(stages)
    work = {
        "prepare": drawn if trainers(stages) else f"{episodes.held_out} held out",
        "audit": f"{sides[0]} against {sides[1]}",
        "gate": f"{sides[0]} against {sides[1]}, tolerance {config.gate.tolerance:g}",
    }
    return StagePlan(name, work.get(name, ""), 0, 0)


def _supervised(config: Config, name: str, section: Supervised, shape: Shape | None, device: str) -> StagePlan:
    return StagePlan(
        name,
        f"{section.batch_size} a step, {_trains(section.lora_rank)}, {section.precision}",
        section.steps,
        config.machine.world * section.steps * section.batch_size * config.context,
        sft_memory(shape, config, device, section) if shape else None,
    )


def _reinforced(config: Config, name: str, shape: Shape | None, device: str) -> StagePlan:
    grpo = config.grpo
    batch = grpo.prompts_per_step * grpo.generations
    rolled = f"{grpo.prompts_per_step} prompts x {grpo.generations}"
    return StagePlan(
        name,
        f"{rolled} a step, {_trains(grpo.lora_rank)}, {grpo.precision}",
        grpo.steps,
        config.machine.world * -(-grpo.steps // grpo.num_iterations) * batch * config.episodes.context,
        grpo_memory(shape, config, device) if shape else None,
    )


def _sampled(config: Config, name: str, shape: Shape | None, device: str) -> StagePlan:
    """The rollout of training prompts, or the evaluation."""
    section = config.raft or config.repair
    if name == "rollout" and section is not None:
        work = f"{section.samples} answers to each of {config.episodes.grpo} prompts"
        answers = section.samples * config.episodes.grpo
    else:
        evaluate = config.evaluate
        models = [policy for policy in config.policies if maker(policy, config.stages) is not None]
        work = f"{', '.join(models)} on {evaluate.anchor}: {evaluate.samples} samples and one greedy each"
        answers = len(models) * config.episodes.held_out * (evaluate.samples + 1)
    memory = evaluation_memory(shape, config, device) if shape else None
    return StagePlan(name, work, 0, answers * config.episodes.context, memory)


def _trains(rank: int) -> str:
    return f"LoRA r{rank}" if rank else "every weight"


def _disk(config: Config, shape: Shape | None) -> int:
    """Bytes of models that a run writes at most: the base and the incumbent where they are fetched, a model and its
    adapter for each stage that trains, two checkpoints of one."""
    if shape is None:
        return 0
    sections = [getattr(config, _section(config, name)) for name in trainers(config.stages)]
    trained = [shape.adapter_parameters(one.lora_rank) if one.lora_rank else shape.parameters for one in sections]
    fetched = 2 if config.mode == "flywheel" else 1
    adapters = sum(size for size in trained if size < shape.parameters)
    # Weights and the two moments of the optimiser.
    checkpoint = 3 * max((size for size, one in zip(trained, sections, strict=True) if one.save_steps), default=0)
    return 4 * ((fetched + len(trained)) * shape.parameters + adapters + 2 * checkpoint)
