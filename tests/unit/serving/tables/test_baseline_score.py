"""Recorded answers judged again: figures, gaps that are told and not scored, the rulebook's part, and the page."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from rl_gym.gym.statistics import wilson
from rl_gym.iac.environment import IacEnvironment
from rl_gym.serving.tables.baseline import TokenPrices, read_baselines
from rl_gym.serving.tables.baseline_page import above, baseline_page, break_evens
from rl_gym.serving.tables.baseline_score import Baseline, score_baselines
from rl_gym.serving.tables.break_even import break_even

Record = Callable[..., Path]
NAME = 'large & <b>"1"</b>'


@pytest.fixture
def record(tmp_path: Path) -> Record:
    """Writes a folder of answers by number, with its manifest."""

    def write(kind: str, answers: dict[int, str], **manifest: Any) -> Path:
        folder = tmp_path / "recorded" / kind
        folder.mkdir(parents=True)
        total = {"prompt": 100 * len(answers), "completion": 500 * len(answers)}
        told = {"model": NAME, "date": "2026-05-31", "prompt": kind, "tokens": total} | manifest
        (folder / "manifest.json").write_text(json.dumps(told))
        for number, text in answers.items():
            (folder / f"ep{number}.md").write_text(text)
        return folder.parent

    return write


@pytest.fixture
def found(env: IacEnvironment, record: Record) -> Baseline:
    """Blind half right on four episodes, with the rulebook right on three of those and one more."""
    episodes = env.episodes("synthetic")
    best = {number: env.oracle(episodes[number]) for number in (0, 1, 2, 5)}
    record("blind", {0: best[0], 1: "no", 2: best[2], 3: "no"}, prices=PRICES)
    folder = record("rulebook", best, prices=PRICES)
    return score_baselines(env, "synthetic", read_baselines(folder, len(episodes)))


PRICES = {"prompt_million": 10.0, "completion_million": 20.0}


def test_a_row_tells_what_was_recorded_and_what_was_not(found: Baseline) -> None:
    blind, ruled = found.rows
    assert (blind.name, blind.n, blind.reward.estimate) == (f"{NAME} (blind)", 4, 0.5)
    assert (ruled.n, ruled.reward.estimate, ruled.full) == (4, 1.0, wilson(4, 4))
    assert blind.valid_rate == blind.gate_rate == blind.full == wilson(2, 4)
    assert found.episodes == 240
    assert blind.missing == list(range(4, 240))
    assert ruled.missing[:3] == [3, 4, 6]
    assert len(found.records) == 8
    assert {record.model for record in found.records} == {NAME}


def test_the_rulebook_is_compared_over_common_episodes(found: Baseline) -> None:
    [one] = found.comparisons
    assert one.reward.n == 3
    assert one.reward.estimate == one.full.estimate == pytest.approx(1 / 3)


def test_without_common_episodes_nothing_is_compared(env: IacEnvironment, record: Record) -> None:
    record("blind", {0: "no"})
    folder = record("rulebook", {1: "no"})
    assert score_baselines(env, "synthetic", read_baselines(folder, 240)).comparisons == []


def test_a_request_costs_its_mean_tokens_at_their_prices(found: Baseline) -> None:
    assert [row.usd for row in found.rows] == pytest.approx([(100 * 10 + 500 * 20) / 1e6] * 2)
    assert {(row.prompt_tokens, row.completion_tokens) for row in found.rows} == {(100, 500)}


def test_prices_given_stand_in_the_place_of_the_manifests(env: IacEnvironment, record: Record) -> None:
    recorded = read_baselines(record("blind", {0: "no"}, prices=PRICES) / "blind", 240)
    free = TokenPrices(prompt_million=0, completion_million=0)
    [row] = score_baselines(env, "synthetic", recorded, prices=free).rows
    assert row.usd == 0


def test_without_prices_there_is_no_cost(env: IacEnvironment, record: Record) -> None:
    found = score_baselines(env, "synthetic", read_baselines(record("blind", {0: "no"}), 240))
    assert found.rows[0].usd is None
    assert break_evens(found, 2.0) == []
    page = baseline_page(found)
    assert "not known" in page
    assert "cheaper" not in page


def test_progress_counts_all_completions(env: IacEnvironment, record: Record) -> None:
    record("blind", dict.fromkeys(range(9), "no"))
    folder = record("rulebook", {1: "no"})
    heard: list[tuple[int, int]] = []
    score_baselines(env, "synthetic", read_baselines(folder, 240), progress=lambda *args: heard.append(args))
    assert heard == [(done, 10) for done in range(1, 11)]


class Tags(HTMLParser):
    """Which elements a page has, whether each is closed, and its text."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []
        self.open: list[str] = []
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        self.seen.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def read(page: str) -> Tags:
    tags = Tags()
    tags.feed(page)
    assert tags.open == []
    return tags


