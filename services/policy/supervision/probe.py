"""Asks a vLLM server whether it lives: by the models that it lists, and by a token that it really generates."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import httpx

from rl_gym.infra.errors import InfrastructureError, one_line

__all__ = ["Probe"]

_CALL_SECONDS = 10
_PAUSE_SECONDS = 0.5
_COUNTERS = ("vllm:generation_tokens_total", "vllm:prompt_tokens_total")


class Probe:
    """For the server at `address`, `/v1` included; `model` is the name of its base model."""

    def __init__(
        self, address: str, api_key: str, model: str, transport: httpx.AsyncBaseTransport | None = None
    ) -> None:
        self._model = model
        headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        self._client = httpx.AsyncClient(
            base_url=address, headers=headers, timeout=_CALL_SECONDS, transport=transport, trust_env=False
        )
        self._made = 0.0

    async def close(self) -> None:
        await self._client.aclose()

    async def lists(self) -> None:
        """Raises InfrastructureError unless the server lists the model."""
        body = await self._call("GET", "models")
        try:
            names = [model["id"] for model in body["data"]]
        except (KeyError, TypeError):
            raise InfrastructureError("what answers there is no OpenAI-compatible server") from None
        if self._model not in names:
            raise InfrastructureError(f"it does not serve {self._model!r}, but {', '.join(map(str, names))[:200]}")

    async def token(self, seconds: float) -> None:
        """One generated token within so many seconds, or InfrastructureError.

        A busy server may have no place for one more: tokens that it generates for others count as well.
        """
        before = await self._count()
        ends = time.monotonic() + seconds
        while True:
            try:
                await self._generate(max(0.001, ends - time.monotonic()))
                return
            except InfrastructureError as error:
                if time.monotonic() + _PAUSE_SECONDS < ends:
                    await asyncio.sleep(_PAUSE_SECONDS)
                elif await self._count() > before:
                    return
                else:
                    raise InfrastructureError(f"no token within {seconds:g} s: {error}") from None

    async def busy(self) -> bool:
        """Whether it worked on tokens since this was asked last."""
        before, self._made = self._made, await self._count()
        return self._made > before

    async def _generate(self, seconds: float) -> None:
        ask = {"model": self._model, "prompt": "Hello", "max_tokens": 1, "ignore_eos": True}
        body = await self._call("POST", "completions", json=ask, timeout=seconds)
        try:
            made = body["usage"]["completion_tokens"] >= 1
        except (KeyError, TypeError):
            made = False
        if not made:
            raise InfrastructureError("it answered without a token")

    async def _count(self) -> float:
        """Tokens that it worked on so far; 0 where it does not say."""
        try:
            text = (await self._client.get("../metrics")).raise_for_status().text
        except httpx.HTTPError:
            return 0.0
        return sum(float(line.rpartition(" ")[2]) for line in text.splitlines() if line.startswith(_COUNTERS))

    async def _call(self, method: str, path: str, **options: Any) -> Any:
        try:
            response = await self._client.request(method, path, **options)
        except httpx.HTTPError as error:
            raise InfrastructureError(f"{type(error).__name__}: {one_line(str(error), 200)}".rstrip(": ")) from None
        if response.status_code == httpx.codes.UNAUTHORIZED:
            raise InfrastructureError("it refuses the API key")
        if not response.is_success:
            raise InfrastructureError(f"it answers {response.status_code}: {one_line(response.text, 200)}")
        try:
            return response.json()
        except ValueError:
            raise InfrastructureError("what answers there is no OpenAI-compatible server") from None
