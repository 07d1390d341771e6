"""Keeps the problems that are found in one module, each with its place."""

from __future__ import annotations

from collections.abc import Callable, Collection

from rl_gym.hcl import ast
from rl_gym.iac.report import Problem, ProblemKind
from rl_gym.iac.schema.nearest import nearest

_MOST_HINTS = 4
"""Searches for the nearest right name; they take longer than all the rest."""


class Reporter:
    """Problems in the order in which they were found."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self._hints = _MOST_HINTS

    def add(self, kind: ProblemKind, node: ast.Node, message: str, address: str = "", hint: str = "") -> None:
        """Keep a problem at a node of the text."""
        self.problems.append(
            Problem(kind, message, node.source.filename, *node.source.position(node.start), address, hint)
        )

    def hint(self, wrong: str, right: Callable[[], Collection[str]]) -> str:
        """The right name nearest to a wrong one; empty where there is none, and after the first few searches."""
        self._hints -= 1
        return nearest(wrong, right()) if self._hints >= 0 else ""