def test_the_page_is_whole_and_needs_nothing_else(found: Baseline) -> None:
    page = baseline_page(found, break_evens(found, 2.5, 1_000))
    tags = read(page)
    assert {"script", "img", "link", "iframe"}.isdisjoint(tags.seen)
    assert not re.search(r"https?:|url\(|@import|src=", page)
    assert "default-src 'none'" in page
    assert "prefers-color-scheme: dark" in page
    assert tags.seen.count("svg") == 5
    text = " ".join(" ".join(tags.words).split())
    assert NAME in text
    assert "<b>" not in text.replace(NAME, "")
    assert "requests a day = 24 h × price of a GPU hour / cost of a request" in text
    assert "above 5,455 requests a day, of the 24,000 that one GPU can answer" in text
    assert "236 of 240 episodes are not recorded (ep4, ep5, ep6" in text


def test_what_a_name_holds_is_text(found: Baseline) -> None:
    page = baseline_page(found, break_evens(found, 2.5))
    assert NAME not in page
    assert "<b>&quot;" not in page
    assert "&lt;b&gt;&quot;1&quot;&lt;/b&gt;" in page


@pytest.mark.parametrize(
    ("hour", "request_", "own", "words"),
    [
        (2.0, 0.0, None, "never: a request costs nothing"),
        (0.0, 0.01, None, "from the first request on: the GPU costs nothing"),
        (2.0, 1e-320, None, "never: a request costs too little"),
        (2.0, 0.01, None, "above 4,800 requests a day"),
        (2.0, 0.01, 300, "above 4,800 requests a day, of the 7,200 that one GPU can answer"),
        (2.0, 0.01, 100, "above 4,800 requests a day, and one GPU answers at most 2,400: never with this one"),
        (2.0, 1e-20, None, "above 4.8e+21 requests a day"),
    ],
)
def test_the_break_even_in_words(hour: float, request_: float, own: float | None, words: str) -> None:
    assert above(break_even(hour, request_, own)) == words


@pytest.mark.parametrize(("hour", "request_"), [(0.0, 0.01), (2.0, 0.0), (2.0, 1e-320), (2.0, 1e-300), (1e300, 1e-9)])
def test_where_lines_never_meet_the_page_still_stands(found: Baseline, hour: float, request_: float) -> None:
    page = baseline_page(found, [(found.rows[0].name, break_even(hour, request_))])
    read(page)
    assert "nan" not in page
    assert not re.search(r"\binf\b", page)


def test_an_interval_that_nobody_knows_is_not_drawn(env: IacEnvironment, record: Record) -> None:
    found = score_baselines(env, "synthetic", read_baselines(record("blind", {0: "no"}), 240))
    assert math.isinf(found.rows[0].reward.low)
    page = baseline_page(found)
    assert "[not known]" in page
    assert not re.search(r"\binf\b|nan", page)
    assert found.to_dict()["rows"][0]["reward"]["low"] is None
