"""Requests for mined modules, made from the resource types alone: the same for a name each time, varied among names."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from rl_gym.iac.datasets import in_words

__all__ = ["request_for"]

_WORDINGS = (
    "Create {types}.",
    "We need {types} on AWS.",
    "Please write Terraform for {types}.",
    "Set up {types} for our platform team.",
    "tf for {types}",
    "{types}, ready to apply",
    "hey, could you make me {types}? thanks!",
    "Write a module that manages {types}.",
    "Provision {types}, secure by default.",
    "I am looking for a configuration with {types}.",
    "Our new service requires {types}.",
    "A reusable module, please: {types}.",
)
_AS_TERRAFORM_SPELLS = 1 / 3
_SPOKEN_WITH_A_VOWEL = tuple("AEFHILMNORSX")
_SPOKEN_AS_WORDS = ("FSX", "MQ", "NAT", "RAM", "SES")


def request_for(name: str, types: Sequence[str]) -> str:
    """A request for these types, at least one; `name` decides about the wording."""
    rng = Random(name)
    explicit = rng.random() < _AS_TERRAFORM_SPELLS
    said = [kind if explicit else _with_article(in_words(kind)) for kind in types]
    listed = said[0] if len(said) == 1 else f"{', '.join(said[:-1])} and {said[-1]}"
    text = rng.choice(_WORDINGS).format(types=listed)
    return text if explicit else text[0].upper() + text[1:]


def _with_article(words: str) -> str:
    first = words.split()[0]
    spelt = first.isupper() and first not in _SPOKEN_AS_WORDS
    vowel = first.startswith(_SPOKEN_WITH_A_VOWEL) if spelt else first[0].lower() in "aeio"
    return f"{'an' if vowel else 'a'} {words}"
