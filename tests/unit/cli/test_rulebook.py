"""`rl-gym rulebook`: the text on stdout alone, and what is in it beside."""

from __future__ import annotations

import pytest

from rl_gym.cli.main import main


def test_the_rulebook_alone_is_on_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rulebook"]) == 0
    told = capsys.readouterr()
    assert told.out.startswith("Rules for secure Terraform")
    assert "publicly_accessible = false" in told.out
    assert "multi_az" not in told.out
    assert told.err.startswith("45 rules, at most 5")


def test_another_ruleset(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rulebook", "--ruleset", "base+drift"]) == 0
    assert "multi_az" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--ruleset", "seed19"], "error: there is no ruleset 'seed19'"),
        (["more"], "error: unrecognized arguments: more (see `rl-gym rulebook --help`)"),
    ],
)
def test_a_mistake_is_one_line(arguments: list[str], complaint: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rulebook", *arguments]) == 1
    error = capsys.readouterr().err
    assert error.startswith(complaint)
    assert error.count("\n") == 1
