"""What the page about rewards says is what the code does."""

from __future__ import annotations

import re
from pathlib import Path

from rl_gym.iac.reward import PROFILES, WEIGHTS
from rl_gym.iac.rules import RULESETS
from rl_gym.iac.verdicts import SEVERITY_WEIGHTS

PAGE = (Path(__file__).parents[3] / "docs" / "rewards.md").read_text()


def test_the_page_names_every_profile_and_ruleset() -> None:
    rows = re.findall(r"^\| (`[^|]+) \|", PAGE, flags=re.MULTILINE)
    named = {name for row in rows for name in re.findall(r"`([^`]+)`", row)}
    assert named >= {*PROFILES, *RULESETS}


def test_the_page_has_the_weights() -> None:
    told = re.search(r"Weights: (.+?)\.", PAGE)
    assert told is not None
    assert told[1] == ", ".join(f"{name} {weight:g}" for name, weight in SEVERITY_WEIGHTS.items())
    assert re.findall(r"`(security|intent)` (0\.\d+)", PAGE) == [
        (name, str(weight)) for name, weight in WEIGHTS.items()
    ]
