"""How an expression is told in the part `configuration` of a plan, in the words of `terraform show -json`."""

from __future__ import annotations

from typing import Any

import pytest

from rl_gym.hcl import HclLimitError, Limits, parse
from rl_gym.iac.intent.expressions import Constants, expression


def told(text: str) -> dict[str, Any]:
    return expression(parse(f"x = {text}\n").body.attributes["x"].expression, Constants(Limits()))


@pytest.mark.parametrize(
    ("text", "value"),
    [('"a"', "a"), ("60 * 5", 300), ("null", None), ("-1", -1), ("[1, { a = true }]", [1, {"a": True}])],
)
def test_what_no_function_makes_is_constant(text: str, value: object) -> None:
    assert told(text) == {"constant_value": value}


@pytest.mark.parametrize("text", ['jsonencode({ a = "b" })', 'toset(["a"])', "1 / 0"])
def test_what_functions_make_is_not_told(text: str) -> None:
    assert told(text) == {}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("aws_x.y.id", ["aws_x.y.id", "aws_x.y"]),
        ("aws_x.y", ["aws_x.y"]),
        ("aws_x.y[0].id", ["aws_x.y[0].id", "aws_x.y[0]", "aws_x.y"]),
        ('aws_x.y["k"].id', ['aws_x.y["k"].id', 'aws_x.y["k"]', "aws_x.y"]),
        ("aws_x.y[count.index].id", ["aws_x.y", "count.index"]),
        ("aws_x.y[*].id", ["aws_x.y"]),
        ("data.aws_x.y.a[0].b", ["data.aws_x.y.a[0].b", "data.aws_x.y.a[0]", "data.aws_x.y.a", "data.aws_x.y"]),
        ("var.a.b", ["var.a.b", "var.a"]),
        ("local.a", ["local.a"]),
        ("each.value.name", ["each.value.name", "each.value"]),
        ("module.m.out", ["module.m.out", "module.m"]),
        ("module.m[0].out", ["module.m[0].out", "module.m[0]"]),
        ('"${var.b}-${var.a}"', ["var.b", "var.a"]),
        ("var.c ? var.a : var.b", ["var.c", "var.a", "var.b"]),
        ("[for k, v in var.a : { (k) = v.id } if var.b]", ["var.a", "var.b"]),
        ("join(var.a, [var.b, var.a])", ["var.a", "var.b", "var.a"]),
        ("self.id", ["self.id", "self"]),
        ("resource.aws_x.y.id", ["aws_x.y.id", "aws_x.y"]),
    ],
)
def test_references_are_listed_with_what_they_begin_with(text: str, names: list[str]) -> None:
    assert told(text) == {"references": names}


def test_constants_share_their_steps() -> None:
    constants = Constants(Limits(max_steps=100))
    node = parse("x = [for a in [1, 2, 3, 4] : [for b in [1, 2, 3, 4] : a]]\n").body.attributes["x"].expression
    assert "constant_value" in expression(node, constants)
    with pytest.raises(HclLimitError):
        expression(node, constants)
