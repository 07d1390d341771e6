"""The task-agnostic core: episodes, actions, rewards and the Environment that holds them together.

The data travels request -> `Episode` -> completion -> `Action` -> `RewardBreakdown`. A mistake of the policy lowers the
reward; a fault of ours raises `InfrastructureError` and never becomes a reward of 0.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from rl_gym.infra.errors import InfrastructureError, RlGymError

__all__ = [
    "Action",
    "Component",
    "Environment",
    "Episode",
    "Exploit",
    "Gate",
    "InfrastructureError",
    "Reward",
    "RewardBreakdown",
    "content_hash",
    "environment_faults",
    "exploit_gain",
    "judge",
    "score_completion",
]


def content_hash(value: object) -> str:
    """SHA-256, in hex, of a JSON value in canonical form (sorted keys, no spaces)."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Episode:
    """One request and what the environment needs to judge its answer.

    `data` holds JSON values only, so that an episode can travel between services; `source` names where the request
    came from. Two episodes with the same request and data are the same episode, whatever their `id`. `judging` (JSON
    values too) is what the judge alone needs besides, such as a checking program: it is no part of the question.
    """

    id: str
    request: str
    source: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)
    judging: Mapping[str, Any] = field(default_factory=dict)

    @property
    def hash(self) -> str:
        """Content hash of request and data: what frozen splits list."""
        return content_hash({"request": self.request, "data": dict(self.data)})

    def to_dict(self) -> dict[str, Any]:
        row = {"id": self.id, "request": self.request, "source": self.source, "data": dict(self.data)}
        return {**row, "judging": dict(self.judging)} if self.judging else row

    @classmethod
    def from_dict(cls, row: Mapping[str, Any]) -> Episode:
        """The inverse of `to_dict`; raises KeyError where `id` or `request` is missing."""
        return cls(row["id"], row["request"], row.get("source", ""), row.get("data", {}), row.get("judging", {}))


@dataclass(frozen=True, slots=True)
class Exploit:
    """A known way to cheat: `completion` answers `episode` without doing the work.

    It must earn nothing, or no more than `honest`: the same answer without the trick. `why` says in a few words what
    the trick is, `kind` names its class.
    """

    name: str
    episode: Episode
    completion: str
    why: str = ""
    kind: str = ""
    honest: str | None = None


@runtime_checkable
class Action(Protocol):
    """What `Environment.parse` makes of a completion."""

    @property
    def text(self) -> str:
        """The action as text, in the form that is stored and shown."""
        ...

    @property
    def valid(self) -> bool:
        """Whether the text is a well-formed member of the task's language."""
        ...


@dataclass(frozen=True, slots=True)
class Component:
    """A soft part of the reward: `score(action, episode)` in [0, 1], or None where it does not apply.

    A component that does not apply is left out and the weights of the others are renormalised. `cap`, when set, is the
    raw score from which the component pays in full (saturation): raw / cap, at most 1.
    """

    name: str
    score: Callable[[Any, Episode], float | None]
    weight: float = 1.0
    cap: float | None = None

    def __post_init__(self) -> None:
        if not (self.weight > 0 and math.isfinite(self.weight)):
            raise ValueError(f"component {self.name!r}: weight must be a positive number, not {self.weight}")
        if self.cap is not None and not 0 < self.cap <= 1:
            raise ValueError(f"component {self.name!r}: cap must lie in (0, 1], not {self.cap}")


@dataclass(frozen=True, slots=True)
class Gate:
    """A hard condition: where `check(action, episode)` is false the reward is 0."""

    name: str
    check: Callable[[Any, Episode], bool]


@dataclass(frozen=True, slots=True)
class RewardBreakdown:
    """A reward and everything that made it.

    `reward` lies in [0, 1], or is -format_penalty for a completion that could not be parsed. `components` are raw
    scores in [0, 1] before cap and weight, None where one did not apply. `digest` names what decided: breakdowns with
    different digests are not comparable.
    """

    reward: float
    components: Mapping[str, float | None]
    gates: Mapping[str, bool]
    valid: bool
    action: str
    digest: str

    @property
    def gated(self) -> bool:
        """Whether a gate was false (or nothing could be parsed)."""
        return not all(self.gates.values())

    def to_dict(self) -> dict[str, Any]:
        return {
            "reward": self.reward,
            "components": dict(self.components),
            "gates": dict(self.gates),
            "valid": self.valid,
            "action": self.action,
            "digest": self.digest,
        }

    @classmethod
    def from_dict(cls, row: Mapping[str, Any]) -> RewardBreakdown:
        return cls(**{name: row[name] for name in ("reward", "components", "gates", "valid", "action", "digest")})


