"""Drift: the rules have changed. Which episodes that touches, and what both models are worth before and after it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from rl_gym.gym import records
from rl_gym.gym.core import Environment, Episode, score_completion
from rl_gym.gym.files import replace_text
from rl_gym.gym.gate import Verdict, decide
from rl_gym.gym.pairing import MEASURES, values_by_episode
from rl_gym.gym.registry import get_env
from rl_gym.gym.rescoring import rescore
from rl_gym.gym.statistics import mean_interval, paired_difference
from rl_gym.serving.repair_turns import FULL_REWARD
from rl_gym.training.chain import candidate, incumbent
from rl_gym.training.config import Config
from rl_gym.training.run import Run
from rl_gym.training.stages.jobs import environment

__all__ = ["RECORDS", "REPORT", "environment_before", "forgetting", "measure_drift", "touched"]

RECORDS, REPORT = "before.jsonl", "drift.json"
"""In the folder of `evaluate`: both models' completions as the rules before judge them, and the four levels."""


def environment_before(config: Config) -> Environment:
    """The environment of a drift run as it was under the rules before."""
    section = config.environment
    return get_env(section.name, **{**section.options, "ruleset": config.drift.before})


def touched(config: Config) -> Callable[[Episode], bool]:
    """Whether the best answer to an episode under the rules before is no longer perfect: what there is to learn."""
    before, now = environment_before(config), environment(config)
    return lambda episode: score_completion(now, before.oracle(episode), episode).reward < FULL_REWARD


def measure_drift(run: Run, completions: Sequence[records.RecordedCompletion], episodes: Sequence[Episode]) -> None:
    """Judge both models' completions by the rules before as well, and lay the four levels side by side.

    Nothing is sampled twice, so a difference between the rules is theirs alone.
    """
    sides = incumbent(run.stages), candidate(run.stages)
    now = [record for record in completions if record.policy in sides]
    by_hash = {episode.hash: episode for episode in episodes}
    before = rescore(environment_before(run.config), now, by_hash).after
    rewards = {
        (policy, when): values_by_episode(
            (record for record in judged if record.policy == policy and not record.greedy), MEASURES["reward"]
        )
        for when, judged in (("before", before), ("now", now))
        for policy in sides
    }
    old, new = sides
    differences = {
        "drop": ((old, "before"), (old, "now")),
        "recovered": ((old, "now"), (new, "now")),
        "left": ((old, "before"), (new, "now")),
        "kept": ((old, "before"), (new, "before")),
    }
    found = {
        "rules": {"before": run.config.drift.before, "now": run.config.environment.options["ruleset"]},
        "judges": {"before": _judge(before), "now": _judge(now)},
        "levels": {
            policy: {when: mean_interval(rewards[policy, when]).to_dict() for when in ("before", "now")}
            for policy in sides
        },
        "differences": {
            name: paired_difference(rewards[first], rewards[second]).to_dict()
            for name, (first, second) in differences.items()
        },
    }
    folder = run.stage("evaluate")
    records.write(folder / RECORDS, before)
    replace_text(folder / REPORT, json.dumps(found, indent=2) + "\n")


def forgetting(run: Run) -> Verdict:
    """The gate's verdict under the rules before: whether the candidate can still do what the incumbent could."""
    completions = records.read(run.folder / "evaluate" / RECORDS)
    return decide(
        [record for record in completions if record.policy == incumbent(run.stages)],
        [record for record in completions if record.policy == candidate(run.stages)],
        tolerance=run.config.drift.tolerance,
    )


def _judge(completions: Sequence[records.RecordedCompletion]) -> str:
    return f"{completions[0].environment}:{completions[0].breakdown.digest}"
