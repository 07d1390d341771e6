"""`python -m services.trainer [api|work|control]`, from a checkout: one part, or everything that one machine needs."""

from __future__ import annotations

import sys

from rl_gym.infra.command import run_part
from services.trainer.parts import PARTS, everything
from services.trainer.settings import TrainerSettings


def main(arguments: list[str]) -> int:
    """Run the part that is named; without a name all of them."""
    if len(arguments) > 1 or (arguments and arguments[0] not in PARTS):
        print(f"error: python -m services.trainer takes one of {', '.join(PARTS)}, or nothing for all", file=sys.stderr)
        return 1
    return run_part(TrainerSettings, PARTS[arguments[0]] if arguments else everything)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
