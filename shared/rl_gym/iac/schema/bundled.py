"""The provider schemas that decide: those that come with rl-gym, and one that its user imported.

`RL_GYM_SCHEMA` names a file that `rl-gym schema import` wrote; the versions in it are asked after the bundled ones.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from importlib import resources

from rl_gym.iac.schema.packing import Body, Pack
from rl_gym.infra.errors import UsageError
from rl_gym.infra.text_files import UnreadableError, read_bytes

DATA = "aws_schema.gz"
BUNDLED_DIGEST = "a64266c90a26"
"""Names the bundled file without reading it."""
SETTING = "RL_GYM_SCHEMA"
_MOST_BYTES = 32 * 1024 * 1024


class Version:
    """One version of the AWS provider."""

    def __init__(self, pack: Pack, number: str) -> None:
        self._pack = pack
        self.number = number

    def find(self, kind: str, name: str) -> Body | None:
        """What a type of a kind ("resource", "data", "ephemeral", "provider") takes; None where there is none."""
        return self._pack.find(self.number, kind, name)

    def has(self, kind: str) -> bool:
        """Whether types of a kind are known at all: the bindings of version 6 lack ephemeral ones."""
        return bool(self.names(kind))

    def names(self, kind: str) -> list[str]:
        """Every type of a kind."""
        return self._pack.names(self.number, kind)


def versions() -> Iterator[Version]:
    """The versions that may take a configuration, one after another; each file is read when it is reached."""
    for pack in (_bundled, _imported):
        found = pack()
        if found is not None:
            yield from (Version(found, number) for number in found.versions)


def digest() -> str:
    """Names the schemas that decide."""
    path = os.environ.get(SETTING)
    return f"{BUNDLED_DIGEST}+{digest_of(_read(path))}" if path else BUNDLED_DIGEST


def digest_of(packed: bytes) -> str:
    """What names a file of schemas."""
    return sha256(packed).hexdigest()[:12]


@cache
def _bundled() -> Pack:
    return Pack((resources.files("rl_gym.iac") / "data" / DATA).read_bytes(), DATA)


def _imported() -> Pack | None:
    path = os.environ.get(SETTING)
    return _pack(path) if path else None


@cache
def _pack(path: str) -> Pack:
    return Pack(_read(path), path)


@cache
def _read(path: str) -> bytes:
    try:
        return read_bytes(path, _MOST_BYTES)
    except UnreadableError as error:
        raise UsageError(f"{SETTING}: {error}") from None
