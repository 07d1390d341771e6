"""The functions of the language, by name; one module for each subject."""

from rl_gym.hcl.functions import (
    casting,
    collection,
    dates,
    encoding,
    files,
    formatting,
    hashing,
    network,
    numeric,
    regex,
    strings,
)
from rl_gym.hcl.functions.registry import FUNCTIONS, find

SUBJECTS = (casting, collection, dates, encoding, files, formatting, hashing, network, numeric, regex, strings)
"""Importing them is what fills `FUNCTIONS`."""

__all__ = ["FUNCTIONS", "SUBJECTS", "find"]
