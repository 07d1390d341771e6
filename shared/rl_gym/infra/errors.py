"""The one family of errors: a user's mistake (`UsageError`) and a fault of ours (`InfrastructureError`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any


class RlGymError(Exception):
    """Anything that rl-gym reports in one line. `code` is the machine's word for it, `status` its HTTP status."""

    code = "error"
    status = 500


def one_line(text: str, longest: int) -> str:
    """The first `longest` characters of a text as one printable line: an error may say what somebody else wrote."""
    return " ".join("".join(c if c.isprintable() else " " for c in text[:longest]).split())


class UsageError(RlGymError):
    """The caller asked for something that cannot be done; the message says what, where, and what to do."""

    code = "usage"
    status = 422


def misfit(errors: Sequence[Mapping[str, Any]]) -> UsageError:
    """What did not fit, of pydantic's list, in one line: where, and what was wrong; never the value itself."""
    where = ".".join(str(part)[:80] for part in errors[0]["loc"])
    # Of what is no object pydantic says the name of a class, which is no business of the caller's.
    said = str(errors[0]["msg"]).removeprefix("Value error, ")
    what = "Input should be an object" if errors[0].get("type") == "model_type" else said
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    return UsageError(f"{f'{where}: ' if where else ''}{what}{more}")


class NotFoundError(UsageError):
    """A named thing (environment, model, run, ruleset) does not exist."""

    code = "not_found"
    status = 404


class UnauthorizedError(UsageError):
    """The caller did not prove who it is."""

    code = "unauthorized"
    status = 401


class ForbiddenError(UsageError):
    """The caller is known, or comes from where nobody may, and this is not for it."""

    code = "forbidden"
    status = 403


class TooLargeError(UsageError):
    """What was sent is larger than this place takes; the message names the bound."""

    code = "too_large"
    status = 413


class ConflictError(RlGymError):
    """A write lost against another: the object exists already, or changed since it was read."""

    code = "conflict"
    status = 409


class InfrastructureError(RlGymError):
    """A fault of ours (a timeout, a dead worker, a broken component): retried, reported, never a reward of 0."""

    code = "infrastructure_error"
    status = 503


class BusyError(InfrastructureError):
    """As much is waiting as may wait: the same call is welcome again after `retry_after` seconds."""

    code = "busy"
    status = 429

    def __init__(self, message: str, retry_after: float = 1.0) -> None:
        super().__init__(message)
        self.retry_after = retry_after


def revived(code: str, detail: str, status: int) -> RlGymError:
    """The error of the family that left another process as code, text and status."""
    for kind in _family():
        if kind.code == code:
            return kind(detail)
    return InfrastructureError(detail) if status >= 500 else UsageError(detail)


def _family() -> Iterator[type[RlGymError]]:
    """Every class of the family, parents before children."""
    kinds: list[type[RlGymError]] = [RlGymError]
    for kind in kinds:
        yield kind
        kinds.extend(kind.__subclasses__())
