"""Recorded episodes, shown without a model: what was asked, what was written, and how the verifier judges it now."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources

from rich.console import Console

from rl_gym.cli.answers import Answer, show_answers
from rl_gym.infra.errors import UsageError

__all__ = ["CannedEpisode", "canned_episodes", "show_canned"]


@dataclass(frozen=True, slots=True)
class CannedEpisode:
    """A request and the answers that were recorded for it, in order; `remark` says what to look at."""

    title: str
    remark: str
    request: str
    required: Sequence[str]
    answers: Sequence[Answer]


def canned_episodes() -> list[CannedEpisode]:
    """The recorded episodes that ship with the package."""
    text = (resources.files("rl_gym.cli") / "canned_episodes.json").read_text("utf-8")
    return [
        CannedEpisode(
            title=row["title"],
            remark=row["remark"],
            request=row["request"],
            required=tuple(row["required"]),
            answers=[Answer(answer["by"], answer["completion"]) for answer in row["answers"]],
        )
        for row in json.loads(text)
    ]


def show_canned(console: Console, number: int) -> None:
    """Print episode `number`, counted from 1; UsageError where there is none."""
    episodes = canned_episodes()
    if not 1 <= number <= len(episodes):
        raise UsageError(f"there is no recorded episode {number}: choose 1 to {len(episodes)}")
    episode = episodes[number - 1]
    console.rule(f"[bold]{number}. {episode.title}", align="left")
    show_answers(console, episode.request, episode.required, episode.answers)
    console.print(f"\n{episode.remark}", highlight=False)
