"""A wire that answers as it is told, below the real HTTP client."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any, TypeVar

import httpx

from rl_gym.serving.backends.openai import OpenAIBackend

T = TypeVar("T")
Body = bytes | Sequence[bytes | Exception]


class Chunks(httpx.AsyncByteStream):
    def __init__(self, body: Body) -> None:
        self._parts = [body] if isinstance(body, bytes) else list(body)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for part in self._parts:
            if isinstance(part, Exception):
                raise part
            yield part


class Reply:
    def __init__(self, status: int, body: Body = b"", **headers: str) -> None:
        self.status, self.body = status, body
        self.headers = {name.replace("_", "-"): text for name, text in headers.items()}

    def __repr__(self) -> str:
        return f"{self.status}"

    def response(self) -> httpx.Response:
        return httpx.Response(self.status, headers=self.headers, stream=Chunks(self.body))


class Wire(httpx.AsyncBaseTransport):
    """Answers in turn, the last one for ever, and keeps what it was sent. An error is raised, None never answers."""

    def __init__(self, *answers: Reply | Exception | None) -> None:
        self.answers = list(answers)
        self.requests: list[httpx.Request] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if answer is None:
            await asyncio.Event().wait()
        if isinstance(answer, Exception):
            raise answer
        assert answer is not None
        return answer.response()

    def sent(self, number: int = -1) -> dict[str, Any]:
        content: dict[str, Any] = json.loads(self.requests[number].content)
        return content


def engine(wire: Wire, **options: Any) -> OpenAIBackend:
    settings: dict[str, Any] = {"api": "completions", "seconds": 60} | options
    return OpenAIBackend("http://engine/v1", client=httpx.AsyncClient(transport=wire), **settings)


def run(wire: Wire, scenario: Callable[[OpenAIBackend], Awaitable[T]], **options: Any) -> T:
    async def whole() -> T:
        backend = engine(wire, **options)
        try:
            return await scenario(backend)
        finally:
            await backend.close()

    return asyncio.run(whole())


def reply(*texts: str, finish: str | None = "stop", model: str = "m", **more: Any) -> Reply:
    choices = [{"index": n, "text": text, "finish_reason": finish} for n, text in enumerate(texts or ("yes",))]
    usage = {"prompt_tokens": 3, "completion_tokens": 2 * len(choices)}
    return Reply(200, json.dumps({"model": model, "choices": choices, "usage": usage} | more).encode())


def refusal(status: int, message: str = "why", **fields: Any) -> Reply:
    return Reply(status, json.dumps({"error": {"message": message, **fields}}).encode())


def event(content: object) -> bytes:
    return f"data: {content if isinstance(content, str) else json.dumps(content)}\n\n".encode()


def piece(text: str, finish: str | None = None) -> bytes:
    return event({"model": "m", "choices": [{"index": 0, "text": text, "finish_reason": finish}]})


USAGE = event({"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}})
DONE = event("[DONE]")
