"""TRL for real on the packaged base, a few steps each: what the knobs do, and what stops or survives."""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("trl")

import torch
from rich.console import Console
from safetensors.torch import load_file, save_file

from rl_gym.infra.digests import tree_digest
from rl_gym.infra.errors import UsageError
from rl_gym.serving.weights import find_model
from rl_gym.training import stages
from rl_gym.training.child import Channel
from rl_gym.training.collapse import read_alarms
from rl_gym.training.config import resolve
from rl_gym.training.progress import RunProgress
from rl_gym.training.trainers import train_grpo, train_sft

SHORT = ("episodes.max_tokens=48", "episodes.sft=8", "episodes.grpo=4", "episodes.held_out=2", "sft.batch_size=4")
RECIPE = (
    "grpo.steps=8",
    "grpo.num_iterations=2",
    "grpo.steps_per_generation=2",
    "grpo.save_steps=4",
    "grpo.gradient_accumulation=2",
    "grpo.epsilon_high=0.28",
    "grpo.learning_rate=0.02",
    "grpo.lr_schedule=linear",
    "grpo.warmup_steps=0.25",
    "grpo.beta=0.04",
    "grpo.temperature=0.9",
    "grpo.top_p=0.95",
    "grpo.scale_rewards=batch",
    "grpo.mask_truncated_completions=true",
    "collapse.window=2",
    "collapse.entropy=10",
)
# Three steps an epoch.
TAUGHT = ("episodes.sft=12", "sft.steps=7", "sft.learning_rate=0.002", "sft.lr_schedule=constant")
KINDS = {"every weight": ("sft.gradient_accumulation=2",), "LoRA": ("sft.lora_rank=4", "sft.warmup_steps=3")}


@pytest.fixture(autouse=True, scope="module")
def _kernels_as_they_were() -> Iterator[None]:
    yield
    torch.use_deterministic_algorithms(False)


class Told(Channel):
    """What the child told its parent; `interrupt_at` ends the process's work at that step, as a kill would."""

    def __init__(self, interrupt_at: int | None = None) -> None:
        self._text = io.StringIO()
        self._interrupt_at = interrupt_at
        super().__init__(self._text)

    def progress(self, job: str, done: float, total: float) -> None:
        super().progress(job, done, total)
        if done == self._interrupt_at:
            raise KeyboardInterrupt

    @property
    def messages(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self._text.getvalue().splitlines()]

    @property
    def steps(self) -> list[dict[str, float]]:
        return [message["metrics"] for message in self.messages if "loss" in message.get("metrics", {})]

    @property
    def notes(self) -> list[str]:
        return [message["note"] for message in self.messages if "note" in message]


def job(folder: Path, stage: str, changes: Sequence[str], model: Path | None = None) -> dict[str, Any]:
    """The job of a stage, its data drawn, with the packaged base as the model."""
    run = stages.start(resolve("micro", [*SHORT, *changes]), folder, now=datetime(2025, 1, 1))
    with RunProgress(Console(quiet=True), {}) as progress:
        stages.execute(run, progress, until="prepare")
    model = model or find_model("nano-base")
    return {
        "model": str(model),
        "inputs": {"model": tree_digest(model)},
        "data": str(run.folder / "prepare" / f"{stage}.jsonl"),
        "output": str(run.stage(stage)),
        "config": run.config.model_dump(mode="json"),
    }


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Told]:
    """A GRPO run with every knob of the recipe turned, and what it told."""
    folder, told = tmp_path_factory.mktemp("trained"), Told()
    train_grpo(job(folder / "run", "grpo", RECIPE), told)
    return folder / "run" / "grpo", told


def test_epsilon_high_cuts_where_a_window_serves_several_steps(trained: tuple[Path, Told]) -> None:
    _, told = trained
    assert [message["done"] for message in told.messages if "done" in message] == [1, 2, 3, 4, 5, 6, 7, 8]
    assert told.steps[0]["clip_ratio/high_max"] == 0
    assert max(step["clip_ratio/high_max"] for step in told.steps) > 0


