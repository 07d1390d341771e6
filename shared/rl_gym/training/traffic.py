"""What a flywheel's update trains on: what was asked of the model that serves, with a share of what it learnt before.

Of an answer that was served, the model's own alone may teach, and only where the reward is full under the rules of now:
what an outside model or a fixer wrote is no choice of the model's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from rl_gym.gym.core import Environment, Episode, content_hash, score_completion
from rl_gym.gym.splits import Overlap, contamination, refuse
from rl_gym.iac.tasks.parametric import episode_of
from rl_gym.infra.errors import NotFoundError, UsageError
from rl_gym.infra.object_store import ObjectStore
from rl_gym.infra.text_files import read_bytes
from rl_gym.serving.repair_turns import FULL_REWARD
from rl_gym.training.config import Config
from rl_gym.training.mix import CountTokens, Drawing, demonstrations, fitting, prompt_row
from rl_gym.training.rehearsal import rehearse
from rl_gym.wire.traffic import MAX_MIX_BYTES, MixRow, read_mix

__all__ = ["IN_STORE", "SOURCE", "Dropped", "TrafficDraw", "draw_traffic", "read_traffic"]

SOURCE = "traffic"
"""The source of episodes that are known by their request alone."""

IN_STORE = "traffic/"
_TRAINS = "parametric-train-"


def read_traffic(name: str, store: ObjectStore | None) -> list[MixRow]:
    """The mix of a file, or of `traffic/...` in the object store; raises as `read_mix`, NotFoundError for none."""
    if not name.startswith(IN_STORE):
        return read_mix(read_bytes(name, MAX_MIX_BYTES), name)
    if store is None:
        raise UsageError(
            f"flywheel.traffic: {name} is in an object store, and there is none here; name a file ./{name}"
        )
    try:
        return read_mix(store.get(name, max_bytes=MAX_MIX_BYTES).body, name)
    except NotFoundError:
        raise NotFoundError(f"flywheel.traffic: {name} is not in the object store; name a file ./{name}") from None


@dataclass(frozen=True, slots=True)
class Dropped:
    """Requests that do not train, and why."""

    request: str
    count: int
    why: str

    def to_dict(self) -> dict[str, Any]:
        return {"request": self.request, "count": self.count, "why": self.why}


@dataclass(frozen=True, slots=True)
class TrafficDraw:
    """Rows for SFT and GRPO as in `Mix`, and of the requests among them how many were asked, used and dropped.

    `others` counts answers that were served and not the model's own, by who wrote them: none of them trains.
    """

    sft: list[Mapping[str, Any]]
    grpo: list[Mapping[str, Any]]
    rows: int
    asked: int
    used: int
    own_answers: int
    others: Mapping[str, int]
    dropped: list[Dropped] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        counts = ("rows", "asked", "used", "own_answers")
        return {
            **{name: getattr(self, name) for name in counts},
            "others": dict(self.others),
            "sft": len(self.sft),
            "grpo": len(self.grpo),
            "dropped": [one.to_dict() for one in self.dropped],
        }


def draw_traffic(
    env: Environment,
    config: Config,
    rows: Sequence[MixRow],
    count_tokens: CountTokens,
    *,
    check: Callable[[], None] = lambda: None,
) -> TrafficDraw:
    """The mix of an update: what was asked most first, each once, and the share `episodes.rehearsal` of what trained
    before.

    Dropped is what is an anchor's or close to it, what nobody could answer, and what does not fit the preset's bounds.
    `check` may raise, to stop the drawing of what trained before. Raises UsageError for a row that names a generated
    episode which asks for something else, and where too little is left for the method of the update.
    """
    dropped: list[Dropped] = []
    asked = _merged(config, rows, dropped)
    apart = _apart_from_anchors(env, config, _answerable(env, asked, dropped), dropped)
    usable = _fitting(env, config, apart, count_tokens, dropped)
    section, chance = config.episodes, Random(f"{config.seed}/traffic")
    drawing = Drawing(env, config, check)
    before = drawing.take(fitting(env, _not_among(drawing, apart), section, count_tokens), section.sft + section.grpo)
    refuse([*(one.episode for one in usable), *before], _anchors(env, config))
    teaching = [one.episode for one in usable if not one.episode.data.get("training_only")]
    own = list(_own_answers(env, usable))
    taught = [*demonstrations(env, teaching, config.sft, chance), *own][: _new(section.sft, section.rehearsal)]
    asks = [prompt_row(env, one.episode) for one in usable[: _new(section.grpo, section.rehearsal)]]
    old = demonstrations(env, [one for one in before if not one.data.get("training_only")], config.sft, chance)
    draw = TrafficDraw(
        sft=rehearse(taught, list(old), section.rehearsal, chance),
        grpo=rehearse(asks, [prompt_row(env, one) for one in before], section.rehearsal, chance),
        rows=len(rows),
        asked=sum(row.count for row in rows),
        used=len(usable),
        own_answers=len(own),
        others=Counter(row.author for row in rows if row.author is not None and row.author != "model"),
        dropped=dropped,
    )
    _require_enough(config, draw)
    return draw


@dataclass(frozen=True, slots=True)
class _Asked:
    """An episode that was asked for, how often, and what the model itself answered."""

    episode: Episode
    count: int
    answers: tuple[str, ...] = ()


def _merged(config: Config, rows: Sequence[MixRow], dropped: list[Dropped]) -> list[_Asked]:
    """Each question once, the one that was asked most first."""
    found: dict[str, _Asked] = {}
    for number, row in enumerate(rows, start=1):
        if row.environment != config.environment.name:
            dropped.append(Dropped(row.request, row.count, f"of the environment {row.environment}"))
            continue
        if row.episode is not None and not row.episode.startswith(_TRAINS):
            dropped.append(Dropped(row.request, row.count, f"{row.episode} is of a split that never trains"))
            continue
        episode = _episode(row, f"row {number} of {config.flywheel.traffic}")
        own = (row.answer,) if row.answer is not None and row.author == "model" else ()
        key = content_hash([" ".join(row.request.casefold().split()), sorted(row.required)])
        known = found.get(key)
        found[key] = (
            _Asked(episode, row.count, own)
            if known is None
            else _Asked(known.episode, known.count + row.count, (*known.answers, *own))
        )
    return sorted(found.values(), key=lambda one: (-one.count, one.episode.hash))


def _episode(row: MixRow, where: str) -> Episode:
    if row.episode is None:
        data = {"required": list(row.required), "training_only": True}
        name = f"{SOURCE}-{content_hash([row.request, list(row.required)])[:12]}"
        return Episode(name, row.request, SOURCE, data)
    try:
        episode = episode_of(row.episode)
    except ValueError as error:
        raise UsageError(f"{where}: {error}") from None
    if (episode.request, episode.data["required"]) != (row.request, list(row.required)):
        raise UsageError(f"{where}: the episode {row.episode} asks for something else than this row")
    return episode


def _answerable(env: Environment, asked: Iterable[_Asked], dropped: list[Dropped]) -> Iterator[_Asked]:
    validate = getattr(env, "validate", None)
    for one in asked:
        try:
            if validate is not None:
                validate(one.episode)
        except UsageError as error:
            dropped.append(Dropped(one.episode.request, one.count, str(error)))
            continue
        yield one


def _anchors(env: Environment, config: Config) -> dict[str, Sequence[Episode]]:
    """Every anchor that is on this machine."""
    named = [*(name for name in getattr(env, "splits", ()) if name != "train"), config.evaluate.anchor]
    return {name: env.episodes(name) for name in dict.fromkeys(named)}


def _apart_from_anchors(
    env: Environment, config: Config, asked: Iterable[_Asked], dropped: list[Dropped]
) -> list[_Asked]:
    every = list(asked)
    # Names for this once: a request may be called as an anchor's episode is.
    named = {f"{SOURCE}-{number}": one for number, one in enumerate(every)}
    episodes = [Episode(name, one.episode.request, one.episode.source, one.episode.data) for name, one in named.items()]
    close: dict[str, Overlap] = {}
    for overlap in contamination(episodes, _anchors(env, config)):
        close.setdefault(overlap.train, overlap)
    for name, overlap in close.items():
        one = named[name]
        how = "close to" if overlap.kind == "near" else f"by {overlap.kind}"
        dropped.append(Dropped(one.episode.request, one.count, f"{how} {overlap.anchor}/{overlap.episode}"))
    return [one for name, one in named.items() if name not in close]


def _fitting(
    env: Environment, config: Config, asked: Sequence[_Asked], count_tokens: CountTokens, dropped: list[Dropped]
) -> list[_Asked]:
    fits = {e.hash for e in fitting(env, [one.episode for one in asked], config.episodes, count_tokens)}
    for one in asked:
        if one.episode.hash not in fits:
            dropped.append(Dropped(one.episode.request, one.count, "outside of the preset's bounds"))
    return [one for one in asked if one.episode.hash in fits]


def _not_among(episodes: Iterable[Episode], asked: Sequence[_Asked]) -> Iterator[Episode]:
    known = {one.episode.hash for one in asked}
    return (episode for episode in episodes if episode.hash not in known)


def _new(rows: int, rehearsal: float) -> int:
    """How many of so many rows are of the traffic."""
    return rows - round(rows * rehearsal)


def _own_answers(env: Environment, asked: Sequence[_Asked]) -> Iterator[dict[str, Any]]:
    """The model's own answers to what nobody wrote an answer for, where they are perfect by the rules of now."""
    for one in asked:
        if one.episode.data.get("training_only"):
            best = next((a for a in one.answers if score_completion(env, a, one.episode).reward >= FULL_REWARD), None)
            if best is not None:
                yield {"prompt": env.prompt(one.episode), "completion": best, "episode_id": one.episode.id}


def _require_enough(config: Config, draw: TrafficDraw) -> None:
    name = Path(str(config.flywheel.traffic)).name
    needed = {"sft": 1, "grpo": config.grpo.prompts(config.machine.world)}
    for method in config.update.method.split("-"):
        there, wanted = len(getattr(draw, method)), needed[method]
        if there < wanted or not draw.used:
            raise UsageError(
                f"{name}: {draw.used} of {draw.rows} rows can train, which makes {there} rows for an update by "
                f"{method}, and {wanted} are needed: gather more traffic"
            )
