"""No text makes a scan crash: every case of every rule, cut and spliced, gets an answer or an honest refusal."""

from __future__ import annotations

import random
from pathlib import Path

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
