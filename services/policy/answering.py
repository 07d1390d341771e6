"""What answers a request asks of its columns: each by itself, so that one that fails or dawdles holds up no other."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass

import structlog

from rl_gym.gym.core import Episode
from rl_gym.infra.errors import InfrastructureError, RlGymError
from rl_gym.infra.hosting.errors import error_body, request_id
from rl_gym.serving.columns import Column
from rl_gym.serving.judges import Judge, Standard
from rl_gym.serving.loop import Listener, Plan, answer
from rl_gym.wire import ColumnAnswer, ErrorBody, GenerateRequest
from rl_gym.wire.generate import ColumnName
from services.policy.columns import Columns
from services.policy.feed import ColumnFeed, Event, Feed
from services.policy.metrics import PolicyMetrics

__all__ = ["Answering", "Outcome", "episode_of", "standard_of"]

_log = structlog.get_logger("answering")


@dataclass(frozen=True, slots=True)
class Outcome:
    """A column's answer; where it has none, `error` is why."""

    answer: ColumnAnswer
    error: RlGymError | None = None


class Answering:
    """Runs the served loop for the columns of a request."""

    def __init__(self, columns: Columns, judge: Judge, metrics: PolicyMetrics) -> None:
        self._columns, self._judge, self._metrics = columns, judge, metrics

    async def outcomes(self, request: GenerateRequest, plan: Plan) -> list[Outcome]:
        """Every column's outcome, in the order asked for."""
        return await asyncio.gather(*(self._outcome(name, request, plan, None) for name in request.engines))

    async def events(self, request: GenerateRequest, plan: Plan) -> AsyncGenerator[Event, None]:
        """What happens in every column, as it happens; whoever stops listening stops the work."""
        feed = Feed(len(request.engines))
        tasks = [asyncio.create_task(self._told(name, request, plan, feed)) for name in request.engines]
        try:
            async for event in feed:
                yield event
        finally:
            await _cancelled(tasks)

    async def _told(self, name: ColumnName, request: GenerateRequest, plan: Plan, feed: Feed) -> None:
        listener = ColumnFeed(feed, name)
        listener.answered((await self._outcome(name, request, plan, listener)).answer)

    async def _outcome(
        self, name: ColumnName, request: GenerateRequest, plan: Plan, listener: Listener | None
    ) -> Outcome:
        standard, episode = standard_of(request), episode_of(request)
        with self._columns.chosen(name) as column:
            try:
                outcome = Outcome(await self._answer(column, standard, episode, plan, listener))
            except RlGymError as error:
                body = ErrorBody(**error_body(error.code, str(error)))
                outcome = Outcome(ColumnAnswer(column=name, model=column.served, error=body), error)
        self._metrics.answered(request.mode, outcome.answer)
        return outcome

    async def _answer(
        self, column: Column, standard: Standard, episode: Episode, plan: Plan, listener: Listener | None
    ) -> ColumnAnswer:
        try:
            self._columns.check_up(column)
            return await answer(self._metrics.metered(column), self._judge, standard, episode, plan, listener)
        except RlGymError:
            raise
        except Exception:
            # One column's bug is no reason to withhold what the others say.
            _log.exception("unexpected", column=column.name)
            raise InfrastructureError(
                "something unexpected went wrong; the log says more under this request id"
            ) from None


def episode_of(request: GenerateRequest) -> Episode:
    """The episode that a request is: what the prompt is made of, and what the judge is told of it."""
    data = {"required": list(request.required)} if request.required else {}
    return Episode(request_id(), request.request, "served", data)


def standard_of(request: GenerateRequest) -> Standard:
    """What the passes of a request are judged by."""
    return Standard(request.environment, request.ruleset, request.profile)


async def _cancelled(tasks: Sequence[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
