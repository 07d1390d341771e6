"""How often an engine is started again, by a clock of our own."""

from __future__ import annotations

from services.policy.supervision.patience import Patience, Restarts


def test_pauses_double_up_to_the_longest_and_then_it_is_enough() -> None:
    patience = Patience(restarts=5, first_pause_seconds=1, longest_pause_seconds=6)
    restarts = Restarts(patience, clock=lambda: 0.0)
    assert [restarts.next_pause() for _ in range(7)] == [1, 2, 4, 6, 6, None, None]
    assert restarts.total == 5


def test_what_is_older_than_the_window_is_forgiven() -> None:
    now = [0.0]
    restarts = Restarts(Patience(restarts=2, window_seconds=100, first_pause_seconds=1), clock=lambda: now[0])
    assert restarts.next_pause() == 1
    now[0] = 60
    assert restarts.next_pause() == 2
    assert restarts.next_pause() is None
    now[0] = 101
    assert restarts.next_pause() == 2
    now[0] = 1_000
    assert restarts.next_pause() == 1
    assert restarts.total == 4


def test_none_at_all_may_be_allowed() -> None:
    assert Restarts(Patience(restarts=0)).next_pause() is None
