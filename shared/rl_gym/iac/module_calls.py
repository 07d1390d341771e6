"""Calls to modules whose files are not given: what is passed to them is judged, though what they make is not known."""

from __future__ import annotations

from collections.abc import Callable

from rl_gym.hcl import File, Module, ast
from rl_gym.hcl.module import local_calls
from rl_gym.iac.report import Problem

_INSTANCES = frozenset({"count", "for_each"})


def with_calls(module: Module, wanted: Callable[[str], bool]) -> Module:
    """The module with a resource `module.NAME` for each such call that passes a wanted argument.

    The resource holds these arguments alone, so that they are evaluated like those of any other.
    """
    files = [*module.files]
    for file in module.files:
        calls = [_stand_in(block, wanted) for block in file.body.blocks_of("module") if _is_missing(block, module)]
        body = ast.Body()
        body.blocks.extend(call for call in calls if set(call.body.attributes) - _INSTANCES)
        if body.blocks:
            files.append(File(file.source, body))
    if len(files) == len(module.files):
        return module
    extended = Module(module.directory, files, module.settings)
    extended.calls.update(module.calls)
    return extended


def _is_missing(block: ast.Block, module: Module) -> bool:
    return len(block.labels) == 1 and block.labels[0] not in module.calls


def _stand_in(call: ast.Block, wanted: Callable[[str], bool]) -> ast.Block:
    body = ast.Body()
    body.attributes = {
        name: attribute for name, attribute in call.body.attributes.items() if name in _INSTANCES or wanted(name)
    }
    return ast.Block(call.source, call.start, call.end, "resource", ["module", call.labels[0]], body)


def unread_calls(root: Module) -> list[Problem]:
    """The calls to local modules whose files are not given, in a module and all that it calls."""
    modules = {root.directory: root}
    pending = [root]
    while pending:
        for called in pending.pop().calls.values():
            if called.directory not in modules:
                modules[called.directory] = called
                pending.append(called)
    return [
        _unread(call, source)
        for module in modules.values()
        for call, source in local_calls(module.files)
        if _is_missing(call, module)
    ]


def _unread(call: ast.Block, source: str) -> Problem:
    line, column = call.source.position(call.start)
    reason = f"the files of {source!r} are not here, so that what it makes was not judged"
    return Problem("module", reason, call.source.filename, line, column, f"module.{call.labels[0]}")
