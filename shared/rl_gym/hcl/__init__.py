"""HCL, the language of Terraform: from text to a tree, and from the tree to an evaluated configuration."""

from rl_gym.hcl.ast import File
from rl_gym.hcl.errors import HclError, HclEvaluationError, HclLimitError, HclSyntaxError
from rl_gym.hcl.limits import Limits
from rl_gym.hcl.parser import parse

__all__ = [
    "File",
    "HclError",
    "HclEvaluationError",
    "HclLimitError",
    "HclSyntaxError",
    "Limits",
    "parse",
]
