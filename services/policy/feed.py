"""What a streamed answer has to say, in order: text that nobody has fetched yet is joined, so that it stays small."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from dataclasses import dataclass

from rl_gym.wire import AnswerEvent, ColumnAnswer, Pass, PassEvent, TokensEvent
from rl_gym.wire.generate import ColumnName, PassKind

__all__ = ["ColumnFeed", "Feed"]

Event = TokensEvent | PassEvent | AnswerEvent


@dataclass(eq=False, slots=True)
class _Text:
    """Text of a pass that nobody has fetched yet."""

    column: ColumnName
    kind: PassKind
    parts: list[str]

    def event(self) -> TokensEvent:
        return TokensEvent(column=self.column, kind=self.kind, text="".join(self.parts))


class Feed:
    """Events from any number of columns to one reader, which ends after `columns` answers.

    A reader that is slow holds up nobody: it gets longer pieces of text, and never more events of a column than twice
    its passes and an answer. Events of a column keep their order.
    """

    def __init__(self, columns: int) -> None:
        self._open = columns
        self._waiting: deque[_Text | PassEvent | AnswerEvent] = deque()
        self._last: dict[ColumnName, _Text] = {}
        """Where a column's text goes on that is the last of it to wait."""
        self._news = asyncio.Event()

    def text(self, column: ColumnName, kind: PassKind, text: str) -> None:
        last = self._last.get(column)
        if last is not None and last.kind == kind:
            last.parts.append(text)
        else:
            last = self._last[column] = _Text(column, kind, [text])
            self._put(last)

    def result(self, event: PassEvent) -> None:
        self._last.pop(event.column, None)
        self._put(event)

    def answer(self, event: AnswerEvent) -> None:
        self._put(event)

    def _put(self, item: _Text | PassEvent | AnswerEvent) -> None:
        self._waiting.append(item)
        self._news.set()

    async def __aiter__(self) -> AsyncIterator[Event]:
        while self._open or self._waiting:
            while self._waiting:
                yield self._fetched(self._waiting.popleft())
            if self._open:
                self._news.clear()
                await self._news.wait()

    def _fetched(self, item: _Text | PassEvent | AnswerEvent) -> Event:
        if isinstance(item, _Text):
            if self._last.get(item.column) is item:
                del self._last[item.column]
            return item.event()
        self._open -= isinstance(item, AnswerEvent)
        return item


class ColumnFeed:
    """A listener of one column's answer that tells a feed."""

    def __init__(self, feed: Feed, column: ColumnName) -> None:
        self._feed, self._column = feed, column

    def text(self, kind: PassKind, text: str) -> None:
        self._feed.text(self._column, kind, text)

    def done(self, result: Pass) -> None:
        self._feed.result(PassEvent(column=self._column, result=result))

    def answered(self, answer: ColumnAnswer) -> None:
        self._feed.answer(AnswerEvent(answer=answer))
