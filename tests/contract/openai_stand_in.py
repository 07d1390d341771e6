"""A stand-in that speaks the OpenAI protocol over real HTTP, the way vLLM does, and answers by a scripted engine."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, Response, StreamingResponse

from rl_gym.infra.errors import NotFoundError, UsageError
from rl_gym.serving.backends import Completions, PromptTooLongError
from rl_gym.serving.backends.scripted import ScriptedBackend
from rl_gym.serving.sampling import Sample, Sampling

__all__ = ["StandIn", "serving"]

Told = tuple[int, str]

GONE = 499


class StandIn:
    """An engine over HTTP; `template` says whether its model has a chat template, without which it refuses chats."""

    def __init__(self, backend: ScriptedBackend, *, template: bool) -> None:
        self._backend, self._template = backend, template
        self.running = 0
        self.app = FastAPI()
        self.app.get("/v1/models")(self.models)
        self.app.post("/v1/completions")(self.completions)
        self.app.post("/v1/chat/completions")(self.chat)

    async def models(self) -> dict[str, Any]:
        return {"data": [{"id": name} for name in await self._backend.models()]}

    async def completions(self, request: Request) -> Response:
        asked = await request.json()
        return await self._answer(request, asked, asked["prompt"], chat=False)

    async def chat(self, request: Request) -> Response:
        asked = await request.json()
        if not self._template:
            return refusal(400, "you must provide a chat template if the tokenizer does not define one.")
        [message] = asked["messages"]
        return await self._answer(request, asked, message["content"], chat=True)

    async def _answer(self, request: Request, asked: dict[str, Any], prompt: str, *, chat: bool) -> Response:
        told: asyncio.Queue[Told | None] = asyncio.Queue()
        work = asyncio.create_task(self._complete(asked, prompt, told))
        if asked.get("stream"):
            return StreamingResponse(self._stream(asked["model"], work, told, chat), media_type="text/event-stream")
        gone = asyncio.create_task(disconnected(request))
        await asyncio.wait((work, gone), return_when=asyncio.FIRST_COMPLETED)
        if not work.done():
            work.cancel()
            return Response(status_code=GONE)
        gone.cancel()
        try:
            made = await work
        except PromptTooLongError as error:
            text = (
                f"maximum context length is {error.limit + asked['max_tokens']} tokens. However, {error.tokens} tokens"
            )
            return refusal(400, text, "input_tokens")
        except NotFoundError as error:
            return refusal(404, str(error), "model")
        except UsageError as error:
            return refusal(400, str(error))
        choices = [choice(number, sample, chat) for number, sample in enumerate(made.samples[0])]
        return JSONResponse({"model": asked["model"], "choices": choices, "usage": usage(made)})

    async def _complete(self, asked: dict[str, Any], prompt: str, told: asyncio.Queue[Told | None]) -> Completions:
        greedy = asked["temperature"] == 0
        sampling = Sampling(
            n=asked["n"],
            greedy=greedy,
            temperature=asked["temperature"] or 1.0,
            seed=asked.get("seed", 0),
            max_tokens=asked["max_tokens"],
            logprobs=bool(asked.get("logprobs")),
        )
        self.running += 1
        try:
            return await self._backend.complete(
                [prompt],
                sampling,
                model=asked["model"],
                on_text=lambda _, sample, text: told.put_nowait((sample, text)) if asked.get("stream") else None,
            )
        finally:
            self.running -= 1
            told.put_nowait(None)

    async def _stream(
        self, model: str, work: asyncio.Task[Completions], told: asyncio.Queue[Told | None], chat: bool
    ) -> AsyncIterator[str]:
        try:
            while (part := await told.get()) is not None:
                number, text = part
                words = {"delta": {"content": text}} if chat else {"text": text}
                yield event({"model": model, "choices": [{"index": number, "finish_reason": None, **words}]})
            made = await work
            for number, sample in enumerate(made.samples[0]):
                last = choice(number, sample, chat) | ({"delta": {}, "message": None} if chat else {"text": ""})
                yield event({"model": model, "choices": [last]})
            yield event({"model": model, "choices": [], "usage": usage(made)})
            yield "data: [DONE]\n\n"
        finally:
            work.cancel()


async def disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def event(content: dict[str, Any]) -> str:
    return f"data: {json.dumps(content)}\n\n"


def refusal(status: int, message: str, param: str | None = None) -> JSONResponse:
    return JSONResponse({"error": {"message": message, "param": param, "code": status}}, status)


def usage(made: Completions) -> dict[str, int]:
    return {"prompt_tokens": made.usage.prompt_tokens, "completion_tokens": made.usage.completion_tokens}


def choice(number: int, sample: Sample, chat: bool) -> dict[str, Any]:
    """One whole sample, its token ids along as vLLM gives them where it is asked."""
    values = list(sample.logprobs or ())
    logprobs = {"content": [{"logprob": value} for value in values]} if chat else {"token_logprobs": values}
    said = {"message": {"content": sample.text}} if chat else {"text": sample.text}
    return {
        "index": number,
        "finish_reason": sample.finish_reason,
        "logprobs": logprobs if values else None,
        "token_ids": [0] * sample.tokens,
        **said,
    }


@contextmanager
def serving(stand_in: StandIn) -> Iterator[str]:
    """The address of a stand-in that serves in a thread meanwhile."""
    config = uvicorn.Config(stand_in.app, port=0, log_level="error", lifespan="off")
    server = uvicorn.Server(config)
    listener = config.bind_socket()
    thread = threading.Thread(target=server.run, args=([listener],))
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(10)
        listener.close()
