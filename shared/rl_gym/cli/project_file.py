"""`.rl-gym.toml`: what a project asks of every scan, so that nobody has to type it.

A key is the long name of a flag of `rl-gym scan`, and a flag that is given goes before the key. Paths are from the
folder of the file. Values of variables are in `var-file`: one that a module does not declare does no harm there.
`[[waiver]]` tables have no flag: an excuse is written down, with its reason and its end.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

from rl_gym.iac.triage.waivers import Waiver
from rl_gym.infra.errors import UsageError
from rl_gym.infra.hints import hint
from rl_gym.infra.text_files import UnreadableError, read_text

NAME = ".rl-gym.toml"

TEXTS = ("ruleset", "format", "fail-on")
LISTS = ("engine", "required")
PATHS = ("output", "baseline", "rules")
PATH_LISTS = ("var-file",)
TABLES = ("severity",)

_KEYS = (*TEXTS, *LISTS, *PATHS, *PATH_LISTS, *TABLES, "waiver")
_WAIVER_KEYS = ("rule", "address", "path", "reason", "expires")
_LARGEST = 2**20
_PLACE = re.compile(r" \(at line (\d+), column (\d+)\)$")


@dataclass(frozen=True, slots=True)
class ProjectFile:
    """The settings of a project; `options` holds what was set, by the name of the flag."""

    path: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    waivers: Sequence[Waiver] = ()
    lines: Mapping[str, int] = field(default_factory=dict)

    def place(self, key: str) -> str:
        """Where a key stands, as `file:line`; the key of a table is `table.key`."""
        return f"{self.path}:{self.lines.get(key, 1)}"


def find_project_file(folder: str) -> str | None:
    """The project's file for who stands in a folder: there or in the nearest folder above that has one.

    The search ends where a repository does (a folder with `.git`): what lies above belongs to somebody else.
    """
    current = os.path.abspath(folder)
    while True:
        candidate = os.path.join(current, NAME)
        if os.path.lexists(candidate):
            return os.path.relpath(candidate, folder)
        above = os.path.dirname(current)
        if above == current or os.path.lexists(os.path.join(current, ".git")):
            return None
        current = above


def read_project_file(path: str) -> ProjectFile:
    """The settings in a file; raises UsageError, with the line, for whatever is not one."""
    import tomllib

    text = read_text(path, _LARGEST)
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _syntax_error(path, str(error)) from None
    except RecursionError:
        raise UnreadableError(path, "not TOML: nested too deep") from None
    except ValueError:
        raise UnreadableError(path, "not TOML that can be read: a whole number in it is too long") from None
    return _Reader(path, document, _lines(text)).read()


def _syntax_error(path: str, message: str) -> UnreadableError:
    found = _PLACE.search(message)
    line, column = (int(found[1]), int(found[2])) if found else (0, 0)
    return UnreadableError(path, f"not TOML: {_PLACE.sub('', message)}", line, column)


@dataclass(frozen=True, slots=True)
class _Reader:
    path: str
    document: Mapping[str, Any]
    lines: Mapping[str, int]

    def read(self) -> ProjectFile:
        self._known(self.document, _KEYS, "")
        options = {key: self._option(key, value) for key, value in self.document.items() if key != "waiver"}
        waivers = self.document.get("waiver", [])
        if not isinstance(waivers, list):
            raise self._wrong("waiver", "is a list of tables: write [[waiver]]")
        return ProjectFile(
            self.path, options, [self._waiver(index, table) for index, table in enumerate(waivers)], self.lines
        )

    def _option(self, key: str, value: object) -> object:
        if key in TEXTS:
            return self._text(key, value)
        if key in PATHS:
            return self._path(self._text(key, value))
        if key in TABLES:
            return self._table(key, value)
        texts = self._list(key, value)
        return [self._path(text) for text in texts] if key in PATH_LISTS else texts

    def _text(self, key: str, value: object) -> str:
        if not isinstance(value, str) or not value.strip():
            raise self._wrong(key, "takes a text")
        return value

    def _list(self, key: str, value: object) -> list[str]:
        if isinstance(value, str):
            return [value]
        if not isinstance(value, list):
            raise self._wrong(key, "takes a list of texts")
        return [self._text(key, item) for item in value]

    def _table(self, key: str, value: object) -> dict[str, str]:
        if not isinstance(value, dict):
            raise self._wrong(key, f"is a table: write [{key}]")
        return {name: self._text(f"{key}.{name}", item) for name, item in value.items()}

    def _path(self, text: str) -> str:
        return os.path.normpath(os.path.join(os.path.dirname(self.path), text))

    def _waiver(self, index: int, table: object) -> Waiver:
        where = f"waiver[{index}]"
        if not isinstance(table, dict):
            raise self._wrong(where, "is a table")
        self._known(table, _WAIVER_KEYS, f"{where}.")
        missing = [key for key in ("rule", "reason", "expires") if key not in table]
        if missing:
            raise self._wrong(where, f"lacks {' and '.join(missing)}")
        texts = {key: self._text(f"{where}.{key}", value) for key, value in table.items() if key != "expires"}
        expires = self._date(f"{where}.expires", table["expires"])
        folder = os.path.dirname(self.path) or "."
        return Waiver(**texts, expires=expires, folder=folder, origin=f"{self.path}:{self.lines.get(where, 1)}")

    def _date(self, key: str, value: object) -> date:
        try:
            found = date.fromisoformat(value) if isinstance(value, str) else value
        except ValueError:
            found = None
        if not isinstance(found, date) or isinstance(found, datetime):
            raise self._wrong(key, "takes a day, as in 2027-01-31")
        return found

    def _known(self, table: Mapping[str, object], keys: Sequence[str], prefix: str) -> None:
        for key in table:
            if key not in keys:
                meant = hint(key, keys, f"the keys are {', '.join(keys)}")
                raise self._wrong(f"{prefix}{key}", f"is no key: {meant}")

    def _wrong(self, key: str, what: str) -> UsageError:
        # A key on the line of its table (dotted, or in braces) has no line of its own.
        line = self.lines.get(key) or self.lines.get(key.rpartition(".")[0], 1)
        return UsageError(f"{self.path}:{line}: {key.rpartition('.')[2]!r} {what}")


_HEADER = re.compile(r"\s*\[(\[?)\s*([\w-]+)")
_ENTRY = re.compile(r"""\s*(?:"([^"]+)"|'([^']+)'|([\w-]+))\s*=""")


def _lines(text: str) -> dict[str, int]:
    """The line of each table and key that begins one: `key`, `table.key`, `waiver[0]`, `waiver[0].key`."""
    lines: dict[str, int] = {}
    prefix, tables = "", 0
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _HEADER.match(line):
            name = header[2]
            lines.setdefault(name, number)
            if header[1]:
                name, tables = f"{name}[{tables}]", tables + 1
                lines[name] = number
            prefix = f"{name}."
        elif entry := _ENTRY.match(line):
            key = entry[1] or entry[2] or entry[3]
            lines.setdefault(f"{prefix}{key}", number)
    return lines
