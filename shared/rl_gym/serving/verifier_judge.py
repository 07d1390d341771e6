"""Judgements by the verifier service: a text that hangs or balloons there costs its own answer alone."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager

import httpx
from pydantic import ValidationError

from rl_gym.gym.core import Episode
from rl_gym.iac.standard import Standard
from rl_gym.infra.errors import ForbiddenError, InfrastructureError, RlGymError, UnauthorizedError
from rl_gym.serving.score_batches import ScoreBatches, scorecard_or_error
from rl_gym.wire import EpisodeBody, Fixed, FixRequest, Scorecard, ScoreItem
from rl_gym.wire.clients.calls import Caller
from rl_gym.wire.clients.verifier import AsyncVerifierClient
from rl_gym.wire.message import refusal

__all__ = ["VerifierJudge"]

_CONNECTIONS = 32
"""Fewer than a verifier serves at a time."""
_READY_HOLDS_SECONDS = 1.0
_READY_WAITS_SECONDS = 5.0


class VerifierJudge:
    """A `Judge` that asks the verifier at `address`, `seconds` at most for a judgement with all tries.

    `request_id` names the request that is being served, for the logs of both services; `caller` signs in whose name.
    """

    def __init__(
        self,
        address: str,
        *,
        caller: Caller | None = None,
        request_id: Callable[[], str] = lambda: "",
        seconds: float = 30.0,
        client: httpx.AsyncClient | None = None,
    ) -> None:
        limits = httpx.Limits(max_connections=_CONNECTIONS, max_keepalive_connections=_CONNECTIONS)
        client = client or httpx.AsyncClient(trust_env=False, limits=limits)
        self._verifier = AsyncVerifierClient(address, caller=caller, seconds=seconds, client=client)
        self._batches = ScoreBatches(self._verifier)
        self._address, self._seconds, self._request_id = address, seconds, request_id
        self._ready_until = float("-inf")
        self._asking: asyncio.Task[None] | None = None

    async def score(self, standard: Standard, episode: Episode, completions: Sequence[str]) -> list[Scorecard]:
        """All in one call, beside what others ask at the same time; an item that met with a fault is sent once more.

        Raises InfrastructureError where a fault remains or the verifier does not answer in time, and what it says of
        the caller's mistakes, of the family of UsageError.
        """
        if not completions:
            return []
        async with self._asked(self._seconds):
            answers = await self._answers(standard, episode, completions)
            faults = [number for number, one in enumerate(answers) if isinstance(one, InfrastructureError)]
            if faults:
                again = await self._answers(standard, episode, [completions[number] for number in faults])
                for number, answer in zip(faults, again, strict=True):
                    answers[number] = answer
        cards = []
        for answer in answers:
            if isinstance(answer, RlGymError):
                raise answer
            cards.append(answer)
        if len({card.breakdown.digest for card in cards}) != 1:
            raise self._fault("judged one batch by two standards")
        return cards

    async def _answers(
        self, standard: Standard, episode: Episode, completions: Sequence[str]
    ) -> list[Scorecard | RlGymError]:
        with _refusing():
            body = EpisodeBody.of(episode)
            items = [ScoreItem(episode=body, completion=completion) for completion in completions]
        results = await self._batches.results(standard, items, self._request_id())
        self._ready_until = time.monotonic() + _READY_HOLDS_SECONDS
        return [scorecard_or_error(result) for result in results]

    async def fix(self, standard: Standard, episode: Episode, completion: str) -> Fixed | None:
        """What the fixers make of a completion, None where they change nothing; raises as `score` does."""
        with _refusing():
            request = FixRequest(
                environment=standard.environment,
                ruleset=standard.ruleset,
                profile=standard.profile,
                episode=EpisodeBody.of(episode),
                completion=completion,
            )
        async with self._asked(self._seconds):
            return (await self._verifier.fix(request, self._request_id())).fixed

    async def ready(self) -> None:
        """Raises InfrastructureError where the verifier cannot judge now; what it did a moment ago counts.

        One check serves everyone who asks meanwhile.
        """
        if time.monotonic() < self._ready_until:
            return
        if self._asking is None or self._asking.done():
            self._asking = asyncio.create_task(self._ask())
        await asyncio.shield(self._asking)

    async def _ask(self) -> None:
        async with self._asked(_READY_WAITS_SECONDS):
            await self._verifier.ready()
        self._ready_until = time.monotonic() + _READY_HOLDS_SECONDS

    async def trouble(self) -> str:
        """Why the verifier cannot judge now; empty where it can."""
        try:
            await self.ready()
        except RlGymError as error:
            return str(error)
        return ""

    async def close(self) -> None:
        if self._asking is not None:
            self._asking.cancel()
            await asyncio.gather(self._asking, return_exceptions=True)
        await self._batches.close()
        await self._verifier.close()

    @asynccontextmanager
    async def _asked(self, seconds: float) -> AsyncIterator[None]:
        """Around calls that may take so long together; that the verifier refuses us is no mistake of our caller's."""
        try:
            async with asyncio.timeout(seconds):
                yield
        except TimeoutError:
            raise self._fault(f"gave no answer within {seconds:g} s") from None
        except (UnauthorizedError, ForbiddenError) as error:
            raise self._fault(f"refuses this service: {error}") from error

    def _fault(self, what: str) -> InfrastructureError:
        return InfrastructureError(f"the verifier at {self._address} {what}")


@contextmanager
def _refusing() -> Iterator[None]:
    """What does not fit in a message, such as a completion that is too long, is no fault of ours."""
    try:
        yield
    except ValidationError as error:
        raise refusal(error) from None
