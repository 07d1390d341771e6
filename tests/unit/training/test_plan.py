"""The plan of a run: what it would take, what is wanting here, and what nobody measured."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from rl_gym.infra.errors import UsageError
from rl_gym.infra.settings import Settings
from rl_gym.training import checks, plan
from rl_gym.training.checks import Check, Gpu
from rl_gym.training.config import preset_names, resolve
from rl_gym.training.estimate import estimate
from rl_gym.training.memory import Memory, grpo_memory, sft_memory
from rl_gym.training.plan import Plan, make_plan, require_ready
from rl_gym.training.shape import KNOWN
from rl_gym.wire.run import RunMode

SMOL = KNOWN["smol"]
GIB = 1 << 30


def found(made: Plan, name: str) -> Check:
    [check] = [check for check in made.checks if check.name == name]
    return check


def term(memory: Memory, name: str) -> int:
    return sum(term.bytes for term in (*memory.held, *memory.turns) if term.name == name)


@pytest.mark.parametrize("name", preset_names())
def test_every_preset_has_a_plan_with_memory(name: str) -> None:
    made = make_plan(resolve(name))
    assert [stage.name for stage in made.stages] == ["prepare", "sft", "grpo", "evaluate", "audit", "gate"]
    assert all(stage.memory and stage.memory.total > 0 for stage in made.stages if stage.steps)
    assert made.to_dict()["config"]["preset"] == name


def test_nothing_is_wanting_for_nano() -> None:
    pytest.importorskip("trl", reason="the extra train is not installed")
    require_ready(make_plan(resolve("nano")))


def test_a_preset_for_a_gpu_says_that_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "find_gpu", lambda: None)
    made = make_plan(resolve("granite-8b"))
    assert not made.ready
    assert found(made, "gpu").detail.startswith("no GPU that this machine's torch can use")
    with pytest.raises(UsageError, match=r"preset 'granite-8b': .* --dry-run` tells all"):
        require_ready(made)


def test_a_card_is_measured_without_what_vllm_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "find_gpu", lambda: Gpu("a card", 80 * GIB))
    assert found(make_plan(resolve("granite-8b")), "memory").ok
    monkeypatch.setattr(plan, "find_gpu", lambda: Gpu("a card", 48 * GIB))
    short = found(make_plan(resolve("granite-8b")), "memory")
    assert not short.ok
    assert "of 33.6 GiB on the GPU: raise gradient_accumulation" in short.detail


def test_an_estimate_refuses_nothing() -> None:
    made = make_plan(resolve("nano"))
    short = Check("memory", False, "about 9 GiB of 1 GiB", estimated=True)
    require_ready(replace(made, checks=(short,)))


@pytest.mark.parametrize(
    ("change", "name", "said"),
    [
        ("model.base=gpt", "model", "no model 'gpt'"),
        ("model.base=hub:nobody/at-all", "model", "not among the weights that may be used"),
        ("model.base=gguf:absent.gguf", "model", "there is no such file"),
        ("episodes.max_tokens=1000", "context", "lower episodes.max_tokens"),
    ],
)
def test_what_cannot_end_well_is_refused(change: str, name: str, said: str) -> None:
    made = make_plan(resolve("nano", [change]))
    assert not found(made, name).ok
    assert said in found(made, name).detail


@pytest.mark.parametrize(
    ("changes", "card", "ok", "said"),
    [
        (["machine.processes=2"], None, True, "2 here"),
        (["machine.processes=2"], Gpu("a card", 80 * GIB), False, "2 processes for 1 GPUs: lower machine.processes"),
        (["machine.processes=2"], Gpu("a card", 80 * GIB, 2), True, "2 here"),
        (["machine.machines=2"], None, False, "no machine.address"),
        (
            ["machine.machines=3", "machine.address=a"],
            None,
            True,
            "meet at a:29500; on each other one: `rl-gym join RUN",
        ),
        (["machine.processes=2", "machine.sharding=fsdp"], None, False, "can be planned and not run"),
    ],
)
def test_several_processes_need_cards_and_a_place_to_meet(
    monkeypatch: pytest.MonkeyPatch, changes: list[str], card: Gpu | None, ok: bool, said: str
) -> None:
    monkeypatch.setattr(plan, "find_gpu", lambda: card)
    monkeypatch.setattr(checks.sys, "platform", "linux")
    check = found(make_plan(resolve("nano", changes)), "processes")
    assert (check.ok, said in check.detail) == (ok, True)


def test_processes_share_the_memory_of_their_machine_and_a_limit_is_what_there_is() -> None:
    one, two = (found(make_plan(resolve("nano", [f"machine.processes={count}"])), "memory") for count in (1, 2))
    needs = [float(check.detail.split()[1]) for check in (one, two)]
    assert needs[1] == pytest.approx(2 * needs[0], abs=0.15)
    limited = found(make_plan(resolve("nano", ["machine.memory_gib=0.5"])), "memory")
    assert not limited.ok
    assert "of 0.5 GiB that machine.memory_gib allows" in limited.detail


def test_a_disk_that_is_too_small_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(checks.shutil, "disk_usage", lambda _: SimpleNamespace(free=1 << 20))
    made = make_plan(resolve("smol"), Settings(runs=tmp_path / "runs" / "here"))
    assert not found(made, "disk").ok


@pytest.mark.parametrize(
    ("mode", "changes", "models", "adapters"),
    [
        ("pipeline", [], 3 + 2 * 3, 0),
        ("pipeline", ["grpo.lora_rank=16"], 3, 1 + 2 * 3),
        ("pipeline", ["sft.save_steps=5", "grpo.lora_rank=16"], 3 + 2 * 3, 1),
        ("pipeline", ["raft.steps=3", "raft.batch_size=8", "raft.learning_rate=1e-3"], 4 + 2 * 3, 0),
        ("eval-only", [], 1, 0),
        ("drift", ["update.method=sft"], 2, 0),
        ("drift", ["update.method=sft-grpo"], 3 + 2 * 3, 0),
        ("repair", ["repair.lora_rank=16", "repair.save_steps=5"], 2, 1 + 2 * 3),
        # Of what is promoted, beside the base.
        ("flywheel", ["update.method=sft", "flywheel.traffic=mix.jsonl"], 3, 0),
    ],
)
def test_the_disk_holds_a_model_of_each_stage_that_trains(
    mode: RunMode, changes: list[str], models: int, adapters: int
) -> None:
    plain = ["sft.lora_rank=0", "sft.save_steps=0", "grpo.lora_rank=0"]
    wanted = plan._disk(resolve("nano", [*plain, *changes], mode=mode), SMOL)
    assert wanted == 4 * (models * SMOL.parameters + adapters * SMOL.adapter_parameters(16))


def test_a_driver_without_torch_for_it_is_no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks.shutil, "which", lambda _: "nvidia-smi")
    monkeypatch.setattr(checks.metadata, "version", lambda _: "2.13.0+cpu")
    assert checks.find_gpu() is None


def test_lora_needs_no_optimiser_of_the_whole_model() -> None:
    full, lora = resolve("smol", ["sft.lora_rank=0"]), resolve("smol")
    assert term(sft_memory(SMOL, full, "cpu"), "optimiser") == 8 * SMOL.parameters
    assert term(sft_memory(SMOL, lora, "cpu"), "optimiser") == 8 * SMOL.adapter_parameters(16)


def test_a_reference_model_is_held_where_there_is_no_adapter_to_switch_off() -> None:
    full, lora = resolve("smol", ["grpo.beta=0.1", "grpo.lora_rank=0"]), resolve("smol", ["grpo.beta=0.1"])
    assert term(grpo_memory(SMOL, full, "cpu"), "reference model") == 4 * SMOL.parameters
    assert term(grpo_memory(SMOL, lora, "cpu"), "reference model") == 0


def test_parts_of_a_batch_and_half_precision_need_less() -> None:
    whole = sft_memory(SMOL, resolve("smol", ["sft.gradient_accumulation=1"]), "cpu")
    parts = sft_memory(SMOL, resolve("smol", ["sft.gradient_accumulation=4"]), "cpu")
    half = sft_memory(SMOL, resolve("smol", ["sft.gradient_accumulation=1", "sft.precision=bf16"]), "cpu")
    assert term(parts, "activations") < term(whole, "activations") / 3
    assert term(half, "activations") < 0.6 * term(whole, "activations")


def test_time_is_told_where_it_was_measured_and_nowhere_else() -> None:
    measured = estimate(resolve("nano", seed=3), price=36.0)
    assert measured.dollars == pytest.approx(3.57)
    assert "measured on two quiet cores" in measured.told
    assert estimate(resolve("nano"), None).dollars is None
    for config, why in (
        (resolve("smol"), "time: not measured; cost: hours x $36.00"),
        (resolve("nano", ["sft.steps=10"]), "time: not measured with these changes"),
        (resolve("multi-node"), "x 16 GPUs"),
    ):
        unknown = estimate(config, price=36.0)
        assert (unknown.seconds, unknown.dollars) == (None, None)
        assert why in unknown.told


@pytest.mark.parametrize(
    ("mode", "changes", "stages"),
    [
        ("repair", [], ["prepare", "rollout", "repair", "evaluate", "audit", "gate"]),
        ("drift", [], ["prepare", "update", "evaluate", "audit", "gate"]),
        (
            "pipeline",
            ["raft.steps=3", "raft.batch_size=8", "raft.learning_rate=1e-3"],
            ["prepare", "sft", "rollout", "raft", "grpo", "evaluate", "audit", "gate"],
        ),
    ],
)
def test_a_plan_has_the_stages_of_its_mode(mode: RunMode, changes: list[str], stages: list[str]) -> None:
    config = resolve("micro", changes, mode=mode)
    made = make_plan(config)
    assert [stage.name for stage in made.stages] == stages
    trained = [stage for stage in made.stages if stage.steps]
    assert all(stage.memory and stage.memory.total > 0 for stage in trained)
    assert trained
    sides = "candidate against incumbent" if mode != "pipeline" else "grpo against sft"
    assert made.stages[-1].work == f"{sides}, tolerance 0.02"


def test_what_a_repair_reads_is_longer_than_an_episode() -> None:
    config = resolve("micro", mode="repair")
    assert config.context == config.episodes.context + 640 - config.episodes.max_prompt_tokens
    assert resolve("micro").context == config.episodes.context
