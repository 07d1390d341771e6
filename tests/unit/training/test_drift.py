"""Drift: what the new rules touch is what an update learns, and both models are judged by the rules before and now.

The children are played by a function here; tests/e2e runs the real ones.
"""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

pytest.importorskip("tokenizers")

from rl_gym.cli.mode_tables import mode_tables
from rl_gym.gym import records
from rl_gym.gym.core import Episode
from rl_gym.gym.evaluation import evaluate_reference
from rl_gym.infra.errors import UsageError
from rl_gym.training import stages
from rl_gym.training.config import Config, resolve
from rl_gym.training.files import read_rows
from rl_gym.training.progress import RunProgress
from rl_gym.training.run import Run
from rl_gym.training.stages import jobs
from rl_gym.training.stages.drift import environment_before, touched

CHANGES = ("episodes.sft=16", "episodes.grpo=4", "episodes.held_out=40", "evaluate.samples=1")

Answers = Callable[[Config, str], Callable[[Episode], str]]


def run_with(
    folder: Path, monkeypatch: pytest.MonkeyPatch, answers: Answers, *changes: str, done: list[str] | None = None
) -> Run:
    """A drift run whose models answer by a function of the configuration and the policy; `done` are its jobs."""

    def play(asked: Sequence[tuple[Path, Mapping[str, Any]]], *, log: Path, **_: Any) -> None:
        for path, job in asked:
            if done is not None:
                done.append(f"{job['name']}: {job['section']}" if "section" in job else job["name"])
            path.write_text(json.dumps(job))
            if job["kind"] != "evaluate":
                shutil.copytree(job["model"], Path(job["output"]) / "model")
                continue
            config = Config.model_validate(job["config"])
            episodes = [Episode.from_dict(row) for row in read_rows(Path(job["data"]))]
            env = jobs.environment(config)
            answer = answers(config, job["policy"])
            found = evaluate_reference(env, episodes, job["policy"], answer, split=config.evaluate.anchor)
            records.write(Path(job["output"]), found)

    monkeypatch.setattr(jobs, "run_jobs", play)
    run = stages.start(resolve("micro", [*CHANGES, *changes], mode="drift"), folder, now=datetime(2025, 1, 1))
    with RunProgress(Console(quiet=True), stages.efforts(run.config)) as progress:
        stages.execute(run, progress, until="gate")
    return run


def learns(config: Config, policy: str) -> Callable[[Episode], str]:
    """The incumbent is perfect under the rules before, the candidate under those of now."""
    env: Any = environment_before(config) if policy == "incumbent" else jobs.environment(config)
    return env.oracle  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    with pytest.MonkeyPatch.context() as patch:
        yield run_with(tmp_path_factory.mktemp("drift") / "run", patch, learns)


def forgets(config: Config, policy: str) -> Callable[[Episode], str]:
    env: Any = environment_before(config)
    return env.oracle if policy == "incumbent" else env.random  # type: ignore[no-any-return]


def test_drop_recovery_and_what_was_kept(learned: Run) -> None:
    found = json.loads((learned.folder / "evaluate" / "drift.json").read_text())
    assert found["rules"] == {"before": "base", "now": "base+drift"}
    assert found["judges"]["before"] != found["judges"]["now"]
    levels = {name: {when: level["estimate"] for when, level in side.items()} for name, side in found["levels"].items()}
    assert levels["incumbent"]["before"] == levels["candidate"]["before"] == levels["candidate"]["now"] == 1
    differences = {name: row["estimate"] for name, row in found["differences"].items()}
    assert differences["drop"] == pytest.approx(levels["incumbent"]["now"] - 1)
    assert differences["recovered"] == pytest.approx(-differences["drop"])
    assert differences["drop"] < 0 == differences["kept"] == differences["left"]
    assert all(row["n"] == 40 for row in found["differences"].values())


