"""The verifier of the service's own: without the service's keys, out of reach of its terminal, ended with it."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="the extra services is not installed")

from rl_gym.infra import kept_process
from services.policy.verifier_process import VerifierProcess


def standing_in(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Let a program be started in place of the verifier, which writes its session and its variables into a file."""
    seen = tmp_path / "seen"
    program = (
        "import os, time; text = f'{os.getsid(0)} {sorted(os.environ)}'; "
        f"open({str(seen)!r} + '.new', 'w').write(text); os.rename({str(seen)!r} + '.new', {str(seen)!r}); "
        "time.sleep(60)"
    )
    monkeypatch.setattr(kept_process, "tethered", lambda _command: [sys.executable, "-c", program])
    return seen


def test_it_gets_no_key_and_is_in_a_session_of_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    seen = standing_in(monkeypatch, tmp_path)
    keys = ("RL_GYM_POLICY_ENGINE_KEY", "RL_GYM_ENGINE_KEY", "rl_gym_external_key", "RL_GYM_SIGNING_KEY")
    process = VerifierProcess({**dict.fromkeys(keys, "hush"), "RL_GYM_OBJECTS": "kept"})

    async def scenario() -> None:
        await process.open()
        while not seen.exists():
            await asyncio.sleep(0.01)
        await process.close()

    asyncio.run(asyncio.wait_for(scenario(), 30))
    session, _, variables = seen.read_text().partition(" ")
    assert int(session) != os.getsid(0)
    assert "RL_GYM_OBJECTS" in variables
    assert "RL_GYM_VERIFIER_PORT" in variables
    assert not [key for key in keys if key in variables]
    with pytest.raises(ProcessLookupError):
        os.kill(int(session), 0)
