"""Engines that judge beside the built-in rules, each in its own words; none of them ever decides a reward.

`builtin` is the scan itself and stands in no table here.
"""

from rl_gym.iac.engines.registry import ENGINES, ScanEngine, get_engine
from rl_gym.iac.engines.report import EngineFinding, EngineReport

__all__ = ["ENGINES", "EngineFinding", "EngineReport", "ScanEngine", "get_engine"]
