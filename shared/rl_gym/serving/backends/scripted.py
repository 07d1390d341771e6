"""A scripted engine, for tests and benchmarks: what it answers is written beforehand, and it keeps exact time."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from rl_gym.infra.errors import InfrastructureError, NotFoundError, UsageError
from rl_gym.serving.backends.protocol import Completions, OnText, PromptTooLongError
from rl_gym.serving.backends.seeds import sample_seed
from rl_gym.serving.sampling import Sample, Sampling
from rl_gym.wire.cost import Usage

__all__ = ["Asked", "Script", "ScriptedBackend"]

_TOKEN = re.compile(r"\s*\S+|\s+")
_LOGPROB = -0.5


@dataclass(frozen=True, slots=True)
class Asked:
    """What the script answers to: a prompt, the model, and the random number of the sample, 0 where it is greedy."""

    prompt: str
    model: str
    number: int


Script = Callable[[Asked], str | Awaitable[str]]
"""The text of a sample. Where it raises the engine fails that way, and where it never returns the engine hangs."""


class ScriptedBackend:
    """Answers by a script, or by one of several texts: the first where it is greedy, else any, as the seed has it.

    A sample takes `call_seconds` and then `token_seconds` a token, and holds one of `slots` meanwhile, as sequences do
    in an engine that batches. A token is a word with the white space before it, and the end.
    """

    engine = "scripted"

    def __init__(
        self,
        script: Script | Sequence[str],
        *,
        models: Sequence[str] = ("scripted",),
        call_seconds: float = 0.0,
        token_seconds: float = 0.0,
        slots: int = 64,
        context: int = 4096,
    ) -> None:
        self._script = script if callable(script) else _any_of(list(script))
        self._models = list(models)
        self._call_seconds, self._token_seconds = call_seconds, token_seconds
        self._slots = asyncio.Semaphore(slots)
        self._context = context
        self.running = 0
        """Samples that hold a slot."""
        self._closed = False

    def deterministic(self, sampling: Sampling) -> bool:
        """True, as far as the script is."""
        return True

    async def models(self) -> list[str]:
        self._require_open()
        return list(self._models)

    async def load(self, name: str, folder: Path) -> None:
        """Answer to `name`, whatever is in `folder`; raises UsageError where it is none."""
        if not folder.is_dir():
            raise UsageError(f"no adapter in {folder}: no such folder")
        if name not in self._models:
            self._models.append(name)

    async def unload(self, name: str) -> None:
        if name in self._models:
            self._models.remove(name)

    async def complete(
        self, prompts: Sequence[str], sampling: Sampling, *, model: str, on_text: OnText | None = None
    ) -> Completions:
        self._require_open()
        if model not in self._models:
            raise NotFoundError(f"no model {model!r} here; there are: {', '.join(self._models) or 'none'}")
        for number, prompt in enumerate(prompts):
            self._check(number, prompt, sampling)
        started = time.monotonic()
        places = [(number, sample) for number in range(len(prompts)) for sample in range(sampling.n)]
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(self._sample(prompts, at, sampling, model, on_text)) for at in places]
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from None
        done = [task.result() for task in tasks]
        usage = Usage(
            prompt_tokens=sum(len(_tokens(prompt)) for prompt in prompts),
            completion_tokens=sum(sample.tokens for sample in done),
            seconds=time.monotonic() - started,
        )
        n = sampling.n
        return Completions([done[number * n : (number + 1) * n] for number in range(len(prompts))], usage, model)

    async def close(self) -> None:
        self._closed = True

    @asynccontextmanager
    async def _counted(self) -> AsyncIterator[None]:
        self.running += 1
        try:
            yield
        finally:
            self.running -= 1

    def _require_open(self) -> None:
        if self._closed:
            raise InfrastructureError("scripted: the engine is closed")

    def _check(self, number: int, prompt: str, sampling: Sampling) -> None:
        tokens, limit = len(_tokens(prompt)), self._context - sampling.max_tokens
        if not prompt:
            raise UsageError(f"prompt {number} is empty")
        if tokens > limit:
            raise PromptTooLongError(
                f"prompt {number} does not fit: {tokens} tokens, {sampling.max_tokens} to generate, "
                f"a context of {self._context}",
                tokens,
                max(limit, 0),
            )

    async def _sample(
        self, prompts: Sequence[str], at: tuple[int, int], sampling: Sampling, model: str, on_text: OnText | None
    ) -> Sample:
        number, sample = at
        seed = 0 if sampling.greedy else sample_seed(sampling.seed, prompts[number], sample)
        async with self._slots, self._counted():
            started = time.monotonic()
            text = self._script(Asked(prompts[number], model, seed))
            whole = _tokens(text if isinstance(text, str) else await text)
            words = whole[: sampling.max_tokens]
            tokens = min(len(whole) + 1, sampling.max_tokens)
            first = started + self._call_seconds
            if on_text is not None:
                for place, word in enumerate(words, start=1):
                    await _until(first + place * self._token_seconds)
                    on_text(number, sample, word)
            await _until(first + tokens * self._token_seconds)
        logprobs = (_LOGPROB,) * tokens if sampling.logprobs else None
        return Sample("".join(words), tokens, "stop" if tokens > len(whole) else "length", logprobs)


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(text)


def _any_of(texts: Sequence[str]) -> Script:
    if not texts:
        raise UsageError("scripted: there is no text to answer with")
    return lambda asked: texts[asked.number % len(texts)]


async def _until(moment: float) -> None:
    """Wait for a moment of the monotonic clock, so that late wake-ups do not add up."""
    await asyncio.sleep(max(0.0, moment - time.monotonic()))
