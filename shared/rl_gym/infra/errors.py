"""The one family of errors: a user's mistake (`UsageError`) and a fault of ours (`InfrastructureError`)."""

from __future__ import annotations


class RlGymError(Exception):
    """Anything that rl-gym reports in one line. `code` is the machine's word for it, `status` its HTTP status."""

    code = "error"
    status = 500


class UsageError(RlGymError):
    """The caller asked for something that cannot be done; the message says what, where, and what to do."""

    code = "usage"
    status = 422


class NotFoundError(UsageError):
    """A named thing (environment, model, run, ruleset) does not exist."""

    code = "not_found"
    status = 404


class ConflictError(RlGymError):
    """A write lost against another: the object exists already, or changed since it was read."""

    code = "conflict"
    status = 409


class InfrastructureError(RlGymError):
    """A fault of ours (a timeout, a dead worker, a broken component): retried, reported, never a reward of 0."""

    code = "infrastructure_error"
    status = 503
