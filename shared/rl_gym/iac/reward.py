"""Reward profiles over scan reports, by name and version, and the action that they judge."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

from rl_gym.gym.core import Component, Episode, Gate, Reward
from rl_gym.hcl import HclError
from rl_gym.iac import scan
from rl_gym.iac.context import Context
from rl_gym.iac.report import ScanReport
from rl_gym.iac.rules import Ruleset, get_ruleset
from rl_gym.infra.errors import NotFoundError


class IacAction:
    """A configuration as text, read once; reports about it are made once for each ruleset and request."""

    def __init__(self, text: str, ruleset: str = "base") -> None:
        self._text = text
        self._ruleset = ruleset
        self._reports: dict[tuple[str, tuple[str, ...]], ScanReport] = {}

    @property
    def text(self) -> str:
        return self._text

    @property
    def valid(self) -> bool:
        """Whether the text can be read and evaluated."""
        return isinstance(self._read, Context)

    def report(self, required: Sequence[str] = (), ruleset: str | None = None) -> ScanReport:
        """The scan of the text by a ruleset (its own where none is named) for these requested types."""
        chosen = get_ruleset(ruleset or self._ruleset)
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

    @cached_property
    def _read(self) -> Context | HclError:
        try:
            return scan.read(self._text)
        except HclError as error:
            return error


_VERSIONS = {"seed": 1, "default": 1}
"""The newest version of each profile."""

PROFILES = tuple(f"{name}@{version}" for name, newest in _VERSIONS.items() for version in range(1, newest + 1))


def profile_name(profile: str) -> str:
    """The full name of a profile: a bare name means the newest. Raises NotFoundError, listing what there is."""
    full = f"{profile}@{_VERSIONS[profile]}" if profile in _VERSIONS else profile
    if full not in PROFILES:
        raise NotFoundError(f"there is no reward profile {profile!r}: choose one of {', '.join(PROFILES)}")
    return full


def make_reward(profile: str, ruleset: str) -> Reward:
    """The reward of a profile over a ruleset; its digest covers both, by version.

    `seed@1`: the share of applicable rules that pass, behind `builds_required` and `no_critical`, for comparison with
    published numbers. `default@1`: the component `security` behind these and `well_formed`.
    """
    name = profile_name(profile)
    rules = get_ruleset(ruleset)

    def report(action: IacAction, episode: Episode) -> ScanReport:
        return action.report(tuple(episode.data.get("required", ())), rules.name)

    def gate(which: str) -> Gate:
        return Gate(which, lambda action, episode: report(action, episode).gates[which])

    def component(which: str, measure: Callable[[ScanReport], float | None]) -> Component:
        return Component(which, lambda action, episode: measure(report(action, episode)))

    version = f"{name}/{rules.name}/{rules.digest}"
    if name == "seed@1":
        gates = (gate("builds_required"), gate("no_critical"))
        return Reward((component("pass_rate", lambda found: found.pass_rate),), gates, version=version)
    gates_all = (gate("well_formed"), gate("builds_required"), gate("no_critical"))
    return Reward((component("security", lambda found: found.security),), gates_all, version=version)
