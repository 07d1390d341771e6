"""A second attempt at an answer that is not perfect: when it is due, what it is asked, and how long it may get.

Serving, training and evaluation all go by this, so that a model is taught the very prompt that it will be given.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rl_gym.gym.core import Episode

__all__ = ["FULL_REWARD", "repair_due", "repair_prompts", "repair_tokens"]

FULL_REWARD = 1.0 - 1e-9

_PROBLEM_CHARACTERS = 2_000
_FEWEST_PROBLEM_CHARACTERS = 60
_REPAIR_TOKENS = 128


def repair_due(env: Any, reward: float, problems: Sequence[str]) -> bool:
    """Whether an answer of this reward is worth a second attempt, which the environment must be able to ask for."""
    return reward < FULL_REWARD and bool(problems) and hasattr(env, "repair_prompt")


def repair_prompts(env: Any, episode: Episode, answer: str, problems: Sequence[str]) -> Iterator[str]:
    """The prompt for the second attempt, then the same with fewer and fewer of the problems: the first that fits is it.

    `answer` is the text of the action that was judged, "" where there was none to be read.
    """
    room = _PROBLEM_CHARACTERS
    while room >= _FEWEST_PROBLEM_CHARACTERS:
        yield env.repair_prompt(episode, answer, problems, room)
        room //= 2


def repair_tokens(first_tokens: int, max_tokens: int) -> int:
    """Tokens of the second answer at most: room that it will not need is room for findings.

    It may be twice as long as the first one and a little, and no longer than any answer.
    """
    return min(max_tokens, 2 * first_tokens + _REPAIR_TOKENS)
