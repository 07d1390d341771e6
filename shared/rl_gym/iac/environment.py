"""The reference environment: a request in words, Terraform for AWS as the answer, rules that judge what it means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from rl_gym.gym.core import Episode, Exploit, Reward
from rl_gym.gym.splits import FrozenSplit
from rl_gym.iac import anchors, prompts
from rl_gym.iac.canonical import canonical
from rl_gym.iac.exploits import exploits
from rl_gym.iac.repair import problems
from rl_gym.iac.reward import IacAction, make_reward
from rl_gym.iac.rules import get_ruleset
from rl_gym.iac.tasks import parametric
from rl_gym.iac.tasks.bare import bare
from rl_gym.infra.errors import NotFoundError

__all__ = ["SPLITS", "IacEnvironment", "make"]

SPLITS = ("train", *anchors.ANCHORS)


def make(
    ruleset: str = "base",
    profile: str = "default",
    *,
    data: str | Path | None = None,
    sources: Sequence[str] | None = None,
    parametric_episodes: int = anchors.PARAMETRIC,
) -> IacEnvironment:
    """The environment under a ruleset and a reward profile.

    `data` is the folder with the public corpora (`RL_GYM_DATA` where not given). `sources` and `parametric_episodes`
    say what the split "train" is made of, see `anchors.train`.
    """
    folder = Path(data) if data is not None else None
    return IacEnvironment(ruleset, profile, folder, sources, parametric_episodes)


class IacEnvironment:
    """Episodes of four splits; answers are read as one Terraform module and rewarded by a profile over a ruleset."""

    name = "iac"

    def __init__(
        self, ruleset: str, profile: str, folder: Path | None, sources: Sequence[str] | None, parametric_episodes: int
    ) -> None:
        self.ruleset = get_ruleset(ruleset)
        self.reward: Reward = make_reward(profile, ruleset)
        self._rules = frozenset(rule.id for rule in self.ruleset.rules)
        self._folder = folder
        self._sources = sources
        self._parametric_episodes = parametric_episodes
        self._episodes: dict[str, Sequence[Episode]] = {}

    @property
    def splits(self) -> Sequence[str]:
        """The splits whose episodes are on this machine; `dev` may be asked for without, and then is fetched."""
        here = [name for name in anchors.ANCHORS if anchors.at_hand(name, self._folder or _default_folder())]
        return ("train", *here)

    def episodes(self, split: str) -> Sequence[Episode]:
        """Raises NotFoundError for a split that does not exist, or whose corpus is not to be had."""
        if split not in SPLITS:
            raise NotFoundError(f"iac has no split {split!r} (it has: {', '.join(SPLITS)})")
        if split not in self._episodes:
            self._episodes[split] = tuple(self._load(split))
        return self._episodes[split]

    def _load(self, split: str) -> Sequence[Episode]:
        folder = self._folder or _default_folder()
        if split == "train":
            return anchors.train(folder, self._sources, self._parametric_episodes)
        return anchors.anchor(split, folder)

    def frozen(self) -> Mapping[str, FrozenSplit]:
        """The committed content hashes of the anchors among `splits`."""
        return {name: anchors.frozen(name) for name in anchors.ANCHORS if name in self.splits}

    def prompt(self, episode: Episode) -> str:
        return prompts.prompt(episode.request, _required(episode))

    def parse(self, completion: str, episode: Episode) -> IacAction | None:
        """The Terraform in a completion, None where there is none; what cannot be read is an invalid action."""
        text = prompts.parse_completion(completion)
        return None if text is None else IacAction(text, self.ruleset.name)

    def oracle(self, episode: Episode) -> str:
        """The best known answer: of a parametric episode the one that every rule passes, else what a person wrote."""
        if episode.source == "parametric":
            return parametric.oracle(episode, self._rules)
        return str(episode.data["reference"])

    def is_ceiling(self, episode: Episode) -> bool:
        """What a person wrote for a public corpus was never meant to pass these rules."""
        return episode.source == "parametric"

    def random(self, episode: Episode) -> str:
        """The floor: what was required is built, and nothing is protected."""
        return parametric.floor(episode) if episode.source == "parametric" else bare(_required(episode))

    def checks(self, action: IacAction, episode: Episode) -> Mapping[str, str]:
        """Each rule's verdict."""
        return action.report(_required(episode)).verdicts

    def canonical(self, action: IacAction) -> str:
        """The answer without its names and order."""
        return canonical(action.text, action.report().configuration)

    def exploits(self) -> Sequence[Exploit]:
        return exploits()

    def repair_prompt(self, episode: Episode, completion: str) -> str | None:
        """The prompt for a second attempt, None where nothing is left to mend."""
        required = _required(episode)
        action = self.parse(completion, episode)
        if action is None:
            return prompts.repair_prompt(episode.request, required, "", ["there is no Terraform in the answer"])
        found = problems(action.report(required), required)
        return prompts.repair_prompt(episode.request, required, action.text, found) if found else None


def _required(episode: Episode) -> tuple[str, ...]:
    return tuple(episode.data.get("required", ()))


@cache
def _default_folder() -> Path | None:
    from rl_gym.infra.settings import load_settings

    return load_settings().data
