"""Policies on an anchor, outside of a run: each answers once, and any number of reward profiles judge the answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from rl_gym.gym.core import Environment, Episode
from rl_gym.gym.evaluation import evaluate, evaluate_reference
from rl_gym.gym.records import RecordedCompletion
from rl_gym.serving.local_model import LocalModel
from rl_gym.serving.sampling import Sample, Sampling

__all__ = ["REFERENCES", "ModelPolicy", "evaluate_anchor"]

REFERENCES: Mapping[str, str] = {"random": "random", "reference": "oracle", "oracle": "oracle"}
"""Policies that read the episode, and the method of the environment that answers for each."""


@dataclass(frozen=True, slots=True)
class ModelPolicy:
    """A model under the name that tables give it; `digest` is that of its weights."""

    name: str
    model: LocalModel
    digest: str


def evaluate_anchor(
    judges: Sequence[Environment],
    anchor: str,
    policies: Sequence[str | ModelPolicy],
    *,
    samples: int,
    max_tokens: int,
    seed: int,
    progress: Callable[[str, int], None] | None = None,
) -> list[list[RecordedCompletion]]:
    """The records of every policy on the anchor, once for each judge: environments that differ in reward alone.

    A model that cannot read a prompt, because its context is too short, answers nothing: that is its own limit.
    `progress(policy, prompts)` is told of every batch that a model finished.
    """
    env = judges[0]
    episodes = env.episodes(anchor)
    recorded: list[list[RecordedCompletion]] = [[] for _ in judges]
    for policy in policies:
        if isinstance(policy, str):
            for judge, records in zip(judges, recorded, strict=True):
                answer = getattr(judge, REFERENCES[policy])
                records += evaluate_reference(judge, episodes, policy, answer, split=anchor)
            continue
        answers = _answer(env, episodes, policy, samples, max_tokens, seed, progress)
        for judge, records in zip(judges, recorded, strict=True):
            records += evaluate(
                judge,
                episodes,
                policy.name,
                lambda prompts, count, greedy, answers=answers: answers[greedy],
                split=anchor,
                samples=samples,
                model=policy.digest,
                batch=len(episodes),
            )
    return recorded


def _answer(
    env: Environment,
    episodes: Sequence[Episode],
    policy: ModelPolicy,
    samples: int,
    max_tokens: int,
    seed: int,
    progress: Callable[[str, int], None] | None,
) -> dict[bool, list[list[Sample]]]:
    """What a model answers to every episode, greedy and sampled."""
    prompts = [env.prompt(episode) for episode in episodes]
    answers: dict[bool, list[list[Sample]]] = {}
    for greedy in (True, False):
        sampling = Sampling(n=1 if greedy else samples, max_tokens=max_tokens, seed=seed, greedy=greedy)
        readable = [number for number, prompt in enumerate(prompts) if policy.model.fits(prompt, sampling)]
        given = policy.model.complete(
            [prompts[number] for number in readable],
            sampling,
            progress=(lambda count: progress(policy.name, count)) if progress else None,
        )
        nothing = [Sample("", 0, "length")] * sampling.n
        found = dict(zip(readable, given, strict=True))
        answers[greedy] = [found.get(number, nothing) for number in range(len(prompts))]
    return answers
