"""The difficulty band over GRPO's prompts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rl_gym.gym.core import Episode
from rl_gym.infra.errors import NotFoundError, UsageError
from rl_gym.training.config import resolve
from rl_gym.training.difficulty import read_rates, within_band
from rl_gym.training.recipe import GrpoSection

EPISODES = [Episode(f"e{number}", f"request {number}") for number in range(6)]
ROWS = [{"prompt": episode.request, "episode": json.dumps(episode.to_dict())} for episode in EPISODES]
RATES = [0.0, 0.1, 0.5, 0.9, 1.0]


@pytest.fixture
def rates(tmp_path: Path) -> Path:
    """Pass rates of all but the last episode."""
    path = tmp_path / "difficulty.json"
    path.write_text(json.dumps({episode.hash: rate for episode, rate in zip(EPISODES, RATES, strict=False)}))
    return path


def kept(rates: Path, low: float, high: float) -> list[Any]:
    changes = [f"grpo.difficulty_map={rates}", f"grpo.difficulty_low={low}", f"grpo.difficulty_high={high}"]
    section: GrpoSection = resolve("micro", changes).grpo
    return [row["prompt"] for row in within_band(ROWS, section)]


def test_prompts_outside_the_band_are_dropped_and_unknown_ones_stay(rates: Path) -> None:
    assert kept(rates, 0.1, 0.9) == [f"request {number}" for number in (1, 2, 3, 5)]
    assert kept(rates, 0.0, 1.0) == [row["prompt"] for row in ROWS]


def test_without_a_map_every_prompt_stays() -> None:
    assert within_band(ROWS, resolve("micro").grpo) == ROWS


def test_a_band_that_leaves_too_few_prompts_is_refused(rates: Path) -> None:
    with pytest.raises(UsageError, match=r"1 of 6 prompts have a pass rate within \[0\.95, 0\.99\]"):
        kept(rates, 0.95, 0.99)


def test_each_process_takes_prompts_of_its_own(rates: Path) -> None:
    changes = [f"grpo.difficulty_map={rates}", "grpo.difficulty_low=0.1", "grpo.difficulty_high=0.9"]
    section = resolve("micro", changes).grpo
    assert len(within_band(ROWS, section, world=2)) == 4
    with pytest.raises(UsageError, match=r"4 of 6 prompts have a pass rate .*, one generation takes 6: widen"):
        within_band(ROWS, section, world=3)


@pytest.mark.parametrize("text", ["[]", '{"a": 2}', '{"a": "hard"}', '{"a": null}', "{"])
def test_what_is_no_map_is_one_line(tmp_path: Path, text: str) -> None:
    path = tmp_path / "map.json"
    path.write_text(text)
    with pytest.raises(UsageError, match=r"map\.json") as raised:
        read_rates(path)
    assert "\n" not in str(raised.value)


def test_a_map_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match=r"absent\.json: no such file"):
        read_rates(tmp_path / "absent.json")
