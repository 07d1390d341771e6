"""Several processes that train together on this machine, for real: one model, one report, and the same model again
after one of them was killed."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("trl")
if sys.platform != "linux":
    pytest.skip("several processes are tied to each other on Linux alone", allow_module_level=True)

from rich.console import Console

from rl_gym.infra.digests import tree_digest
from rl_gym.infra.errors import InfrastructureError
from rl_gym.serving.weights import find_model
from rl_gym.training import stages
from rl_gym.training.config import resolve
from rl_gym.training.files import read_rows
from rl_gym.training.join import join
from rl_gym.training.means import Means
from rl_gym.training.progress import RunProgress
from rl_gym.training.run import Run
from rl_gym.training.stages.jobs import Job, reporter, training_job
from rl_gym.training.supervise import run_jobs

pytestmark = pytest.mark.slow

SHORT = (
    "machine.processes=2",
    "episodes.max_tokens=48",
    "episodes.sft=8",
    "episodes.grpo=8",
    "episodes.held_out=2",
    "sft.batch_size=2",
    "grpo.steps=4",
    "grpo.save_steps=2",
)
RECORDING = """
import json, os, sys
from functools import wraps
from pathlib import Path
from rl_gym.training import child, trainers

counting = trainers._counting_distinct

def recording(reward):
    counted = counting(reward)

    @wraps(counted)
    def recorded(prompts, completions, **columns):
        with open(Path(sys.argv[1]).parent / f"prompts-{os.environ['RANK']}.jsonl", "a") as stream:
            stream.write(json.dumps(list(map(str, prompts))) + "\\n")
        return counted(prompts=prompts, completions=completions, **columns)

    return recorded

