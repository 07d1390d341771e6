"""`rl-gym rulebook`: what a ruleset asks for in at most 600 tokens, to stand before the prompt of any model."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from rl_gym.cli.arguments import ArgumentParser
from rl_gym.iac.defaults import DEFAULT_RULESET
from rl_gym.iac.rulebook import MOST_TOKENS, rulebook
from rl_gym.iac.rules import RULESETS, get_ruleset


def main(arguments: Sequence[str]) -> int:
    """Run the verb: the rulebook on stdout, what is in it on stderr. Raises NotFoundError for an unknown ruleset."""
    parser = ArgumentParser(
        prog="rl-gym rulebook",
        description=f"What a ruleset asks for, in at most {MOST_TOKENS} tokens of any common tokenizer.",
        allow_abbrev=False,
    )
    parser.add_argument("--ruleset", default=DEFAULT_RULESET, metavar="NAME", help=f"one of {', '.join(RULESETS)}")
    book = rulebook(get_ruleset(parser.parse_args(arguments).ruleset))
    sys.stdout.write(book.text)
    left = f"; the {book.left_out} least severe are left out" if book.left_out else ""
    print(f"{book.rules} rules, at most {book.tokens} tokens{left}", file=sys.stderr)
    return 0
