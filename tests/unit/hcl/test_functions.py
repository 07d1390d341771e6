"""Functions: what they answer, what they refuse, and what they know of values that are partly unknown."""

from __future__ import annotations

from typing import Any

import pytest

from rl_gym.hcl import UNKNOWN, HclEvaluationError
from rl_gym.hcl.functions import FUNCTIONS
from tests.unit.hcl.folded import fold

UNSET = 'variable "unset" {}\n'

DOCUMENTED = """
abs abspath alltrue anytrue base64decode base64encode base64gzip base64sha256 base64sha512 basename bcrypt can ceil
chomp chunklist cidrhost cidrnetmask cidrsubnet cidrsubnets coalesce coalescelist compact concat contains csvdecode
dirname distinct element endswith ephemeralasnull file filebase64 filebase64sha256 filebase64sha512 fileexists filemd5
fileset filesha1 filesha256 filesha512 flatten floor format formatdate formatlist indent index issensitive join
jsondecode jsonencode keys length log lookup lower matchkeys max md5 merge min nonsensitive one parseint pathexpand
plantimestamp pow range regex regexall replace reverse rsadecrypt sensitive setintersection setproduct setsubtract
setunion sha1 sha256 sha512 signum slice sort split startswith strcontains strrev substr sum templatefile templatestring
textdecodebase64 textencodebase64 timeadd timecmp timestamp title tobool tolist tomap tonumber toset tostring transpose
trim trimprefix trimspace trimsuffix try upper urlencode uuid uuidv5 values yamldecode yamlencode zipmap
"""


