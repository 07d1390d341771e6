"""The columns of `terraform fmt`, held against the formatter itself."""

from __future__ import annotations

import subprocess
from pathlib import Path
from random import Random

import pytest

from rl_gym.iac.fixes.layout import laid_out, lines_of, stretch

VALUES = (
    "1",
    '"é"',
    '"a # b"',
    '"${var.a} // ${lookup(var.m, "k")}"',
    "[1, 2]",
    '{ b = "c" }',
    "var.a == 1 ? 2 : 3",
    "/* why */ 4",
    "<<-EOF\n    x = 1\n    # y\n  EOF",
    "[\n    1, # one\n    2,\n  ]",
    "{\n    a = 1\n  }",
)
COMMENTS = ("", "", "", " # short", " // other", " /* inline */")
OTHERS = ("", "  # a comment", "  b {}", "  b { c = 1 }", "  b { # open\n    d = 1 # x\n  }")


def block(rng: Random) -> str:
    """A block of items with single spaces, valid however it is laid out."""
    lines = []
    for at in range(rng.randint(1, 8)):
        if rng.random() < 0.25:
            lines.append(rng.choice(OTHERS))
            continue
        value = rng.choice(VALUES)
        comment = "" if value.startswith("<<") else rng.choice(COMMENTS)
        lines.append(f"  {'n' * rng.randint(1, 9)}{at} = {value}{comment}")
    return "a {\n" + "\n".join(lines) + "\n}\n"


def test_it_lays_out_as_terraform_does(terraform: str, tmp_path: Path) -> None:
    rng = Random(7)
    texts = [block(rng) for _ in range(400)]
    for number, text in enumerate(texts):
        (tmp_path / f"{number}.tf").write_text(text)
    subprocess.run([terraform, "fmt", str(tmp_path)], capture_output=True, check=True)
    for number, text in enumerate(texts):
        wanted = (tmp_path / f"{number}.tf").read_text()
        assert "\n".join(laid_out(lines_of(text, "\n"))) == wanted


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("a = 1\nb = 2\n", 3),
        ("a = <<EOF\nx\nEOF\nb = 2\n", 3),
        ("# see <<EOF\nx\n", 3),
        ('a = "x <<EOF"\nEOF\n', 3),
    ],
)
def test_a_heredoc_is_of_one_line_with_its_argument(text: str, count: int) -> None:
    lines = lines_of(text, "\n")
    assert len(lines) == count
    assert "\n".join(lines) == text


def test_a_stretch_ends_where_nothing_can_share_a_column() -> None:
    lines = ["a {", "  b = 1", "  c = 2", "", "  d = 3", "}"]
    assert stretch(lines, 2, 2) == (1, 3)
    assert stretch(lines, 3, 3) == (1, 5)
    assert stretch(lines, 0, 0) == (0, 3)
