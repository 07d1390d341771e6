"""The reference environment: a request in words, Terraform for AWS as the answer, rules that judge what it means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from rl_gym.gym.core import Episode, Exploit, Reward
from rl_gym.gym.splits import FrozenSplit
from rl_gym.hcl import HclError
from rl_gym.hcl.limits import COMPLETION
from rl_gym.iac import anchors, prompts
from rl_gym.iac.canonical import canonical
from rl_gym.iac.defaults import DEFAULT_PROFILE, DEFAULT_RULESET
from rl_gym.iac.exploits import exploits
from rl_gym.iac.fixes import fix
from rl_gym.iac.mined import HOLDOUT
from rl_gym.iac.repair import problems
from rl_gym.iac.report import Finding
from rl_gym.iac.reward import IacAction, make_reward, profile_name
from rl_gym.iac.rules import Ruleset, get_ruleset
from rl_gym.iac.schema.types import unknown_type
from rl_gym.iac.tasks import parametric
from rl_gym.iac.tasks.asked import demanded_rules
from rl_gym.iac.tasks.bare import bare
from rl_gym.infra.errors import NotFoundError, UsageError

__all__ = ["SPLITS", "IacEnvironment", "make"]

SPLITS = ("train", *anchors.ANCHORS)

_FILE = "main.tf"


def make(
    ruleset: str | Ruleset = DEFAULT_RULESET,
    profile: str = DEFAULT_PROFILE,
    *,
    data: str | Path | None = None,
    sources: str | Sequence[str] | None = None,
    parametric_episodes: int | str = anchors.PARAMETRIC,
    mined: str | Path | None = None,
) -> IacEnvironment:
    """The environment under a ruleset and a reward profile.

    `data` is the folder with the public corpora (`RL_GYM_DATA` where not given). `sources` (with commas where it is a
    text) and `parametric_episodes` say what the split "train" is made of, see `anchors.train`. `mined` is a folder that
    `rl-gym data mine` made: its episodes join the training split, and what it holds out is the split "mined-holdout".
    """
    folder = Path(data) if data is not None else None
    named = [name.strip() for name in sources.split(",")] if isinstance(sources, str) else sources
    if not str(parametric_episodes).isdecimal():
        raise UsageError(f"parametric_episodes must be a whole number, not {parametric_episodes!r}")
    where = Path(mined) if mined is not None else None
    return IacEnvironment(ruleset, profile, folder, named, int(parametric_episodes), where)


class IacEnvironment:
    """Episodes by split; answers are read as one Terraform module and rewarded by a profile over a ruleset."""

    name = "iac"

    def __init__(
        self,
        ruleset: str | Ruleset,
        profile: str,
        folder: Path | None,
        sources: Sequence[str] | None,
        parametric_episodes: int,
        mined: Path | None = None,
    ) -> None:
        self.ruleset = get_ruleset(ruleset) if isinstance(ruleset, str) else ruleset
        self.profile = profile_name(profile)
        self.reward: Reward = make_reward(profile, self.ruleset)
        self._rules = frozenset(rule.id for rule in self.ruleset.rules)
        self._judges_intent = any(component.name == "intent" for component in self.reward.components)
        self._folder = folder
        self._sources = sources
        self._parametric_episodes = parametric_episodes
        self._mined = mined
        self._episodes: dict[str, Sequence[Episode]] = {}

    @property
    def splits(self) -> Sequence[str]:
        """The splits whose episodes are on this machine; `dev` may be asked for without, and then is fetched."""
        here = [name for name in anchors.ANCHORS if anchors.at_hand(name, self._folder or _default_folder())]
        return ("train", *here, *self._held_out())

    def episodes(self, split: str) -> Sequence[Episode]:
        """Raises NotFoundError for a split that does not exist, or whose corpus is not to be had."""
        if split not in (*SPLITS, HOLDOUT):
            raise NotFoundError(f"iac has no split {split!r} (it has: {', '.join((*SPLITS, *self._held_out()))})")
        if split not in self._episodes:
            self._episodes[split] = tuple(self._load(split))
        return self._episodes[split]

    def _load(self, split: str) -> Sequence[Episode]:
        folder = self._folder or _default_folder()
        if split == "train":
            return anchors.train(folder, self._sources, self._parametric_episodes, self._mined)
        if split == HOLDOUT:
            if self._mined is None:
                raise NotFoundError(f"the split {HOLDOUT} needs the folder: environment.options.mined=FOLDER")
            return anchors.mined_holdout(self._mined)[1]
        return anchors.anchor(split, folder)

    def _held_out(self) -> Sequence[str]:
        """The split of what was mined and held out, where there is any."""
        if self._mined is None:
            return ()
        try:
            anchors.mined_holdout(self._mined)
        except NotFoundError:
            return ()
        return (HOLDOUT,)

    def frozen(self) -> Mapping[str, FrozenSplit]:
        """The content hashes of the anchors among `splits`: committed, and written down where they were mined."""
        mined = {HOLDOUT: anchors.mined_holdout(self._mined)[0]} if self._mined and self._held_out() else {}
        return {**{name: anchors.frozen(name) for name in anchors.ANCHORS if name in self.splits}, **mined}

    def validate(self, episode: Episode) -> None:
        """Raises UsageError for a required type that no provider has, with the nearest name that there is."""
        for kind in _required(episode):
            refusal = unknown_type(kind)
            if refusal:
                raise UsageError(f"required: {refusal}")

    def prompt(self, episode: Episode) -> str:
        return prompts.prompt(episode.request, _required(episode))

    def parse(self, completion: str, episode: Episode) -> IacAction | None:
        """The Terraform in a completion, None where there is none; what cannot be read is an invalid action.

        Raises UsageError for an episode that is malformed: that is no fault of the answer.
        """
        _required(episode)
        text = prompts.parse_completion(completion)
        return None if text is None else IacAction(text, self.ruleset)

    def oracle(self, episode: Episode) -> str:
        """The best known answer: of a parametric episode the one that every rule passes, else what a person wrote.

        Where the reward asks for what was demanded, the protections among it are there, whether a rule asks or not. Of
        an episode that only trains, and has no reference, it is what is required, with what is mechanical mended.
        """
        if episode.source == "parametric":
            return parametric.oracle(episode, self._rules | (demanded_rules(episode) if self._judges_intent else set()))
        if episode.data.get("training_only"):
            plain = bare(_required(episode))
            return self.fix(IacAction(plain, self.ruleset), episode) or plain
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

    def findings(self, action: IacAction, episode: Episode) -> Sequence[Finding]:
        """What did not pass, most severe first, with line and fix."""
        return action.report(_required(episode)).findings

    def canonical(self, action: IacAction) -> str:
        """The answer without its names and order."""
        return canonical(action.text, action.report().configuration)

    def exploits(self) -> Sequence[Exploit]:
        return exploits(self._rules, self.profile)

    def problems(self, action: IacAction | None, episode: Episode) -> Sequence[str]:
        """What a second attempt should mend; empty where nothing is left."""
        if action is None:
            return ["there is no Terraform in the answer"]
        required = _required(episode)
        return problems(action.report(required), required)

    def repair_prompt(
        self,
        episode: Episode,
        answer: str,
        problems: Sequence[str],
        most_characters: int = prompts.PROBLEM_CHARACTERS,
    ) -> str:
        """The prompt for a second attempt."""
        required = _required(episode)
        return prompts.repair_prompt(episode.request, required, answer, problems, most_characters=most_characters)

    def fix(self, action: IacAction, episode: Episode) -> str | None:
        """The answer with what is mechanical fixed, None where that changes nothing or it cannot be read."""
        try:
            result = fix({_FILE: action.text}, ruleset=self.ruleset, limits=COMPLETION)
        except HclError:
            return None
        return result.files[_FILE] if result.applied else None


def _required(episode: Episode) -> tuple[str, ...]:
    required = episode.data.get("required", ())
    if not isinstance(required, list | tuple) or not all(isinstance(kind, str) for kind in required):
        raise UsageError(f"episode {episode.id!r}: data.required must be a list of resource types")
    return tuple(required)


@cache
def _default_folder() -> Path | None:
    from rl_gym.infra.settings import load_settings

    return load_settings().data