trainers._counting_distinct = recording
raise SystemExit(child.main(sys.argv[1:]))
"""


def prepared(folder: Path, changes: Sequence[str] = ()) -> Run:
    run = stages.start(resolve("micro", [*SHORT, *changes]), folder, now=datetime(2025, 1, 1))
    with RunProgress(Console(quiet=True), {}) as progress:
        stages.execute(run, progress, until="prepare")
    return run


def grpo_job(run: Run) -> Job:
    return training_job(run, "grpo", find_model("nano-base"), Means())


def train(run: Run, job: Job, heard: list[Mapping[str, Any]], kill_at: int = 0) -> None:
    """Do a job; at step `kill_at` the process of rank 1 is killed."""
    with RunProgress(Console(quiet=True), {}) as progress:
        keep = reporter(run, progress)

        def report(message: Mapping[str, Any]) -> None:
            heard.append(message)
            keep(message)
            if kill_at and message.get("done") == kill_at:
                os.kill(rank_one(), signal.SIGKILL)

        run_jobs([job], log=run.log, threads=1, report=report)


def below(pid: int) -> set[int]:
    children = {
        int(child) for listed in Path(f"/proc/{pid}/task").glob("*/children") for child in listed.read_text().split()
    }
    return children.union(*map(below, children))


def rank_one() -> int:
    return next(pid for pid in below(os.getpid()) if b"\0RANK=1\0" in Path(f"/proc/{pid}/environ").read_bytes())


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, list[Mapping[str, Any]]]:
    """A GRPO of two processes that nothing disturbed, what it told, and the prompts that each process judged."""
    folder = tmp_path_factory.mktemp("whole")
    script = folder / "recording.py"
    script.write_text(RECORDING)
    run, heard = prepared(folder / "run"), []
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("rl_gym.training.supervise.CHILD", (str(script),))
        train(run, grpo_job(run), heard)
    return run, heard


def test_one_reports_and_one_writes(whole: tuple[Run, list[Mapping[str, Any]]]) -> None:
    run, heard = whole
    assert [message["done"] for message in heard if "done" in message] == [1, 2, 3, 4]
    assert [row["step"] for row in read_rows(run.metrics("grpo"))] == [1, 2, 3, 4, 4]
    assert (run.folder / "grpo" / "model" / "model.safetensors").is_file()
    newest = run.folder / "grpo" / "checkpoints" / "checkpoint-4"
    assert sorted(path.name for path in newest.glob("rng_state*")) == ["rng_state_0.pth", "rng_state_1.pth"]


def test_a_process_has_whole_groups_and_no_prompt_of_another(whole: tuple[Run, list[Mapping[str, Any]]]) -> None:
    run, _ = whole
    grpo = run.config.grpo
    ranks = [read_rows(run.folder / "grpo" / f"prompts-{rank}.jsonl") for rank in (0, 1)]
    for generation in zip(*ranks, strict=True):
        seen: set[str] = set()
        for prompts in generation:
            groups = [prompts[i : i + grpo.generations] for i in range(0, len(prompts), grpo.generations)]
            assert len(groups) == grpo.prompts_per_step
            assert all(len(set(group)) == 1 for group in groups)
            assert not seen & set(prompts)
            seen |= set(prompts)
        assert len(seen) == 2 * grpo.prompts_per_step
    steps = [row for row in read_rows(run.metrics("grpo")) if "reward" in row]
    assert [step["zero_variance_groups"] for step in steps] == [4 * step["frac_reward_zero_std"] for step in steps]


def test_a_killed_one_ends_all_and_the_next_attempt_goes_on_to_the_same_bits(
    whole: tuple[Run, list[Mapping[str, Any]]], tmp_path: Path
) -> None:
    undisturbed, _ = whole
    run = prepared(tmp_path / "run")
    with pytest.raises(InfrastructureError) as raised:
        train(run, grpo_job(run), [], kill_at=3)
    assert "grpo: rank 1 of 2: its process ended with SIGKILL (if memory ran out: " in str(raised.value)
    assert "\n" not in str(raised.value)
    assert not below(os.getpid())
    assert not (run.folder / "grpo" / "model").exists()
    heard: list[Mapping[str, Any]] = []
    train(run, grpo_job(run), heard)
    assert {"job": "grpo", "resumed": 2} in heard
    assert tree_digest(run.folder / "grpo" / "model") == tree_digest(undisturbed.folder / "grpo" / "model")
    losses = [[row.get("loss") for row in read_rows(each.metrics("grpo"))] for each in (run, undisturbed)]
    assert losses[0] == losses[1]


def test_a_killed_sft_of_two_goes_on_to_the_same_bits(tmp_path: Path) -> None:
    changes = ("episodes.sft=12", "sft.steps=5", "sft.save_steps=2")
    runs = [prepared(tmp_path / name, changes) for name in ("undisturbed", "killed")]
    undisturbed, killed = (training_job(run, "sft", find_model("nano-base"), Means()) for run in runs)
    train(runs[0], undisturbed, [])
    with pytest.raises(InfrastructureError):
        train(runs[1], killed, [], kill_at=3)
    heard: list[Mapping[str, Any]] = []
    train(runs[1], killed, heard)
    assert {"job": "sft", "resumed": 2} in heard
    digests = [tree_digest(run.folder / "sft" / "model") for run in runs]
    assert digests[0] == digests[1]
    losses = [[row.get("loss") for row in read_rows(run.metrics("sft"))] for run in runs]
    assert losses[0] == losses[1]


def test_two_machines_train_one_run(tmp_path: Path) -> None:
    """Both are this one: a run's pipeline, and another process that joins it."""
    changes = ("machine.machines=2", "machine.processes=1", "machine.address=127.0.0.1", f"machine.port={free_port()}")
    run = prepared(tmp_path / "run", changes)
    told: list[str] = []
    joined = threading.Thread(target=join, args=(run, 1, told.append))
    joined.start()
    with RunProgress(Console(quiet=True), {}) as progress:
        stages.execute(run, progress, until="grpo")
    joined.join(60)
    assert told == [f"{stage}: {what}" for stage in ("sft", "grpo") for what in ("waiting for it to begin", "training")]
    for stage in ("sft", "grpo"):
        assert json.loads((run.folder / stage / "manifest.json").read_text())["files"]["model/model.safetensors"]
    assert [row["step"] for row in read_rows(run.metrics("sft"))] == [1, 2, 2]


def free_port() -> int:
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
