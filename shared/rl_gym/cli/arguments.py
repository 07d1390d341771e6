"""Arguments of the verbs that must answer at once: read by argparse, refused as every other wrong usage is."""

from __future__ import annotations

import argparse
from typing import NoReturn

from rl_gym.infra.errors import UsageError

__all__ = ["ArgumentParser"]


class ArgumentParser(argparse.ArgumentParser):
    """A parser that raises UsageError for what it does not understand, and ends no process for it."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message} (see `{self.prog} --help`)")
