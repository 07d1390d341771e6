"""The front door: every failure is one line and one code, and no verb is imported that was not asked for."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Annotated

import pytest
import typer

import rl_gym
from rl_gym.cli.main import VERBS, exit_codes, main
from rl_gym.hcl.errors import HclSyntaxError
from rl_gym.infra.errors import ConflictError, InfrastructureError, NotFoundError, RlGymError, UsageError

Install = Callable[..., None]


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Install:
    """Puts a verb of the test's own in place of a real one."""

    def put(verb: str, **members: object) -> None:
        module = ModuleType(f"rl_gym.cli.{verb}")
        vars(module).update(members)
        monkeypatch.setitem(sys.modules, module.__name__, module)

    return put


def raising(error: BaseException) -> Callable[[], None]:
    def command() -> None:
        raise error

    return command


class TestOverview:
    def test_help_names_every_verb_with_its_purpose(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["--help"]) == 0
        shown = capsys.readouterr().out
        assert all(f"  {verb}" in shown and purpose in shown for verb, purpose in VERBS.items())

    def test_no_verb_at_all_is_wrong_usage(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main([]) == 1
        assert capsys.readouterr().out.startswith("usage: rl-gym VERB")

    def test_version(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["--version"]) == 0
        assert capsys.readouterr().out == f"rl-gym {rl_gym.__version__}\n"

    def test_the_overview_imports_no_verb_and_no_parser(self) -> None:
        loaded = run_python(
            "from rl_gym.cli.main import main; main(['--help']); import sys; print(*sys.modules)"
        ).stdout
        modules = set(loaded.split())
        assert not modules & {"typer", "pydantic", "rich", *(f"rl_gym.cli.{verb}" for verb in VERBS)}

    @pytest.mark.parametrize(("verb", "hint"), [("scna", "did you mean 'scan'?"), ("zzz", "`rl-gym --help`")])
    def test_an_unknown_verb_is_named(self, verb: str, hint: str, capsys: pytest.CaptureFixture[str]) -> None:
        assert main([verb]) == 1
        assert_one_line(capsys, f"error: there is no verb '{verb}': {hint}")

    @pytest.mark.parametrize("verb", VERBS)
    def test_every_verb_has_a_manual(self, verb: str, capsys: pytest.CaptureFixture[str]) -> None:
        assert run_python(f"from rl_gym.cli.main import main; raise SystemExit(main([{verb!r}, '--help']))").stdout


class TestVerbs:
    def test_a_command_gets_its_arguments_and_its_int_is_the_code(self, install: Install) -> None:
        def command(name: str, times: Annotated[int, typer.Option()] = 1) -> int:
            return len(name) * times

        install("eval", command=command)
        assert main(["eval", "abc", "--times", "2"]) == 6

    def test_a_command_that_returns_nothing_succeeded(self, install: Install) -> None:
        install("eval", command=lambda: None)
        assert main(["eval"]) == 0

    def test_a_command_may_leave_early(self, install: Install) -> None:
        install("gate", command=raising(typer.Exit(2)))
        assert main(["gate"]) == 2

    def test_a_group_has_verbs_of_its_own(self, install: Install, capsys: pytest.CaptureFixture[str]) -> None:
        app = typer.Typer()
        app.command("new")(lambda: None)
        app.command("check")(lambda: 1)
        install("env", app=app)
        assert main(["env", "check"]) == 1
        assert main(["env", "chekc"]) == 1
        assert_one_line(capsys, "error: No such command 'chekc'. Did you mean 'check'? (see `rl-gym env --help`)")

    def test_a_lean_verb_reads_its_own_arguments(self, install: Install) -> None:
        install("scan", main=lambda arguments: len(arguments))
        assert main(["scan", "a", "b", "c"]) == 3

    @pytest.mark.parametrize(("arguments", "reason"), [([], "Missing argument"), (["a", "--none"], "No such option")])
    def test_wrong_usage_is_one_line(
        self, arguments: list[str], reason: str, install: Install, capsys: pytest.CaptureFixture[str]
    ) -> None:
        def command(name: str) -> None:
            raise AssertionError(name)

        install("eval", command=command)
        assert main(["eval", *arguments]) == 1
        assert_one_line(capsys, f"error: {reason}", "(see `rl-gym eval --help`)")


FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "runs/7/metrics.jsonl")
FAILURES: list[tuple[BaseException, str, str]] = [
    (UsageError("preset 'nanu': did you mean 'nano'?"), "usage", "error: preset 'nanu': did you mean 'nano'?"),
    (NotFoundError("there is no run 7"), "usage", "error: there is no run 7"),
    (ConflictError("run 7 exists already"), "usage", "error: run 7 exists already"),
    (RlGymError("run 7 is corrupt"), "usage", "error: run 7 is corrupt"),
    (HclSyntaxError("a brace is missing", line=3, column=7), "usage", "error: main.tf:3:7: a brace is missing"),
    (InfrastructureError("the worker died"), "fault", "error: the worker died"),
    (FULL, "fault", "error: runs/7/metrics.jsonl: No space left on device"),
    (OSError("odd"), "fault", "error: odd"),
    (KeyError("x"), "fault", "error: unexpected KeyError at test_main.py:"),
    (MemoryError(), "fault", "error: unexpected MemoryError at test_main.py:"),
    (UsageError("two\nlines\x1b[31m and\tmore"), "usage", "error: two lines [31m and more"),
]


