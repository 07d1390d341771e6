"""Columns: the models that a request may choose among, each with its engine, its place in line and its prices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from rl_gym.infra.errors import InfrastructureError, NotFoundError
from rl_gym.serving.admission import Admission
from rl_gym.serving.backends import Completions, ModelBackend, OnText
from rl_gym.serving.cost import EngineClock, Prices
from rl_gym.serving.sampling import Sampling
from rl_gym.wire import ServedModel, Usage
from rl_gym.wire.generate import ColumnName

__all__ = ["Column", "EnginePlace"]


@dataclass(frozen=True, slots=True)
class EnginePlace:
    """An engine, the queue in front of it, and the clock that divides its time; columns of one engine share them."""

    backend: ModelBackend
    admission: Admission = field(default_factory=lambda: Admission(256, 1_024))
    clock: EngineClock = field(default_factory=EngineClock)


@dataclass(frozen=True, slots=True)
class Column:
    """Who answers: a model at an engine, under the name that a request chooses it by."""

    name: ColumnName
    place: EnginePlace
    served: ServedModel
    prices: Prices = field(default_factory=Prices)
    on_spent: Callable[[Usage | None, float], None] | None = None
    """Told of every call what it used, None where it failed, and its seconds of the engine."""

    async def complete(
        self, prompts: Sequence[str], sampling: Sampling, on_text: OnText | None = None
    ) -> tuple[Completions, float]:
        """The engine's completions, and the seconds of the engine that they have to answer for; waits in line first.

        Raises as `ModelBackend.complete` does, BusyError where the line is full, and InfrastructureError where the
        engine does not have this model, or another one answered for an adapter.
        """
        sequences, name = len(prompts) * sampling.n, self.served.name
        made = None
        async with self.place.admission.enter(sequences):
            try:
                with self.place.clock.call(sequences) as share:
                    made = await self.place.backend.complete(prompts, sampling, model=name, on_text=on_text)
            except NotFoundError as error:
                # Who asked chose a column, and we its model: that it is not there is no mistake of theirs.
                raise InfrastructureError(f"{self.name}: {error}") from error
            finally:
                if self.on_spent is not None:
                    self.on_spent(made.usage if made else None, share.seconds)
        if self.served.adapter_digest is not None and made.model != name:
            raise InfrastructureError(f"{self.name}: {made.model} answered in the place of {name}")
        return made, share.seconds

    def deterministic(self, sampling: Sampling) -> bool:
        """Whether the same prompt and sampling give the same samples, whatever else the engine does."""
        return self.place.backend.deterministic(sampling)
