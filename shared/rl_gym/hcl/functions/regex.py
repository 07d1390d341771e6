"""`regex`, `regexall` and `replace`. Terraform's expressions are RE2's, matched in linear time, and so are these."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from rl_gym.hcl.budget import Budget, LimitExceededError, NoValueError
from rl_gym.hcl.conversion import STRING
from rl_gym.hcl.functions.registry import function
from rl_gym.hcl.values import List, Value

_STATES_PER_STEP = 128
_LONGEST_PATTERN = 2048
_MEMORY = 1 << 19
_PLACEHOLDER = re.compile(rb"\$(?:(\$)|(\w+)|\{(\w+)\})", re.ASCII)


class _Pattern:
    """A compiled expression that pays for every search with the work it may cost at most."""

    def __init__(self, budget: Budget, text: str) -> None:
        import re2  # only the configurations that use an expression pay for loading it

        if len(text) > _LONGEST_PATTERN:
            raise LimitExceededError(f"a pattern of {len(text)} characters is longer than {_LONGEST_PATTERN}")
        options = re2.Options()
        options.log_errors = False
        options.max_mem = _MEMORY
        budget.spend(len(text))
        try:
            self._compiled: Any = re2.compile(text.encode(), options)
        except re2.error as error:
            reason = error.args[0].decode() if error.args and isinstance(error.args[0], bytes) else str(error)
            if "too large" in reason:
                raise LimitExceededError("a regular expression takes too much memory") from None
            raise NoValueError(f"invalid regular expression: {reason}") from None
        self._budget = budget
        self._size: int = self._compiled.programsize
        budget.spend(2 * self._size)
        self.groups: int = self._compiled.groups
        self.names = {_text(name): place for name, place in self._compiled.groupindex.items()}

    def search(self, text: bytes, start: int) -> Any | None:
        self._budget.spend(1 + (len(text) - start) * self._size * (1 + self.groups) // _STATES_PER_STEP)
        return self._compiled.search(text, start)

    def matches(self, text: bytes) -> Iterator[Any]:
        """Every match from left to right; an empty one right after another match is none."""
        at, last_end = 0, -1
        while at <= len(text):
            match = self.search(text, at)
            if match is None:
                return
            start, end = match.span()
            if end > start or start != last_end:
                yield match
                last_end = end
            at = end if end > at else _next_character(text, end)


def _text(name: str | bytes) -> str:
    return name.decode() if isinstance(name, bytes) else name


def _next_character(text: bytes, at: int) -> int:
    at += 1
    while at < len(text) and text[at] & 0xC0 == 0x80:
        at += 1
    return at


def _captured(pattern: _Pattern, match: Any) -> Value:
    """The whole match, or its groups: a tuple of unnamed ones, an object of named ones."""
    groups = [None if group is None else group.decode() for group in match.groups()]
    if not groups:
        return match.group().decode()
    if pattern.names:
        if len(pattern.names) != pattern.groups:
            raise NoValueError("named and unnamed groups cannot be mixed")
        return {name: groups[place - 1] for name, place in pattern.names.items()}
    return groups


@function("regex", STRING, STRING, budgeted=True)
def regex(budget: Budget, pattern: str, text: str) -> Value:
    compiled = _Pattern(budget, pattern)
    match = compiled.search(text.encode(), 0)
    if match is None:
        raise NoValueError("the pattern does not match the given string")
    return _captured(compiled, match)


@function("regexall", STRING, STRING, budgeted=True)
def regexall(budget: Budget, pattern: str, text: str) -> List:
    compiled = _Pattern(budget, pattern)
    found = List()
    for match in compiled.matches(text.encode()):
        found.append(_captured(compiled, match))
        budget.spend(1 + compiled.groups)
    return found


@function("replace", STRING, STRING, STRING, budgeted=True)
def replace(budget: Budget, text: str, wanted: str, replacement: str) -> str:
    if len(wanted) > 1 and wanted.startswith("/") and wanted.endswith("/"):
        return _replace_matches(budget, wanted[1:-1], text.encode(), replacement.encode())
    count = text.count(wanted)
    budget.text(len(text) + count * max(0, len(replacement) - len(wanted)))
    return text.replace(wanted, replacement)


def _replace_matches(budget: Budget, wanted: str, text: bytes, replacement: bytes) -> str:
    pattern = _Pattern(budget, wanted)
    out: list[bytes] = []
    at = size = 0
    for match in pattern.matches(text):
        start, end = match.span()
        out += (text[at:start], _expanded(replacement, match, pattern.names))
        size += len(out[-1]) + len(out[-2])
        budget.refuse_text(size)
        at = end
    out.append(text[at:])
    return b"".join(out).decode()


def _expanded(replacement: bytes, match: Any, names: dict[str, int]) -> bytes:
    """The replacement with `$1`, `${name}` and `$$` filled in; a group that does not exist is empty."""
    if b"$" not in replacement:
        return replacement
    groups: Sequence[bytes | None] = (match.group(), *match.groups())

    def fill(place: re.Match[bytes]) -> bytes:
        if place[1]:
            return b"$"
        name = (place[2] or place[3]).decode()
        number = int(name) if name.isdigit() and len(name) < 6 else names.get(name, -1)
        return (groups[number] or b"") if 0 <= number < len(groups) else b""

    return _PLACEHOLDER.sub(fill, replacement)
