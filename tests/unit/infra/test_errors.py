"""The family of errors travels between processes as code, text and status."""

from __future__ import annotations

import pytest

from rl_gym.infra import errors
from rl_gym.infra.errors import BusyError, InfrastructureError, NotFoundError, UsageError, misfit, one_line, revived


@pytest.mark.parametrize("kind", [NotFoundError, UsageError, BusyError, InfrastructureError, errors.ForbiddenError])
def test_an_error_comes_back_as_what_it_was(kind: type[errors.RlGymError]) -> None:
    back = revived(kind.code, "why", kind.status)
    assert (type(back), str(back)) == (kind, "why")


def test_an_unknown_code_is_told_by_its_status() -> None:
    assert type(revived("teapot", "x", 418)) is UsageError
    assert type(revived("melted", "x", 500)) is InfrastructureError


def test_a_misfit_says_where_and_never_what() -> None:
    found = [{"loc": ("items", 3, "x" * 200), "msg": "too long", "input": "secret"}, {"loc": (), "msg": "no"}]
    assert str(misfit(found)) == f"items.3.{'x' * 80}: too long (and 1 more)"


def test_what_is_no_object_is_told_without_the_name_of_a_class() -> None:
    found = [{"loc": (), "type": "model_type", "msg": "Input should be an instance of _Batch"}]
    assert str(misfit(found)) == "Input should be an object"


def test_a_line_is_printable_and_bounded_whatever_a_text_holds() -> None:
    assert one_line("a\n\tb\x1b[2Jc\u202ed", 100) == "a b [2Jc d"
    assert one_line("x" * 100, 10) == "x" * 10
