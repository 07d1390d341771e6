"""An answer without its names and order: two answers that build the same things alike have the same canonical form."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from rl_gym.hcl import UNKNOWN, Configuration

__all__ = ["canonical"]

_NAMING = re.compile(r"name|.*_(name|identifier|prefix)|bucket|identifier|description|tags|tags_all|title")
_SHORTEST = 3


def canonical(text: str, configuration: Configuration | None) -> str:
    """Canonical form of an answer, as one line of text.

    Of a configuration: its created resources and data sources as sorted JSON; labels, naming arguments and the labels'
    occurrences in other strings are left out, lists are sorted. Of a text that could not be evaluated (None): the text
    with its spacing folded.
    """
    if configuration is None:
        return " ".join(text.split())
    resources = [*configuration.resources(), *configuration.data()]
    labels = sorted({r.name for r in resources if len(r.name) >= _SHORTEST}, key=lambda name: (-len(name), name))
    rows = [
        [r.mode, r.type, None if r.created is UNKNOWN else r.created, _stripped(r.attributes(), labels)]
        for r in resources
        if r.created is not False
    ]
    return json.dumps(sorted(rows, key=_key), sort_keys=True, separators=(",", ":"))


def _stripped(value: Any, labels: Sequence[str]) -> Any:
    """JSON value of an evaluated one, with names removed and lists in a fixed order."""
    if value is UNKNOWN:
        return "(unknown)"
    if isinstance(value, dict):
        kept = {key: item for key, item in value.items() if item is not None and not _NAMING.fullmatch(str(key))}
        return {str(key): _stripped(item, labels) for key, item in kept.items()}
    if isinstance(value, list):
        return sorted((_stripped(item, labels) for item in value), key=_key)
    if isinstance(value, str):
        for label in labels:
            value = value.replace(label, "_")
        return value
    return value


def _key(value: Any) -> str:
    return json.dumps(value, sort_keys=True)
