"""Constant folding says what `terraform console` says, for every expression of `expressions.txt`."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from rl_gym.hcl import HclEvaluationError
from tests.unit.hcl.folded import fold

EXPRESSIONS = [line for line in Path(__file__).with_name("expressions.txt").read_text().splitlines() if line]
AT_ONCE = 60
FAILED = "no value"


def ours(expression: str) -> str:
    try:
        return str(fold(f"jsonencode({expression})"))
    except HclEvaluationError:
        return FAILED


def theirs(terraform: str, folder: Path, expressions: Sequence[str]) -> list[str]:
    """What the console answers, in one process: it prints the last line's value alone, so all stand in one tuple."""
    settings = folder / "settings.tfrc"
    settings.write_text("")
    guarded = ", ".join(f"try(jsonencode({expression}), {json.dumps(FAILED)})" for expression in expressions)
    answer = subprocess.run(
        [terraform, "console", "-no-color"],
        input=f"jsonencode([{guarded}])\n",
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "TF_CLI_CONFIG_FILE": str(settings), "CHECKPOINT_DISABLE": "1"},
        check=True,
    )
    quoted = answer.stdout.strip().replace("$${", "${").replace("%%{", "%{")
    values: list[str] = json.loads(json.loads(quoted))
    return values


def batches() -> Iterator[list[str]]:
    for start in range(0, len(EXPRESSIONS), AT_ONCE):
        yield EXPRESSIONS[start : start + AT_ONCE]


@pytest.mark.parametrize("expressions", list(batches()), ids=lambda batch: batch[0][:40])
def test_every_expression_folds_as_in_the_console(terraform: str, tmp_path: Path, expressions: list[str]) -> None:
    expected = dict(zip(expressions, theirs(terraform, tmp_path, expressions), strict=True))
    assert {expression: ours(expression) for expression in expressions} == expected


def test_there_are_many_expressions() -> None:
    assert len(set(EXPRESSIONS)) >= 600