def test_groups_without_spread_are_counted_at_each_generation(trained: tuple[Path, Told]) -> None:
    _, told = trained
    generations = [step for step in told.steps if "reward" in step]
    assert len(generations) == 2
    for step in generations:
        assert step["zero_variance_groups"] == 4 * step["frac_reward_zero_std"]
        assert 0 < step["unique_completions"] <= 1


def test_the_learning_rate_follows_its_schedule(trained: tuple[Path, Told]) -> None:
    rates = [step["learning_rate"] for step in trained[1].steps]
    assert max(rates) == pytest.approx(0.02)
    assert rates[0] < max(rates) > rates[-1]


def test_a_killed_grpo_goes_on_to_the_same_bits(trained: tuple[Path, Told], tmp_path: Path) -> None:
    whole, undisturbed = trained
    again = job(tmp_path / "run", "grpo", RECIPE)
    with pytest.raises(KeyboardInterrupt):
        train_grpo(again, Told(interrupt_at=6))
    told = Told()
    train_grpo(again, told)
    assert {"job": "grpo", "resumed": 4} in told.messages
    [alarm] = read_alarms(tmp_path / "run" / "grpo")
    assert told.notes == [f"alarm: {alarm}"]
    assert (alarm.step, [alarm]) == (5, read_alarms(whole))
    assert [s["loss"] for s in told.steps] == [s["loss"] for s in undisturbed.steps[4:]]
    assert tree_digest(tmp_path / "run" / "grpo" / "model") == tree_digest(whole / "model")


def test_a_grpo_killed_after_its_last_step_takes_no_other(trained: tuple[Path, Told], tmp_path: Path) -> None:
    whole, _ = trained
    again = job(tmp_path / "run", "grpo", RECIPE)
    shutil.copytree(whole / "checkpoints", tmp_path / "run" / "grpo" / "checkpoints")
    told = Told()
    train_grpo(again, told)
    assert {"job": "grpo", "resumed": 8} in told.messages
    assert told.steps == []
    assert tree_digest(tmp_path / "run" / "grpo" / "model") == tree_digest(whole / "model")


@pytest.fixture(scope="module")
def taught(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, Told]]:
    """Two SFTs that nothing disturbed and that kept no checkpoint: of every weight, and by LoRA."""
    found = {}
    for kind, changes in KINDS.items():
        folder, told = tmp_path_factory.mktemp("taught") / "run", Told()
        train_sft(job(folder, "sft", [*TAUGHT, *changes]), told)
        assert [path.name for path in (folder / "sft" / "checkpoints").glob("*")] == []
        found[kind] = folder / "sft", told
    return found


@pytest.mark.parametrize("kind", ["every weight", "LoRA"])
@pytest.mark.parametrize(("killed", "resumed"), [(1, 0), (5, 4), (7, 6)], ids=["at first", "in an epoch", "at its end"])
def test_a_killed_sft_goes_on_to_the_same_bits(
    taught: dict[str, tuple[Path, Told]], tmp_path: Path, kind: str, killed: int, resumed: int
) -> None:
    whole, undisturbed = taught[kind]
    again = job(tmp_path / "run", "sft", [*TAUGHT, *KINDS[kind], "sft.save_steps=2"])
    with pytest.raises(KeyboardInterrupt):
        train_sft(again, Told(interrupt_at=killed))
    told = Told()
    train_sft(again, told)
    assert {"job": "sft", "resumed": resumed} in told.messages
    assert told.steps == undisturbed.steps[resumed:]
    assert len(told.steps) == 7 - resumed
    for name in ("model", "adapter")[: 1 + (kind == "LoRA")]:
        weights = "*.safetensors"
        [mine], [theirs] = (list((folder / name).glob(weights)) for folder in (tmp_path / "run" / "sft", whole))
        assert mine.read_bytes() == theirs.read_bytes()
    assert tree_digest(tmp_path / "run" / "sft" / "model") == tree_digest(whole / "model")


def test_an_sft_killed_after_its_last_step_takes_no_other(taught: dict[str, tuple[Path, Told]], tmp_path: Path) -> None:
    whole, _ = taught["LoRA"]
    again = job(tmp_path / "run", "sft", [*TAUGHT, *KINDS["LoRA"], "sft.save_steps=7"])
    train_sft(again, Told())
    shutil.rmtree(tmp_path / "run" / "sft" / "model")
    told = Told()
    train_sft(again, told)
    assert {"job": "sft", "resumed": 7} in told.messages
    assert told.steps == []
    assert tree_digest(tmp_path / "run" / "sft" / "model") == tree_digest(whole / "model")


