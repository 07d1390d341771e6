"""mine: episodes from cloned repositories, as `rl-gym data mine` makes them, kept with the run."""

from __future__ import annotations

from pathlib import Path

from rl_gym.iac.mined import write_mined
from rl_gym.iac.mining.mine import Options
from rl_gym.iac.mining.mine import mine as mine_folders
from rl_gym.iac.mining.modules import LONGEST
from rl_gym.infra.errors import UsageError
from rl_gym.training.means import Means
from rl_gym.training.progress import Progress
from rl_gym.training.run import Run

__all__ = ["mine"]


def mine(run: Run, means: Means, progress: Progress) -> None:
    """Mine the folders of `mine.folders`; a later run trains on what is left by environment.options.mined.

    Raises UsageError where not one module makes an episode, NotFoundError for a folder that is not there.
    """
    section = run.config.mine
    longest = LONGEST if section.longest is None else section.longest
    options = Options(tuple(sorted(set(section.licences))), section.holdout_share, longest)
    mined = mine_folders(
        [Path(folder) for folder in section.folders],
        options,
        progress=lambda done, total: progress.update("mine", done, total),
    )
    if not mined.train and not mined.holdout:
        reasons = "; ".join(f"{count} {reason}" for reason, count in mined.reasons.items())
        raise UsageError(f"mine: no module makes an episode, of {mined.modules}: {reasons or 'there is none'}")
    write_mined(run.folder / "mine", mined, options)
    progress.say(
        f"mine: {len(mined.train)} episodes to train on and {len(mined.holdout)} held out, of {mined.modules} modules "
        f"in {mined.repositories} repositories; train with environment.options.mined={run.folder / 'mine'}"
    )
