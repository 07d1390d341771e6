"""Settings that do not fit: one line that says which and why, before anything is started."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import pytest

pytest.importorskip("stamina", reason="the extra services is not installed")

from rl_gym.infra.errors import InfrastructureError, UsageError
from rl_gym.infra.settings import read_settings
from rl_gym.serving.sampling import Sampling
from rl_gym.serving.weights import find_model
from services.policy import engines
from services.policy.engines import outside_column, own_engine
from services.policy.settings import PolicySettings

ADDRESS = "http://127.0.0.1:9/v1"


@pytest.mark.parametrize("name", ["gpu_hour_usd", "prompt_million_usd", "request_seconds", "promotion_seconds"])
@pytest.mark.parametrize("value", ["inf", "nan", "-1"])
def test_a_price_or_a_time_is_a_number(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(f"RL_GYM_POLICY_{name.upper()}", value)
    with pytest.raises(UsageError, match=f"^RL_GYM_POLICY_{name.upper()}: "):
        read_settings(PolicySettings)


def test_a_model_has_a_name_that_messages_can_say() -> None:
    with pytest.raises(UsageError, match="'a b' over 'a b'"):
        own_engine(PolicySettings(engine="openai", engine_url=ADDRESS, base="a b"))
    with pytest.raises(UsageError, match="'a b'"):
        outside_column(PolicySettings(external_url=ADDRESS, external_model="a b"))


def test_two_folders_of_one_name_are_not_taken_for_each_other(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="the extra serve is not installed")
    base, model = (Path(shutil.copytree(find_model("nano"), tmp_path / place / "model")) for place in "ab")
    with pytest.raises(UsageError, match="RL_GYM_POLICY_MODEL: a folder named like the base, 'model'"):
        own_engine(PolicySettings(base=str(base), model=str(model)))
    assert own_engine(PolicySettings(base=str(base), model=str(base))).base.name == "model"


def test_an_address_of_somebody_else_is_taken_to_bill_and_is_not_asked_twice() -> None:
    asked: list[bytes] = []

    async def fail(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(await reader.readuntil(b"\r\n"))
        writer.write(b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n")
        writer.close()

    async def scenario() -> None:
        async with await asyncio.start_server(fail, "127.0.0.1", 0) as server:
            address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
            settings = PolicySettings(engine="openai", engine_url=address, engine_api="chat")
            backend = own_engine(settings).backend
            with pytest.raises(InfrastructureError, match="failed"):
                await backend.complete(["a prompt"], Sampling(greedy=True), model="m")
            await backend.close()

    asyncio.run(scenario())
    assert len(asked) == 1


@pytest.mark.parametrize("there", [True, False])
def test_a_started_vllm_runs_on_the_gpu_where_there_is_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, there: bool
) -> None:
    monkeypatch.setattr(engines, "_GPU_NODES", (tmp_path if there else tmp_path / "none",))

    async def scenario() -> None:
        own = own_engine(PolicySettings(engine="vllm", vllm_flags="--dtype float32"))
        # The CPU alone repeats itself, in float32.
        assert own.backend.deterministic(Sampling(greedy=True)) is not there
        await own.engine.close()
        await own.backend.close()

    asyncio.run(scenario())
