"""Evaluation: ask policies for completions of the same episodes, score them, and record every one.

`ladder` and `lifts`, which read the records again, are offered here too.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, Protocol

from rl_gym.gym.core import Environment, Episode, InfrastructureError, environment_faults, judge
from rl_gym.gym.ladder import ladder, lift, lifts
from rl_gym.gym.records import RecordedCompletion
from rl_gym.gym.retry import attempt
from rl_gym.infra.errors import UsageError

__all__ = [
    "Complete",
    "MissingSample",
    "Sample",
    "evaluate",
    "evaluate_reference",
    "judged",
    "ladder",
    "lift",
    "lifts",
]

log = logging.getLogger(__name__)


class Sample(Protocol):
    """What a model backend answers: `tokens` is a count, or the ids themselves."""

    @property
    def text(self) -> str: ...

    @property
    def tokens(self) -> int | Sequence[int] | None: ...

    @property
    def finish_reason(self) -> Literal["stop", "length"] | None: ...


class Complete(Protocol):
    """A policy: for each prompt, `samples` completions, decoded greedily or sampled."""

    def __call__(self, prompts: Sequence[str], samples: int, greedy: bool, /) -> Sequence[Sequence[Sample]]: ...


@dataclass(frozen=True, slots=True)
class MissingSample:
    """A completion that could not be scored, by a fault of ours, after every retry."""

    policy: str
    episode_id: str
    sample: int
    greedy: bool
    reason: str


def evaluate(
    env: Environment,
    episodes: Sequence[Episode],
    policy: str,
    complete: Complete,
    *,
    split: str,
    samples: int = 4,
    greedy: bool = True,
    model: str = "",
    batch: int = 32,
    retries: int = 2,
    max_missing: float = 0.05,
    on_missing: Callable[[MissingSample], None] | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> list[RecordedCompletion]:
    """Ask a policy for `samples` sampled completions of each episode, and one greedy one, and score them all.

    `batch` is how many prompts go to `complete` at once. `on_progress(done, total)` counts completions. A completion
    that cannot be scored is left out, told to `on_missing` (a warning in the log by default), and leaves a gap in the
    numbering of its samples, which `missing_samples` finds again; it is never a reward of 0.

    Raises UsageError for no or repeated episodes, InfrastructureError where the policy answers the wrong number of
    completions, or where a share above `max_missing` could not be scored.
    """
    _distinct(episodes)
    if samples < 0 or (samples == 0 and not greedy):
        raise UsageError(f"nothing to evaluate: samples is {samples}, greedy is {greedy}")
    recorder = _Recorder(env, policy, split, model, retries, max_missing, on_missing)
    total = len(episodes) * (samples + greedy)
    done = 0
    for start in range(0, len(episodes), batch):
        chunk = episodes[start : start + batch]
        prompts = [env.prompt(episode) for episode in chunk]
        for count, is_greedy in ((1, True), (samples, False)):
            if count == 0 or (is_greedy and not greedy):
                continue
            answers = complete(prompts, count, is_greedy)
            if [len(answer) for answer in answers] != [count] * len(chunk):
                raise InfrastructureError(
                    f"policy {policy!r} was asked for {count} completions of {len(chunk)} prompts, "
                    f"and answered {[len(answer) for answer in answers]}"
                )
            for episode, answer in zip(chunk, answers, strict=True):
                for number, sample in enumerate(answer):
                    recorder.record(episode, sample, number, is_greedy)
                done += count
                if on_progress is not None:
                    on_progress(done, total)
    return recorder.finish(total)


@dataclass(frozen=True, slots=True)
class _Text:
    """A completion that no model wrote."""

    text: str
    tokens: None = None
    finish_reason: Literal["stop"] = "stop"


def evaluate_reference(
    env: Environment,
    episodes: Sequence[Episode],
    policy: str,
    answer: Callable[[Episode], str],
    *,
    split: str,
    retries: int = 2,
) -> list[RecordedCompletion]:
    """The same for a policy that reads the episode, one answer each: `env.oracle`, `env.random`.

    Such a policy does not sample; its answer is recorded twice, as greedy and as sample 0, so that it stands in both
    columns of the ladder.
    """
    _distinct(episodes)
    recorder = _Recorder(env, policy, split, "", retries, 0.05, None)
    for episode in episodes:
        with environment_faults(env, episode):
            text = _Text(answer(episode))
        for is_greedy in (True, False):
            recorder.record(episode, text, 0, is_greedy)
    return recorder.finish(2 * len(episodes))


class _Recorder:
    """Scores completions into records, and keeps count of those that could not be scored."""

    def __init__(
        self,
        env: Environment,
        policy: str,
        split: str,
        model: str,
        retries: int,
        max_missing: float,
        on_missing: Callable[[MissingSample], None] | None,
    ) -> None:
        self._env = env
        self._policy = policy
        self._split = split
        self._model = model
        self._retries = retries
        self._max_missing = max_missing
        self._on_missing = on_missing or _warn
        self._records: list[RecordedCompletion] = []
        self._missing: list[MissingSample] = []

    def record(self, episode: Episode, sample: Sample, number: int, greedy: bool) -> None:
        result = attempt(partial(self._scored, episode, sample, number, greedy), self._retries)
        if isinstance(result, RecordedCompletion):
            self._records.append(result)
        else:
            gap = MissingSample(self._policy, episode.id, number, greedy, str(result))
            self._missing.append(gap)
            self._on_missing(gap)

    def _scored(self, episode: Episode, sample: Sample, number: int, greedy: bool) -> RecordedCompletion:
        # A lone surrogate cannot be written as UTF-8; replaced before scoring, so that what is judged is what is kept.
        text = sample.text.encode("utf-8", "replace").decode()
        judgement = judged(self._env, text, episode)
        with environment_faults(self._env, episode):
            return RecordedCompletion(
                environment=self._env.name,
                split=self._split,
                episode_id=episode.id,
                episode_hash=episode.hash,
                request=episode.request,
                policy=self._policy,
                model=self._model,
                sample=number,
                greedy=greedy,
                completion=text,
                completion_tokens=_count(sample.tokens),
                finish_reason=sample.finish_reason,
                **judgement,
            )

    def finish(self, total: int) -> list[RecordedCompletion]:
        if len(self._missing) > self._max_missing * total:
            raise InfrastructureError(
                f"{len(self._missing)} of {total} completions of {self._policy!r} could not be scored, "
                f"the last because: {self._missing[-1].reason}"
            )
        return self._records


def judged(env: Environment, text: str, episode: Episode) -> dict[str, Any]:
    """The part of a record that depends on what judges it."""
    action, breakdown = judge(env, text, episode)
    checks = getattr(env, "checks", None)
    canonical = getattr(env, "canonical", None)
    with environment_faults(env, episode):
        return {
            "breakdown": breakdown,
            "checks": dict(checks(action, episode)) if checks and action is not None else {},
            "canonical": canonical(action) if canonical and action is not None else "",
        }


def _count(tokens: int | Sequence[int] | None) -> int | None:
    return len(tokens) if isinstance(tokens, Sequence) else tokens


def _warn(gap: MissingSample) -> None:
    log.warning("not scored: %s, episode %s, sample %d: %s", gap.policy, gap.episode_id, gap.sample, gap.reason)


def _distinct(episodes: Sequence[Episode]) -> None:
    if not episodes:
        raise UsageError("no episodes to evaluate")
    twice = [identity for identity, count in Counter(episode.hash for episode in episodes).items() if count > 1]
    if twice:
        names = [episode.id for episode in episodes if episode.hash == twice[0]]
        raise UsageError(f"the same episode stands twice among those to evaluate: {', '.join(names)}")
