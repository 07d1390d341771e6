"""The front door of the command line: finds the verb, imports it alone, turns every failure into one line and a code.

A verb is a module of this package (`serve-table` is `serve_table`) with one of

- `command`: a function that typer can read,
- `app`: a `typer.Typer` with verbs of its own,
- `main(arguments) -> int`: for a verb that must answer at once. Importing typer, and the pydantic that it needs to read
  any argument, costs more than a whole scan; such a verb uses argparse.

A `command` or `main` that returns an int sets the exit code. Errors are raised, never printed: see `exit_codes`.
"""

from __future__ import annotations

import importlib
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import NamedTuple

import rl_gym
from rl_gym.infra.errors import InfrastructureError, RlGymError, UsageError, one_line
from rl_gym.infra.hints import hint

VERBS = {
    "demo": "train the nano model against the verifier, or write Terraform for a request",
    "scan": "judge Terraform: findings with line and fix, gates, exit code 1 where something is wrong",
    "explain": "tell what a rule asks for and why, with a configuration that fails it and one that passes",
    "eval": "score policies on an anchor: reward, gate rate, valid rate, with intervals",
    "audit": "ask how a reward went up: lift by part, collapse, exploits",
    "gate": "decide between two models: PROMOTE, BLOCK or UNDECIDED",
    "bakeoff": "score base models on an anchor before any is trained, and say which leads",
    "serve-table": "tell what n samples and a repair turn add to a model, and what they cost",
    "baseline": "judge what an outside model answered, and say from when on a GPU of one's own is cheaper",
    "rulebook": "print what a ruleset asks for, short enough to stand before any model's prompt",
    "rescore": "judge recorded completions again by another ruleset or profile, without a model",
    "runs": "list, watch, cancel and retry the runs of a trainer; lay two runs side by side",
    "pipeline": "run the stages of a preset one after another, here or at a trainer, or go on where a run stopped",
    "join": "train with the machine that a run was started on",
    "data": "fetch a public corpus, make episodes of cloned modules",
    "merge": "write a LoRA adapter into the weights of its base",
    "weights": "fetch models from the hub, S3 or GGUF files, and say which they are",
    "nano": "build the tokenizer and the base of the nano model",
    "schema": "show what a resource type of the AWS provider takes, import the schema of a newer provider",
    "env": "list, scaffold and check environments",
    "keys": "make signing keys, and principals for a call",
}

_INTERRUPTED = 130
_BROKEN_PIPE = 141
_LONGEST_LINE = 2000


class ExitCodes(NamedTuple):
    """The exit codes of one verb for what goes wrong."""

    usage: int
    fault: int


def exit_codes(verb: str) -> ExitCodes:
    """`usage` for a caller's mistake, `fault` for ours (a timeout, a full disk, a bug).

    Both are 1, except where 1 or the code of a fault has a meaning already: `scan` answers 1 for findings, so both are
    2; `audit` and `gate` answer 3 for "could not decide", which is what a fault amounts to.
    """
    match verb:
        case "scan":
            return ExitCodes(usage=2, fault=2)
        case "audit" | "gate":
            return ExitCodes(usage=1, fault=3)
        case _:
            return ExitCodes(usage=1, fault=1)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; `arguments` default to those of the process."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    verb = words[0] if words else ""
    codes = exit_codes(verb)
    _make_output_printable()
    try:
        code = _dispatch(verb, words[1:])
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader has gone; what is still buffered must not raise again when the interpreter closes its streams.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _BROKEN_PIPE
    except KeyboardInterrupt as error:
        return _complain("interrupted", error, _INTERRUPTED)
    except InfrastructureError as error:
        return _complain("error", error, codes.fault)
    except RlGymError as error:
        return _complain("error", error, codes.usage)
    except OSError as error:
        return _complain("error", _describe(error), codes.fault)
    except Exception as error:
        if _is_unreadable_configuration(error):
            return _complain("error", error, codes.usage)
        return _complain("error", unexpected(error), codes.fault)
    return code


def _dispatch(verb: str, arguments: list[str]) -> int:
    if verb in ("", "-h", "--help"):
        print(_overview())
        return 0 if verb else exit_codes(verb).usage
    if verb == "--version":
        print(f"rl-gym {rl_gym.__version__}")
        return 0
    if verb not in VERBS:
        meant = hint(verb, VERBS, "`rl-gym --help` lists them")
        raise UsageError(f"there is no verb {verb!r}: {meant}")
    module = importlib.import_module(f"rl_gym.cli.{verb.replace('-', '_')}")
    run: Callable[[list[str]], int] | None = getattr(module, "main", None)
    return run(arguments) if run else _run_typer(verb, module, arguments)


def _overview() -> str:
    width = max(map(len, VERBS))
    lines = [f"  {verb:{width}}  {purpose}" for verb, purpose in VERBS.items()]
    return "\n".join(
        [
            "usage: rl-gym VERB [ARGUMENTS]",
            "",
            "Train small open models against verifiable rewards, and audit what they learned.",
            "",
            *lines,
            "",
            "`rl-gym VERB --help` is the manual of a verb; `rl-gym --version` tells the version.",
        ]
    )


def _run_typer(verb: str, module: ModuleType, arguments: list[str]) -> int:
    import typer

    app = getattr(module, "app", None)
    if app is None:
        app = typer.Typer(add_completion=False)
        app.command()(module.command)
    program = f"rl-gym {verb}"
    command = typer.main.get_command(app)
    # Not `command()`: its own `main` swallows interrupts and leaves with codes that mean something else here.
    try:
        with command.make_context(program, arguments) as context:
            result = command.invoke(context)
    except typer.Exit as error:
        return error.exit_code
    except typer.Abort as error:
        raise KeyboardInterrupt from error
    except typer.TyperException as error:
        message = error.format_message()
        # An empty message: typer has answered already, with the help of a group that was called without a verb.
        raise UsageError(f"{message} (see `{program} --help`)" if message else "") from error
    return result if type(result) is int else 0


def _complain(kind: str, error: BaseException | str, code: int) -> int:
    """One line on stderr, whatever the message holds, and the code to leave with."""
    line = one_line(str(error), _LONGEST_LINE)
    if line or kind != "error":
        print(f"{kind}: {line}" if line else kind, file=sys.stderr)
    return code


def _describe(error: OSError) -> str:
    reason = error.strerror or str(error) or type(error).__name__
    return f"{error.filename}: {reason}" if error.filename else reason


def _is_unreadable_configuration(error: Exception) -> bool:
    from rl_gym.hcl.errors import HclError

    return isinstance(error, HclError)


def unexpected(error: Exception) -> str:
    """A bug of ours in one line."""
    if os.environ.get("RL_GYM_DEBUG"):
        traceback.print_exception(error)
    where = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{os.path.basename(where.filename)}:{where.lineno}"
    return f"unexpected {type(error).__name__} at {place}: {error} (RL_GYM_DEBUG=1 shows where it came from)"


def _make_output_printable() -> None:
    """A terminal that lacks a character gets an escape in its place, not a crash."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure:
            reconfigure(errors="backslashreplace")


if __name__ == "__main__":
    sys.exit(main())
