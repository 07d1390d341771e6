"""An organisation's own rules: Python files in a folder, each with functions under `@rule`, as in `rl_gym.iac.rules`.

They run as code of whoever scans. They stand beside the rules of a ruleset in a scan, and never in a reward.
"""

from __future__ import annotations

import importlib
import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import ModuleType

from rl_gym.hcl import HclError, Resource
from rl_gym.iac.context import Context
from rl_gym.iac.report import ScanError
from rl_gym.iac.rules.registry import Check, Rule, Ruleset, all_rules, collecting, make_ruleset
from rl_gym.iac.triage.issues import PROBLEM_RULES
from rl_gym.iac.triage.text import visible
from rl_gym.iac.verdicts import SEVERITY_WEIGHTS, Answer
from rl_gym.infra.errors import UsageError

__all__ = ["read_own_rules", "with_own_rules"]

_PACKAGE = "rl_gym_own_rules"
_MOST_FILES = 500
_VERDICTS = ("pass", "fail", "unknown")


def with_own_rules(ruleset: Ruleset, own: dict[str, Rule]) -> Ruleset:
    """A ruleset and further rules, under a name and a digest that say so."""
    return make_ruleset(f"{ruleset.name}+own", [*ruleset.rules, *own.values()])


def read_own_rules(folder: str, mistakes: dict[str, ScanError] | None = None) -> dict[str, Rule]:
    """The rules that the `*.py` files of a folder define, by id; files that begin with `_` are for these to import.

    Raises UsageError, with file and line, for a file that cannot be run, and for a rule that is not one. A rule that
    fails of itself while it judges raises it too; where `mistakes` is given, its first failure goes there by its id
    instead, and it has no answer about that resource.
    """
    if not os.path.isdir(folder):
        raise UsageError(f"{folder}: there is no such folder of rules")
    names = sorted(name for name in os.listdir(folder) if name.endswith(".py") and not name.startswith("_"))
    if not names:
        raise UsageError(f"{folder}: there are no .py files with rules in this folder")
    if len(names) > _MOST_FILES:
        raise UsageError(f"{folder}: more than {_MOST_FILES} files of rules")
    with _package(folder), collecting() as found:
        for name in names:
            _run(folder, name)
    if not found:
        raise UsageError(f"{folder}: no file in this folder defines a rule: each is a function under @rule")
    return {one.id: replace(_checked(one, folder), check=_guarded(one, folder, mistakes)) for one in found.values()}


@contextmanager
def _package(folder: str) -> Iterator[None]:
    """The folder as a package, so that its files may import from one another; nothing is written into it."""
    package = ModuleType(_PACKAGE)
    package.__path__ = [os.path.abspath(folder)]
    for name in [name for name in sys.modules if name.partition(".")[0] == _PACKAGE]:
        del sys.modules[name]
    sys.modules[_PACKAGE] = package
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.dont_write_bytecode = before


def _run(folder: str, name: str) -> None:
    try:
        importlib.import_module(f"{_PACKAGE}.{name.removesuffix('.py')}")
    except SyntaxError as error:
        raise UsageError(f"{os.path.relpath(error.filename or name)}:{error.lineno}: {error.msg}") from error
    except (Exception, SystemExit) as error:
        place = _place(error, folder) or (os.path.join(folder, name), 0)
        raise UsageError(str(ScanError(_told(error), *place))) from error


def _checked(one: Rule, folder: str) -> Rule:
    wrong = ""
    if one.id in all_rules() or one.id in PROBLEM_RULES:
        wrong = "one of rl-gym's own has this name: give it another"
    elif one.severity not in SEVERITY_WEIGHTS:
        wrong = f"its severity is none of {', '.join(SEVERITY_WEIGHTS)}"
    elif any(len(kind) == 1 and kind != "*" for kind in one.types):
        wrong = 'its types must be a list, as in types=("aws_instance",)'
    if wrong:
        raise UsageError(str(ScanError(f"rule {one.id!r}: {wrong}", *_definition(one, folder))))
    return one


def _guarded(one: Rule, folder: str, mistakes: dict[str, ScanError] | None) -> Check:
    """The check of a rule, whose own failure is told as the mistake of who wrote it, with its file and line."""

    def check(resource: Resource, context: Context) -> Answer | None:
        found = _asked(one, resource, context, folder)
        if not isinstance(found, ScanError):
            return found
        if mistakes is None:
            raise UsageError(str(found))
        mistakes.setdefault(one.id, found)
        return None

    check.__doc__ = one.check.__doc__
    return check


def _asked(one: Rule, resource: Resource, context: Context, folder: str) -> Answer | ScanError | None:
    """The answer of a rule, or what is wrong with the rule."""
    try:
        found: object = one.check(resource, context)
    except HclError:
        raise
    except Exception as error:
        message = f"rule {one.id} failed on {resource.address}: {_told(error)}"
        return ScanError(visible(message), *(_place(error, folder) or _definition(one, folder)))
    if found is None or (isinstance(found, Answer) and found.verdict in _VERDICTS):
        return found
    wanted = f"None, or an Answer with the verdict {', '.join(_VERDICTS)}"
    message = f"rule {one.id} must give {wanted}; it gave {str(found)[:80]!r}"
    return ScanError(visible(message), *_definition(one, folder))


def _definition(one: Rule, folder: str) -> tuple[str, int]:
    """The file and line of the function of a rule."""
    code = getattr(one.check, "__code__", None)
    return (os.path.relpath(code.co_filename), code.co_firstlineno) if code else (folder, 0)


def _place(error: BaseException, folder: str) -> tuple[str, int] | None:
    """The file and line of the folder that an error passed last, if it passed any."""
    inside = os.path.abspath(folder) + os.sep
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename.startswith(inside)]
    return (os.path.relpath(frames[-1].filename), frames[-1].lineno or 0) if frames else None


def _told(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"
