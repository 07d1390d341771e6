"""Puts the parts of the service together: engine, columns, promotion, judge."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from rl_gym.infra.object_store import open_store
from rl_gym.infra.principals import Issuer
from rl_gym.infra.signing import KeyRing, SigningKey
from rl_gym.serving.admission import Admission
from rl_gym.serving.backends import ModelBackend
from rl_gym.serving.canary import Canary
from rl_gym.serving.columns import Column, EnginePlace
from rl_gym.serving.cost import Prices
from rl_gym.serving.deployment import Deployment, Promotions
from rl_gym.serving.loop import prompts_of
from rl_gym.serving.verifier_judge import VerifierJudge
from services.policy.columns import Columns
from services.policy.engines import OwnEngine, outside_column, own_engine
from services.policy.settings import PolicySettings
from services.policy.supervision import Engine
from services.policy.verifier_process import VerifierProcess

__all__ = ["Parts", "assemble", "wire"]


@dataclass(frozen=True, slots=True)
class Parts:
    """What the service runs; `open` and `close` belong to its life."""

    engine: Engine
    place: EnginePlace
    columns: Columns
    deployment: Deployment
    judge: VerifierJudge
    verifier: VerifierProcess | None
    outside: ModelBackend | None

    async def open(self) -> None:
        """Begin; engine and verifier come up meanwhile."""
        if self.verifier is not None:
            await self.verifier.open()
        await self.engine.open()

    async def close(self) -> None:
        await self.deployment.close()
        await self.engine.close()
        for backend in (self.place.backend, self.outside):
            if backend is not None:
                await backend.close()
        await self.judge.close()
        if self.verifier is not None:
            await self.verifier.close()


def wire(settings: PolicySettings, request_id: Callable[[], str]) -> Parts:
    """The parts that settings name, none begun.

    Raises UsageError for settings that do not fit, NotFoundError for a missing model or key.
    """
    verifier = None if settings.verifier else VerifierProcess()
    judge = VerifierJudge(
        verifier.address if verifier else settings.verifier,
        caller=_caller(settings),
        request_id=request_id,
        seconds=settings.verifier_seconds,
    )
    return assemble(settings, own_engine(settings), judge, verifier)


def assemble(
    settings: PolicySettings, own: OwnEngine, judge: VerifierJudge, verifier: VerifierProcess | None = None
) -> Parts:
    """The parts around an engine and a judge."""
    place = EnginePlace(own.backend, Admission(settings.engine_sequences, settings.queue_sequences))
    promotions = Promotions(
        partial(open_store, settings.objects), KeyRing.load(settings.promotion_keys), settings.adapters.absolute()
    )
    canary = Canary.of(prompts_of(settings.environments[0]))
    deployment = Deployment(own.backend, own.base, own.first, promotions, canary)
    own.engine.on_up = deployment.restore
    prices = Prices(settings.gpu_hour_usd, settings.prompt_million_usd, settings.completion_million_usd)
    columns = [Column("tuned", place, own.first, prices), Column("base", place, own.base, prices)]
    outside = outside_column(settings)
    if outside is not None:
        columns.append(outside)
    return Parts(
        engine=own.engine,
        place=place,
        columns=Columns(columns, deployment, own.engine, closed=settings.boundary == "closed"),
        deployment=deployment,
        judge=judge,
        verifier=verifier,
        outside=outside.place.backend if outside else None,
    )


def _caller(settings: PolicySettings) -> Issuer | None:
    if not settings.signing_key:
        return None
    return Issuer(SigningKey.load(settings.signing_key), "policy", "verifier", ["score"])
