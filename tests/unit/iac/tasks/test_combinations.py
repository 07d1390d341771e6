"""Held-out combinations are a quarter of all, fixed by their own names, and disjoint from those of training."""

from __future__ import annotations

import pytest

from rl_gym.iac.tasks.builders import BUILDERS
from rl_gym.iac.tasks.combinations import MAX_PARTS, combinations, held_out


@pytest.mark.parametrize("size", range(1, MAX_PARTS + 1))
def test_every_combination_is_either_trained_on_or_held_out(size: int) -> None:
    train, held = (set(map(frozenset, combinations(size, held=flag))) for flag in (False, True))
    assert train
    assert held
    assert not train & held
    assert all(len(kinds) == size for kinds in train | held)
    assert 0.1 < len(held) / len(train | held) < 0.35


def test_the_order_of_kinds_does_not_matter() -> None:
    assert held_out(["key", "bucket"]) == held_out(["bucket", "key"])


def test_every_kind_is_trained_on_in_some_combination() -> None:
    assert {kind for kinds in combinations(2, held=False) for kind in kinds} == set(BUILDERS)
