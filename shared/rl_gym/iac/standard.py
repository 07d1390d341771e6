"""What a completion is judged by, by name: an environment, a ruleset and a reward profile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rl_gym.gym.core import Environment
from rl_gym.gym.registry import applicable, resolve
from rl_gym.iac.defaults import DEFAULT_PROFILE, DEFAULT_RULESET
from rl_gym.iac.rules import RulesetSource, get_ruleset

__all__ = ["Standard"]

_DEFAULTS = {"ruleset": DEFAULT_RULESET, "profile": DEFAULT_PROFILE}


@dataclass(frozen=True, slots=True)
class Standard:
    """Scores under different standards are not comparable."""

    environment: str = "iac"
    ruleset: str = DEFAULT_RULESET
    profile: str = DEFAULT_PROFILE

    def make(self, source: RulesetSource | None = None) -> Environment:
        """The environment under this standard; rulesets that are not built in come from `source`.

        Raises NotFoundError for a name that there is not, UsageError for a ruleset or profile other than the default
        where the environment has none.
        """
        asked = {"ruleset": self.ruleset, "profile": self.profile}
        options: Mapping[str, Any] = applicable(self.environment, asked, _DEFAULTS)
        if "ruleset" in options:
            options = {**options, "ruleset": get_ruleset(self.ruleset, source)}
        return resolve(self.environment, **options)
