"""Expressions: operators, conditionals, loops, splats and templates over known, unknown and null values."""

from __future__ import annotations

from typing import Any

import pytest

from rl_gym.hcl import UNKNOWN, HclEvaluationError
from tests.unit.hcl.folded import fold

UNSET = 'variable "unset" {}\n'


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ('1 == "1"', False),
        ('try(null, "z")', None),
        ("true ? 1 : null", 1),
        ('true ? 1 : "a"', "1"),
        ("false ? nosuch(1) : 2", 2),
        ('length("a") > 0 ? "a" : ["b"][5]', "a"),
        ('"${1}" == 1', True),
        ('"a${1.50}${true}"', "a1.5true"),
        ('"%{ for x in [1, 2] }<${x}>%{ endfor }%{ if false }no%{ else }yes%{ endif }"', "<1><2>yes"),
        ('[for k, v in { b = 1, a = 2 } : "${k}${v}" if v > 1]', ["a2"]),
        ('{ for v in [1, 2, 3] : v % 2 == 0 ? "even" : "odd" => v... }', {"even": [2], "odd": [1, 3]}),
        ("[{ a = 1 }, { a = 2 }][*].a", [1, 2]),
        ("null[*]", []),
        ('{ a = { "b-c" = [1, 2] } }.a["b-c"][1]', 2),
        ("(1 + 2) * 3 - -4", 13),
        ("!false && 1 < 2", True),
        ("5 / 2", 2.5),
    ],
)
def test_known_operands(expression: str, value: Any) -> None:
    assert fold(expression) == value


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("var.unset", UNKNOWN),
        ("var.unset.a[0].b", UNKNOWN),
        ("var.unset[*].a", UNKNOWN),
        ("var.unset + 1", UNKNOWN),
        ("!var.unset", UNKNOWN),
        ("false && var.unset", UNKNOWN),
        ("var.unset == 1", UNKNOWN),
        ('[1, var.unset] == [2, "x"]', False),
        ("{ a = var.unset } == { b = 1 }", False),
        ("var.unset ? 1 : 1", 1),
        ("var.unset ? 1 : 2", UNKNOWN),
        ("true ? 1 : var.unset", 1),
        ('"a${var.unset}"', UNKNOWN),
        ("[var.unset, 1]", [UNKNOWN, 1]),
        ("{ a = var.unset, b = 1 }", {"a": UNKNOWN, "b": 1}),
        ("{ (var.unset) = 1 }", UNKNOWN),
        ("[for x in var.unset : x]", UNKNOWN),
        ("[for x in [1, 2] : x if var.unset]", UNKNOWN),
        ("[for x in [1, 2] : [x, var.unset]]", [[1, UNKNOWN], [2, UNKNOWN]]),
        ("[1, 2][var.unset]", UNKNOWN),
        ('"%{ if var.unset }a%{ endif }"', UNKNOWN),
        ('"%{ for x in var.unset }a%{ endfor }"', UNKNOWN),
        ("var.undeclared", UNKNOWN),
        ("local.undeclared", UNKNOWN),
        ("module.undeclared.output", UNKNOWN),
    ],
)
def test_unknown_operands(expression: str, value: Any) -> None:
    assert fold(expression, UNSET) == value


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("mysql", '"mysql" is no value'),
        ("{ a = 1 }.b", 'no attribute or key "b"'),
        ("[1][3]", "the index 3 is not in a list of 1 elements"),
        ('[1]["x"]', "indexed by a whole number"),
        ("null.a", "null has no attributes"),
        ('"a".b', "string has no attributes"),
        ("toset([1])[0]", "set cannot be indexed"),
        ("[{ a = 1 }].a", "did you mean [0].a or [*].a?"),
        ('"a" + 1', "a number is required"),
        ('"a" && true', "a bool is required"),
        ("1 ? 2 : 3", "a bool is required"),
        ('true ? "a" : ["b"]', "must have one type"),
        ("[for x in null : x]", "got null"),
        ("{ for x in [1, 1] : x => x }", 'two different items produced the key "1"'),
        ("{ (null) = 1 }", "must be a string"),
        ('"a${null}"', "cannot include null"),
        ('"a${[1]}"', "cannot include tuple"),
        ("each.key", '"each" can be used only where "for_each" is set'),
        ("count.index", '"count" can be used only where "count" is set'),
        ("var", "must be followed by a dot and a name"),
    ],
)
def test_what_has_no_value(expression: str, reason: str) -> None:
    with pytest.raises(HclEvaluationError) as caught:
        fold(expression)
    assert reason in caught.value.message


def test_a_written_fraction_keeps_all_its_digits() -> None:
    digits = "0.12345678901234567890123456789"
    assert fold(f'"${{{digits}}}-"') == f"{digits}-"


def test_paths_and_workspace() -> None:
    assert fold("[path.module, path.root, terraform.workspace, path.cwd]") == [".", ".", "default", UNKNOWN]
