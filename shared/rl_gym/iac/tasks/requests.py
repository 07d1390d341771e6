"""Requests as people word them: formal, terse or chatty, in plain words or with types, some with a distraction."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from rl_gym.iac.tasks.builders import BUILDERS
from rl_gym.iac.tasks.parts import Part, Stack

__all__ = ["TONES", "word"]

TONES = {
    "formal": (
        "Please provision {parts} for project {project}.",
        "Project {project} requires {parts}.",
        "We need {parts} to be created for {project}.",
        "Create {parts}.",
    ),
    "terse": ("{parts}", "need {parts}", "{project}: {parts}", "tf for {parts}"),
    "chatty": (
        "hey, can you set up {parts}? thanks!",
        "hi! {project} could use {parts}, cheers",
        "so we are starting {project} and I want {parts}, nothing fancy",
        "could you quickly make me {parts}?",
    ),
}

_DISTRACTIONS = (
    "The demo is on Friday.",
    "Our team sits in Lisbon.",
    "About forty people use it.",
    "The old setup was made by hand.",
    "Budget was approved last week.",
    "It replaces a server under a desk.",
    "We do standups at nine.",
    "The wiki page is out of date.",
)

_ALWAYS = frozenset({"policy", "role_policy"})
"""Kinds whose details say what the thing is for: without them there is nothing to build."""


def word(stack: Stack, rng: Random) -> str:
    """One wording of the request for a stack; every part's name stands in it."""
    explicit = rng.random() < 1 / 3
    parts = _join([_phrase(part, stack, explicit, rng) for part in stack.parts])
    text = rng.choice(TONES[rng.choice(sorted(TONES))]).format(parts=parts, project=stack.project)
    if rng.random() < 0.2:
        text = f"{text} {rng.choice(_DISTRACTIONS)}" if text[-1] in ".?!" else f"{text}. {rng.choice(_DISTRACTIONS)}"
    return text


def _phrase(part: Part, stack: Stack, explicit: bool, rng: Random) -> str:
    builder = BUILDERS[part.kind]
    noun = builder.types[0] if explicit else rng.choice(builder.nouns(part))
    named = rng.choice((" named ", " called ", " "))
    chosen = [d for d in builder.details(part, stack) if part.kind in _ALWAYS or rng.random() < 0.5]
    return noun + named + part.name + "".join(f", {detail}" for detail in chosen)


def _join(phrases: Sequence[str]) -> str:
    return phrases[0] if len(phrases) == 1 else "; ".join(phrases[:-1]) + " and " + phrases[-1]
