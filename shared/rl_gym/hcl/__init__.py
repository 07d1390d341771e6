"""HCL, the language of Terraform: from text to a tree, and from the tree to an evaluated configuration."""

from rl_gym.hcl.ast import File
from rl_gym.hcl.configuration import Block, Configuration, Resource
from rl_gym.hcl.documents import Partial
from rl_gym.hcl.errors import HclError, HclEvaluationError, HclLimitError, HclSyntaxError
from rl_gym.hcl.evaluation import evaluate
from rl_gym.hcl.limits import Limits
from rl_gym.hcl.module import Module, load
from rl_gym.hcl.parser import parse
from rl_gym.hcl.values import UNKNOWN, Reference

__all__ = [
    "UNKNOWN",
    "Block",
    "Configuration",
    "File",
    "HclError",
    "HclEvaluationError",
    "HclLimitError",
    "HclSyntaxError",
    "Limits",
    "Module",
    "Partial",
    "Reference",
    "Resource",
    "evaluate",
    "load",
    "parse",
]
