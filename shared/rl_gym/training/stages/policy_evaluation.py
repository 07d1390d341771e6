"""Evaluation by a policy service of those models of a run that it serves."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from rl_gym.gym.core import Episode
from rl_gym.gym.evaluation import evaluate
from rl_gym.gym.records import RecordedCompletion
from rl_gym.serving.sampling import Sampling
from rl_gym.training.chain import PolicyName
from rl_gym.training.files import read_rows
from rl_gym.training.incumbent import judged_against, root_name
from rl_gym.training.means import Means
from rl_gym.training.policy_service import answers_of, served_models
from rl_gym.training.progress import Progress
from rl_gym.training.run import Run
from rl_gym.training.stages.jobs import environment, model_digest

__all__ = ["evaluate_served"]

_WHO = "evaluate.through = policy"


def evaluate_served(
    run: Run, means: Means, progress: Progress, models: Mapping[PolicyName, Path]
) -> dict[PolicyName, list[RecordedCompletion]]:
    """The records of each of these models that the policy service serves, sampled as a process here would; others are
    left out, which is told.

    A model is known by the digest of its files, the base by its name. Raises UsageError where there is no service.
    """
    served = served_models(means, _WHO)
    by_digest = {one.adapter_digest: one.name for one in served if one.adapter_digest is not None}
    by_name = {one.name for one in served if one.adapter_digest is None}
    recorded: dict[PolicyName, list[RecordedCompletion]] = {}
    for policy, folder in models.items():
        digest = model_digest(run, folder)
        known = judged_against(run, digest) if policy == "incumbent" else digest
        name = by_digest.get(known) or (root_name(run.config) if policy == "base" else "")
        if name in by_name or known in by_digest:
            recorded[policy] = _records(run, means, progress, policy, name, known)
        else:
            progress.say(f"evaluate: the policy service does not serve {policy}, so that it is evaluated here")
    return recorded


def _records(
    run: Run, means: Means, progress: Progress, policy: PolicyName, name: str, digest: str
) -> list[RecordedCompletion]:
    config = run.config
    env = environment(config)
    episodes = [Episode.from_dict(row) for row in read_rows(run.folder / "prepare" / "held_out.jsonl")]
    section, total = config.evaluate, len(episodes) * (config.evaluate.samples + 1)
    done = 0

    def tell(samples: int) -> None:
        nonlocal done
        done += samples
        progress.update(f"evaluate {policy}", done, total)

    greedy, sampled = answers_of(
        means,
        _WHO,
        name,
        [env.prompt(episode) for episode in episodes],
        [
            Sampling(greedy=True, max_tokens=config.episodes.max_tokens, seed=config.seed),
            Sampling(
                n=section.samples,
                temperature=section.temperature,
                max_tokens=config.episodes.max_tokens,
                seed=config.seed,
            ),
        ],
        batch_size=section.batch_size,
        progress=tell,
    )
    return evaluate(
        env,
        episodes,
        policy,
        lambda _prompts, _samples, is_greedy: greedy if is_greedy else sampled,
        split=section.anchor,
        samples=section.samples,
        model=digest,
        batch=len(episodes),
    )