def test_completions_are_kept_as_both_rulesets_judge_them(learned: Run) -> None:
    now = [
        record
        for record in records.read(learned.folder / "evaluate" / "completions.jsonl")
        if record.policy in ("incumbent", "candidate")
    ]
    before = records.read(learned.folder / "evaluate" / "before.jsonl")
    assert [record.completion for record in before] == [record.completion for record in now]
    assert {record.breakdown.digest for record in before}.isdisjoint(record.breakdown.digest for record in now)


def test_the_gate_asks_both_rulesets(learned: Run) -> None:
    before = json.loads((learned.folder / "gate" / "before.json").read_text())
    verdict = json.loads((learned.folder / "gate" / "verdict.json").read_text())
    assert verdict["settings"]["also"] == [before["digest"]]
    assert before["anchors"][0]["reward"]["estimate"] == 0
    assert verdict["anchors"][0]["reward"]["estimate"] > 0


def test_a_model_that_forgot_is_blocked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = run_with(tmp_path / "run", monkeypatch, forgets)
    before = json.loads((run.folder / "gate" / "before.json").read_text())
    verdict = json.loads((run.folder / "gate" / "verdict.json").read_text())
    assert (before["decision"], verdict["decision"]) == ("BLOCK", "BLOCK")
    judge = f"iac:{before['reward_digest']}"
    assert [reason for reason in verdict["reasons"] if reason.startswith(f"as {judge} judges: synthetic: reward")]


def test_an_update_draws_what_the_new_rules_touch_and_rehearses_the_rest() -> None:
    from rl_gym.training.mix import draw

    shares = {}
    for share in (0.0, 0.5):
        config = resolve("micro", [*CHANGES, f"episodes.rehearsal={share}"], mode="drift")
        focus = touched(config)
        mix = draw(jobs.environment(config), config, lambda text: len(text) // 4, focus)
        drawn = Counter(focus(Episode.from_dict(json.loads(row["episode"]))) for row in mix.grpo)
        drawn += Counter(focus(episode_of(row["episode_id"])) for row in mix.sft)
        assert drawn.total() == 20
        shares[share] = drawn[True] / 20
    assert shares[0.0] == 1
    assert 0.5 <= shares[0.5] < 1


def episode_of(name: str) -> Episode:
    from rl_gym.iac.tasks.parametric import episode_of as of

    return of(name)


def test_demonstrations_are_perfect_under_the_new_rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from rl_gym.gym.core import score_completion

    run = run_with(tmp_path / "run", monkeypatch, learns)
    env = jobs.environment(run.config)
    rows = read_rows(run.folder / "prepare" / "sft.jsonl")
    assert {score_completion(env, row["completion"], episode_of(row["episode_id"])).reward for row in rows} == {1.0}


def test_an_update_by_both_methods_lets_grpo_sharpen_what_sft_taught(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    run = run_with(tmp_path / "run", monkeypatch, learns, "update.method=sft-grpo", "evaluate.processes=2", done=done)
    assert run.stages[:4] == ("prepare", "update", "grpo", "evaluate")
    assert done == ["update: sft", "grpo: grpo", "evaluate incumbent", "evaluate candidate"]
    jobs_of = {stage: json.loads((run.folder / stage / "job.json").read_text()) for stage in ("update", "grpo")}
    assert jobs_of["grpo"]["model"] == str((run.folder / "update" / "model").resolve())
    assert jobs_of["grpo"]["data"] == str((run.folder / "prepare" / "grpo.jsonl").resolve())
    judged = json.loads((run.folder / "evaluate" / "candidate.json").read_text())
    assert judged["model"] == str((run.folder / "grpo" / "model").resolve())


def test_a_run_shows_its_drift(learned: Run) -> None:
    console = Console(width=80, record=True)
    console.print(*mode_tables(learned))
    told = console.export_text()
    assert "Drift from base to base+drift" in told
    assert "recovered: candidate less incumbent, now" in told


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            ["drift.before=base+drift"],
            r"a drift goes from drift\.before \(base\+drift\) to environment",
        ),
        (["drift.tolerance=0"], r"key 'drift\.tolerance'"),
        (["update.method=dpo"], r"key 'update\.method'"),
    ],
)
def test_what_is_no_drift_is_refused(changes: list[str], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        resolve("micro", changes, mode="drift")