class TestFailures:
    @pytest.mark.parametrize("verb", ["eval", "scan", "gate", "audit"])
    @pytest.mark.parametrize(("error", "blame", "line"), FAILURES)
    def test_a_failure_is_one_line_and_its_code(
        self,
        error: BaseException,
        blame: str,
        line: str,
        verb: str,
        install: Install,
        capsys: pytest.CaptureFixture[str],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.delenv("RL_GYM_DEBUG", raising=False)
        install(verb, command=raising(error))
        assert main([verb]) == getattr(exit_codes(verb), blame)
        assert_one_line(capsys, line)

    def test_codes_leave_room_for_what_verbs_mean_by_theirs(self) -> None:
        assert exit_codes("scan") == (2, 2)
        assert exit_codes("gate") == exit_codes("audit") == (1, 3)
        assert {exit_codes(verb) for verb in VERBS.keys() - {"scan", "gate", "audit"}} == {(1, 1)}

    def test_a_bug_shows_where_it_came_from_when_asked(
        self, install: Install, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("RL_GYM_DEBUG", "1")
        install("eval", command=raising(KeyError("x")))
        assert main(["eval"]) == 1
        assert "Traceback (most recent call last)" in capsys.readouterr().err

    @pytest.mark.parametrize(
        ("error", "line"),
        [(KeyboardInterrupt("run 7 is kept"), "interrupted: run 7 is kept"), (KeyboardInterrupt(), "interrupted")],
    )
    def test_an_interrupt_is_one_line(
        self, error: BaseException, line: str, install: Install, capsys: pytest.CaptureFixture[str]
    ) -> None:
        install("demo", command=raising(error))
        assert main(["demo"]) == 130
        assert_one_line(capsys, line)

    def test_an_endless_message_is_cut(self, install: Install, capsys: pytest.CaptureFixture[str]) -> None:
        install("eval", command=raising(UsageError("x" * 10_000_000)))
        assert main(["eval"]) == 1
        assert len(capsys.readouterr().err) < 3_000


class TestProcess:
    def test_ctrl_c_from_the_keyboard(self, tmp_path: Path) -> None:
        program = (
            "import sys, time, types\n"
            "from rl_gym.cli.main import main\n"
            "verb = types.ModuleType('rl_gym.cli.demo')\n"
            "def command(): print('started', flush=True); time.sleep(60)\n"
            "verb.command = command\n"
            "sys.modules['rl_gym.cli.demo'] = verb\n"
            "raise SystemExit(main(['demo']))\n"
        )
        process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert process.stdout is not None
        assert process.stdout.readline() == b"started\n"
        process.send_signal(signal.SIGINT)
        _, complaint = process.communicate(timeout=30)
        assert (process.returncode, complaint) == (130, b"interrupted\n")

    def test_a_reader_that_leaves_is_no_error(self) -> None:
        reader, writer = os.pipe()
        os.close(reader)
        program = "from rl_gym.cli.main import main; raise SystemExit(main(['--help']))"
        done = subprocess.run([sys.executable, "-c", program], stdout=writer, stderr=subprocess.PIPE, check=False)
        os.close(writer)
        assert (done.returncode, done.stderr) == (141, b"")

    def test_a_terminal_without_a_character_gets_an_escape(self) -> None:
        program = (
            "import sys, types\n"
            "from rl_gym.cli.main import main\n"
            "verb = types.ModuleType('rl_gym.cli.demo')\n"
            "verb.command = lambda: print('\\u2713 fine')\n"
            "sys.modules['rl_gym.cli.demo'] = verb\n"
            "raise SystemExit(main(['demo']))\n"
        )
        done = run_python(program, PYTHONIOENCODING="ascii")
        assert (done.returncode, done.stdout) == (0, "\\u2713 fine\n")


def run_python(program: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, env={**os.environ, **environment}
    )


def assert_one_line(capsys: pytest.CaptureFixture[str], start: str, end: str = "") -> None:
    complaint = capsys.readouterr().err
    assert complaint.startswith(start)
    assert complaint.count("\n") == 1
    assert complaint.endswith(f"{end}\n")
