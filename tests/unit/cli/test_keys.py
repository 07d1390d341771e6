"""`rl-gym keys`: keys for services, and principals for calling one by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from rl_gym.cli.main import main

pytest.importorskip("jwt", reason="the extra services is not installed")

from rl_gym.infra.principals import read_principal
from rl_gym.infra.signing import KeyRing, SigningKey


def test_a_key_is_made_shown_by_its_public_half_and_used(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "key.pem"
    assert main(["keys", "new", str(path)]) == 0
    public = capsys.readouterr().out.strip()
    assert str(SigningKey.load(str(path)).public) == public
    assert main(["keys", "public", str(path)]) == 0
    assert capsys.readouterr().out.strip() == public
    assert main(["keys", "token", "--key", str(path), "--as", "ana", "--scope", "score", "--scope", "scan"]) == 0
    principal = read_principal(capsys.readouterr().out.strip(), KeyRing.load(public), "verifier")
    assert (principal.subject, principal.scopes) == ("ana", {"score", "scan"})


def test_a_mistake_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "key.pem"
    path.write_text("mine")
    assert main(["keys", "new", str(path)]) == 1
    assert "never overwritten" in capsys.readouterr().err
    assert main(["keys", "public", str(path)]) == 1
    assert main(["keys", "token", "--key", str(tmp_path / "none")]) == 1
    assert main(["keys", "token", "--key", str(path), "--seconds", "3000"]) == 1
    shown = capsys.readouterr().err.splitlines()
    assert len(shown) == 3
    assert all(line.startswith("error: ") for line in shown)


def test_a_scope_that_the_service_does_not_know_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "key.pem"
    assert main(["keys", "new", str(path)]) == 0
    assert main(["keys", "token", "--key", str(path), "--scope", "score", "--scope", "skan"]) != 0
    assert capsys.readouterr().err == "error: verifier knows no scope 'skan': choose among scan, score\n"
    assert main(["keys", "token", "--key", str(path), "--for", "another", "--scope", "skan"]) == 0
