"""What hosting adds to the served loop: bounds, supervision, promotion, and what there is to say of all that."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator
from dataclasses import asdict
from typing import Any, get_args

from prometheus_client import CollectorRegistry

from rl_gym.gym.core import Episode
from rl_gym.infra.errors import InfrastructureError, TooLargeError, UsageError
from rl_gym.infra.hosting.errors import error_body, request_id
from rl_gym.serving.judges import Standard
from rl_gym.serving.loop import Plan, prompts_of
from rl_gym.serving.sampling import Sample, Sampling
from rl_gym.wire import CompleteRequest, CompleteResponse, GenerateRequest, GenerateResponse, SampleBody
from rl_gym.wire.config import (
    ColumnConfig,
    ConfigResponse,
    EngineBody,
    GenerateLimits,
    PricesBody,
    PromotedState,
    ReloadResponse,
)
from rl_gym.wire.generate import Mode
from services.policy.answering import Answering, episode_of, standard_of
from services.policy.feed import Event
from services.policy.metrics import PolicyMetrics
from services.policy.settings import PolicySettings
from services.policy.wiring import Parts

__all__ = ["PolicyService"]

_REQUEST_CHARACTERS = 16_384
_LONGEST_TROUBLE = 2_000
_MOST_STANDARDS = 256


class PolicyService:
    """One for an application; `open` and `close` belong to its life."""

    def __init__(self, settings: PolicySettings, registry: CollectorRegistry, parts: Parts) -> None:
        self._settings = settings
        self._metrics = PolicyMetrics(registry)
        self._parts = parts
        self._answering = Answering(self._parts.columns, self._parts.judge, self._metrics)
        self._watching: asyncio.Task[None] | None = None
        self._looked = False
        """Whether it is known what is promoted: before, the base would answer in its place."""
        self._standards: set[Standard] = set()
        """Those by which the verifier has judged before."""
        admission = self._parts.place.admission
        self._metrics.gauge("sequences_inside", "Sequences that the engine works on", lambda: admission.inside)
        self._metrics.gauge("sequences_waiting", "Sequences that wait for the engine", lambda: admission.waiting)
        self._metrics.gauge("engine_ready", "Whether the engine answers", self._is_up)
        self._metrics.gauge("engine_restarts", "Restarts of the engine", lambda: self._parts.engine.state().restarts)
        self._metrics.word(
            "engine_configuration", "What was accepted of the ladder", lambda: self._parts.engine.state().rung
        )

    def _is_up(self) -> bool:
        return self._parts.engine.state().status == "ready"

    async def open(self) -> None:
        await self._parts.open()
        self._watching = asyncio.create_task(self._watch())

    async def close(self) -> None:
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.gather(self._watching, return_exceptions=True)
        await self._parts.close()

    async def _watch(self) -> None:
        """Follow the promoted model for as long as the service lives."""
        await self._parts.engine.ready()
        while True:
            await self.reload(patient=True)
            self._looked = True
            await asyncio.sleep(self._settings.promotion_seconds)

    async def generate(self, request: GenerateRequest) -> GenerateResponse:
        """Every column's answer. Raises UsageError for what cannot be asked, and the first column's error where no
        column has an answer.
        """
        plan = await self._checked(request)
        outcomes = await self._answering.outcomes(request, plan)
        errors = [outcome.error for outcome in outcomes if outcome.error is not None]
        if len(errors) == len(outcomes):
            raise errors[0]
        return GenerateResponse(
            request_id=request_id(),
            mode=request.mode,
            ruleset=request.ruleset,
            profile=request.profile,
            columns=[outcome.answer for outcome in outcomes],
        )

    async def stream(self, request: GenerateRequest) -> AsyncGenerator[Event, None]:
        """The same, event by event. Raises before the first one for what cannot be asked, BusyError where the line is
        full, and InfrastructureError where the verifier is down: no text is shown that nobody could judge.
        """
        plan = await self._checked(request)
        await self._parts.judge.ready()
        self._parts.columns.check_room(request.engines, request.n)
        return self._answering.events(request, plan)

    async def _checked(self, request: GenerateRequest) -> Plan:
        """How to go about it, in what is left of its time. Raises UsageError for what cannot be asked, and
        InfrastructureError where the verifier takes all the time.
        """
        seconds = self._settings.request_seconds
        end = time.monotonic() + seconds
        try:
            async with asyncio.timeout(seconds):
                await self._check(request)
        except TimeoutError:
            raise InfrastructureError(f"the verifier gave no answer within {seconds:g} s") from None
        return self._plan(request, end - time.monotonic())

    async def _check(self, request: GenerateRequest) -> None:
        self._parts.columns.check(request.engines)
        if request.environment not in self._settings.environments:
            known = ", ".join(self._settings.environments)
            raise UsageError(f"there is no environment {request.environment!r} here: choose among {known}")
        if request.n > self._settings.max_samples:
            raise UsageError(f"n: {request.n} samples; at most {self._settings.max_samples} are made here")
        env: Any = prompts_of(request.environment)
        if hasattr(env, "validate"):
            env.validate(episode_of(request))
        await self._check_standard(standard_of(request), episode_of(request))

    async def _check_standard(self, standard: Standard, episode: Episode) -> None:
        """Raises NotFoundError for a standard that the verifier does not have, before a model works in vain."""
        if standard in self._standards:
            return
        await self._parts.judge.score(standard, episode, [""])
        if len(self._standards) >= _MOST_STANDARDS:
            self._standards.clear()
        self._standards.add(standard)

    def _plan(self, request: GenerateRequest, seconds: float) -> Plan:
        settings = self._settings
        return Plan(
            mode=request.mode,
            n=request.n,
            fix=request.fix,
            seed=request.seed,
            max_tokens=settings.max_tokens,
            temperature=settings.temperature,
            top_p=settings.top_p,
            seconds=seconds,
        )

    async def complete(self, request: CompleteRequest) -> CompleteResponse:
        """Raw samples. Raises as the engine does, and TooLargeError for more than one request may ask for."""
        sequences = len(request.prompts) * request.sampling.n
        if sequences > self._settings.batch_sequences:
            most = self._settings.batch_sequences
            raise TooLargeError(f"{sequences} samples; at most {most} are made for a request: ask in parts")
        name = self._parts.columns.find(request.model)
        self._parts.columns.check([name])
        sampling = Sampling(**request.sampling.model_dump())
        with self._parts.columns.chosen(name) as column:
            self._parts.columns.check_up(column)
            made, seconds = await self._metrics.metered(column).complete(request.prompts, sampling)
            return CompleteResponse(
                model=column.served,
                samples=[[_body(sample) for sample in samples] for samples in made.samples],
                usage=made.usage,
                cost=column.prices.cost(made.usage, seconds),
                deterministic=column.deterministic(sampling),
            )

    def config(self) -> ConfigResponse:
        """What answers here now."""
        settings, parts = self._settings, self._parts
        return ConfigResponse(
            engine=self._engine(),
            columns=[
                ColumnConfig(
                    name=column.name,
                    model=column.served,
                    prices=PricesBody(**asdict(column.prices)),
                    deterministic=column.deterministic(Sampling(greedy=True)),
                )
                for column in parts.columns.all
            ],
            promoted=PromotedState(adapter_digest=parts.deployment.promoted, trouble=parts.deployment.trouble),
            modes=list(get_args(Mode)),
            limits=GenerateLimits(
                samples=settings.max_samples,
                max_tokens=settings.max_tokens,
                request_characters=_REQUEST_CHARACTERS,
            ),
        )

    def _engine(self) -> EngineBody:
        state = self._parts.engine.state()
        return EngineBody(
            name=self._parts.place.backend.engine,
            status=state.status,
            base=self._parts.columns.base.served.base,
            flags=dict(state.flags),
            rung=state.rung[:200],
            restarts=state.restarts,
            trouble=state.trouble[:_LONGEST_TROUBLE],
        )

    async def reload(self, *, patient: bool = False) -> ReloadResponse:
        """Look at the promoted model now; `patient` leaves alone for a while what failed a moment ago."""
        said = await self._parts.deployment.reload(patient=patient)
        self._metrics.reloads.labels(said.outcome).inc()
        return said

    async def readiness(self) -> tuple[bool, dict[str, Any]]:
        """Whether requests can be answered now, and how the parts are."""
        state = self._parts.engine.state()
        verifier = await self._parts.judge.trouble()
        ready = state.status == "ready" and self._looked and not verifier
        trouble = f", {state.trouble}" if state.trouble else ""
        said = f"engine: {state.status}{trouble}; verifier: {verifier or 'ready'}"
        said += "" if self._looked else "; what is promoted is not known yet"
        error = {} if ready else error_body("not_ready", said)
        return ready, {
            **error,
            "status": "ready" if ready else "not_ready",
            "engine": {"status": state.status, "trouble": state.trouble},
            "verifier": {"status": "not_ready" if verifier else "ready", "trouble": verifier},
            "model": self._parts.deployment.current().model_dump(),
        }


def _body(sample: Sample) -> SampleBody:
    return SampleBody(
        text=sample.text,
        tokens=sample.tokens,
        finish_reason=sample.finish_reason,
        logprobs=None if sample.logprobs is None else list(sample.logprobs),
    )
