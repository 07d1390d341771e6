"""`rl-gym weights`: which model a source is."""

from __future__ import annotations

import pytest

from rl_gym.cli.main import main
from rl_gym.infra.digests import tree_digest
from rl_gym.serving.weights import PACKAGED


def test_models_are_named_by_digest_and_folder(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["weights", "nano", "nano-base"]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines == [
        [f"{name}@sha256:{tree_digest(PACKAGED / name)}", str(PACKAGED / name)] for name in ("nano", "nano-base")
    ]


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("hub:someone/model", "add hub:someone/model to RL_GYM_WEIGHTS"),
        ("hub:someone", "hub:ORG/NAME"),
        ("gguf:missing.gguf", "there is no such file"),
        ("nano@sha256:" + "0" * 64, "has the sha256"),
    ],
)
def test_what_is_none_is_one_line(source: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["weights", source]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line
