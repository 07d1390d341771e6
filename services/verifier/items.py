"""The items of a batch, each by itself: from the cache, else by a worker, and a bad one spoils no other."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence

from pydantic_core import PydanticSerializationError, to_json

from rl_gym.infra.errors import TooLargeError, UsageError
from rl_gym.infra.hosting.errors import error_body
from services.verifier.cache import JudgementCache, cache_key
from services.verifier.frames import Answer, Kind
from services.verifier.metrics import VerifierMetrics
from services.verifier.pool import Pool
from services.verifier.tasks import Task

__all__ = ["ItemScorer"]

_OUTCOMES = {Kind.JUDGED: "judged", Kind.REFUSED: "refused", Kind.FAULT: "fault"}


class ItemScorer:
    """Makes a ScoreResult, in JSON, of each item; one of more than `item_bytes` is refused."""

    def __init__(self, pool: Pool, cache: JudgementCache, metrics: VerifierMetrics, item_bytes: int) -> None:
        self._pool, self._cache, self._metrics = pool, cache, metrics
        self._item_bytes = item_bytes

    async def results(self, task: Task, decided_by: Sequence[str], items: Sequence[object]) -> list[bytes]:
        """One result an item, in order; `decided_by` names all that decides beside the item. Raises BusyError."""
        answers: list[Answer | None] = [None] * len(items)
        to_judge: list[tuple[int, bytes, bytes]] = []
        for position, item in enumerate(items):
            try:
                packed = self._packed(item)
            except UsageError as error:
                answers[position] = Answer.error(Kind.REFUSED, error.code, str(error), error.status)
                continue
            key = cache_key(decided_by, packed)
            kept = self._cache.get(key)
            if kept is None:
                to_judge.append((position, key, packed))
            else:
                answers[position] = Answer(Kind.JUDGED, kept)
                self._metrics.cache_hits.inc()
        self._metrics.cache_misses.inc(len(to_judge))
        judged = await self._pool.run(task, [packed for _, _, packed in to_judge]) if to_judge else []
        for (position, key, _), answer in zip(to_judge, judged, strict=True):
            answers[position] = answer
            if answer.kind is Kind.JUDGED:
                self._cache.put(key, answer.body)
        done = [answer for answer in answers if answer is not None]
        for kind, count in Counter(answer.kind for answer in done).items():
            self._metrics.items.labels(_OUTCOMES[kind]).inc(count)
        return [_result(answer) for answer in done]

    def _packed(self, item: object) -> bytes:
        """An item in JSON. Raises UsageError for what is none, TooLargeError for what is too much."""
        try:
            packed = to_json(item)
            if b"Infinity" in packed:
                # Either a word in a text, or a number like 1e999, which the standard library alone refuses to write.
                json.dumps(item, allow_nan=False)
        except PydanticSerializationError:
            raise UsageError(
                "a string holds half of a surrogate pair, which is no text, or lists nest too deep"
            ) from None
        except ValueError as error:
            raise UsageError(f"the item is not JSON that is read here: {error}") from None
        if len(packed) > self._item_bytes:
            raise TooLargeError(f"the item has {len(packed)} bytes; at most {self._item_bytes} are allowed")
        return packed


def _result(answer: Answer) -> bytes:
    """A ScoreResult, in JSON."""
    if answer.kind is Kind.JUDGED:
        return b'{"scorecard":' + answer.body + b',"error":null}'
    said = json.loads(answer.body)
    error = json.dumps(error_body(said["error"], said["detail"]))
    return b'{"scorecard":null,"error":' + error.encode() + b"}"