def test_a_damaged_checkpoint_is_passed_over_with_a_warning(trained: tuple[Path, Told], tmp_path: Path) -> None:
    whole, _ = trained
    run = tmp_path / "run"
    again = job(run, "grpo", RECIPE)
    shutil.copytree(whole / "checkpoints", run / "grpo" / "checkpoints")
    weights = run / "grpo" / "checkpoints" / "checkpoint-8" / "adapter_model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1])
    told = Told()
    train_grpo(again, told)
    assert {"job": "grpo", "resumed": 4} in told.messages
    assert "checkpoint-8 is passed over: adapter_model.safetensors is damaged" in told.notes[0]
    assert tree_digest(run / "grpo" / "model") == tree_digest(whole / "model")


def test_where_no_checkpoint_is_whole_training_starts_anew(trained: tuple[Path, Told], tmp_path: Path) -> None:
    whole, _ = trained
    run = tmp_path / "run"
    again = job(run, "grpo", RECIPE)
    shutil.copytree(whole / "checkpoints", run / "grpo" / "checkpoints")
    optimiser = run / "grpo" / "checkpoints" / "checkpoint-8" / "optimizer.pt"
    optimiser.write_bytes(optimiser.read_bytes()[:1000])
    (run / "grpo" / "checkpoints" / "checkpoint-4" / "trainer_state.json").unlink()
    told = Told()
    train_grpo(again, told)
    assert {"job": "grpo", "resumed": 0} in told.messages
    assert ["optimizer.pt" in told.notes[0], "trainer_state.json" in told.notes[1]] == [True, True]
    assert told.notes[2] == "warning: no checkpoint is whole: the training starts anew"
    assert tree_digest(run / "grpo" / "model") == tree_digest(whole / "model")


@pytest.mark.parametrize("stop", [False, True])
def test_a_collapse_leaves_an_alarm_and_stops_where_it_is_told_to(tmp_path: Path, stop: bool) -> None:
    changes = ["grpo.steps=3", "collapse.window=2", "collapse.entropy=10", f"collapse.stop={str(stop).lower()}"]
    told = Told()
    train_grpo(job(tmp_path / "run", "grpo", changes), told)
    [alarm] = read_alarms(tmp_path / "run" / "grpo")
    assert (alarm.what, alarm.step, len(alarm.values)) == ("entropy", 2, 2)
    assert told.notes == [f"alarm: {alarm}"]
    assert len(told.steps) == (2 if stop else 3)
    assert (tmp_path / "run" / "grpo" / "model" / "model.safetensors").exists()


def test_a_loss_that_is_no_number_stops_at_once_and_names_the_knob(tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    shutil.copytree(find_model("nano-base"), broken)
    weights = load_file(broken / "model.safetensors")
    weights["model.norm.weight"] *= 1e30
    save_file(weights, broken / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(UsageError) as raised:
        train_sft(job(tmp_path / "run", "sft", ["sft.learning_rate=1"], broken), Told())
    message = str(raised.value)
    assert " is nan at step 1 (losses: nan): " in message
    assert "lower sft.learning_rate (1) or raise sft.warmup_steps (0)" in message
    assert not (tmp_path / "run" / "sft" / "model").exists()


def test_sft_computes_in_bfloat16_and_in_parts(tmp_path: Path) -> None:
    losses = {}
    for name, change in (("fp32", "sft.precision=fp32"), ("bf16", "sft.precision=bf16")):
        told = Told()
        train_sft(job(tmp_path / name, "sft", [change, "sft.gradient_accumulation=2"]), told)
        losses[name] = [step["loss"] for step in told.steps]
        saved = load_file(tmp_path / name / "sft" / "model" / "model.safetensors")
        assert {tensor.dtype for tensor in saved.values()} == {torch.float32}
    assert losses["bf16"] == pytest.approx(losses["fp32"], rel=0.05)
    assert losses["bf16"] != losses["fp32"]
