"""The chain of stages: what stands is skipped, what was interrupted goes on, what is damaged stops in one line.

The children are played by a function here; tests/e2e runs the real ones.
"""

from __future__ import annotations

import io
import json
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

pytest.importorskip("tokenizers")

from rl_gym.gym import records
from rl_gym.gym.core import Episode
from rl_gym.gym.evaluation import evaluate_reference
from rl_gym.gym.gate.verdict import EXIT_CODES
from rl_gym.infra.digests import tree_digest
from rl_gym.infra.errors import InfrastructureError, NotFoundError, UsageError
from rl_gym.serving.weights import find_model
from rl_gym.training import stages
from rl_gym.training.collapse import Alarm, write_alarms
from rl_gym.training.config import Config, resolve
from rl_gym.training.files import read_rows
from rl_gym.training.progress import RunProgress
from rl_gym.training.run import Run
from rl_gym.training.stages import jobs

CHANGES = ("episodes.sft=8", "episodes.grpo=4", "episodes.held_out=12", "evaluate.samples=1")


class Children:
    """Stands in for `run_jobs`: does each job's files at once, and remembers which jobs it was given."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.side_by_side: list[list[str]] = []
        self.before: Callable[[str], None] = lambda job: None

    def __call__(
        self,
        jobs: Sequence[tuple[Path, Mapping[str, Any]]],
        *,
        log: Path,
        threads: int,
        report: Callable[[Mapping[str, Any]], None],
        check: Callable[[], None] | None = None,
        processes: int = 1,
    ) -> None:
        self.side_by_side.append([job["name"] for _, job in jobs])
        for path, job in jobs:
            path.write_text(json.dumps(job))
            name = job["name"]
            self.before(name)
            if job["kind"] == "evaluate":
                self._evaluate(job)
            else:
                report({"job": name, "resumed": 0})
                report({"job": name, "step": 1, "metrics": {"reward": 0.5}})
                shutil.copytree(job["model"], Path(job["output"]) / "model", dirs_exist_ok=True)
            report({"job": name, "done": 1, "total": 1})
            self.done.append(name)

    @staticmethod
    def _evaluate(job: Mapping[str, Any]) -> None:
        env = jobs.environment(Config.model_validate(job["config"]))
        episodes = [Episode.from_dict(row) for row in read_rows(Path(job["data"]))]
        answer = env.oracle if job["policy"] == "grpo" else env.random
        found = evaluate_reference(env, episodes, job["policy"], answer, split=job["config"]["evaluate"]["anchor"])
        records.write(Path(job["output"]), found)


@pytest.fixture
def children(monkeypatch: pytest.MonkeyPatch) -> Children:
    played = Children()
    monkeypatch.setattr(jobs, "run_jobs", played)
    return played


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return stages.start(resolve("micro", CHANGES, seed=1), tmp_path / "run", now=datetime(2025, 1, 1))


def execute(run: Run, until: str = "gate") -> None:
    with RunProgress(Console(quiet=True), stages.efforts(run.config)) as progress:
        stages.execute(run, progress, until=until)


def test_every_stage_leaves_its_files(run: Run, children: Children) -> None:
    execute(run)
    assert children.done == ["sft", "grpo", "evaluate base", "evaluate sft", "evaluate grpo"]
    assert all(run.stands(stage) for stage in run.stages[:-1])
    assert not run.ended("promote")
    completions = records.read(run.folder / "evaluate" / "completions.jsonl")
    assert list(dict.fromkeys(record.policy for record in completions)) == list(run.config.policies)
    assert json.loads((run.folder / "audit" / "report.json").read_text())["policy"] == "grpo"
    assert json.loads((run.folder / "gate" / "verdict.json").read_text())["decision"] in EXIT_CODES
    assert {path.name for path in (run.folder / "evaluate").iterdir()} >= {"completions.jsonl", "manifest.json"}
    digests = json.loads((run.folder / "run.json").read_text())["digests"]
    assert digests["reward"] == completions[0].breakdown.digest


def test_a_model_is_read_once_for_its_evaluation(run: Run, children: Children, monkeypatch: pytest.MonkeyPatch) -> None:
    execute(run, "grpo")
    read: list[Path] = []

    def digest(folder: Path) -> str:
        read.append(folder)
        return tree_digest(folder)

    monkeypatch.setattr(jobs, "tree_digest", digest)
    execute(run, "evaluate")
    assert len(read) == len(set(read)) == 3


@pytest.mark.parametrize("ended", ["prepare", "grpo"])
def test_a_base_that_changed_since_the_run_began_is_refused(ended: str, tmp_path: Path, children: Children) -> None:
    base = shutil.copytree(find_model("nano-base"), tmp_path / "base")
    config = resolve("micro", [*CHANGES, f"model.base={base}"], seed=1)
    run = stages.start(config, tmp_path / "run", now=datetime(2025, 1, 1))
    execute(run, ended)
    before, done = tree_digest(base), len(children.done)
    (base / "config.json").write_text((base / "config.json").read_text() + "\n")
    told = f"model.base ({base}) is not what the run began with: its sha256 is {tree_digest(base)[:12]}, and was "
    with pytest.raises(UsageError, match=re.escape(f"{run.folder}: {told}{before[:12]}")):
        execute(Run.open(run.folder))
    assert len(children.done) == done


def test_a_second_process_evaluates_what_is_there_while_grpo_trains(tmp_path: Path, children: Children) -> None:
    config = resolve("micro", [*CHANGES, "evaluate.processes=2"], seed=1)
    execute(stages.start(config, tmp_path / "run", now=datetime(2025, 1, 1)))
    assert children.side_by_side == [["sft"], ["grpo", "evaluate base", "evaluate sft"], ["evaluate grpo"]]


def test_the_bar_counts_a_models_training_and_its_evaluation_apart() -> None:
    efforts = stages.efforts(resolve("nano"))
    assert {"sft", "grpo", "evaluate base", "evaluate sft", "evaluate grpo"} <= efforts.keys()
    assert efforts["grpo"] > efforts["evaluate grpo"]


def test_what_stands_is_not_done_again(run: Run, children: Children) -> None:
    execute(run)
    children.done.clear()
    execute(Run.open(run.folder))
    assert children.done == []


def test_stages_one_by_one(run: Run, children: Children) -> None:
    execute(run, "sft")
    assert children.done == ["sft"]
    assert not run.ended("grpo")
    execute(run, "grpo")
    assert children.done == ["sft", "grpo"]


def test_an_interrupt_keeps_what_was_done_and_says_how_to_go_on(run: Run, children: Children) -> None:
    def interrupt(job: str) -> None:
        if job == "grpo":
            raise KeyboardInterrupt

    children.before = interrupt
    with pytest.raises(KeyboardInterrupt, match=f"go on with `rl-gym pipeline --resume {run.folder}`"):
        execute(run)
    assert run.stands("sft")
    assert not run.ended("grpo")
    children.before, children.done = lambda job: None, []
    execute(Run.open(run.folder))
    assert children.done == ["grpo", "evaluate base", "evaluate sft", "evaluate grpo"]


def test_an_evaluation_goes_on_with_the_policies_that_are_missing(run: Run, children: Children) -> None:
    def fail(job: str) -> None:
        if job == "evaluate grpo":
            raise InfrastructureError("the third model crashed")

    children.before = fail
    with pytest.raises(InfrastructureError):
        execute(run)
    children.before, children.done = lambda job: None, []
    execute(run)
    assert children.done == ["evaluate grpo"]


def test_a_stage_done_anew_takes_the_later_ones_with_it(run: Run, children: Children) -> None:
    execute(run)
    run.clear("grpo")
    children.done.clear()
    (run.folder / "sft" / "model" / "extra.txt").write_text("")
    run.seal("sft")
    execute(run)
    assert children.done == ["grpo", "evaluate base", "evaluate sft", "evaluate grpo"]


def test_what_an_attempt_left_counts_for_the_same_inputs_alone(run: Run, children: Children) -> None:
    def interrupt(job: str) -> None:
        if job == "grpo":
            raise KeyboardInterrupt

    children.before = interrupt
    checkpoint = run.folder / "grpo" / "checkpoints" / "checkpoint-1"
    for remade in (False, True):
        with pytest.raises(KeyboardInterrupt):
            execute(run)
        checkpoint.mkdir(parents=True)
        if remade:
            (run.folder / "sft" / "model" / "extra.txt").write_text("another model")
            run.seal("sft")
        with pytest.raises(KeyboardInterrupt):
            execute(run)
        assert checkpoint.exists() is not remade
        run.clear("grpo")


def test_damage_stops_the_run_in_one_line(run: Run, children: Children) -> None:
    execute(run)
    (run.folder / "sft" / "model" / "model.safetensors").write_bytes(b"damaged")
    with pytest.raises(UsageError, match=r"model\.safetensors is not what stage 'sft' wrote; delete .*/sft to run"):
        execute(Run.open(run.folder))


def test_a_resumed_training_takes_its_later_metrics_back(run: Run, children: Children) -> None:
    execute(run, "prepare")
    for stage in ("sft", "grpo"):
        run.stage(stage)
        run.metrics(stage).write_text("".join(json.dumps({"step": step}) + "\n" for step in (1, 2, 3)))
    with run.metrics("grpo").open("a") as file:
        # As a kill leaves it, or a full disk.
        file.write('{"step": 4, "rew')
    report = jobs.reporter(run, RunProgress(Console(quiet=True), {}))
    report({"job": "grpo", "resumed": 2})
    assert [row["step"] for row in read_rows(run.metrics("grpo"))] == [1, 2]
    assert [row["step"] for row in read_rows(run.metrics("sft"))] == [1, 2, 3]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_full_disk_is_one_line(run: Run, children: Children) -> None:
    execute(run, "prepare")
    run.stage("sft")
    run.metrics("sft").symlink_to("/dev/full")
    report = jobs.reporter(run, RunProgress(Console(quiet=True), {}))
    with pytest.raises(InfrastructureError, match=r"metrics\.jsonl: could not be written: No space left on device"):
        report({"job": "sft", "step": 1, "metrics": {"loss": 1.0}})


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("model.base=nano-bass", "did you mean 'nano-base'"),
        ("environment.name=iacc", "did you mean 'iac'"),
        ("grpo.difficulty_map=absent.json", "absent.json: no such file"),
    ],
)
def test_what_a_run_needs_is_looked_for_before_its_folder_is_made(tmp_path: Path, change: str, said: str) -> None:
    with pytest.raises(NotFoundError, match=said):
        stages.start(resolve("micro", [change]), tmp_path / "run", now=datetime(2025, 1, 1))
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("tokenizer.json", "{", "tokenizer"),
        ("model.safetensors", "damaged", "safetensors"),
        ("config.json", "[]", "config.json"),
        ("adapter_config.json", "{}", "is an adapter, or has one in it; a whole model is needed"),
    ],
)
def test_a_base_that_does_not_load_is_refused_before_anything_runs(
    tmp_path: Path, name: str, content: str, said: str
) -> None:
    base = tmp_path / "base"
    shutil.copytree(find_model("nano-base"), base)
    (base / name).write_text(content)
    with pytest.raises(UsageError, match=said) as raised:
        stages.start(resolve("micro", [f"model.base={base}"]), tmp_path / "run", now=datetime(2025, 1, 1))
    assert "\n" not in str(raised.value)
    assert not (tmp_path / "run").exists()


def test_a_reporter_that_is_not_installed_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stages, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match="report_to 'wandb' needs the package wandb, which is not installed"):
        stages.start(resolve("micro", ["report_to=wandb"]), tmp_path / "run", now=datetime(2025, 1, 1))


def test_an_anchors_episode_in_the_training_data_is_refused_by_name(
    run: Run, children: Children, monkeypatch: pytest.MonkeyPatch
) -> None:
    from rl_gym.training import mix

    anchor = jobs.environment(run.config).episodes("synthetic")
    monkeypatch.setattr(mix, "candidates", lambda env, config: iter(anchor))
    with pytest.raises(UsageError, match=r"holds \d+ episodes of an anchor: parametric-synthetic-\S+ ~ synthetic/"):
        execute(run)
    assert children.done == []


def test_prompts_outside_the_band_are_left_out_and_told(tmp_path: Path, children: Children) -> None:
    first = stages.start(resolve("micro", CHANGES, seed=1), tmp_path / "first", now=datetime(2025, 1, 1))
    execute(first, "prepare")
    rows = read_rows(first.folder / "prepare" / "grpo.jsonl")
    path = tmp_path / "rates.json"
    path.write_text(json.dumps({Episode.from_dict(json.loads(rows[0]["episode"])).hash: 1.0}))
    changes = [*CHANGES, f"grpo.difficulty_map={path}", "grpo.difficulty_high=0.9"]
    run = stages.start(resolve("micro", changes, seed=1), tmp_path / "run", now=datetime(2025, 1, 1))
    told = io.StringIO()
    with RunProgress(Console(file=told), {}) as progress:
        stages.execute(run, progress, until="prepare")
    assert read_rows(run.folder / "prepare" / "grpo.jsonl") == rows[1:]
    assert told.getvalue() == "prepare: 1 of 4 prompts lie outside the difficulty band\n"


def test_an_alarm_of_the_collapse_watch_blocks_the_promotion(run: Run, children: Children) -> None:
    alarm = Alarm(what="entropy", step=9, mean=0.001, threshold=0.002, reward=0.4, values=[0.001])

    def collapse(job: str) -> None:
        if job == "grpo":
            write_alarms(run.stage("grpo"), [alarm])

    children.before = collapse
    execute(run)
    verdict = json.loads((run.folder / "gate" / "verdict.json").read_text())
    assert verdict["decision"] == "BLOCK"
    assert verdict["training_alarms"] == [str(alarm)]
    assert f"training alarm: {alarm}" in verdict["reasons"]


def test_what_a_child_notes_is_shown(run: Run) -> None:
    told = io.StringIO()
    report = jobs.reporter(run, RunProgress(Console(file=told), {}))
    report({"job": "grpo", "note": "alarm: [entropy] is low"})
    assert told.getvalue() == "grpo: alarm: [entropy] is low\n"
