"""The embedded engine: models in this process, run by `transformers` in one thread, batch after batch."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TypeVar

from rl_gym.infra.errors import BusyError, InfrastructureError, NotFoundError, UsageError, one_line
from rl_gym.serving.adapter_bases import is_adapter
from rl_gym.serving.backends.calls import Call, next_batch
from rl_gym.serving.backends.decoding import Row, decode
from rl_gym.serving.backends.loaded import LoadedModel, load_adapter, load_model
from rl_gym.serving.backends.protocol import Completions, OnText, PromptTooLongError
from rl_gym.serving.causal import CausalModel
from rl_gym.serving.sampling import Sampling
from rl_gym.wire.cost import Usage

__all__ = ["TransformersBackend"]

T = TypeVar("T")

_REASON_CHARACTERS = 200


class TransformersBackend:
    """Runs models that it was told to load; for small models and the CPU of this machine.

    Calls that arrive while a batch runs form the next one together, at most `batch_size` samples of one model, each
    call in turn, however they sample. A tokenizer with a chat template has the prompt as the user's message, any other
    as it stands. A sample follows from prompt, sampling and its number alone: the same prompt twice in a call has the
    same samples twice. For one event loop at a time.
    """

    engine = "transformers"

    def __init__(self, *, batch_size: int = 32, waiting: int = 1024) -> None:
        """`waiting` bounds the calls that wait for a place in a batch; one more raises BusyError."""
        if batch_size < 1 or waiting < 1:
            raise UsageError("transformers: batch_size and waiting must be at least 1")
        self._batch_size, self._most_waiting = batch_size, waiting
        self._models: dict[str, LoadedModel] = {}
        self._waiting: deque[Call] = deque()
        self._running: set[Call] = set()
        self._thread = ThreadPoolExecutor(1, "rl-gym-transformers")
        self._working: asyncio.Task[None] | None = None
        self._closed = False

    def deterministic(self, sampling: Sampling) -> bool:
        """True: choices too close for float32 are made by the row alone, and every row has noise of its own."""
        return True

    @property
    def running(self) -> int:
        """Calls that the batch at work holds samples of."""
        return len(self._running)

    async def models(self) -> list[str]:
        return list(self._models)

    async def load(self, name: str, folder: Path) -> None:
        """Answer to `name` with a model, or with a LoRA adapter (PEFT, safetensors) over a model loaded before.

        An adapter belongs to the model that its `base_model_name_or_path` names, by name or folder, else to the only
        one. Raises NotFoundError for an empty folder, UsageError for what cannot be loaded.
        """
        self._require_open()
        before = self._models.get(name)
        if is_adapter(folder):
            # In the thread, so between batches: it changes the network that they run through.
            self._models[name] = await self._between(partial(load_adapter, folder, dict(self._models)))
        else:
            self._models[name] = await asyncio.to_thread(load_model, folder)
        await self._forget(before)

    async def unload(self, name: str) -> None:
        await self._forget(self._models.pop(name, None))

    async def _forget(self, model: LoadedModel | None) -> None:
        if model is not None and model.adapter:
            await self._between(partial(model.adapters.remove, model.adapter))

    async def _between(self, work: Callable[[], T]) -> T:
        """Do something in the thread, where no batch runs meanwhile."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    async def complete(
        self, prompts: Sequence[str], sampling: Sampling, *, model: str, on_text: OnText | None = None
    ) -> Completions:
        self._require_open()
        if len(self._waiting) >= self._most_waiting:
            raise BusyError(f"transformers: {self._most_waiting} calls are waiting already")
        if model not in self._models:
            raise NotFoundError(f"no model {model!r} here; there are: {', '.join(self._models) or 'none'}")
        loaded, started = self._models[model], time.monotonic()
        encoded = await asyncio.to_thread(_encode, loaded.model, prompts, sampling)
        self._require_open()
        call = Call(loaded, prompts, encoded, sampling, streamed=on_text is not None)
        try:
            if prompts:
                self._enqueue(call)
            samples = await call.outcome(on_text)
        finally:
            call.left = True
            with suppress(ValueError):
                self._waiting.remove(call)
        usage = Usage(
            prompt_tokens=sum(map(len, encoded)),
            completion_tokens=sum(sample.tokens for answer in samples for sample in answer),
            seconds=time.monotonic() - started,
        )
        return Completions(samples, usage, model)

    async def close(self) -> None:
        """End the thread; calls on their way end with an InfrastructureError."""
        self._closed = True
        for call in [*self._waiting, *self._running]:
            call.fail(InfrastructureError("transformers: the engine was closed"))
        self._waiting.clear()
        await asyncio.to_thread(self._thread.shutdown)

    def _require_open(self) -> None:
        if self._closed:
            raise InfrastructureError("transformers: the engine is closed")

    def _enqueue(self, call: Call) -> None:
        self._waiting.append(call)
        if self._working is None or self._working.done():
            self._working = asyncio.create_task(self._work())

    async def _work(self) -> None:
        """Batch after batch until nobody waits."""
        while not self._closed:
            rows, self._running = next_batch(self._waiting, self._batch_size)
            if not rows:
                return
            model = next(iter(self._running)).model
            try:
                await self._between(partial(_run, model, rows))
            except Exception as error:
                for call in self._running:
                    call.fail(_fault(error))


def _run(loaded: LoadedModel, rows: Sequence[Row]) -> None:
    loaded.use()
    decode(loaded.model, loaded.ends, rows)


def _fault(error: Exception) -> InfrastructureError:
    """A batch that came to nothing, for whatever reason; its callers may try again."""
    reason = one_line(str(error), _REASON_CHARACTERS)
    fault = InfrastructureError(f"transformers: a batch failed with {type(error).__name__}: {reason}")
    fault.__cause__ = error
    return fault


def _encode(model: CausalModel, prompts: Sequence[str], sampling: Sampling) -> list[list[int]]:
    """The tokens of every prompt; raises UsageError for an empty one, PromptTooLongError for one that does not fit."""
    limit = model.context - sampling.max_tokens
    encoded = []
    for number, prompt in enumerate(prompts):
        tokens = model.encode(prompt)
        if not tokens:
            raise UsageError(f"prompt {number} is empty")
        if len(tokens) > limit:
            raise PromptTooLongError(
                f"prompt {number} does not fit: {len(tokens)} tokens, {sampling.max_tokens} to generate, "
                f"a context of {model.context}",
                len(tokens),
                max(limit, 0),
            )
        encoded.append(tokens)
    return encoded
