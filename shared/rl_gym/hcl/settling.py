"""The order of evaluation: a value is settled when it is first asked for, never twice, and never by way of itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from rl_gym.hcl import ast
from rl_gym.hcl.budget import Budget, LimitExceededError
from rl_gym.hcl.documents import ABSENT
from rl_gym.hcl.folding import CycleError, exceeded
from rl_gym.hcl.limits import Limits
from rl_gym.hcl.values import Value

_HOPS = 32
"""How many values may wait for one another on the call stack; in a longer chain the last one is settled first."""
BUSY: Final[Any] = type("Busy", (), {"__slots__": ()})()
"""Stands in a memo for a value that is being computed."""


class Task:
    """How to settle one value: where it is kept, what computes it, where it is written, and whose it is."""

    __slots__ = ("compute", "key", "memo", "node", "owner")

    def __init__(
        self, memo: dict[Any, Any], key: Any, node: ast.Node, owner: str, compute: Callable[[], Value]
    ) -> None:
        self.memo = memo
        self.key = key
        self.node = node
        self.owner = owner
        self.compute = compute

    @property
    def identity(self) -> tuple[int, Any]:
        return id(self.memo), self.key


class _Deferred(Exception):  # noqa: N818 - a request to the one who settles, not a fault
    """A value that must be settled before the one that asked for it can be."""

    def __init__(self, task: Task) -> None:
        super().__init__()
        self.task = task


class Run:
    """One evaluation: what it may still spend, what waits for what, and who refers to whom."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.budget = Budget(limits)
        self.owner = ""
        """The address of the resource, local, variable, output or module that is being evaluated."""
        self._depth = 0
        self._edges: dict[str, dict[str, ast.Node]] = {}

    def link(self, target: str, node: ast.Node) -> None:
        """Note that what is being evaluated refers to `target`."""
        edges = self._edges.get(self.owner)
        if edges is None:
            edges = self._edges[self.owner] = {}
        edges.setdefault(target, node)

    def settle(self, task: Task) -> Value:
        """The value of a task, from its memo or computed now; raises HclEvaluationError or HclLimitError."""
        memo, key = task.memo, task.key
        value = memo.get(key, ABSENT)
        if value is BUSY:
            raise cycle(task.node, f"{task.owner} refers to itself")
        if value is not ABSENT:
            return value
        if self._depth >= _HOPS:
            raise _Deferred(task)
        before, self.owner = self.owner, task.owner
        self._depth += 1
        memo[key] = BUSY
        try:
            value = task.compute()
            if isinstance(value, (list, dict)):
                self.budget.value(value)
        except BaseException as error:
            del memo[key]
            if isinstance(error, LimitExceededError):
                raise exceeded(task.node, error) from None
            if isinstance(error, RecursionError):
                if self._depth == 1:
                    raise exceeded(task.node, LimitExceededError("this nests too deeply to be evaluated")) from None
                raise _Deferred(task) from None
            raise
        finally:
            self.owner = before
            self._depth -= 1
        memo[key] = value
        return value

    def settle_all(self, task: Task) -> Value:
        """The value of a task, however long the chain of values is that it waits for."""
        try:
            return self.settle(task)
        except _Deferred as deferred:
            return self._settle_from_the_end(task, deferred.task)

    def _settle_from_the_end(self, task: Task, first: Task) -> Value:
        """The value of a task that waits for `first`, and for more behind it."""
        waiting = [task, first]
        asked = {task.identity, first.identity}
        while True:
            try:
                value = self.settle(waiting[-1])
            except _Deferred as deferred:
                if deferred.task.identity in asked:
                    raise cycle(deferred.task.node, f"{deferred.task.owner} refers to itself") from None
                asked.add(deferred.task.identity)
                waiting.append(deferred.task)
                continue
            asked.discard(waiting.pop().identity)
            if not waiting:
                return value

    def refuse_cycles(self) -> None:
        """Refuse what refers to itself by way of others, even where no value depends on it, as Terraform does."""
        finished: set[str] = set()
        for start in self._edges:
            if start not in finished:
                self._walk(start, finished)

    def _walk(self, start: str, finished: set[str]) -> None:
        path = [start]
        on_path = {start}
        pending: list[Iterator[str]] = [iter(self._edges[start])]
        while pending:
            name = path[-1]
            for target in pending[-1]:
                if target in on_path:
                    circle = [*path[path.index(target) :], target]
                    shown = circle if len(circle) <= 8 else [*circle[:7], "..."]
                    raise cycle(self._edges[name][target], "cycle: " + " -> ".join(shown))
                if target not in finished and target in self._edges:
                    path.append(target)
                    on_path.add(target)
                    pending.append(iter(self._edges[target]))
                    break
            else:
                pending.pop()
                on_path.discard(path.pop())
                finished.add(name)


def cycle(node: ast.Node, message: str) -> CycleError:
    line, column = node.source.position(node.start)
    return CycleError(message, filename=node.source.filename, line=line, column=column)
