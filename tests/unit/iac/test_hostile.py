"""No text makes a scan crash: every case of every rule, cut and spliced, gets an answer or an honest refusal."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from cProfile import Profile
from pathlib import Path

import pytest

from rl_gym.hcl.limits import FILES
from rl_gym.iac.scan import scan

_VALUES = (
    "null",
    "true",
    '"x"',
    '""',
    "[]",
    "{}",
    "[null]",
    "-1",
    "1e400",
    '"*"',
    "var.nowhere",
    "each.value",
    '["a", 1]',
    "{ a = [null] }",
    '[["0.0.0.0/0"]]',
    "aws_s3_bucket.b",
    "aws_kms_key.nowhere.arn",
    "random_password.p",
    "data.aws_iam_policy_document.d",
    "[for x in [1] : x]",
    "jsonencode([])",
    "jsonencode({ Statement = null })",
    "jsonencode({ Statement = [[1]] })",
    "jsonencode({ Statement = [{ Effect = 1, Action = { a = 1 }, Principal = [{ a = [1] }] }] })",
    "jsonencode({ Statement = { NotAction = null, NotPrincipal = 1 } })",
)
_LETTERS = '"{}$*,[é \x00'
_MUTANTS = 600
_SEED = 20


def test_mutants_of_the_cases_get_an_answer() -> None:
    folder = Path(__file__).with_name("rules") / "cases"
    cases = [
        text.partition("\n")[2] for path in sorted(folder.glob("*.hcl")) for text in path.read_text().split("#### ")
    ]
    order = random.Random(_SEED)
    readable = 0
    for _ in range(_MUTANTS):
        text = order.choice(cases)
        for _ in range(order.randint(1, 4)):
            text = _mutant(text, order)
        report = scan(text, ruleset="base+drift", required=["aws_s3_bucket", "aws_iam_policy_document"])
        readable += report.valid
        assert report.to_dict()["valid"] == report.valid
        assert report.security is None or 0 <= report.security <= 1
    assert readable > _MUTANTS / 5


def _mutant(text: str, order: random.Random) -> str:
    """The text with a value replaced, a line doubled or dropped, or a letter spliced in."""
    lines = text.split("\n")
    at = order.randrange(len(lines))
    match order.choice(("value", "double", "drop", "letter")):
        case "value":
            name, equals, _ = lines[at].partition("=")
            lines[at] = f"{name}= {order.choice(_VALUES)}" if equals else lines[at]
        case "double":
            lines.insert(at, order.choice(lines))
        case "drop":
            del lines[at]
        case "letter":
            column = order.randint(0, len(lines[at]))
            lines[at] = lines[at][:column] + order.choice(_LETTERS) + lines[at][column:]
    return "\n".join(lines) or "\n"


@pytest.mark.parametrize(
    ("name", "hcl"),
    [
        (
            "every companion may be for every bucket",
            """
variable "v" {}
resource "aws_s3_bucket" "b" {
  count = 1000
}
resource "aws_s3_bucket_public_access_block" "p" {
  count  = 1000
  bucket = var.v
}
""",
        ),
        (
            "every companion carries the name of every bucket",
            """
resource "aws_s3_bucket" "b" {
  count  = 1000
  bucket = "x"
}
resource "aws_s3_bucket_acl" "a" {
  count  = 1000
  bucket = "x"
}
""",
        ),
        (
            "a long text in every instance",
            """
locals {
  text = format("%0200000d", 1)
}
resource "aws_kms_key" "k" {
  count       = 1000
  description = local.text
  policy      = local.text
}
""",
        ),
    ],
)
def test_what_takes_too_long_to_judge_is_refused(name: str, hcl: str) -> None:
    report = scan(hcl, ruleset="base+drift")
    assert not report.valid
    assert "too many steps" in report.errors[0].message


def _policy(statements: str, kind: str = "aws_iam_policy") -> str:
    return f'resource "{kind}" "p" {{\n  policy = jsonencode({{ Statement = {statements} }})\n}}\n'


def _list(form: str, numbers: Iterable[object]) -> str:
    return "[" + ", ".join(f'"{form.format(number)}"' for number in numbers) + "]"


def _hostile_actions(numbers: range) -> str:
    actions = _list("ec2:*{}*e?*", numbers)
    return _policy(f'[{{ Effect = "Allow", Action = {actions}, Resource = "*" }}]')


def _hostile_services(numbers: range) -> str:
    actions = _list("i*m:*{}*", numbers)
    return _policy(f'[{{ Effect = "Allow", Action = {actions}, Resource = "*" }}]')


def _hostile_powers(numbers: range) -> str:
    actions = _list("kms:*{}*", numbers)
    return _policy(f'[{{ Effect = "Allow", Principal = "*", Action = {actions}, Resource = "*" }}]', "aws_kms_key")


def _hostile_denials(numbers: range) -> str:
    half = range(numbers.start, numbers.start + len(numbers) // 2)
    patterns = _list("s3:*{}*", half)
    condition = 'Condition = { StringNotEquals = { "aws:PrincipalOrgID" = "o-acme" } }'
    allowed = [f'{{ Effect = "Allow", Principal = "*", Action = "s3:G{one}*", Resource = "*" }}' for one in half]
    denied = f'{{ Effect = "Deny", Principal = "*", Action = {patterns}, Resource = "*", {condition} }}'
    return _policy(f"[{', '.join(allowed)}, {denied}, {denied}]", "aws_s3_bucket_policy")


def _hostile_blocks(numbers: range) -> str:
    cidrs = _list("{}.0.0/16", [f"{20 + number % 200}.{number // 200}" for number in numbers])
    return f"""
resource "aws_security_group" "s" {{
  ingress {{
    from_port   = 22
    to_port     = 22
    protocol    = "tcp"
    cidr_blocks = {cidrs}
  }}
}}
"""


@pytest.mark.parametrize(
    ("write", "each"),
    [
        (_hostile_actions, 300),
        (_hostile_services, 300),
        (_hostile_powers, 300),
        (_hostile_denials, 1000),
        (_hostile_blocks, 300),
    ],
)
def test_long_lists_of_odd_patterns_cost_little_for_each(write: Callable[[range], str], each: int) -> None:
    """Counted in calls; one regular expression for each pattern would already be more of them."""
    items = 400
    scan(write(range(items)), ruleset="base+drift")
    profile = Profile()
    profile.enable()
    report = scan(write(range(items, 2 * items)), ruleset="base+drift")
    profile.disable()
    assert report.valid
    assert sum(entry.callcount for entry in profile.getstats()) < each * items


def test_files_on_disk_may_be_larger_than_completions() -> None:
    hcl = "".join(f'resource "aws_kms_key" "k{i}" {{\n  description = "k"\n}}\n' for i in range(1_500))
    assert not scan(hcl).valid
    report = scan(hcl, limits=FILES)
    assert report.valid
    assert len(report.findings) == 2 * 1_500
