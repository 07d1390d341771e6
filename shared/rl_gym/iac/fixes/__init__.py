"""Fixers: edits of source text that make failing rules pass where the remedy is mechanical.

Fixed text is the work of a fixer and is named as such: the reward before it is what counts for training, and it never
trains a model as that model's own.
"""

from rl_gym.iac.fixes.fixing import fix, fixable
from rl_gym.iac.fixes.result import FixResult, Left, unified_diff

__all__ = ["FixResult", "Left", "fix", "fixable", "unified_diff"]
