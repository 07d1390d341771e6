"""bakeoff: the models of a policy service on the held-out episodes, each against the first."""

from __future__ import annotations

import asyncio
import json

from rl_gym.gym import records
from rl_gym.gym.core import Episode
from rl_gym.gym.files import replace_text
from rl_gym.infra.errors import NotFoundError
from rl_gym.serving.columns import Column, EnginePlace
from rl_gym.serving.tables.asking import Entrant
from rl_gym.serving.tables.bakeoff import Bakeoff, Sitting
from rl_gym.serving.tables.bakeoff import bakeoff as compare
from rl_gym.training.files import read_rows
from rl_gym.training.means import Means
from rl_gym.training.policy_service import at_policy
from rl_gym.training.progress import Progress
from rl_gym.training.run import Run
from rl_gym.training.stages.jobs import environment
from rl_gym.wire import ServedModel

__all__ = ["TABLE", "bakeoff"]

TABLE = "bakeoff.json"
"""In the stage's folder, beside `completions.jsonl`: the figures of `Bakeoff.to_dict`."""

_WHO = "mode bakeoff"


def bakeoff(run: Run, means: Means, progress: Progress) -> None:
    """Ask each model, sampled and greedy, as `evaluate` says; the answers are judged here.

    Raises UsageError where there is no policy service, NotFoundError for a model that it does not serve.
    """
    folder = run.stage("bakeoff")
    found = asyncio.run(_ask(run, means, progress))
    records.write(folder / "completions.jsonl", found.records)
    replace_text(folder / TABLE, json.dumps(found.to_dict(), indent=2) + "\n")


async def _ask(run: Run, means: Means, progress: Progress) -> Bakeoff:
    config, section = run.config, run.config.evaluate
    episodes = [Episode.from_dict(row) for row in read_rows(run.folder / "prepare" / "held_out.jsonl")]
    sitting = Sitting(
        environment(config),
        section.anchor,
        episodes,
        section.samples,
        config.episodes.max_tokens,
        section.temperature,
        config.seed,
    )
    async with at_policy(means, _WHO) as backend:
        place = EnginePlace(backend)
        models = _chosen(await backend.served(), config.bakeoff.models)
        entrants = [Entrant(one.name, Column("base", place, one), one.adapter_digest or "") for one in models]
        asked = {one.name: number for number, one in enumerate(models)}

        def tell(name: str, done: int, total: int) -> None:
            progress.update("bakeoff", asked[name] * total + done, len(models) * total)

        return await compare(sitting, entrants, progress=tell)


def _chosen(served: list[ServedModel], wanted: tuple[str, ...] | None) -> list[ServedModel]:
    known = {one.name: one for one in served}
    for name in wanted or ():
        if name not in known:
            raise NotFoundError(f"bakeoff.models: the policy service serves no {name!r}, but {', '.join(known)}")
    return [known[name] for name in wanted] if wanted else list(known.values())
