"""rollout: what the model answers to its training prompts, judged, and made into rows for the stage that learns it."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random

from rl_gym.gym.files import replace_text
from rl_gym.training.difficulty import within_band
from rl_gym.training.files import read_rows, write_rows
from rl_gym.training.means import Means
from rl_gym.training.progress import Progress
from rl_gym.training.rehearsal import rehearse
from rl_gym.training.run import Run
from rl_gym.training.selection import RolledOut, best_answers, own_answers, repair_rows
from rl_gym.training.stages.evaluate import model_before
from rl_gym.training.stages.jobs import do_jobs, environment, training_job
from rl_gym.training.stages.prepare import token_counter

__all__ = ["rollout"]

_SAMPLES = "samples.jsonl"


def rollout(run: Run, means: Means, progress: Progress) -> None:
    """Sample the model before on GRPO's prompts: `samples.jsonl`, and what `raft` or `repair` learns from it.

    A rollout that was interrupted begins anew.
    """
    learns = "raft" if "raft" in run.stages else "repair"
    prompts = run.folder / "prepare" / "grpo.jsonl"
    model = model_before(run, "rollout")
    do_jobs(run, progress, [training_job(run, "rollout", model, means, kind="rollout", section=learns, data=prompts)])
    samples = [RolledOut.model_validate(row) for row in read_rows(run.folder / "rollout" / _SAMPLES)]
    _LEARNT[learns](run, samples, progress)


def _raft(run: Run, samples: list[RolledOut], progress: Progress) -> None:
    """`raft.jsonl`, the map `rates.json`, and `grpo.jsonl` where GRPO keeps to a band of it."""
    folder, section, config = run.folder / "rollout", run.config.raft, run.config.grpo
    assert section is not None
    best = best_answers(samples, section)
    write_rows(folder / "raft.jsonl", best.rows)
    replace_text(folder / "rates.json", json.dumps(best.rates, indent=0) + "\n")
    progress.say(
        f"rollout: {len(best.rows)} of {len(best.rates)} prompts have a whole answer of reward at least "
        f"{section.threshold:g}, and are kept; {sum(rate == 1 for rate in best.rates.values())} always have"
    )
    if config.difficulty_map is None:
        rows = read_rows(run.folder / "prepare" / "grpo.jsonl")
        kept = within_band(rows, config, best.rates, world=run.config.machine.world)
        if len(kept) < len(rows):
            write_rows(folder / "grpo.jsonl", kept)
            progress.say(f"rollout: {len(rows) - len(kept)} of {len(rows)} prompts lie outside the difficulty band")


def _repair(run: Run, samples: list[RolledOut], progress: Progress) -> None:
    """`repair.jsonl`, with plain answers rehearsed among its rows, and `counts.json`.

    The model's own perfect answers rehearse; the demonstrations of `prepare` fill in where those are too few.
    """
    folder, section, config = run.folder / "rollout", run.config.repair, run.config
    assert section is not None
    found = repair_rows(environment(config), samples, section, token_counter(config))
    own = own_answers(samples)
    shown = [
        {name: row[name] for name in ("prompt", "completion", "episode_id")}
        for row in read_rows(run.folder / "prepare" / "sft.jsonl")
    ]
    mixed = rehearse(found.rows, own, config.episodes.rehearsal, Random(f"{config.seed}/rehearsal"), otherwise=shown)
    write_rows(folder / "repair.jsonl", mixed)
    plain = len(mixed) - len(found.rows)
    counts = {**found.counts(), "plain": plain, "own": min(len(own), plain)}
    replace_text(folder / "counts.json", json.dumps(counts, indent=2) + "\n")
    progress.say(
        f"rollout: {found.failed} of {found.samples} answers failed; {len(found.rows)} repairs to learn "
        f"({found.repeated} repeated, {found.too_long} longer than repair.max_prompt_tokens), and {plain} plain "
        f"answers among them, {counts['own']} of these its own"
    )


_LEARNT: dict[str, Callable[[Run, list[RolledOut], Progress], None]] = {"raft": _raft, "repair": _repair}
