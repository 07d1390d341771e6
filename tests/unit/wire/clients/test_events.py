"""Server-sent events are cut alike, however they arrive, and none grows without bound."""

from __future__ import annotations

from itertools import chain

import pytest

from rl_gym.infra.errors import InfrastructureError
from rl_gym.wire.clients import events
from rl_gym.wire.clients.events import EventReader, SentEvent

STREAM = (
    b": ping\r\n\r\n"
    b'event: tokens\r\ndata: {"a": "\xc3\xa9"}\r\n\r\n'
    b"id: 7\nretry: 10\nevent:pass\ndata:1\ndata: 2\n\n"
    b"event: empty\n\n"
    b"data\n\n"
    b": ping\n\n"
    b"data: cut short\n"
)
READ = [SentEvent("tokens", b'{"a": "\xc3\xa9"}'), SentEvent("pass", b"1\n2"), SentEvent("", b"")]


@pytest.mark.parametrize("size", [1, 2, 3, 7, len(STREAM)])
def test_events_do_not_depend_on_how_they_arrive(size: int) -> None:
    reader = EventReader()
    parts = [STREAM[start : start + size] for start in range(0, len(STREAM), size)]
    assert [event for part in parts for event in reader.feed(part)] == READ


@pytest.mark.parametrize("part", [b"x" * 10, b"data: xxxx\n", b": xxxxxxx\n"])
def test_an_event_is_bounded_whatever_it_is_made_of(monkeypatch: pytest.MonkeyPatch, part: bytes) -> None:
    monkeypatch.setattr(events, "MAX_EVENT_BYTES", 100)
    reader = EventReader()
    with pytest.raises(InfrastructureError, match="an event of more than"):
        list(chain.from_iterable(reader.feed(part) for _ in range(20)))


def test_any_number_of_events_may_follow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "MAX_EVENT_BYTES", 100)
    reader = EventReader()
    assert sum(len(list(reader.feed(b": ping\n\ndata: x\n\n"))) for _ in range(50)) == 50
