"""`python -m rl_gym.iac.demo`: the same as `rl-gym demo`, found by its entry point, so that nothing here imports it."""

from __future__ import annotations

import sys
from importlib.metadata import entry_points

from rl_gym.infra.errors import UsageError

__all__ = ["main"]


def main(arguments: list[str]) -> int:
    """Hand `arguments` to the installed command's verb `demo` and return its exit code."""
    found = list(entry_points(group="console_scripts", name="rl-gym"))
    if not found:
        raise UsageError("the command rl-gym is not installed: pip install rl-gym")
    code: int = found[0].load()(["demo", *arguments])
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
