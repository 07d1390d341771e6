"""Answers in server-sent events: what is held for one is held until its last event, or until its reader has gone."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

from pydantic import BaseModel
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.types import Receive, Scope, Send

__all__ = ["SEND_SECONDS", "EventStream", "document_events"]

_PING_SECONDS = 15
SEND_SECONDS = 30
"""A reader that takes nothing for so long has gone."""


class EventStream(EventSourceResponse):
    """Events, and what is held for them. After SIGTERM the stream has `grace_seconds` to end by itself."""

    def __init__(
        self, events: AsyncIterator[ServerSentEvent], held: AsyncExitStack, *, grace_seconds: float = 0.0
    ) -> None:
        super().__init__(
            events,
            ping=_PING_SECONDS,
            send_timeout=SEND_SECONDS,
            headers={"Cache-Control": "no-store"},
            shutdown_grace_period=grace_seconds,
        )
        self._held = held

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with self._held:
            await super().__call__(scope, receive, send)


def document_events(*kinds: type[BaseModel]) -> dict[int | str, dict[str, Any]]:
    """What a route's OpenAPI says of an answer in events: the data of each is one of these messages."""
    schemas = [{"$ref": f"#/components/schemas/{kind.__name__}"} for kind in kinds]
    return {200: {"content": {"text/event-stream": {"schema": {"oneOf": schemas}}}}}