@dataclass(frozen=True, slots=True)
class Reward:
    """Weighted components behind gates.

    reward = 0 where a gate is false, else clip(sum_i w_i min(1, raw_i / cap_i) / sum_i w_i + format_bonus, 0, 1), the
    sums over the components that apply; -format_penalty for a completion that parses to nothing. `version` names
    whatever decides beside the numbers here (ruleset, profile, schema) and enters the digest.
    """

    components: Sequence[Component]
    gates: Sequence[Gate] = ()
    format_bonus: float = 0.0
    format_penalty: float = 0.0
    version: str = ""

    def __post_init__(self) -> None:
        names = [c.name for c in self.components] + [g.name for g in self.gates]
        if len(set(names)) != len(names):
            raise ValueError(f"reward: two parts share a name: {sorted(names)}")
        if not self.components:
            raise ValueError("reward: at least one component is needed")
        for name in ("format_bonus", "format_penalty"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"reward: {name} must lie in [0, 1], not {getattr(self, name)}")

    @property
    def digest(self) -> str:
        """Twelve hex digits over names, weights, caps, format terms and `version`."""
        return content_hash(
            {
                "components": [[c.name, c.weight, c.cap] for c in self.components],
                "gates": [g.name for g in self.gates],
                "format": [self.format_bonus, self.format_penalty],
                "version": self.version,
            }
        )[:12]

    def score(self, action: Action | None, episode: Episode) -> RewardBreakdown:
        """Judge one action; `action` is None for a completion that parsed to nothing.

        Raises InfrastructureError when a component answers outside [0, 1]: that is our fault, not the policy's.
        """
        if action is None:
            components: dict[str, float | None] = {c.name: 0.0 for c in self.components}
            gates = {g.name: False for g in self.gates}
            return RewardBreakdown(-self.format_penalty or 0.0, components, gates, False, "", self.digest)
        gates = {g.name: bool(g.check(action, episode)) for g in self.gates}
        components, total, weights = {}, 0.0, 0.0
        for component in self.components:
            raw = component.score(action, episode)
            if raw is not None and not 0.0 <= raw <= 1.0:
                raise InfrastructureError(f"component {component.name!r} answered {raw!r}, outside [0, 1]")
            components[component.name] = raw
            if raw is not None:
                total += component.weight * (min(1.0, raw / component.cap) if component.cap else raw)
                weights += component.weight
        reward = 0.0
        if all(gates.values()) and weights:
            reward = min(1.0, total / weights + self.format_bonus)
        return RewardBreakdown(reward, components, gates, action.valid, action.text, self.digest)


@runtime_checkable
class Environment(Protocol):
    """A task: where its episodes come from, how a completion is read, and what it is worth.

    `episodes` raises NotFoundError for a split that it does not have; `oracle` and `random` answer the same text each
    time they are asked about an episode.

    Optional members that evaluation, audit and conformance use where present:
    `splits: Sequence[str]` (the names that `episodes` takes; "train" alone where absent),
    `frozen() -> Mapping[str, FrozenSplit]` (the committed hashes of its anchors, see `rl_gym.gym.splits`),
    `checks(action, episode) -> Mapping[str, str]` (named verdicts `pass|fail|unknown|na`),
    `findings(action, episode) -> Sequence[Any]` (what did not pass, worst first: objects with `rule`, `address`,
    `verdict`, `severity`, `filename`, `line`, `reason` and `fix`), `profile: str` (the reward profile's full name),
    `canonical(action) -> str` (names and order removed), `exploits() -> Sequence[Exploit]`,
    `validate(episode)` (raises UsageError for an episode of a caller that nobody could answer),
    `problems(action, episode) -> Sequence[str]` (what a second attempt should mend, a line each, the worst first; also
    of None, a completion that could not be parsed), `repair_prompt(episode, answer, problems, most_characters) -> str`
    (the prompt for that attempt: the answer whole, the problems cut to about so many characters),
    `fix(action, episode) -> str | None` (a completion with what is mechanical mended, None where nothing is),
    `is_ceiling(episode) -> bool` (false where the oracle's answer is what a person once wrote, so that it may fail the
    gates or earn less than another answer; true for every episode where absent).
    """

    name: str
    reward: Reward

    def episodes(self, split: str) -> Sequence[Episode]: ...

    def prompt(self, episode: Episode) -> str: ...

    def parse(self, completion: str, episode: Episode) -> Action | None: ...

    def oracle(self, episode: Episode) -> str: ...

    def random(self, episode: Episode) -> str: ...


@contextmanager
def environment_faults(env: Environment, episode: Episode) -> Iterator[None]:
    """Turn any exception of the environment's code into InfrastructureError: no completion excuses a crash of ours."""
    try:
        yield
    except RlGymError:
        raise
    except Exception as error:
        raise InfrastructureError(
            f"environment {env.name!r} failed on episode {episode.id!r}: {type(error).__name__}: {error}"
        ) from error


def judge(env: Environment, completion: str, episode: Episode) -> tuple[Action | None, RewardBreakdown]:
    """Parse a completion and judge it, keeping the action for whoever asks more of it.

    Raises InfrastructureError where the environment itself fails.
    """
    with environment_faults(env, episode):
        action = env.parse(completion, episode)
        return action, env.reward.score(action, episode)


def score_completion(env: Environment, completion: str, episode: Episode) -> RewardBreakdown:
    """The one way from text to reward; raises InfrastructureError where the environment itself fails."""
    return judge(env, completion, episode)[1]


def exploit_gain(env: Environment, exploit: Exploit) -> float:
    """What an exploit earns beyond its honest twin (beyond nothing, where it has none): 0 where it does not pay."""
    earned = score_completion(env, exploit.completion, exploit.episode).reward
    due = 0.0 if exploit.honest is None else score_completion(env, exploit.honest, exploit.episode).reward
    return max(0.0, earned - max(0.0, due))
