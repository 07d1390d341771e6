"""How long a run takes and what it costs: told where it was measured, a formula elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rl_gym.training.config import Config, resolve

__all__ = ["MEASURED", "Estimate", "Measured", "estimate"]


@dataclass(frozen=True, slots=True)
class Measured:
    """Wall seconds of a whole run, on what, and where that is written down."""

    seconds: float
    machine: str
    source: str


MEASURED: Mapping[str, Measured] = {
    "nano": Measured(357.0, "two quiet cores", "docs/results.md, Wall time"),
}


@dataclass(frozen=True, slots=True)
class Estimate:
    """`seconds` and `dollars` are None where nobody measured; `told` says so in a line."""

    seconds: float | None
    dollars: float | None
    told: str


def estimate(config: Config, price: float | None) -> Estimate:
    """The time of a preset as it is, from its measurement; `price` is dollars an hour of the machine.

    A changed preset is another run: its time is not known.
    """
    found = MEASURED.get(config.preset)
    if found is None or config != resolve(config.preset, seed=config.seed):
        why = "not measured" if found is None else "not measured with these changes"
        count = f" x {config.machine.world} GPUs" if config.machine.world > 1 else ""
        asked = f"${price:.2f}" if price is not None else "price an hour"
        return Estimate(None, None, f"time: {why}; cost: hours x {asked}{count}")
    dollars = None if price is None else found.seconds / 3600 * price
    cost = "hours x price an hour" if dollars is None else f"${dollars:.2f} at ${price:.2f} an hour"
    return Estimate(
        found.seconds, dollars, f"time: about {found.seconds / 60:.0f} min, measured on {found.machine}; cost: {cost}"
    )
