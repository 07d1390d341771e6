"""Functions and operators over arguments of every kind end with a value or with one of our errors, never otherwise."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterator

import pytest

from rl_gym.hcl import HclError
from rl_gym.hcl.functions import FUNCTIONS
from tests.unit.hcl.folded import fold

UNSET = 'variable "u" {}\n'
ARGUMENTS = [
    "null", "true", "0", "1", "-1", "1.5", "1e300", "-1e-300", "12345678901234567890123456789", '""', '"a"',
    '"1"', '"%s"', '"%5.3[2]d"', '"é\\u0301"', '"10.0.0.0/8"', '"::/0"', '"2020-01-01T00:00:00Z"', '"1h"',
    '"[1,{\\"a\\":2.5}]"', '"/(a)|b/"', '"(?P<x>.)"', '"YYYY-MM"', "[]", "{}", "[null]", '[1, "a"]',
    "[[1], [2]]", "{ a = 1 }", "{ a = { b = [1] } }", 'tolist(["a"])', 'toset(["b", "a"])',
    'tomap({ a = "x" })', "toset([1, 2])", "var.u", "[var.u]", "{ a = var.u }", '"x${var.u}"',
    "jsonencode({ a = var.u })", "aws_a.x.id", "aws_a.x", "range(20)", "toset([])", '"a,b\\n1,2"', '"aGk="',
    '"$1"', '"\\n\\r\\t"', "(1 / 3)", "pow(2, 60)", "[toset([1]), [2]]", '"🇫🇷"', "[true, false]",
]  # fmt: skip
OPERATORS = ["+", "-", "*", "/", "%", "<", "==", "&&", "||", "!=", ">="]


def expressions(rng: random.Random) -> Iterator[str]:
    """Endless expressions of one or two operations each."""

    def some() -> str:
        return rng.choice(ARGUMENTS)

    names = [*FUNCTIONS, "try", "can"]
    while True:
        yield f"{rng.choice(names)}({', '.join(some() for _ in range(rng.randrange(4)))})"
        yield f"{some()} {rng.choice(OPERATORS)} {some()}"
        yield f"{some()}[{some()}]"
        yield f"{some()}.a"
        yield f"{some()}[*].a"
        yield f"{some()} ? {some()} : {some()}"
        yield f"[for k, v in {some()} : [k, v, {some()}] if {some()}]"
        yield f"{{ for k, v in {some()} : v => k... }}"
        yield f'"${{{some()}}}-%{{ for v in {some()} }}${{v}}%{{ endfor }}"'


@pytest.mark.parametrize("seed", range(5))
def test_every_combination_ends_in_a_value_or_an_error_of_ours(seed: int) -> None:
    source = expressions(random.Random(seed))
    ended = 0
    for _ in range(900):
        with contextlib.suppress(HclError):
            fold(next(source), UNSET)
            ended += 1
    assert ended > 100
