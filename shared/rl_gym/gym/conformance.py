"""What every environment must keep, as a suite that anyone can run on their own: `check(env)`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rl_gym.gym import splits
from rl_gym.gym.core import Environment, Episode, Exploit, exploit_gain, score_completion
from rl_gym.infra.errors import NotFoundError, RlGymError

__all__ = ["GARBAGE", "Result", "check"]

EPISODES_A_SPLIT = 8
GARBAGE_EPISODES = 4
MOST_COMPLAINTS = 3
ABSENT_SPLIT = "no-such-split"

GARBAGE = {
    "nothing": "",
    "white space": " \n\t\r\n ",
    "a word": "None",
    "prose": "I am sorry, but I cannot help with that.",
    "null": "null",
    "100 KB of one letter": "a" * 100_000,
    "100 KB of open brackets": "([{" * 34_000,
    "100 KB of quotes": '"' * 100_000,
    "30,000 lines": "x = 1\n" * 30_000,
    "control characters": "".join(map(chr, range(32))) * 40,
    "a NUL": "answer\0answer",
    "right to left, combining, wide": "\u202eabc\u0301\u0308 \uff11\uff12 \U0001f512 \ufeff",
    "an open fence": "```\n",
    "fences": "```" * 2_000,
    "markup": "<answer><![CDATA[" * 500,
    "format strings": "%s%n{0}{}{{" * 500,
}


@dataclass(frozen=True, slots=True)
class Result:
    """One requirement: kept, broken (`detail` says how), or None where the environment does not take part in it."""

    name: str
    passed: bool | None
    detail: str = ""


class _AbsentError(Exception):
    """The environment lacks the optional member that a requirement is about."""


Requirement = Callable[[Environment], Iterator[str]]


def check(env: Environment) -> list[Result]:
    """Ask every requirement of an environment, on at most eight episodes of each of its splits.

    A requirement that the environment crashes on is broken, whatever the exception.
    """
    return [_ask(name, requirement, env) for name, requirement in REQUIREMENTS.items()]


def _ask(name: str, requirement: Requirement, env: Environment) -> Result:
    complaints: list[str] = []
    try:
        complaints.extend(requirement(env))
    except _AbsentError as absent:
        return Result(name, None, str(absent))
    except RlGymError as error:
        complaints.append(str(error))
    except Exception as error:
        complaints.append(f"{type(error).__name__}: {error}")
    more = f" (and {len(complaints) - MOST_COMPLAINTS} more)" if len(complaints) > MOST_COMPLAINTS else ""
    return Result(name, not complaints, "; ".join(complaints[:MOST_COMPLAINTS]) + more)


def _splits(env: Environment) -> Sequence[str]:
    return tuple(getattr(env, "splits", ("train",)))


def _sample(env: Environment) -> Iterator[Episode]:
    """A few episodes of each split, spread evenly over it."""
    for split in _splits(env):
        episodes = env.episodes(split)
        step = max(1, len(episodes) // EPISODES_A_SPLIT)
        yield from [episodes[number] for number in range(0, len(episodes), step)][:EPISODES_A_SPLIT]


def _ceilings(env: Environment) -> Iterator[Episode]:
    """The sampled episodes whose oracle is known to be the best answer."""
    is_ceiling = getattr(env, "is_ceiling", lambda episode: True)
    return (episode for episode in _sample(env) if is_ceiling(episode))


def _member(env: Environment, name: str) -> Any:
    member = getattr(env, name, None)
    if member is None:
        raise _AbsentError(f"no {name}()")
    return member


def _splits_hold_episodes(env: Environment) -> Iterator[str]:
    for split in _splits(env):
        episodes = env.episodes(split)
        if not episodes:
            yield f"split {split!r} is empty"
        if len({episode.id for episode in episodes}) < len(episodes):
            yield f"split {split!r}: two episodes share an id"
        if len({episode.hash for episode in episodes}) < len(episodes):
            yield f"split {split!r}: an episode stands twice"
        if [e.hash for e in env.episodes(split)] != [e.hash for e in episodes]:
            yield f"split {split!r} differs from one call to the next"


def _refuses_unknown_split(env: Environment) -> Iterator[str]:
    try:
        env.episodes(ABSENT_SPLIT)
    except NotFoundError:
        return
    except Exception as error:
        yield f"episodes({ABSENT_SPLIT!r}) raises {type(error).__name__}, not NotFoundError"
    else:
        yield f"episodes({ABSENT_SPLIT!r}) answers"


def _anchors_are_frozen(env: Environment) -> Iterator[str]:
    frozen = _member(env, "frozen")()
    if not frozen:
        yield "frozen() names no split"
    for split, expected in frozen.items():
        splits.verify(expected, env.episodes(split))


def _anchors_are_not_trained_on(env: Environment) -> Iterator[str]:
    names = [split for split in _splits(env) if split != "train"]
    if "train" not in _splits(env) or not names:
        raise _AbsentError("no split 'train' beside others")
    anchors = {name: env.episodes(name) for name in names}
    splits.refuse(env.episodes("train"), anchors, near=None)
    yield from ()


def _episodes_travel_as_json(env: Environment) -> Iterator[str]:
    for episode in _sample(env):
        if Episode.from_dict(json.loads(json.dumps(episode.to_dict()))).hash != episode.hash:
            yield f"episode {episode.id} is another one after a journey as JSON"


def _prompts_are_text(env: Environment) -> Iterator[str]:
    for episode in _sample(env):
        prompt = env.prompt(episode)
        if not isinstance(prompt, str) or not prompt.strip():
            yield f"episode {episode.id}: the prompt is {type(prompt).__name__} {prompt!r:.40}"
        elif env.prompt(episode) != prompt:
            yield f"episode {episode.id}: the prompt differs from one call to the next"


def _oracle_is_valid(env: Environment) -> Iterator[str]:
    for episode in _ceilings(env):
        answer = env.oracle(episode)
        breakdown = score_completion(env, answer, episode)
        if not breakdown.valid:
            yield f"episode {episode.id}: the oracle's answer is not valid"
        elif breakdown.gated:
            closed = [name for name, holds in breakdown.gates.items() if not holds]
            yield f"episode {episode.id}: the oracle's answer fails {', '.join(closed)}"
        if env.oracle(episode) != answer:
            yield f"episode {episode.id}: the oracle's answer differs from one call to the next"


def _floor_lies_below_ceiling(env: Environment) -> Iterator[str]:
    for episode in _ceilings(env):
        floor, ceiling = (score_completion(env, text(episode), episode).reward for text in (env.random, env.oracle))
        if not floor < ceiling:
            yield f"episode {episode.id}: random earns {floor:.3f}, the oracle {ceiling:.3f}"
        if env.random(episode) != env.random(episode):
            yield f"episode {episode.id}: the random answer differs from one call to the next"


def _scores_are_deterministic(env: Environment) -> Iterator[str]:
    answers = [(episode, text(episode)) for episode in _sample(env) for text in (env.oracle, env.random)]
    first = [score_completion(env, text, episode) for episode, text in answers]
    # Backwards, so that state carried from one completion to the next shows.
    second = [score_completion(env, text, episode) for episode, text in reversed(answers)][::-1]
    for (episode, _), once, again in zip(answers, first, second, strict=True):
        if once != again:
            yield f"episode {episode.id}: the same completion earns {once.reward}, then {again.reward}"


def _garbage_is_no_answer(env: Environment) -> Iterator[str]:
    for episode in list(_ceilings(env))[:GARBAGE_EPISODES]:
        oracle = env.oracle(episode)
        ceiling = score_completion(env, oracle, episode).reward
        truncated = {f"the first {share:.0%} of the oracle": oracle[: int(len(oracle) * share)] for share in (0.1, 0.3)}
        for name, text in (GARBAGE | truncated).items():
            reward = score_completion(env, text, episode).reward
            if not -1.0 <= reward < ceiling:
                yield f"episode {episode.id}: {name} earns {reward:.3f}, the oracle {ceiling:.3f}"


def _rewards_are_bounded(env: Environment) -> Iterator[str]:
    for episode in _sample(env):
        for text in (env.oracle(episode), env.random(episode)):
            breakdown = score_completion(env, text, episode)
            parts = {f"component {name!r}": value for name, value in breakdown.components.items() if value is not None}
            for name, value in {"the reward": breakdown.reward, **parts}.items():
                if not (-1.0 if name == "the reward" else 0.0) <= value <= 1.0:
                    yield f"episode {episode.id}: {name} is {value}"


def _digest_names_the_reward(env: Environment) -> Iterator[str]:
    digest = env.reward.digest
    for episode in _sample(env):
        if score_completion(env, env.oracle(episode), episode).digest != digest:
            yield f"episode {episode.id} is judged under another digest than {digest}"
    if env.reward.digest != digest:
        yield "the digest differs from one call to the next"


def _checks_speak_four_words(env: Environment) -> Iterator[str]:
    checks = _member(env, "checks")
    for episode in _sample(env):
        verdicts = checks(env.parse(env.oracle(episode), episode), episode)
        if odd := sorted(set(verdicts.values()) - {"pass", "fail", "unknown", "na"}):
            yield f"episode {episode.id}: verdicts {', '.join(map(repr, odd))}"


def _canonical_form_is_stable(env: Environment) -> Iterator[str]:
    canonical = _member(env, "canonical")
    for episode in _sample(env):
        forms = {canonical(env.parse(env.oracle(episode), episode)) for _ in range(2)}
        if len(forms) > 1 or not all(isinstance(form, str) and form for form in forms):
            yield f"episode {episode.id}: canonical forms {sorted(map(repr, forms))}"


def _exploits_do_not_pay(env: Environment) -> Iterator[str]:
    exploits: Sequence[Exploit] = _member(env, "exploits")()
    if not exploits:
        raise _AbsentError("exploits() names none")
    for exploit in exploits:
        gain = exploit_gain(env, exploit)
        if gain > 0:
            yield f"{exploit.name} earns {gain:.3f}" + (" more than its honest twin" if exploit.honest else "")


REQUIREMENTS: dict[str, Requirement] = {
    "splits hold episodes, each once": _splits_hold_episodes,
    "an unknown split is refused": _refuses_unknown_split,
    "anchors are what was frozen": _anchors_are_frozen,
    "anchors are not trained on": _anchors_are_not_trained_on,
    "episodes travel as JSON": _episodes_travel_as_json,
    "prompts are text": _prompts_are_text,
    "the oracle's answer is valid": _oracle_is_valid,
    "floor below ceiling": _floor_lies_below_ceiling,
    "scores are deterministic": _scores_are_deterministic,
    "rewards are bounded": _rewards_are_bounded,
    "garbage is no answer": _garbage_is_no_answer,
    "the digest names the reward": _digest_names_the_reward,
    "checks speak four words": _checks_speak_four_words,
    "canonical form is stable": _canonical_form_is_stable,
    "exploits do not pay": _exploits_do_not_pay,
}
