"""Reading a file that somebody names: bounded whatever the name leads to, and with a place for each mistake."""

from __future__ import annotations

import codecs
import json
import os
import stat
from typing import Any

from rl_gym.infra.errors import UsageError

__all__ = ["UnreadableError", "decoded", "parsed_json", "read_bytes", "read_text", "split_lines"]

_MIB = 2**20


class UnreadableError(UsageError):
    """A file, or what a path names, cannot be read.

    Attributes: `path`; `message`; `line` and `column`, counted from 1, or 0 where the file as a whole is meant.
    """

    def __init__(self, path: object, message: str, line: int = 0, column: int = 0) -> None:
        place = f":{line}:{column}" if line else ""
        super().__init__(f"{path}{place}: {message}")
        self.path = str(path)
        self.message = message
        self.line = line
        self.column = column


def read_text(path: str, largest: int) -> str:
    """The text of a regular file of at most `largest` bytes of UTF-8; raises UnreadableError."""
    return decoded(read_bytes(path, largest), path)


def read_bytes(path: str, largest: int) -> bytes:
    """The content of a regular file of at most `largest` bytes; raises UnreadableError.

    Nothing but a regular file is read: a pipe or a device could make one wait, or go on, for ever.
    """
    try:
        # Not to wait for a writer, where it is a pipe.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        with open(descriptor, "rb") as stream:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise UnreadableError(path, "not a regular file")
            data = stream.read(largest + 1)
    except OSError as error:
        raise UnreadableError(path, error.strerror or str(error)) from error
    if len(data) > largest:
        raise UnreadableError(path, f"larger than {largest // _MIB} MiB")
    return data


def decoded(data: bytes, path: str) -> str:
    """UTF-8 as text; raises UnreadableError at the first byte that is none."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise UnreadableError(path, "not UTF-8 text, but UTF-16: save it as UTF-8", 1, 1)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8")
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        raise UnreadableError(path, "not UTF-8 text", line, column) from None


def parsed_json(text: str, path: str) -> Any:
    """The value of a JSON document; raises UnreadableError, at the place of the mistake where that is known."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise UnreadableError(path, f"not JSON: {error.msg}", error.lineno, error.colno) from None
    except RecursionError:
        raise UnreadableError(path, "not JSON that can be read: it is nested too deep") from None
    except ValueError:
        raise UnreadableError(path, "not JSON that can be read: a whole number in it is too long") from None


def split_lines(text: str) -> list[str]:
    """The lines of a text with a value a line, such as JSON lines.

    A newline alone ends one: `str.splitlines` ends one at U+2028, U+2029 and U+0085 too, which a JSON string may hold.
    """
    lines = text.split("\n")
    return lines if lines[-1] else lines[:-1]
