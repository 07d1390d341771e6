"""The scorecard: every applicable rule with its mark, the bar, the gates and the reward, in colour and without."""

from __future__ import annotations

import io

from rich.console import Console

from rl_gym.iac.scan import scan, score
from rl_gym.iac.scorecard import painted, render_scorecard, scorecard

HCL = """
variable "v" {}
resource "aws_kms_key" "k" {
  enable_key_rotation = var.v
  tags                = { Name = "k" }
}
resource "aws_db_instance" "d" {
  engine              = "postgres"
  instance_class      = "db.t4g.small"
  publicly_accessible = true
}
"""


def _text(hcl: str, *, width: int = 100, plain: bool = False, reward: bool = False) -> str:
    breakdown = score(hcl) if reward else None
    lines = scorecard(scan(hcl), breakdown, width=width, plain=plain)
    return "\n".join(painted(line, colour=False) for line in lines)


def test_every_applicable_rule_has_its_mark() -> None:
    text = _text(HCL)
    assert "✘ rds_public critical" in text
    assert "? kms_rotation medium" in text
    assert "✔ hardcoded_secret critical" in text
    assert "s3_encryption" not in text


def test_gates_bar_and_reward() -> None:
    text = _text(HCL, reward=True)
    report = scan(HCL)
    assert f" {report.security:.3f}" in text
    assert "✔ well_formed  ✔ builds_required  ✘ no_critical" in text
    assert text.endswith("reward    0.000")


def test_a_full_bar_means_that_everything_passes() -> None:
    safe = 'resource "aws_kms_key" "k" {\n  enable_key_rotation = true\n  tags = { Name = "k" }\n}\n'
    assert "░" not in _text(safe)
    assert "░" in _text(HCL)


def test_plain_text_is_ascii() -> None:
    assert _text(HCL, plain=True, reward=True).isascii()
    assert "x rds_public critical" in _text(HCL, plain=True)


def test_columns_fit_the_width() -> None:
    for width in (40, 60, 120):
        rules = _text(HCL, width=width).split("\nsecurity")[0].split("\n")
        assert max(map(len, rules)) <= width
    assert len(_text(HCL, width=40).split("\n")) > len(_text(HCL, width=120).split("\n"))


def test_colour_only_where_asked() -> None:
    (line, *_) = scorecard(scan(HCL))
    assert "\x1b[" in painted(line, colour=True)
    assert "\x1b[" not in painted(line, colour=False)


def test_what_cannot_be_read_says_why() -> None:
    assert "cannot be read: main.tf:1:" in _text("{")
    assert "no rule of the ruleset applies" in _text("locals {\n  a = 1\n}\n")


def test_rich_shows_the_same() -> None:
    out = io.StringIO()
    Console(file=out, width=120, force_terminal=False).print(render_scorecard(scan(HCL)))
    assert [line.rstrip() for line in out.getvalue().rstrip().split("\n")] == _text(HCL).split("\n")
