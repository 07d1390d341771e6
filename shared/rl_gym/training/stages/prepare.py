"""prepare: what the run trains on and is measured by, as rows of JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from rl_gym.gym.files import replace_text
from rl_gym.serving.weights import find_model
from rl_gym.training.chain import trainers
from rl_gym.training.config import Config
from rl_gym.training.difficulty import within_band
from rl_gym.training.files import write_rows
from rl_gym.training.incumbent import bring_incumbent
from rl_gym.training.means import Means
from rl_gym.training.mix import draw, held_out
from rl_gym.training.progress import Progress
from rl_gym.training.run import Run
from rl_gym.training.stages.drift import touched
from rl_gym.training.stages.jobs import environment
from rl_gym.training.traffic import Dropped, draw_traffic, read_traffic

__all__ = ["prepare", "token_counter"]

_NAMED, _REQUEST_CHARACTERS = 3, 60


def prepare(run: Run, means: Means, progress: Progress) -> None:
    """Draw demonstrations, prompts and held-out episodes: `sft.jsonl`, `grpo.jsonl`, `held_out.jsonl`.

    A run that trains nothing has held-out episodes alone. One of mode flywheel draws from traffic, and has beside that
    the incumbent (`incumbent/`, `incumbent.json`) and what became of the traffic (`traffic.json`).
    """
    progress.update("prepare", 0, 1)
    if run.config.mode == "flywheel":
        return _from_traffic(run, means, progress)
    if not trainers(run.stages):
        return _held_out(run)
    focus = touched(run.config) if run.config.mode == "drift" else None
    mix = draw(environment(run.config), run.config, token_counter(run.config), focus, check=progress.check)
    folder = run.stage("prepare")
    write_rows(folder / "sft.jsonl", mix.sft)
    prompts = within_band(mix.grpo, run.config.grpo, world=run.config.machine.world)
    if len(prompts) < len(mix.grpo):
        progress.say(
            f"prepare: {len(mix.grpo) - len(prompts)} of {len(mix.grpo)} prompts lie outside the difficulty band"
        )
    write_rows(folder / "grpo.jsonl", prompts)
    write_rows(folder / "held_out.jsonl", mix.held_out)
    return None


def _held_out(run: Run) -> None:
    episodes = held_out(environment(run.config), run.config, token_counter(run.config))
    write_rows(run.stage("prepare") / "held_out.jsonl", [episode.to_dict() for episode in episodes])


def _from_traffic(run: Run, means: Means, progress: Progress) -> None:
    config, folder = run.config, run.stage("prepare")
    rows = read_traffic(str(config.flywheel.traffic), means.store)
    draw = draw_traffic(environment(config), config, rows, token_counter(config), check=progress.check)
    write_rows(folder / "sft.jsonl", draw.sft)
    write_rows(folder / "grpo.jsonl", within_band(draw.grpo, config.grpo, world=config.machine.world))
    replace_text(folder / "traffic.json", json.dumps(draw.to_dict(), indent=2, ensure_ascii=False) + "\n")
    _held_out(run)
    found = bring_incumbent(run, means)
    progress.say(f"prepare: the incumbent is {found.name} ({found.origin})")
    progress.say(
        f"prepare: {draw.asked} requests in {draw.rows} rows; {draw.used} can train, "
        f"{len(draw.dropped)} are dropped{_some(draw.dropped)}"
    )


def _some(dropped: list[Dropped]) -> str:
    said = [f"{one.request[:_REQUEST_CHARACTERS]!r} ({one.why})" for one in dropped[:_NAMED]]
    return f": {'; '.join(said)}{', ...' if len(dropped) > _NAMED else ''}" if said else ""


def token_counter(config: Config) -> Callable[[str], int]:
    """Counts the tokens of a text as the run's base does, without loading the base."""
    from tokenizers import Tokenizer

    tokenizer: Any = Tokenizer.from_file(str(find_model(config.model.base) / "tokenizer.json"))
    return lambda text: len(tokenizer.encode(text).ids)
