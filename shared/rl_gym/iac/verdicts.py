"""The answers that a rule may give, and three-valued reading of the values they rest on.

A truth is `bool | None`: None where the configuration does not tell. `pass` is only ever said of what is known.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from rl_gym.hcl import UNKNOWN, Block, Resource

Verdict = Literal["pass", "fail", "unknown", "na"]
Severity = Literal["critical", "high", "medium", "low"]

SEVERITY_WEIGHTS: dict[str, float] = {"critical": 8.0, "high": 4.0, "medium": 2.0, "low": 1.0}
"""What a verdict weighs in the component `security`: each severity is worth two of the next lower one."""

Truth = bool | None
Body = Resource | Block


@dataclass(frozen=True, slots=True)
class Answer:
    """A rule's verdict about one resource.

    `path` names the argument that decided, in `at` (another resource or block where it was not the resource itself);
    the finding shows its line. `reason` is one clause without a full stop.
    """

    verdict: Verdict
    reason: str
    path: str = ""
    at: Body | None = None


def answer(holds: Truth, good: str, bad: str, path: str = "", at: Body | None = None) -> Answer:
    """Pass with the reason `good`, fail with `bad`, or unknown where `holds` is None."""
    if holds is None:
        return Answer("unknown", f"{path or 'the value'} is not known before apply", path, at)
    return Answer("pass", good, path, at) if holds else Answer("fail", bad, path, at)


def truth(value: Any, absent: bool) -> Truth:
    """A value read as a boolean, the way Terraform converts it; `absent` is the provider's default.

    A value that no boolean can be made of is None: Terraform would refuse it.
    """
    if value is None:
        return absent
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        return {"true": True, "1": True, "false": False, "0": False}.get(value.strip().lower())
    return None


def number(value: Any) -> float | None:
    """A finite number, or a string that spells one; None for anything else, unknown included."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        found = float(value)
    except (ValueError, OverflowError):
        return None
    return found if math.isfinite(found) else None


def text(value: Any) -> str | None:
    """A known scalar as Terraform would write it into a string; None for anything else."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    if isinstance(value, int | float):
        return f"{value:g}" if isinstance(value, float) else str(value)
    return None


def written(body: Body, path: str) -> Truth:
    """Whether an argument has a value: neither null nor empty. A reference to a resource's attribute has one."""
    value = body.get(path)
    if value is UNKNOWN:
        return True if body.reference(path) is not None else None
    return value is not None and value != "" and value != [] and value != {}


_NO_NAMES = frozenset({"", "true", "false", "none", "null"})


def given(body: Body, path: str) -> Truth:
    """Whether an argument names a thing: as `written`, of a key or bucket.

    Text with a known piece, `"arn:aws:kms:${var.region}:..."`, is there as well; a blank, a boolean or a number is no
    name.
    """
    value = body.get(path)
    if value is UNKNOWN:
        return True if body.has(path) is True else None
    return isinstance(value, str) and value.strip().lower() not in _NO_NAMES


def every(truths: Iterable[Truth]) -> Truth:
    """False if any is false, else None if any is unknown, else True."""
    result: Truth = True
    for item in truths:
        if item is False:
            return False
        if item is None:
            result = None
    return result


def some(truths: Iterable[Truth]) -> Truth:
    """True if any is true, else None if any is unknown, else False."""
    result: Truth = False
    for item in truths:
        if item is True:
            return True
        if item is None:
            result = None
    return result


def inside(block: Body, holds: Truth) -> Truth:
    """What holds by a block that is not surely there: its failures count, its merits are unknown."""
    return None if holds and block.created is not True else holds


def worst(answers: Iterable[Answer]) -> Answer | None:
    """The first failure, else the first unknown, else the first answer; None of nothing."""
    result: Answer | None = None
    for item in answers:
        if item.verdict == "fail":
            return item
        if result is None or (item.verdict == "unknown" and result.verdict != "unknown"):
            result = item
    return result
