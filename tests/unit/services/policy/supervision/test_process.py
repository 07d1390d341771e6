"""A server as a child: what it sees, what it says, and that nothing of it is left, whoever dies first."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from rl_gym.infra.errors import InfrastructureError
from services.policy.supervision.process import EngineProcess, command, environment
from tests.unit.services.policy.supervision.engines import Fake, is_running, until

ROOT = Path(__file__).resolve().parents[5]


async def started(fake: Fake, **wrong: bool) -> EngineProcess:
    words = command(fake.python, 0, fake.flags(**wrong).arguments())
    process = await EngineProcess.start(words, "cpu", "the-key")
    await until(fake.starts)
    return process


class TestWhatItSees:
    def test_it_listens_on_loopback_and_a_stop_leaves_time(self) -> None:
        words = command(Path("/python"), 1234, ["--model", "m"])
        assert words[:3] == ["/python", "-m", "vllm.entrypoints.openai.api_server"]
        assert words[3:9] == ["--host", "127.0.0.1", "--port", "1234", "--shutdown-timeout", "20"]
        assert words[-2:] == ["--model", "m"]

    def test_no_secret_of_ours_is_in_its_environment(self) -> None:
        ours = {
            "PATH": "/bin",
            "HOME": "/h",
            "CUDA_VISIBLE_DEVICES": "1",
            "HF_HOME": "/hub",
            "VLLM_USE_V1": "1",
            "RL_GYM_POLICY_ENGINE_KEY": "k",
            "AWS_SECRET_ACCESS_KEY": "k",
            "HF_TOKEN": "k",
            "VLLM_API_KEY": "old",
            "PYTHONPATH": "/ours",
            "VLLM_S3_SECRET": "k",
        }
        seen = environment(ours, "cuda", "the-key")
        assert seen == {
            "PATH": "/bin",
            "HOME": "/h",
            "CUDA_VISIBLE_DEVICES": "1",
            "HF_HOME": "/hub",
            "VLLM_USE_V1": "1",
            "VLLM_ALLOW_RUNTIME_LORA_UPDATING": "True",
            "VLLM_NO_USAGE_STATS": "1",
            "DO_NOT_TRACK": "1",
            "HF_HUB_OFFLINE": "1",
            "PYTHONSAFEPATH": "1",
            "VLLM_API_KEY": "the-key",
        }

    def test_on_a_cpu_it_is_told_which_cores_and_how_much_memory(self) -> None:
        seen = environment({"VLLM_CPU_KVCACHE_SPACE": "7"}, "cpu", "k")
        assert seen["VLLM_CPU_KVCACHE_SPACE"] == "7"
        assert set(map(int, seen["VLLM_CPU_OMP_THREADS_BIND"].split(","))) == os.sched_getaffinity(0)

    def test_the_process_sees_that_and_no_more(self, fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("RL_GYM_POLICY_ENGINE_KEY", "ours")

        async def scenario() -> None:
            await (await started(fake)).kill()

        asyncio.run(scenario())
        [start] = fake.starts()
        assert start["environment"]["VLLM_API_KEY"] == "the-key"
        assert "the-key" not in " ".join(start["arguments"])
        assert not any(name.startswith("RL_GYM_") for name in start["environment"])


class TestItsEnd:
    def test_nothing_is_left_of_one_that_is_killed(self, fake: Fake) -> None:
        async def scenario() -> None:
            process = await started(fake)
            assert len(fake.left()) == 2
            await process.kill()
            assert not fake.left()
            assert not is_running(process.pid)
            await process.kill()

        asyncio.run(scenario())

    def test_its_children_end_with_it_even_those_of_another_group(self, fake: Fake) -> None:
        async def scenario() -> str:
            process = await started(fake)
            os.kill(fake.starts()[0]["pid"], signal.SIGKILL)
            return await process.wait()

        assert asyncio.run(scenario()) == "killed by SIGKILL"
        assert not fake.left()

    def test_what_it_said_last_is_kept_and_bounded(self, fake: Fake) -> None:
        async def scenario() -> None:
            process = await started(fake)
            fake.let_die(0, "line\n" * 1_000 + "x" * 5_000 + "\r\n\n\x00last words")
            assert await process.wait() == "ended with code 1"
            assert process.lines[-1] == "\x00last words"
            assert max(map(len, process.lines)) == 1_000
            assert len(process.lines) == 400

        asyncio.run(scenario())

    def test_a_stop_passes_on_the_signal_and_waits(self, fake: Fake) -> None:
        async def scenario() -> str:
            process = await started(fake)
            await process.stop(20)
            return await process.wait()

        assert asyncio.run(scenario()) == "killed by SIGTERM"
        assert not fake.left()

    def test_one_that_does_not_stop_in_time_is_killed(self, fake: Fake) -> None:
        async def scenario() -> str:
            process = await started(fake, stubborn=True)
            await process.stop(0.1)
            return await process.wait()

        assert asyncio.run(scenario()) == "killed by SIGKILL"
        assert not fake.left()

    def test_a_guard_that_is_killed_takes_its_group_along(self, fake: Fake) -> None:
        async def scenario() -> None:
            process = await started(fake)
            os.kill(process.pid, signal.SIGKILL)
            await process.wait()
            await until(lambda: not is_running(fake.starts()[0]["pid"]))

        asyncio.run(scenario())
        # Without a guard nobody finds what left the group, as only this stand-in's child does.
        os.kill(fake.starts()[0]["child"], signal.SIGKILL)

    def test_it_does_not_outlive_the_service(self, fake: Fake) -> None:
        script = (
            "import asyncio, sys\n"
            "from services.policy.supervision.process import EngineProcess\n"
            "async def main():\n"
            "    process = await EngineProcess.start(sys.argv[1:], 'cpu', 'k')\n"
            "    await process.wait()\n"
            "asyncio.run(main())\n"
        )
        paths = os.pathsep.join((str(ROOT / "shared"), str(ROOT)))
        words = [sys.executable, "-c", script, *command(fake.python, 0, fake.flags().arguments())]
        service = subprocess.Popen(words, env={**os.environ, "PYTHONPATH": paths})
        asyncio.run(until(fake.starts, 60))
        service.kill()
        service.wait()
        asyncio.run(until(lambda: not fake.left()))

    def test_a_python_that_is_not_there_is_told(self, tmp_path: Path) -> None:
        missing = str(tmp_path / "python")
        with pytest.raises(InfrastructureError, match=f"there is no Python at {missing}"):
            asyncio.run(EngineProcess.start([missing, "-m", "x"], "cpu", "k"))
