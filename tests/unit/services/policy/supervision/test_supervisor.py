"""The life of an engine: down the ladder, up again after its end, and given up where that does not help."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from rl_gym.infra.errors import InfrastructureError
from services.policy.supervision import EngineFlags, Patience, Supervisor
from tests.unit.services.policy.supervision.engines import Fake, until

QUICK = {"start_seconds": 30, "first_pause_seconds": 0.01, "stop_seconds": 20}
OUT_OF_MEMORY = "torch.OutOfMemoryError: CUDA out of memory."


@asynccontextmanager
async def supervised(fake: Fake, patience: dict[str, Any] | None = None, **wrong: Any) -> AsyncIterator[Supervisor]:
    supervisor = Supervisor(fake.python, fake.flags(**wrong), "cuda", Patience(**{**QUICK, **(patience or {})}))
    await supervisor.open()
    try:
        yield supervisor
    finally:
        await supervisor.close()
        assert not fake.left()


async def again(supervisor: Supervisor, fake: Fake, starts: int) -> None:
    """Wait until so many starts were made and the last of them serves."""
    await until(lambda: len(fake.starts()) == starts)
    await supervisor.ready()


class TestStarting:
    def test_the_fastest_rung_that_starts_is_taken_and_shown(self, fake: Fake) -> None:
        async def scenario() -> None:
            async with supervised(fake) as supervisor:
                assert supervisor.state().status == "starting"
                await supervisor.ready()
                state = supervisor.state()
                assert (state.status, state.rung) == ("ready", "fp8, speculation, CUDA graphs")
                assert state.flags["quantization"] == "fp8"
                assert not state.trouble
                authorization = {"Authorization": f"Bearer {supervisor.api_key}"}
                assert httpx.get(f"{supervisor.address}/models", headers=authorization).is_success
            assert supervisor.state().status == "draining"

        asyncio.run(scenario())
        assert len(fake.starts()) == 1

    def test_what_is_refused_is_tried_with_less_and_the_reason_kept(self, fake: Fake) -> None:
        refuse = {"--speculative-config": OUT_OF_MEMORY, "--no-enforce-eager": "RuntimeError: no graphs here"}

        async def scenario() -> None:
            async with supervised(fake, refuse=refuse) as supervisor:
                await supervisor.ready()
                state = supervisor.state()
                assert (state.rung, state.restarts) == ("fp8, eager", 0)
                assert state.trouble == "fp8, CUDA graphs: ended with code 1: RuntimeError: no graphs here"

        asyncio.run(scenario())
        assert len(fake.starts()) == 3

    def test_where_no_rung_starts_it_says_so_and_what_helps(self, fake: Fake) -> None:
        async def scenario() -> None:
            async with supervised(fake, refuse={"--model": OUT_OF_MEMORY}) as supervisor:
                with pytest.raises(
                    InfrastructureError, match=r"does not start as bfloat16, eager.*out of memory.*lower"
                ):
                    await supervisor.ready()
                assert supervisor.state().status == "failed"
                assert supervisor.state().flags == {}

        asyncio.run(scenario())
        assert len(fake.starts()) == 4

    def test_what_no_rung_can_help_is_not_tried_on_all(self, fake: Fake) -> None:
        async def scenario() -> None:
            async with supervised(fake, refuse={"--model": "No module named 'vllm'"}) as supervisor:
                with pytest.raises(InfrastructureError, match="there is no vLLM in this Python"):
                    await supervisor.ready()

        asyncio.run(scenario())
        assert len(fake.starts()) == 1

    def test_a_python_that_is_not_there_fails_in_one_line(self, tmp_path: Path) -> None:
        async def scenario() -> None:
            supervisor = Supervisor(tmp_path / "none", EngineFlags(model="m"), "cpu")
            await supervisor.open()
            with pytest.raises(InfrastructureError, match="there is no Python"):
                await supervisor.ready()
            await supervisor.close()

        asyncio.run(scenario())

    def test_one_that_does_not_answer_in_time_is_refused(self, fake: Fake) -> None:
        (fake.folder / "hang").touch()

        async def scenario() -> None:
            async with supervised(fake, {"start_seconds": 1}) as supervisor:
                await until(lambda: supervisor.state().trouble)
                assert "no token within" in supervisor.state().trouble
                (fake.folder / "hang").unlink()
                await supervisor.ready()
                assert supervisor.state().rung == "fp8, CUDA graphs"

        asyncio.run(scenario())

    def test_it_is_closed_while_it_starts(self, fake: Fake) -> None:
        (fake.folder / "hang").touch()

        async def scenario() -> None:
            async with supervised(fake) as supervisor:
                await until(fake.starts)
                waiting = asyncio.create_task(supervisor.ready())
                await asyncio.sleep(0)
            with pytest.raises(InfrastructureError, match="draining"):
                await waiting

        asyncio.run(scenario())


class TestComingBack:
    def test_after_a_crash_it_comes_up_at_the_same_address_and_is_told(self, fake: Fake) -> None:
        async def scenario() -> None:
            seen = []
            async with supervised(fake) as supervisor:

                async def on_up() -> None:
                    seen.append(supervisor.state().status)

                supervisor.on_up = on_up
                await supervisor.ready()
                address = supervisor.address
                os.kill(fake.starts()[0]["pid"], signal.SIGKILL)
                await again(supervisor, fake, 2)
                state = supervisor.state()
                assert (state.restarts, state.rung) == (1, "fp8, speculation, CUDA graphs")
                assert "killed by SIGKILL" in state.trouble
                assert supervisor.address == address
            assert seen == ["starting", "restarting"]

        asyncio.run(scenario())

    def test_one_that_soon_ran_out_of_memory_goes_on_with_less(self, fake: Fake) -> None:
        async def scenario() -> None:
            async with supervised(fake) as supervisor:
                await supervisor.ready()
                fake.let_die(0, OUT_OF_MEMORY)
                await again(supervisor, fake, 2)
                assert supervisor.state().rung == "fp8, CUDA graphs"

        asyncio.run(scenario())

    def test_one_that_ran_for_long_keeps_its_rung(self, fake: Fake) -> None:
        async def scenario() -> None:
            async with supervised(fake, {"settling_seconds": 0}) as supervisor:
                await supervisor.ready()
                fake.let_die(0, OUT_OF_MEMORY)
                await again(supervisor, fake, 2)
                assert supervisor.state().rung == "fp8, speculation, CUDA graphs"

        asyncio.run(scenario())

    def test_after_too_many_ends_it_is_left_alone(self, fake: Fake) -> None:
        async def scenario() -> None:
            async with supervised(fake, {"restarts": 2}) as supervisor:
                for number in range(3):
                    await again(supervisor, fake, number + 1)
                    fake.let_die(number, "RuntimeError: a bug")
                    await until(lambda: supervisor.state().status != "ready")
                with pytest.raises(InfrastructureError, match=r"more than 2 times within 600 s.*a bug"):
                    await supervisor.ready()
                assert supervisor.state().restarts == 2

        asyncio.run(scenario())
        assert len(fake.starts()) == 3

    def test_one_that_hangs_is_started_again(self, fake: Fake) -> None:
        async def scenario() -> None:
            async with supervised(fake, {"quiet_seconds": 0.05, "token_seconds": 1}) as supervisor:
                await supervisor.ready()
                (fake.folder / "hang").touch()
                await until(lambda: supervisor.state().status == "restarting")
                (fake.folder / "hang").unlink()
                await again(supervisor, fake, 2)
                assert "no token within 1 s" in supervisor.state().trouble

        asyncio.run(scenario())

    def test_a_hook_that_fails_leaves_it_up_and_is_told(self, fake: Fake) -> None:
        async def scenario() -> None:
            async with supervised(fake) as supervisor:

                async def on_up() -> None:
                    raise InfrastructureError("no adapter in the store\n" + "x" * 5_000)

                supervisor.on_up = on_up
                await supervisor.ready()
                trouble = supervisor.state().trouble
                assert "no adapter in the store" in trouble
                assert len(trouble) <= 1_000
                assert trouble.isprintable()

        asyncio.run(scenario())

    def test_one_that_dies_while_its_adapters_load_comes_back(self, fake: Fake) -> None:
        async def scenario() -> None:
            async with supervised(fake) as supervisor:

                async def on_up() -> None:
                    if len(fake.starts()) == 1:
                        fake.let_die(0, "RuntimeError: a bug")
                        await asyncio.sleep(600)

                supervisor.on_up = on_up
                await again(supervisor, fake, 2)

        asyncio.run(scenario())
