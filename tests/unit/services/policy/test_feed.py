"""The feed of a streamed answer: in order, ended by the last answer, and small where its reader is slow."""

from __future__ import annotations

import asyncio

from rl_gym.gym.core import RewardBreakdown
from rl_gym.wire import ColumnAnswer, ErrorBody, Pass, Scorecard, ServedModel, TokensEvent, Usage
from services.policy.feed import ColumnFeed, Event, Feed

SERVED = ServedModel(engine="scripted", name="m", base="m")
CARD = Scorecard(breakdown=RewardBreakdown(1.0, {}, {}, True, "", "0" * 12))
PASS = Pass(kind="first", completion="ab", scorecard=CARD, usage=Usage(prompt_tokens=1, completion_tokens=1, seconds=0))
ERROR = ErrorBody(error="busy", detail="later")


def test_text_that_nobody_has_fetched_is_joined() -> None:
    async def scenario() -> list[Event]:
        feed = Feed(1)
        column = ColumnFeed(feed, "tuned")
        for part in "abc":
            column.text("first", part)
        column.text("repair", "d")
        column.done(PASS)
        column.answered(ColumnAnswer(column="tuned", model=SERVED, error=ERROR))
        return [event async for event in feed]

    texts, repair, done, answer = asyncio.run(scenario())
    assert (texts.event, getattr(texts, "text", "")) == ("tokens", "abc")
    assert getattr(repair, "kind", "") == "repair"
    assert [done.event, answer.event] == ["pass", "answer"]


def test_columns_side_by_side_do_not_keep_each_other_s_text_apart() -> None:
    async def scenario() -> list[Event]:
        feed = Feed(2)
        columns = ColumnFeed(feed, "tuned"), ColumnFeed(feed, "base")
        for number in range(100):
            for column in columns:
                column.text("first", f"{number},")
        for column in columns:
            column.done(PASS)
        columns[0].text("first", "more")
        for column in columns:
            column.answered(ColumnAnswer(column="tuned", model=SERVED, error=ERROR))
        return [event async for event in feed]

    events = asyncio.run(scenario())
    assert [event.event for event in events] == ["tokens"] * 2 + ["pass"] * 2 + ["tokens"] + ["answer"] * 2
    assert {event.text for event in events[:2] if isinstance(event, TokensEvent)} == {
        "".join(f"{number}," for number in range(100))
    }


def test_text_that_was_fetched_is_not_told_again() -> None:
    async def scenario() -> list[str]:
        feed = Feed(1)
        column = ColumnFeed(feed, "tuned")
        reading = aiter(feed)
        told = []
        for part in ("a", "b"):
            column.text("first", part)
            event = await asyncio.wait_for(anext(reading), 10)
            assert isinstance(event, TokensEvent)
            told.append(event.text)
        return told

    assert asyncio.run(scenario()) == ["a", "b"]


def test_it_ends_with_the_last_column_and_waits_for_it() -> None:
    async def scenario() -> list[str]:
        feed = Feed(2)
        first, second = ColumnFeed(feed, "tuned"), ColumnFeed(feed, "base")
        seen: list[str] = []

        async def read() -> None:
            async for event in feed:
                seen.append(event.event)

        reading = asyncio.create_task(read())
        for column, name in ((first, "tuned"), (second, "base")):
            await asyncio.sleep(0)
            assert not reading.done()
            column.text("first", "x")
            await asyncio.sleep(0)
            column.answered(ColumnAnswer(column="tuned" if name == "tuned" else "base", model=SERVED, error=ERROR))
        await reading
        return seen

    assert asyncio.run(scenario()) == ["tokens", "answer", "tokens", "answer"]
