"""Completions of nano's requests as a policy in training writes them: good, plain, cut off, mixed up, garbage."""

from __future__ import annotations

from random import Random

from rl_gym.gym.core import Environment
from rl_gym.gym.trl import Answer
from rl_gym.iac.tasks.parametric import nano_episode

__all__ = ["nano_answers"]

GARBAGE = (
    "",
    " ",
    "I cannot help with that.",
    "]" * 500,
    "{" * 500,
    'resource "aws_s3_bucket" "x" {',
    'resource "aws_s3_bucket" "x" {\n  bucket = 1 / 0\n}\n',
    "locals {\n  a = local.b\n  b = local.a\n}\n",
    "\x00\x01\x7f",
    "\ufffd" * 40,
    "```hcl\n```",
    "<end>" * 30,
    '{"resource": {}}',
)


def nano_answers(env: Environment, count: int, seed: int = 0) -> list[Answer]:
    """`count` of them, each kind in turn."""
    random = Random(seed)
    answers: list[Answer] = []
    for number in range(count):
        episode = nano_episode(number)
        good, plain = env.oracle(episode), env.random(episode)
        cut = random.randrange(len(good))
        lines = good.splitlines(keepends=True)
        random.shuffle(lines)
        kinds = (good, plain, good[:cut], good[:cut] + plain[cut:], "".join(lines), random.choice(GARBAGE))
        answers.append((episode, kinds[number % len(kinds)]))
    return answers
