"""The rulebook: a ruleset in a few hundred tokens, to stand before the prompt of any model."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rl_gym.iac.rules import Rule, Ruleset
from rl_gym.iac.verdicts import SEVERITY_WEIGHTS
from rl_gym.infra.errors import UsageError

__all__ = ["MOST_TOKENS", "Rulebook", "most_tokens", "rulebook", "with_rulebook"]

MOST_TOKENS = 600

_TITLE = "Rules for secure Terraform, by service, the most severe first:"
_SERVICES = {
    "cloudfront": "CloudFront",
    "cloudtrail": "CloudTrail",
    "cw": "Log groups",
    "ddb": "DynamoDB",
    "dynamodb": "DynamoDB",
    "ebs": "EC2",
    "hardcoded": "Everywhere",
    "lambda": "Lambda",
    "redshift": "Redshift",
    "sg": "Security groups",
    "subnet": "VPC",
    "tags": "Everywhere",
}
"""Families of rules whose service is not spelled as the family in capitals."""

_PIECE = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\S|\n")
_ACRONYM = re.compile(r"[A-Z]+|[A-Z]?[b-df-hj-np-tv-xz]+")


@dataclass(frozen=True, slots=True)
class Rulebook:
    """The text, how many tokens it takes at most, and how many rules of the ruleset are in it and left out."""

    text: str
    tokens: int
    rules: int
    left_out: int


def rulebook(ruleset: Ruleset, most: int = MOST_TOKENS) -> Rulebook:
    """A line for each service with what its rules ask for, in at most `most` tokens as `most_tokens` counts them.

    The same ruleset gives the same text. Where not all rules find room, the least severe are left out, and the text
    says how many. Raises UsageError where not even one finds room.
    """
    rules = sorted(ruleset.rules, key=lambda one: -SEVERITY_WEIGHTS[one.severity])
    short = bisect_left(range(len(rules)), True, key=lambda left: most_tokens(_text(rules, left)) <= most)
    if short == len(rules):
        raise UsageError(f"a rulebook of {most} tokens has no room for a single rule of {ruleset.name}")
    text = _text(rules, short)
    return Rulebook(text, most_tokens(text), len(rules) - short, short)


def with_rulebook(prompt: str, book: Rulebook) -> str:
    """A prompt with the rulebook before it: so that all prompts begin alike, which an engine's prefix cache uses."""
    return f"{book.text}\n{prompt}"


def most_tokens(text: str) -> int:
    """An estimate from above of the tokens of an English or Terraform text, for any common tokenizer.

    A token for every four letters of a word that is begun, for every two of an acronym (capitals, or no vowel), one
    for each other character and line; camel case is several words. No bound in theory: a tokenizer may take a token a
    byte.
    """
    return sum(map(_tokens_of_piece, _PIECE.findall(text)))


def _tokens_of_piece(piece: str) -> int:
    if not piece.isascii():
        return len(piece.encode())
    return -(-len(piece) // (2 if _ACRONYM.fullmatch(piece) else 4))


def _text(rules: Sequence[Rule], left_out: int) -> str:
    """The rulebook without the last `left_out` rules."""
    lines: dict[str, list[str]] = {}
    for one in rules[: len(rules) - left_out]:
        service = _SERVICES.get(one.family, one.family.upper())
        lines.setdefault(service, []).append(" ".join((one.short or one.fix.removeprefix("set ")).split()))
    return "\n".join([_TITLE, *_lines(lines), *([f"and {left_out} less severe ones"] if left_out else [])]) + "\n"


def _lines(services: dict[str, list[str]]) -> Iterator[str]:
    for service, asked in services.items():
        yield f"{service}: {'; '.join(dict.fromkeys(asked))}"