def test_every_function_of_the_language_is_there() -> None:
    assert set(FUNCTIONS) | {"try", "can"} == set(DOCUMENTED.split())


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ('cidrsubnet("10.0.0.0/16", 8, 2)', "10.0.2.0/24"),
        ('formatlist("arn:aws:s3:::%s/*", ["a", "b"])', ["arn:aws:s3:::a/*", "arn:aws:s3:::b/*"]),
        ('merge({ a = 1 }, null, { a = 2, b = "x" })', {"a": 2, "b": "x"}),
        ("range(3, 0)", [3, 2, 1]),
        ('lookup({ a = 1 }, "b", "none")', "none"),
        ('jsondecode("{\\"a\\": [1, 2.5, null]}")', {"a": [1, 2.5, None]}),
        ('jsonencode({ b = "<", a = [true] })', '{"a":[true],"b":"\\u003c"}'),
        ('flatten([["a"], [], [["b"]]])', ["a", "b"]),
        ('toset(["b", "a", "b"])', ["a", "b"]),
        ('try(tonumber("x"), "none")', "none"),
        ('can(tonumber("x"))', False),
        ('coalesce(null, "", "c")', "c"),
        ('replace("hello", "/l+/", "L")', "heLo"),
        ('element(["a", "b"], 3)', "b"),
        ('yamlencode({ a = ["b"] })', '"a":\n- "b"\n'),
        ('yamldecode("{\\"a\\": 1}")', {"a": 1}),
        ('core::upper("a")', "A"),
        ("1e100 * 0", 0),
        ('indent(1e100, "a")', "a"),
        ("0.1 + 0.2", 0.3),
    ],
)
def test_known_arguments_give_a_known_answer(expression: str, value: Any) -> None:
    answer = fold(expression)
    assert answer == value
    assert type(answer) is type(value)


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ('element(["a", "b"], -1)', "must not be negative"),
        ('tonumber("x")', "a number is required"),
        ('upper("a", "b")', 'function "upper" takes 1 arguments, and got 2'),
        ("max()", "at least 1 arguments"),
        ("upper(null)", "argument 1 must not be null"),
        ('cidrsubnet("10.0.0.0", 8, 1)', "not a valid CIDR block"),
        ("range(2000)", "more than 1024 values"),
        ('regex("z", "a")', "does not match"),
        ('regex("(", "a")', "invalid regular expression"),
        ("uper(1)", 'there is no function named "uper"; did you mean "upper"?'),
        ("1 / 0", "division by zero"),
        ("tolist([1, true])", "all elements must have the same type"),
        ('jsondecode("{")', "invalid JSON"),
        ("join(1...)", "can be followed by"),
        ("try()", "no argument that evaluates"),
        ('one(["a", "b"])', "no or one element"),
        ('lookup({}, "a")', 'key "a" is not in the map'),
        ('format("%d", "x")', 'unsupported value for "%d"'),
        ('base64decode("é")', "invalid base64 text"),
        ('format("%[' + "9" * 5000 + ']d", 1)', "not enough arguments"),
        ('cidrhost("fe80::%eth0/64", 1)', "not a valid CIDR block"),
    ],
)
def test_a_function_that_fails_says_where_and_why(expression: str, reason: str) -> None:
    with pytest.raises(HclEvaluationError) as caught:
        fold(expression)
    assert reason in caught.value.message
    assert (caught.value.filename, caught.value.line) == ("main.tf", 2)
    assert caught.value.column >= len("  subject = ")


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("length([var.unset])", 1),
        ("length(var.unset)", UNKNOWN),
        ('contains(["a", var.unset], "a")', True),
        ('contains(["b", var.unset], "a")', UNKNOWN),
        ("keys(merge({ a = 1 }, { b = var.unset }))", ["a", "b"]),
        ("concat([1], [var.unset])", [1, UNKNOWN]),
        ("concat([1], var.unset)", UNKNOWN),
        ("element([1, var.unset], 0)", 1),
        ('lookup({ a = 1, b = var.unset }, "a", 2)', 1),
        ("slice([1, 2, var.unset], 0, 2)", [1, 2]),
        ("reverse([1, var.unset])", [UNKNOWN, 1]),
        ("flatten([[1], [var.unset]])", [1, UNKNOWN]),
        ("toset([1, var.unset])", UNKNOWN),
        ("distinct([1, var.unset])", UNKNOWN),
        ('zipmap(["a"], [var.unset])', {"a": UNKNOWN}),
        ("anytrue([true, var.unset])", True),
        ("anytrue([false, var.unset])", UNKNOWN),
        ("alltrue([false, var.unset])", False),
        ('coalesce("a", var.unset)', "a"),
        ('coalesce("", var.unset, "a")', UNKNOWN),
        ('join("-", ["a", var.unset])', UNKNOWN),
        ('startswith("abc-${var.unset}", "abc")', True),
        ('startswith("abc-${var.unset}", "x")', False),
        ('startswith("abc-${var.unset}", "abc-d")', UNKNOWN),
        ('endswith("${var.unset}.com", ".com")', True),
        ("can(var.unset)", UNKNOWN),
        ('try(var.unset, "a")', UNKNOWN),
        ("upper(var.unset)", UNKNOWN),
        ("jsonencode({ a = var.unset })", UNKNOWN),
        ("jsondecode(jsonencode({ a = var.unset, b = 1 }))", {"a": UNKNOWN, "b": 1}),
        ('file("policy.json")', UNKNOWN),
        ("timestamp()", UNKNOWN),
        ('provider::aws::arn_parse("x")', UNKNOWN),
        ("one([var.unset])", UNKNOWN),
    ],
)
def test_what_is_known_of_partly_unknown_arguments(expression: str, value: Any) -> None:
    assert fold(expression, UNSET) == value


@pytest.mark.parametrize(
    ("text", "pattern", "found"),
    [("a" * 5000, "(a+)+$", "x"), ("a" * 5000 + "b", "^(a|a)*$", "a" * 5000 + "b")],
)
def test_patterns_that_make_a_backtracker_hang_are_answered(text: str, pattern: str, found: str) -> None:
    assert fold(f'replace("{text}", "/{pattern}/", "x")') == found
