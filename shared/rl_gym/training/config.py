"""What a run does, as typed keys: a preset from `presets/`, changed key by key, resolved once and kept with the run."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from importlib import resources
from typing import Annotated, Any, Literal, get_args, get_origin

from pydantic import BaseModel, Field, ValidationError, model_validator

from rl_gym.infra.errors import NotFoundError, UsageError
from rl_gym.training import chain
from rl_gym.training.chain import PolicyName
from rl_gym.training.continual import DriftSection, RaftSection, RepairSection, UpdateSection
from rl_gym.training.inputs import BakeoffSection, FlywheelSection, MineSection
from rl_gym.training.machine import MachineSection
from rl_gym.training.recipe import CollapseSection, Count, GrpoSection, Section, SftSection
from rl_gym.wire.run import RunMode

__all__ = [
    "BakeoffSection",
    "CollapseSection",
    "Config",
    "DriftSection",
    "EnvironmentSection",
    "EpisodesSection",
    "EvaluateSection",
    "FlywheelSection",
    "GateSection",
    "GrpoSection",
    "MachineSection",
    "MineSection",
    "ModelSection",
    "RaftSection",
    "RepairSection",
    "SftSection",
    "UpdateSection",
    "keys",
    "preset_names",
    "resolve",
]

_GIVEN = ("preset", "mode")
"""Keys that say which run it is: an override changes what lies under them."""

TEMPLATE_TOKENS = 64
"""Enough for the turns of a conversation and the system prompt that some templates write by themselves."""


class EnvironmentSection(Section):
    """The task, and what judges it. Both names are pinned by a preset: rewards under others are not comparable."""

    name: str = Field(description="registered environment")
    options: dict[str, str] = Field(default_factory=dict, description="passed to the environment's factory")


class ModelSection(Section):
    """The model that training starts from, and how this machine runs it."""

    base: str = Field(
        description="a packaged model (nano-base, smol), a folder, gguf:FILE, hub:ORG/NAME or s3://BUCKET/PREFIX"
    )
    root: Annotated[
        str | None, Field(description="the pretrained model that servers run, where model.base was made of it")
    ] = None
    threads: Annotated[int, Field(ge=1, le=256, description="threads of each training or generating process")] = 1


class EpisodesSection(Section):
    """Which episodes a model of this size can take, and how many each stage draws."""

    generated: Annotated[bool, Field(description="training draws from nano's generator, not from the split")] = False
    max_resources: Annotated[int, Field(ge=1, le=100, description="resource types a request may ask for")] = 100
    max_tokens: Annotated[int, Field(ge=8, le=16_384, description="tokens of the oracle's answer, at most")] = 1024
    max_prompt_tokens: Annotated[int, Field(ge=8, le=16_384, description="tokens of the prompt, at most")] = 1024
    sft: Count = Field(description="demonstrations that SFT draws its batches from")
    grpo: Count = Field(description="prompts that GRPO draws its groups from")
    held_out: Count = Field(description="episodes of the anchor that evaluation uses")
    rehearsal: Annotated[
        float,
        Field(ge=0, lt=1, description="share of a repair's or an update's rows that a model knows already"),
    ] = 0.25

    @property
    def context(self) -> int:
        """Tokens of prompt and answer together, at most, with room for what a chat template adds."""
        return self.max_prompt_tokens + TEMPLATE_TOKENS + self.max_tokens


class EvaluateSection(Section):
    """What is measured on the held-out episodes."""

    anchor: str = "synthetic"
    policies: Annotated[
        list[PolicyName] | None, Field(min_length=1, description="rungs of the ladder, in order; else all of the mode")
    ] = None
    samples: Annotated[int, Field(ge=1, le=256, description="samples an episode, beside one greedy")] = 4
    temperature: Annotated[float, Field(gt=0, le=10)] = 1.0
    batch_size: Count = 128
    processes: Annotated[int, Field(ge=1, le=64, description="models that generate side by side")] = 1
    through: Annotated[
        Literal["process", "policy"],
        Field(description="what runs the models: processes here, or a policy service where that serves them"),
    ] = "process"
    best_of: Annotated[
        int | None, Field(ge=2, le=256, description="report the best of so many of the samples beside a single one")
    ] = None
    repair: Annotated[bool, Field(description="report a second answer to what failed beside the first")] = False

    @model_validator(mode="after")
    def _figures_that_can_be_had(self) -> EvaluateSection:
        if self.best_of is not None and self.best_of > self.samples:
            raise ValueError(
                f"evaluate.best_of ({self.best_of}) needs as many evaluate.samples, which are {self.samples}"
            )
        if self.repair and self.through == "policy":
            raise ValueError("evaluate.repair needs the models in processes here: leave evaluate.through out")
        return self


class GateSection(Section):
    """The promotion gate."""

    tolerance: Annotated[float, Field(gt=0, le=1, description="loss of reward that still passes")] = 0.02


class Config(Section):
    """A resolved run configuration; `preset` names where it came from."""

    preset: str
    mode: RunMode = "pipeline"
    seed: Annotated[int, Field(ge=0, lt=2**31)] = 0
    environment: EnvironmentSection
    model: ModelSection
    machine: MachineSection = MachineSection()
    episodes: EpisodesSection
    sft: SftSection
    grpo: GrpoSection
    raft: Annotated[RaftSection | None, Field(description="a pipeline with it has RAFT between SFT and GRPO")] = None
    repair: Annotated[RepairSection | None, Field(description="of mode repair")] = None
    update: UpdateSection = UpdateSection()
    drift: DriftSection = DriftSection()
    flywheel: FlywheelSection = FlywheelSection()
    bakeoff: BakeoffSection = BakeoffSection()
    mine: MineSection = MineSection()
    collapse: CollapseSection = CollapseSection()
    evaluate: EvaluateSection = EvaluateSection()
    gate: GateSection = GateSection()
    report_to: Annotated[
        Literal["none", "tensorboard", "trackio", "wandb"], Field(description="where trainers report to, beside here")
    ] = "none"

    @property
    def stages(self) -> tuple[str, ...]:
        """The stages of this run, in order."""
        return chain.chain(self.mode, raft=self.raft is not None, sharpened=self.update.method == "sft-grpo")

    @property
    def context(self) -> int:
        """Tokens of the longest prompt and answer together, at most; what a repair learns is longer than an episode."""
        longer = self.repair.max_prompt_tokens - self.episodes.max_prompt_tokens if self.repair else 0
        return self.episodes.context + (max(0, longer) if self.mode == "repair" else 0)

    @property
    def policies(self) -> tuple[PolicyName, ...]:
        """What this run evaluates, in order."""
        return tuple(self.evaluate.policies or chain.policies(self.stages))

    @model_validator(mode="after")
    def _policies_of_this_run(self) -> Config:
        known = [
            policy
            for policy in chain.POLICIES
            if policy in ("random", "oracle") or chain.maker(policy, self.stages) is not None
        ]
        for policy in self.evaluate.policies or ():
            if policy not in known:
                raise ValueError(
                    f"evaluate.policies: a run of mode {self.mode} has no {policy!r}, but {', '.join(known)}"
                )
            if self.policies.count(policy) > 1:
                raise ValueError(f"evaluate.policies names {policy!r} more than once: name each once")
        return self

    @model_validator(mode="after")
    def _prompts_for_a_generation(self) -> Config:
        """TRL drops a generation that it cannot fill, and would train on nothing."""
        wanted = self.grpo.prompts(self.machine.world)
        if self.episodes.grpo < wanted:
            processes = " x machine.machines x machine.processes" if self.machine.world > 1 else ""
            raise ValueError(
                f"episodes.grpo ({self.episodes.grpo}) must be at least grpo.prompts_per_step x "
                f"grpo.steps_per_generation{processes} ({wanted}): one generation takes so many prompts"
            )
        return self

    @model_validator(mode="after")
    def _models_to_go_on_from(self) -> Config:
        for stage, section in (("sft", "sft"), ("raft", "raft"), ("update", "sft")):
            if stage in chain.trainers(self.stages)[:-1] and not getattr(self, section).merge:
                raise ValueError(f"{section}.merge false leaves no model that the next stage could train: keep it true")
        return self

    @model_validator(mode="after")
    def _sections_of_this_mode(self) -> Config:
        if self.raft is not None and self.mode != "pipeline":
            raise ValueError(f"raft is a stage of mode pipeline: a run of mode {self.mode} has none")
        if self.repair is None and self.mode == "repair":
            raise ValueError("mode repair needs repair.steps, repair.batch_size and repair.learning_rate")
        if self.mode == "repair" and self.evaluate.through == "policy":
            raise ValueError("mode repair needs the models in processes here: leave evaluate.through out")
        if self.mode == "flywheel" and self.flywheel.traffic is None:
            raise ValueError("mode flywheel needs flywheel.traffic: a file of aggregated traffic")
        if self.mode == "mine" and not self.mine.folders:
            raise ValueError('mode mine needs mine.folders: cloned repositories, as ["FOLDER"]')
        now = self.environment.options.get("ruleset")
        if self.mode == "drift" and now in (None, self.drift.before):
            raise ValueError(
                f"a drift goes from drift.before ({self.drift.before}) to environment.options.ruleset "
                f"({now or 'not given'}): name another ruleset"
            )
        return self

    @model_validator(mode="after")
    def _rates_for_a_band(self) -> Config:
        band = self.grpo.difficulty_low, self.grpo.difficulty_high
        if band != (0, 1) and self.grpo.difficulty_map is None and self.raft is None:
            raise ValueError(
                "grpo.difficulty_low and grpo.difficulty_high need grpo.difficulty_map, or the section raft, which "
                "measures pass rates"
            )
        return self


def preset_names() -> list[str]:
    """The presets that ship with the package, sorted."""
    folder = resources.files("rl_gym.training") / "presets"
    return sorted(entry.name.removesuffix(".toml") for entry in folder.iterdir() if entry.name.endswith(".toml"))


def keys() -> list[str]:
    """Every dotted key that an override may set; `environment.options` stands for its free entries."""
    return sorted(key for key in _keys(Config, "") if key not in _GIVEN)


def resolve(
    preset: str, overrides: Sequence[str] = (), *, seed: int | None = None, mode: RunMode = "pipeline"
) -> Config:
    """The preset `preset` with `overrides` ("grpo.steps=10") laid over it, for a run of a mode.

    Raises NotFoundError for an unknown preset and UsageError that names the key, and the nearest known one, for an
    override that does not fit.
    """
    known = preset_names()
    if preset not in known:
        raise NotFoundError(f"no preset {preset!r}{_nearest(preset, known)} (known: {', '.join(known)})")
    text = (resources.files("rl_gym.training") / "presets" / f"{preset}.toml").read_text("utf-8")
    document: dict[str, Any] = tomllib.loads(text)
    document["preset"], document["mode"] = preset, mode
    _lay_over(document, document.pop("modes", {}).get(mode, {}))
    for override in overrides:
        _override(document, override)
    if seed is not None:
        document["seed"] = seed
    return parse(document, f"preset {preset!r}")


def parse(document: Mapping[str, Any], where: str) -> Config:
    """Check a document against the typed keys; `where` names it in the one-line UsageError."""
    try:
        return Config.model_validate(document)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(str(step) for step in first["loc"])
        if first["type"] == "extra_forbidden":
            raise UsageError(f"{where}: unknown key {key!r}{_nearest(key, keys())}") from None
        if first["type"] == "value_error":
            raise UsageError(f"{where}: {first['ctx']['error']}") from None
        raise UsageError(f"{where}: key {key!r}: {first['msg'].lower()}, not {first['input']!r}") from None


def _lay_over(document: dict[str, Any], changes: Mapping[str, Any]) -> None:
    """Change a preset key by key, as its table `modes` says for runs of a mode."""
    for key, value in changes.items():
        if isinstance(value, Mapping) and isinstance(document.setdefault(key, {}), dict):
            _lay_over(document[key], value)
        else:
            document[key] = value


def _override(document: dict[str, Any], override: str) -> None:
    key, separator, text = override.partition("=")
    key = key.strip()
    if not separator:
        raise UsageError(f"--set takes key=value, not {override!r}")
    if key not in keys() and not key.startswith("environment.options."):
        raise UsageError(f"unknown key {key!r}{_nearest(key, keys())}")
    *path, last = key.split(".")
    section = document
    for step in path:
        section = section.setdefault(step, {})
        if not isinstance(section, dict):
            raise UsageError(f"{key}: {step!r} is set to {section!r}, which has no keys; leave one of the two out")
    section[last] = _value(key, text.strip())


def _value(key: str, text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
    except RecursionError:
        raise UsageError(f"key {key!r}: the value is nested too deep") from None
    except ValueError:
        raise UsageError(f"key {key!r}: a whole number in the value is too long") from None


def _keys(section: type[BaseModel], prefix: str) -> Iterator[str]:
    for name, field in section.model_fields.items():
        inner = _section(field.annotation)
        if inner is not None:
            yield from _keys(inner, f"{prefix}{name}.")
        else:
            yield prefix + name


def _section(annotation: Any) -> type[BaseModel] | None:
    """The section that a field holds, or may hold."""
    for one in (annotation, *get_args(annotation)):
        if isinstance(one, type) and not get_origin(one) and issubclass(one, BaseModel):
            return one
    return None


def _nearest(name: str, known: Sequence[str]) -> str:
    found = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    return f"; did you mean {found[0]!r}?" if found else ""
