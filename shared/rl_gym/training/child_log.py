"""What children print: each line goes to the run's log, and the last ones of each child are kept for its failure."""

from __future__ import annotations

import os
import re
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

from rl_gym.infra.errors import one_line
from rl_gym.training.files import writing

__all__ = ["ChildLog", "hidden", "shown"]

_KEPT_LINES = 200
_LINE_BYTES = 1 << 16
_SHOWN_LINES = 5
_SHOWN_CHARACTERS = 500
_JOIN_SECONDS = 5.0

_SECRET_NAMES = re.compile(r"TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|(?:^|_)KEYS?(?:$|_)", re.IGNORECASE)
_SHORTEST_SECRET = 6
_IN_ADDRESS = re.compile(r"(?<=://)[^/\s@]+(?=@)")


class ChildLog:
    """Copies what a child prints to the end of the log, line by line, until all that hold its other end have ended.

    A disk that refuses a line costs that line: a child that nobody reads from would stand still. To be made before the
    child is: a log that cannot be opened is an InfrastructureError.
    """

    def __init__(self, log: Path) -> None:
        self._last: deque[str] = deque(maxlen=_KEPT_LINES)
        self._thread: threading.Thread | None = None
        with writing(log):
            self._file = log.open("ab", buffering=0)

    def follow(self, stream: IO[bytes]) -> None:
        """Copy what comes from a child, to its end."""
        self._thread = threading.Thread(target=self._copy, args=(stream,), name="child log", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """For a log that follows nothing."""
        self._file.close()

    def lines(self) -> list[str]:
        """The last lines of a child that has ended, as it printed them."""
        if self._thread is not None:
            self._thread.join(_JOIN_SECONDS)
        return list(self._last)

    def _copy(self, stream: IO[bytes]) -> None:
        with self._file, stream:
            while line := stream.readline(_LINE_BYTES):
                with suppress(OSError):
                    self._file.write(line)
                self._last.append(line.decode("utf-8", "replace"))


def shown(lines: Sequence[str], environment: Mapping[str, str] = os.environ) -> str:
    """The last few lines that say something, in one: printable, bounded, without the secrets of the environment."""
    cleaned = [one_line(hidden(line, environment), _SHOWN_CHARACTERS) for line in lines]
    text = " | ".join([line for line in cleaned if line][-_SHOWN_LINES:])
    return text if len(text) <= _SHOWN_CHARACTERS else f"...{text[3 - _SHOWN_CHARACTERS :]}"


def hidden(text: str, environment: Mapping[str, str]) -> str:
    """What was printed, without the secrets of an environment and without those that addresses hold."""
    for name, value in environment.items():
        if len(value) >= _SHORTEST_SECRET and _SECRET_NAMES.search(name):
            text = text.replace(value, "***")
    return _IN_ADDRESS.sub("***", text)
