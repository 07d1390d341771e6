"""Answers of the OpenAI protocol, chat and completions alike, gathered into samples; whole or piece by piece."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

from pydantic import BaseModel, Field, ValidationError

from rl_gym.infra.errors import InfrastructureError, UsageError, one_line
from rl_gym.serving.backends.openai.faults import of_content, refusal
from rl_gym.serving.sampling import Sample, Sampling
from rl_gym.wire.complete import FinishReason

__all__ = ["Answer", "Gathering"]

_FAILED = 500
_NAME_CHARACTERS = 200
_MOST_CHARACTERS = 262_144
"""Of a sample, as of a message of ours; far more than the most tokens that are asked for."""
Count = Annotated[int, Field(ge=0, le=2**40)]


class _TokenLogprob(BaseModel):
    logprob: float


class _Logprobs(BaseModel):
    """Of completions `token_logprobs`, of chat `content`."""

    token_logprobs: list[float] | None = None
    content: list[_TokenLogprob] | None = None

    def values(self) -> list[float]:
        return self.token_logprobs or [token.logprob for token in self.content or ()]


class _Message(BaseModel):
    content: str | None = None


class _Choice(BaseModel):
    """Of completions `text`; of chat `message`, or `delta` in a stream. `token_ids` is of vLLM alone."""

    index: Count = 0
    text: str | None = None
    message: _Message | None = None
    delta: _Message | None = None
    finish_reason: str | None = None
    logprobs: _Logprobs | None = None
    token_ids: list[int] | None = None

    def said(self) -> str:
        message = self.message or self.delta
        return self.text or (message.content if message else None) or ""


class _Usage(BaseModel):
    prompt_tokens: Count
    completion_tokens: Count = 0


class _Reply(BaseModel):
    model: str = ""
    choices: list[_Choice] = []
    usage: _Usage | None = None
    error: Any = None


@dataclass(frozen=True, slots=True)
class Answer:
    """The samples of one prompt, what they took by the engine's count, and the model that it names."""

    samples: list[Sample]
    prompt_tokens: int
    completion_tokens: int
    model: str


@dataclass(slots=True)
class _Part:
    """One sample on its way."""

    text: list[str] = field(default_factory=list)
    characters: int = 0
    logprobs: list[float] = field(default_factory=list)
    tokens: int = 0
    finish: str | None = None


class Gathering:
    """Takes in one answer; raises InfrastructureError for what is not of the protocol, or not whole.

    A sample's tokens are counted by its token ids, else by its log-probabilities, else by the engine's usage. That one
    is of all samples together: for `n` above 1 it is shared out by length of text, as near as can be known. vLLM
    counts the end token; an engine that does not is a token short on every sample that ended by itself.
    """

    def __init__(self, who: str, sampling: Sampling, secret: str = "") -> None:
        """`who` is the engine in words, `secret` what no error may repeat of its words."""
        self._who, self._sampling, self._secret = who, sampling, secret
        self._parts = [_Part() for _ in range(sampling.n)]
        self._usage: _Usage | None = None
        self._model = ""

    def take(self, data: bytes) -> Iterator[tuple[int, str]]:
        """Take in an event, or the whole answer; gives the new text, with the number of its sample."""
        try:
            reply = _Reply.model_validate_json(data)
        except ValidationError:
            raise InfrastructureError(f"{self._who} sent what is not of the OpenAI protocol") from None
        if reply.error:
            raise self._failed(reply.error)
        self._usage = reply.usage or self._usage
        self._model = self._model or one_line(reply.model, _NAME_CHARACTERS)
        for choice in reply.choices:
            if choice.index >= len(self._parts):
                raise InfrastructureError(f"{self._who} sent more samples than it was asked for")
            self._add(self._parts[choice.index], choice)
            if choice.said():
                yield choice.index, choice.said()

    def _failed(self, error: Any) -> Exception:
        """An engine that fails when its answer has begun says so within it, and the status is a field."""
        said = of_content(_FAILED, {"error": error}, self._secret)
        if said.code.isdecimal() and 400 <= int(said.code) <= 599:
            said = replace(said, status=int(said.code))
        return refusal(self._who, said, {}, self._sampling.max_tokens)

    def _add(self, part: _Part, choice: _Choice) -> None:
        part.text.append(choice.said())
        part.characters += len(choice.said())
        if part.characters > _MOST_CHARACTERS:
            raise InfrastructureError(f"{self._who} sent a sample of more than {_MOST_CHARACTERS} characters")
        part.tokens += len(choice.token_ids or ())
        if choice.logprobs is not None:
            part.logprobs += choice.logprobs.values()
        part.finish = choice.finish_reason or part.finish

    def answer(self) -> Answer:
        """All of it, once it has been taken in."""
        if self._usage is None:
            raise InfrastructureError(f"{self._who} does not say how many tokens its answer took")
        counts = self._counts(self._usage.completion_tokens)
        samples = [self._sample(part, count) for part, count in zip(self._parts, counts, strict=True)]
        return Answer(samples, self._usage.prompt_tokens, self._usage.completion_tokens, self._model)

    def _counts(self, total: int) -> list[int]:
        known: list[Callable[[_Part], int]] = [lambda part: part.tokens, lambda part: len(part.logprobs)]
        for count in known:
            if all(count(part) for part in self._parts):
                return [count(part) for part in self._parts]
        lengths = [len("".join(part.text)) + 1 for part in self._parts]
        ends = [round(total * sum(lengths[: number + 1]) / sum(lengths)) for number in range(len(lengths))]
        return [end - start for start, end in zip([0, *ends], ends, strict=False)]

    def _sample(self, part: _Part, tokens: int) -> Sample:
        reason = _finish(self._who, part.finish)
        if not self._sampling.logprobs:
            return Sample("".join(part.text), tokens, reason)
        if not part.logprobs:
            raise UsageError(f"{self._who} gives no log-probabilities")
        if not all(math.isfinite(logprob) for logprob in part.logprobs):
            raise InfrastructureError(f"{self._who} sent log-probabilities that are no numbers")
        return Sample("".join(part.text), tokens, reason, tuple(part.logprobs))


def _finish(who: str, reason: str | None) -> FinishReason:
    """Why a sample ended. Any other end (a filter, an abort) is not the model's: the text must not be judged as its."""
    if reason == "stop":
        return "stop"
    if reason == "length":
        return "length"
    if reason is None:
        raise InfrastructureError(f"{who} did not finish its answer")
    raise InfrastructureError(f"{who} ended its answer by {reason[:40]!r}, which is no end of the model's own")
