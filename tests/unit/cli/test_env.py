from __future__ import annotations

from pathlib import Path

import pytest

from rl_gym.cli.main import main
from rl_gym.gym import registry


def test_list_shows_each_environment_and_its_splits(capsys: pytest.CaptureFixture[str]) -> None:
    main(["env", "list"])
    line = next(line for line in capsys.readouterr().out.splitlines() if "countdown" in line)
    assert "dev, holdout, train" in line


def test_list_tells_which_does_not_load(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "available", lambda: ("absent", "countdown"))
    monkeypatch.setattr(registry, "source", lambda name: f"{name}:make")
    assert main(["env", "list"]) == 1
    assert "unknown environment 'absent'" in " ".join(capsys.readouterr().out.split())


def test_what_new_writes_passes_check_at_once(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["env", "new", "word-order", "--dir", str(tmp_path)]) == 0
    path = tmp_path / "word-order" / "word_order" / "environment.py"
    assert f"rl-gym env check {path}" in capsys.readouterr().out
    assert main(["env", "check", str(path)]) == 0
    assert "15 kept, 0 broken, 0 not measured" in capsys.readouterr().out


def test_check_of_a_broken_environment_fails_and_says_why(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "generous.py"
    path.write_text(
        "from rl_gym.gym.examples.countdown import Countdown\n"
        "class Generous(Countdown):\n"
        "    def random(self, episode):\n"
        "        return self.oracle(episode)\n"
    )
    assert main(["env", "check", f"{path}:Generous"]) == 1
    shown = " ".join(capsys.readouterr().out.split())
    assert "✗ floor below ceiling" in shown
    assert "random earns 1.000, the oracle 1.000" in shown
    assert "14 kept, 1 broken" in shown


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["check", "contdown"], "unknown environment 'contdown'; did you mean 'countdown'?"),
        (["check", "countdown", "-o", "level"], "--option 'level': KEY=VALUE is needed"),
        (["check", "countdown", "-o", "level=1"], "unexpected keyword argument 'level' (its options: none)"),
        (["check", "absent.py"], "absent.py: no such file"),
        (["new", "Bad Name"], "environment name 'Bad Name'"),
        (["new", "countdown"], "there is an environment 'countdown' already"),
        (["new"], "Missing argument"),
        (["forget"], "No such command 'forget'"),
    ],
)
def test_mistakes_are_one_line_and_exit_code_one(
    capsys: pytest.CaptureFixture[str], arguments: list[str], why: str
) -> None:
    assert main(["env", *arguments]) == 1
    error = capsys.readouterr().err
    assert why in error
    assert error.count("\n") == 1
