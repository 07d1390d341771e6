"""Rehearsal: rows of what a model learnt before, among those of what it is to learn now, so that it forgets nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

__all__ = ["Row", "rehearse"]

Row = Mapping[str, Any]


def rehearse(
    rows: Sequence[Row], plain: Sequence[Row], share: float, rng: Random, otherwise: Sequence[Row] = ()
) -> list[Row]:
    """All of `rows` with so many of `plain` among them, drawn at random, that those are `share` (in [0, 1)) of the mix.

    Where `plain` has too few, all of it is taken, and the rest drawn from `otherwise` as far as that goes. The order is
    random.
    """
    wanted = round(len(rows) * share / (1 - share))
    first = rng.sample(list(plain), min(wanted, len(plain)))
    mixed = [*rows, *first, *rng.sample(list(otherwise), min(wanted - len(first), len(otherwise)))]
    rng.shuffle(mixed)
    return mixed
