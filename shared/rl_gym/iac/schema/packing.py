"""The compact form of provider schemas: written by `Pool`, read by `Pack`.

It is gzipped text, a JSON value a line. The first names the provider and its versions and counts the types; the second
gives the numbers of each resource type's block, by kind, one for each version; then comes a line for each type, then
one for each block. Equal types and blocks are written once. A block is `[arguments, blocks]`: arguments by flag and
number of their type ("r0": "bucket key"; `r` required, `o` optional, `c` computed), nested blocks by how far back the
line of their body is, how many are needed and how many are allowed ("3 1 1": "versioning_configuration").
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

from rl_gym.hcl.conversion import Type
from rl_gym.infra.errors import UsageError

KINDS = ("resource", "data", "ephemeral", "provider")
_FORMAT = 1
_MOST_BYTES = 64 * 1024 * 1024
"""Bytes of text in a pack; two versions of the AWS provider take less than two million."""
_MANY = -1
_NOWHERE = -1


class Attribute(NamedTuple):
    """An argument; or what the provider computes, which is not settable."""

    type: Type
    required: bool = False
    settable: bool = True


class Nested(NamedTuple):
    """A nested block, and how many of it there may be (`most` None: any number)."""

    body: Body
    least: int
    most: int | None


class Body:
    """What may stand in a block: arguments and nested blocks, by name."""

    def __init__(self, attributes: dict[str, Attribute], blocks: dict[str, Nested]) -> None:
        self.attributes = attributes
        self.blocks = blocks

    @cached_property
    def required(self) -> list[str]:
        """The arguments that must be there."""
        return [name for name, attribute in self.attributes.items() if attribute.required]

    @cached_property
    def needed(self) -> list[str]:
        """The blocks of which one must be there."""
        return [name for name, nested in self.blocks.items() if nested.least]


NOTHING = Body({}, {})
"""A block in which nothing may stand."""


class Pool:
    """Collects the schemas of some versions of a provider, each distinct block and type once."""

    def __init__(self, provider: str, versions: Sequence[str]) -> None:
        self._header = {"format": _FORMAT, "provider": provider, "versions": list(versions)}
        self._versions = versions
        self._index: dict[str, dict[str, list[int]]] = {kind: {} for kind in KINDS}
        self._types: dict[str, int] = {}
        self._blocks: dict[str, int] = {}

    def add(self, version: str, kind: str, name: str, body: Body) -> None:
        """Say what a resource type (or data source, ...) of a version is."""
        numbers = self._index[kind].setdefault(name, [_NOWHERE] * len(self._versions))
        numbers[self._versions.index(version)] = self._block(body)

    def _block(self, body: Body) -> int:
        arguments: dict[str, list[str]] = {}
        for name, attribute in sorted(body.attributes.items()):
            flag = "r" if attribute.required else "o" if attribute.settable else "c"
            arguments.setdefault(f"{flag}{self._type(attribute.type)}", []).append(name)
        nested: dict[tuple[int, int, int], list[str]] = {}
        for name, block in sorted(body.blocks.items()):
            most = _MANY if block.most is None else block.most
            nested.setdefault((self._block(block.body), block.least, most), []).append(name)
        key = _json([{group: " ".join(names) for group, names in sorted(arguments.items())}, sorted(nested.items())])
        return self._blocks.setdefault(key, len(self._blocks))

    def _type(self, kind: Type) -> int:
        """The number of a type; the types that it is made of have theirs already."""
        written: Any = kind
        if not isinstance(kind, str):
            name, inner = kind
            if name == "object":
                written = [name, {field: self._type(of) for field, of in inner}]
            elif name == "tuple":
                written = [name, [self._type(of) for of in inner]]
            else:
                written = [name, self._type(inner)]
        return self._types.setdefault(_json(written), len(self._types))

    def packed(self) -> bytes:
        """The whole, as bytes that depend on nothing but what was added and in which order."""
        lines = [_json({**self._header, "types": len(self._types)}), _json(self._index), *self._types]
        for number, key in enumerate(self._blocks):
            arguments, nested = json.loads(key)
            blocks = {f"{number - body} {least} {most}": " ".join(names) for (body, least, most), names in nested}
            lines.append(_json([arguments, blocks]))
        return gzip.compress("\n".join(lines).encode(), 9, mtime=0)


class Pack:
    """The schemas of some versions of a provider; a block is read when it is asked for."""

    def __init__(self, packed: bytes, name: str) -> None:
        """Read what `Pool.packed` made; raises UsageError, which calls it `name`, for anything else."""
        try:
            lines = _inflated(packed).split("\n")
            header, self._index = json.loads(lines[0]), json.loads(lines[1])
            if header["format"] != _FORMAT:
                raise ValueError(f"it has format {header['format']}, and {_FORMAT} is read here")
            self.provider: str = header["provider"]
            self.versions: list[str] = header["versions"]
            first = 2 + header["types"]
        except (ValueError, LookupError, TypeError, zlib.error) as error:
            raise UsageError(f"{name}: not a schema that `rl-gym schema import` wrote: {error}") from None
        self._lines = lines
        self._first = first
        self._names: dict[tuple[str, str], list[str]] = {}
        self._types: dict[int, Type] = {}
        self._bodies: dict[int, Body] = {}

    def names(self, version: str, kind: str) -> list[str]:
        """The types of a kind that a version knows."""
        key = (version, kind)
        if key not in self._names:
            place = self.versions.index(version)
            self._names[key] = [name for name, numbers in self._index[kind].items() if numbers[place] != _NOWHERE]
        return self._names[key]

    def find(self, version: str, kind: str, name: str) -> Body | None:
        """What a type is in a version; None where the version does not know it."""
        numbers = self._index[kind].get(name)
        number = numbers[self.versions.index(version)] if numbers else _NOWHERE
        return None if number == _NOWHERE else self._body(number)

    def _body(self, number: int) -> Body:
        if number not in self._bodies:
            arguments, blocks = json.loads(self._lines[self._first + number])
            attributes = {
                name: Attribute(self._type(int(group[1:])), group[0] == "r", group[0] != "c")
                for group, names in arguments.items()
                for name in names.split()
            }
            nested: dict[str, Nested] = {}
            for group, names in blocks.items():
                back, least, most = map(int, group.split())
                kind = Nested(self._body(number - back), least, None if most == _MANY else most)
                nested.update((name, kind) for name in names.split())
            self._bodies[number] = Body(attributes, nested)
        return self._bodies[number]

    def _type(self, number: int) -> Type:
        if number not in self._types:
            written = json.loads(self._lines[2 + number])
            self._types[number] = written if isinstance(written, str) else self._composed(*written)
        return self._types[number]

    def _composed(self, name: str, inner: Any) -> Type:
        if name == "object":
            return (name, tuple((field, self._type(of)) for field, of in inner.items()))
        return (name, tuple(map(self._type, inner)) if name == "tuple" else self._type(inner))


def _inflated(packed: bytes) -> str:
    # Not gzip.decompress: what somebody imports may be a bomb.
    reader = zlib.decompressobj(wbits=31)
    text = reader.decompress(packed, _MOST_BYTES)
    if reader.unconsumed_tail:
        raise ValueError(f"more than {_MOST_BYTES // 2**20} MiB of text")
    return text.decode()


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))
