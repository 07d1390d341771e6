"""Reward profiles over scan reports, by name and version, and the action that they judge."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

from rl_gym.gym.core import Component, Episode, Gate, Reward
from rl_gym.hcl import HclError
from rl_gym.iac import scan
from rl_gym.iac.context import Context
from rl_gym.iac.defaults import DEFAULT_RULESET
from rl_gym.iac.intent import INTENT_VERSION, intent
from rl_gym.iac.report import ScanReport
from rl_gym.iac.rules import Ruleset, RulesetSource, get_ruleset
from rl_gym.iac.schema import digest as schema_digest
from rl_gym.infra.errors import NotFoundError


class IacAction:
    """A configuration as text, read once; reports about it are made once for each ruleset and request."""

    def __init__(self, text: str, ruleset: Ruleset | str = DEFAULT_RULESET) -> None:
        self._text = text
        self._ruleset = get_ruleset(ruleset) if isinstance(ruleset, str) else ruleset
        self._reports: dict[tuple[str, tuple[str, ...]], ScanReport] = {}

    @property
    def text(self) -> str:
        return self._text

    @property
    def valid(self) -> bool:
        """Whether the text can be read and evaluated."""
        return isinstance(self._read, Context)

    def report(self, required: Sequence[str] = (), ruleset: Ruleset | None = None) -> ScanReport:
        """The scan of the text by a ruleset (its own where none is given) for these requested types."""
        chosen = ruleset or self._ruleset
        key = (chosen.name, tuple(required))
        if key not in self._reports:
            self._reports[key] = self._judge(chosen, key[1])
        return self._reports[key]

    def _judge(self, ruleset: Ruleset, required: tuple[str, ...]) -> ScanReport:
        if isinstance(self._read, HclError):
            return scan.unreadable(self._read, ruleset, required)
        try:
            return scan.judge(self._read, ruleset, required)
        except HclError as error:
            return scan.unreadable(error, ruleset, required)

    def intent(self, episode: Episode) -> float | None:
        """How much of what the episode demands holds; 0 of what cannot be read."""
        return 0.0 if isinstance(self._read, HclError) else intent(self._read, episode)

    @cached_property
    def _read(self) -> Context | HclError:
        try:
            return scan.read(self._text)
        except HclError as error:
            return error


_VERSIONS = {"seed": 1, "default": 2}
"""The newest version of each profile."""

PROFILES = tuple(f"{name}@{version}" for name, newest in _VERSIONS.items() for version in range(1, newest + 1))

WEIGHTS = {"security": 0.7, "intent": 0.3}
"""What the components weigh in `default@2`. One that does not apply to an episode leaves its weight to the other."""


def profile_name(profile: str) -> str:
    """The full name of a profile: a bare name means the newest. Raises NotFoundError, listing what there is."""
    full = f"{profile}@{_VERSIONS[profile]}" if profile in _VERSIONS else profile
    if full not in PROFILES:
        raise NotFoundError(f"there is no reward profile {profile!r}: choose one of {', '.join(PROFILES)}")
    return full


def make_reward(profile: str, ruleset: Ruleset | str, source: RulesetSource | None = None) -> Reward:
    """The reward of a profile over a ruleset; its digest covers both, by version, and whatever else decides.

    `seed@1`: the share of applicable rules that pass, behind `builds_required` and `no_critical`, for comparison with
    published numbers. `default@1`: the component `security` behind these and `well_formed`, by syntax alone;
    passes count on every resource of a requested type. `default@2`: `security`, counted strictly (`reach.counted`), and
    `intent`; `well_formed` asks for what Terraform and the provider would take.
    """
    name = profile_name(profile)
    rules = get_ruleset(ruleset, source) if isinstance(ruleset, str) else ruleset

    def report(action: IacAction, episode: Episode) -> ScanReport:
        return action.report(tuple(episode.data.get("required", ())), rules)

    def gate(which: str) -> Gate:
        return Gate(which, lambda action, episode: report(action, episode).gates[which])

    def component(which: str, measure: Callable[[ScanReport], float | None], weight: float = 1.0) -> Component:
        return Component(which, lambda action, episode: measure(report(action, episode)), weight)

    readable = Gate("well_formed", lambda action, episode: report(action, episode).valid)
    # A scanned file may be a part of a module; a completion is all of one, so that it refers to what it declares.
    plannable = Gate(
        "well_formed",
        lambda action, episode: (found := report(action, episode)).gates["well_formed"] and not found.problems,
    )
    others = (gate("builds_required"), gate("no_critical"))
    version = f"{name}/{rules.name}/{rules.digest}"
    if name == "seed@1":
        return Reward((component("pass_rate", lambda found: found.pass_rate),), others, version=version)
    if name == "default@1":
        security = component("security", lambda found: found.lenient_security)
        return Reward((security,), (readable, *others), version=version)
    components = (
        component("security", lambda found: found.security, WEIGHTS["security"]),
        Component("intent", lambda action, episode: action.intent(episode), WEIGHTS["intent"]),
    )
    version = f"{version}/schema:{schema_digest()}/intent:{INTENT_VERSION}"
    return Reward(components, (plannable, *others), version=version)
