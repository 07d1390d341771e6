"""What a flywheel trains on: what was asked, never what an anchor holds, and no answer but the model's own."""

from __future__ import annotations

import json
from typing import Any

import pytest

pytest.importorskip("tokenizers")
pytest.importorskip("datasketch")

from rl_gym.gym.core import Episode
from rl_gym.gym.registry import get_env
from rl_gym.iac.tasks.parametric import make_episode, nano_episode, oracle
from rl_gym.infra.errors import NotFoundError, UsageError
from rl_gym.infra.folder_store import FolderStore
from rl_gym.training.config import Config, resolve
from rl_gym.training.stages.prepare import token_counter
from rl_gym.training.traffic import TrafficDraw, draw_traffic, read_traffic
from rl_gym.wire.traffic import MixRow

CHANGES = ("flywheel.traffic=mix.jsonl", "episodes.sft=8", "episodes.grpo=8", "episodes.max_tokens=192")


def config(*changes: str) -> Config:
    return resolve("micro", [*CHANGES, *changes], mode="flywheel")


def row(asks: Episode, count: int = 1, **fields: Any) -> MixRow:
    asked = {"environment": "iac", "request": asks.request, "required": asks.data["required"], "count": count}
    return MixRow.model_validate({**asked, "sources": {"model": count}, **fields})


def drawn(rows: list[MixRow], chosen: Config | None = None) -> TrafficDraw:
    chosen = chosen or config()
    env = get_env(chosen.environment.name, **chosen.environment.options)
    return draw_traffic(env, chosen, rows, token_counter(chosen))


GENERATED = [nano_episode(seed) for seed in range(900_000, 900_012)]
GENERATED_ROWS = [row(episode, 2, episode=episode.id) for episode in GENERATED]


def sources(rows: list[Any]) -> list[str]:
    return [json.loads(one["episode"])["source"] for one in rows]


def test_what_was_asked_trains_beside_what_trained_before() -> None:
    found = drawn(GENERATED_ROWS)
    assert len(found.grpo) == len(found.sft) == 8
    asked = {episode.id for episode in GENERATED}
    own = [one for one in found.grpo if json.loads(one["episode"])["id"] in asked]
    assert len(own) == 6
    assert sum(one["episode_id"] in asked for one in found.sft) == 6
    assert (found.rows, found.asked, found.used, found.dropped) == (12, 24, 12, [])
    assert drawn(GENERATED_ROWS) == found


def test_the_same_question_trains_once_and_the_most_asked_first() -> None:
    first, *rest = GENERATED
    twice = [row(first, 1, episode=first.id), row(first, 500, episode=first.id)]
    found = drawn([*GENERATED_ROWS[1:], *twice], config("episodes.rehearsal=0"))
    assert found.used == 1 + len(rest)
    assert [json.loads(one["episode"])["id"] for one in found.grpo].count(first.id) == 1


def test_words_alone_make_a_prompt_and_no_demonstration() -> None:
    plain = [row(episode) for episode in GENERATED]
    found = drawn(plain, config("episodes.rehearsal=0"))
    assert set(sources(found.grpo)) == {"traffic"}
    assert found.sft == []
    with pytest.raises(UsageError, match=r"mix\.jsonl: 12 of 12 rows can train, which makes 0 rows for an update by s"):
        drawn(plain, config("episodes.rehearsal=0", "update.method=sft"))


@pytest.mark.parametrize(("author", "taught"), [("model", 1), ("external", 0), ("fixer", 0)])
def test_the_models_own_perfect_answer_alone_teaches(author: str, taught: int) -> None:
    episode = next(e for e in map(nano_episode, range(910_000, 910_100)) if len(e.data["required"]) == 1)
    answer = oracle(episode)
    told = row(episode, answer=answer, author=author, sources={author: 1})
    found = drawn([*map(row, GENERATED), told], config("episodes.rehearsal=0"))
    assert [one["completion"] for one in found.sft] == [answer] * taught
    assert found.own_answers == taught
    assert found.others == ({} if taught else {author: 1})


def test_an_imperfect_answer_of_its_own_teaches_nothing() -> None:
    told = row(GENERATED[0], answer="no idea", author="model")
    assert drawn([told, *map(row, GENERATED[1:])]).own_answers == 0


def test_what_an_anchor_holds_is_dropped_and_named() -> None:
    anchor = get_env("iac").episodes("synthetic")[0]
    words = anchor.request.upper()
    near = [row(anchor), row(Episode("x", words, data=anchor.data)), row(anchor, episode=anchor.id)]
    found = drawn([*GENERATED_ROWS, *near])
    assert [one.why for one in found.dropped] == [
        f"{anchor.id} is of a split that never trains",
        f"by request synthetic/{anchor.id}",
    ]
    assert anchor.request not in {json.loads(one["episode"])["request"] for one in found.grpo}


def test_what_nobody_could_answer_or_read_is_dropped() -> None:
    nothing = MixRow(environment="iac", request="a box", required=["aws_box"], count=1, sources={"model": 1})
    long = row(Episode("long", "word " * 500, data={"required": ["aws_s3_bucket"]}))
    other = nothing.model_copy(update={"environment": "countdown", "required": []})
    found = drawn([*GENERATED_ROWS, nothing, long, other])
    reasons = sorted(one.why for one in found.dropped)
    assert reasons[0] == "of the environment countdown"
    assert reasons[1] == "outside of the preset's bounds"
    assert "aws_box" in reasons[2]


def test_an_episode_that_asks_for_something_else_is_refused() -> None:
    false = row(GENERATED[0], episode=make_episode(1).id)
    with pytest.raises(UsageError, match=r"row 2 of mix\.jsonl: the episode parametric-train-.-1 asks for something"):
        drawn([GENERATED_ROWS[1], false])
    with pytest.raises(UsageError, match="row 1 of mix"):
        drawn([row(GENERATED[0], episode="parametric-train-x")])


def test_too_little_traffic_is_refused() -> None:
    anchor = get_env("iac").episodes("synthetic")[0]
    with pytest.raises(UsageError, match="0 of 1 rows can train"):
        drawn([row(anchor)])


def test_traffic_lies_in_a_file_or_in_the_store(tmp_path: Any) -> None:
    line = GENERATED_ROWS[0].model_dump_json().encode()
    file, store = tmp_path / "mix.jsonl", FolderStore(tmp_path / "objects")
    file.write_bytes(line)
    store.put("traffic/2026-01/mix.jsonl", line)
    assert read_traffic(str(file), None) == read_traffic("traffic/2026-01/mix.jsonl", store) == GENERATED_ROWS[:1]
    with pytest.raises(NotFoundError, match=r"traffic/none\.jsonl is not in the object store"):
        read_traffic("traffic/none.jsonl", store)
    with pytest.raises(UsageError, match=r"name a file \./traffic/none\.jsonl"):
        read_traffic("traffic/none.jsonl", None)
