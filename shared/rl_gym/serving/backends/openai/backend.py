"""An engine behind the OpenAI protocol, one request a prompt, many at a time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import httpx
from pydantic import BaseModel, ValidationError

from rl_gym.infra.errors import InfrastructureError, UsageError
from rl_gym.serving.backends.openai.address import root
from rl_gym.serving.backends.openai.bodies import events, read_whole
from rl_gym.serving.backends.openai.dialects import PATHS, Dialect, body
from rl_gym.serving.backends.openai.faults import NoChatTemplateError, NoRouteError
from rl_gym.serving.backends.openai.replies import Answer, Gathering
from rl_gym.serving.backends.openai.transport import Request, Transport
from rl_gym.serving.backends.protocol import Completions, OnText
from rl_gym.serving.sampling import Sampling
from rl_gym.wire.cost import Usage

__all__ = ["Api", "OpenAIBackend", "Prompt"]

Api = Literal["chat", "completions", "auto"]

_SECONDS = 120.0
_CONNECTIONS = 64


class _Model(BaseModel):
    id: str


class _Models(BaseModel):
    data: list[_Model]


@dataclass(frozen=True, slots=True)
class Prompt:
    """One prompt of a call, and how it is to be completed."""

    number: int
    text: str
    sampling: Sampling
    model: str
    on_text: OnText | None


class OpenAIBackend:
    """Any address that speaks the OpenAI protocol.

    `api` is how a prompt is sent: "chat" as a user's message, which the engine sets into the model's chat template;
    "completions" as it stands, for models without one; "auto" asks the engine, once a model.

    Log-probabilities are the engine's: vLLM gives those before temperature and top_p unless it was started with
    `--logprobs-mode processed_logprobs`. An engine may cut a completion short where the prompt leaves less than
    `max_tokens`; its sample then ends by "length".
    """

    engine = "openai"

    def __init__(
        self,
        address: str,
        *,
        api_key: str = "",
        api: Api = "auto",
        deterministic_greedy: bool = False,
        paid: bool = True,
        idempotent: bool = False,
        seconds: float = _SECONDS,
        connections: int = _CONNECTIONS,
        headers: Mapping[str, str] | None = None,
        fields: Mapping[str, Any] | None = None,
        client: httpx.AsyncClient | None = None,
    ) -> None:
        """`address` may end in `/v1`; `seconds` bounds a prompt, all its tries together, `connections` those at a time.

        `paid` requests are not repeated once the engine may have worked on them, unless it honours the header
        `Idempotency-Key` (`idempotent`). `headers` and `fields` of the body are sent along.
        """
        if not (seconds > 0 and connections > 0):
            raise UsageError("openai: seconds and connections must be above 0")
        self._transport = Transport(
            root(address),
            api_key=api_key,
            headers=headers,
            seconds=seconds,
            connections=connections,
            paid=paid,
            idempotent=idempotent,
            client=client,
        )
        self._api: Api = api
        self._dialects: dict[str, Dialect] = {}
        self._deterministic_greedy = deterministic_greedy
        self._fields = dict(fields or {})

    def deterministic(self, sampling: Sampling) -> bool:
        """What was said of the engine, for greedy; sampling depends on the batch in every engine known to us."""
        return sampling.greedy and self._deterministic_greedy

    async def models(self) -> list[str]:
        content = await self._transport.call(Request("/v1/models", harmless=True), read_whole)
        try:
            return [model.id for model in _Models.model_validate_json(content).data]
        except ValidationError:
            raise InfrastructureError(f"{self._transport.who} sent what is no list of models") from None

    async def complete(
        self, prompts: Sequence[str], sampling: Sampling, *, model: str, on_text: OnText | None = None
    ) -> Completions:
        started = time.monotonic()
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [
                    group.create_task(self._ask(Prompt(number, text, sampling, model, on_text)))
                    for number, text in enumerate(prompts)
                ]
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from None
        answers = [task.result() for task in tasks]
        usage = Usage(
            prompt_tokens=sum(answer.prompt_tokens for answer in answers),
            completion_tokens=sum(answer.completion_tokens for answer in answers),
            seconds=time.monotonic() - started,
        )
        named = (answer.model for answer in answers if answer.model not in ("", model))
        return Completions([answer.samples for answer in answers], usage, next(named, model))

    async def close(self) -> None:
        await self._transport.close()

    async def _ask(self, prompt: Prompt) -> Answer:
        """One prompt, in the dialect that its model takes."""
        if not prompt.text:
            raise UsageError(f"prompt {prompt.number} is empty")
        known = self._dialects.get(prompt.model) if self._api == "auto" else self._api
        if known is not None:
            return await self._exchange(known, prompt)
        try:
            answer = await self._exchange("chat", prompt)
            self._dialects[prompt.model] = "chat"
        except (NoChatTemplateError, NoRouteError):
            answer = await self._exchange("completions", prompt)
            self._dialects[prompt.model] = "completions"
        return answer

    async def _exchange(self, dialect: Dialect, prompt: Prompt) -> Answer:
        await self._check(dialect, prompt)
        sampling, on_text, told = prompt.sampling, prompt.on_text, False
        fields = body(dialect, prompt.text, sampling, prompt.model, stream=on_text is not None) | self._fields

        async def read(response: httpx.Response) -> Answer:
            nonlocal told
            gathering = Gathering(self._transport.who, sampling, self._transport.secret)
            if on_text is None:
                list(gathering.take(await read_whole(response)))
                return gathering.answer()
            async for data in events(response):
                for sample, text in gathering.take(data):
                    told = True
                    on_text(prompt.number, sample, text)
            return gathering.answer()

        request = Request(PATHS[dialect], fields, sampling.max_tokens)
        return await self._transport.call(request, read, repeatable=lambda: not told)

    async def _check(self, dialect: Dialect, prompt: Prompt) -> None:
        """For engines that have to be asked something before they are asked to complete."""
