"""An evaluated configuration: resources whose attributes are plain values, each of which knows its line and its origin.

A path is dotted and steps through nested blocks, maps and lists: `"rule.0.transition.days"`. A step into several blocks
or list elements without a number takes the first.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Protocol

from rl_gym.hcl import ast
from rl_gym.hcl.documents import ABSENT, document_of
from rl_gym.hcl.values import (
    NO_REFERENCES,
    SCALARS,
    UNKNOWN,
    Origin,
    PlainValue,
    Reference,
    Unknown,
    UnknownDocument,
    UnknownText,
    UnknownType,
    Value,
    leaves,
    plain,
    references_of,
)

_INSTANCE_KEY = re.compile(r'\[(?:\d+|"(?:[^"\\]|\\.)*")\]$')


def base_of(address: str) -> str:
    """The address of a resource without the key of an instance."""
    return _INSTANCE_KEY.sub("", address) if address.endswith("]") else address


class Tracer(Protocol):
    """Answers what an expression refers to, whatever it evaluates to."""

    def trace(self, expression: ast.Expression, names: Mapping[str, Value]) -> frozenset[str]:
        """Base addresses of the resources and data sources."""


class Block:
    """A nested block: its arguments, and the blocks inside it.

    `created` is UNKNOWN for a dynamic block over something unknown: there may be none of it, or many.
    """

    __slots__ = ("_body", "_documents", "_names", "_node", "_tracer", "created", "nested", "raw")

    def __init__(
        self,
        values: dict[str, Value],
        nested: dict[str, list[Block]],
        node: ast.Node,
        body: ast.Body | None,
        tracer: Tracer,
        names: Mapping[str, Value],
        created: bool | UnknownType,
    ) -> None:
        self.raw = values
        self.nested = nested
        self._node = node
        self._body = body
        self._tracer = tracer
        self._names = names
        self._documents: dict[tuple[str, bool], PlainValue] | None = None
        self.created = created

    # ---- place ----

    @property
    def filename(self) -> str:
        return self._node.source.filename

    @property
    def line(self) -> int:
        return self._node.line

    @property
    def column(self) -> int:
        return self._node.column

    def line_of(self, path: str) -> int:
        """The line on which the attribute or block at `path` is written, or that of this block when it is absent."""
        return self._place(path).line

    def place_of(self, path: str) -> tuple[str, int]:
        """The file and line of what `line_of` finds: an override file may hold an argument of this block."""
        node = self._place(path)
        return node.source.filename, node.line

    def _place(self, path: str) -> ast.Node:
        block, attribute = self._written_at(path)
        return attribute if attribute is not None else block._node

    def _written_at(self, path: str) -> tuple[Block, ast.Attribute | None]:
        """The innermost block on the way, and the argument of it that the path goes through."""
        block = self
        steps = path.split(".")
        at = 0
        while at < len(steps):
            inner = block.nested.get(steps[at])
            if inner is None:
                attribute = block._body.attributes.get(steps[at]) if block._body is not None else None
                return block, attribute
            at += 1
            place = 0
            if at < len(steps) and steps[at].isdigit():
                place = int(steps[at])
                at += 1
            if place >= len(inner):
                return block, None
            block = inner[place]
        return block, None

    # ---- values ----

    def get(self, path: str, default: PlainValue = None) -> PlainValue:
        """The value at `path`: None, bool, int, float, str, list, dict, or UNKNOWN; `default` when absent or null."""
        value = self.raw.get(path, ABSENT)
        if value is ABSENT:
            value = self._find(path)
        if value is None or value is ABSENT:
            return default
        return value if type(value) in SCALARS else plain(value)

    def has(self, path: str) -> bool | UnknownType:
        """Whether `path` is written and not null; UNKNOWN when that cannot be told.

        What comes from a resource is never null: `kms_key_id = aws_kms_key.k.arn` is there, though nobody knows it.
        """
        value = self._find(path)
        if value is None or value is ABSENT:
            return False
        if (
            isinstance(value, Unknown)
            and value.direct is None
            and not isinstance(value, (UnknownText, UnknownDocument))
        ):
            return UNKNOWN
        return True

    def blocks(self, name: str) -> list[Block]:
        """The nested blocks of this name: written, made by `dynamic`, or an attribute (`ingress = [{...}]`)."""
        found = self.nested.get(name)
        if found is not None:
            return found
        value = self.raw.get(name)
        if value is None:
            return []
        items = value if isinstance(value, list) else [value]
        return [self._as_block(name, item) for item in items if isinstance(item, (dict, Unknown))]

    def _as_block(self, name: str, item: Value) -> Block:
        attribute = self._body.attributes.get(name) if self._body is not None else None
        values, created = (item, True) if isinstance(item, dict) else ({}, UNKNOWN)
        return Block(values, {}, attribute or self._node, None, self._tracer, self._names, created)

    def attributes(self) -> dict[str, PlainValue]:
        """Everything that is written here, as plain data; nested blocks are lists of dicts."""
        out = {name: plain(value) for name, value in self.raw.items()}
        for name, blocks in self.nested.items():
            out[name] = [block.attributes() if block.created is True else UNKNOWN for block in blocks]
        return out

    def policy(self, path: str, *, open_leaves: bool = False) -> PlainValue:
        """The JSON document at `path` as plain data, however it was written: heredoc, `jsonencode`, policy data source.

        Answers None when it is absent or no JSON object or list, and UNKNOWN when nothing of it is known. Leaves that
        are unknown are UNKNOWN, except that text made of known pieces and identities of resources (`.arn`, `.id`),
        which are never empty and hold no wildcard, is a `Partial` string: `"${aws_s3_bucket.b.arn}/*"`. With
        `open_leaves` partly known text with other unknown pieces is a `Partial` too, whose `open` is true.
        """
        if self._documents is None:
            self._documents = {}
        key = (path, open_leaves)
        if key not in self._documents:
            self._documents[key] = document_of(self._find(path), open_leaves)
        return self._documents[key]

    def _find(self, path: str) -> Value:
        """The value inside the evaluator at a path, or ABSENT."""
        steps = path.split(".")
        block = self
        at = 0
        while True:
            name = steps[at]
            at += 1
            inner = block.nested.get(name)
            if inner is None:
                return _within(block.raw.get(name, ABSENT), steps[at:])
            place = None
            if at < len(steps) and steps[at].isdigit():
                place = int(steps[at])
                at += 1
            if any(one.created is UNKNOWN for one in inner[: (place or 0) + 1]):
                return Unknown()
            if (place or 0) >= len(inner):
                return ABSENT
            if at == len(steps):
                listed = [_whole(one) for one in inner]
                return listed if place is None else listed[place]
            block = inner[place or 0]

    # ---- references ----

    def reference(self, path: str) -> Reference | None:
        """Whose attribute the value at `path` is, when it is one, neither changed nor combined."""
        value = self._find(path)
        if isinstance(value, Unknown) or type(value) is Origin:
            return value.direct
        return None

    def references(self, path: str | None = None) -> frozenset[str]:
        """Base addresses of all that the value at `path`, or the whole of this block, refers to.

        They are followed through locals, variables, functions and templates. A value that was chosen from several (a
        conditional, an element of a list) refers to what was chosen; where the value does not say, to all that the
        expression names.
        """
        if path is None:
            return frozenset(self._all_references())
        found = references_of(_or_none(self._find(path)))
        if found:
            return frozenset(base_of(reference.address) for reference in found)
        block, attribute = self._written_at(path)
        if attribute is None:
            return frozenset().union(*(inner.references() for inner in self.blocks(path)))
        return block._tracer.trace(attribute.expression, block._names)

    def _all_references(self) -> Iterator[str]:
        if self._body is None:
            for reference in references_of(self.raw):
                yield base_of(reference.address)
            return
        for attribute in self._body.attributes.values():
            if attribute.name != "provider":
                yield from self._tracer.trace(attribute.expression, self._names)
        for blocks in self.nested.values():
            for block in blocks:
                yield from block._all_references()

    def refers_to(self, other: Resource, path: str | None = None) -> bool:
        """Whether the value at `path`, or anything in this block, refers to another resource.

        An instance is told from its siblings. A scalar refers to the resource whose attribute it is, or to the only
        one that it was made from; one that was made from several, or may be of one or of another (a conditional on
        something unknown), refers to none of them.
        """
        if path is None:
            return other.base_address in self.references()
        found = _referred(_or_none(self._find(path)))
        if found is None:
            return other.base_address in self.references(path)
        return any(reference.address in (other.address, other.base_address) for reference in found)


class Resource(Block):
    """An instance of a resource or data source.

    `address` is `aws_x.y`, `aws_x.y[0]`, `aws_x.y["k"]`, with `module.m.` before it in a module; `base_address` lacks
    the instance key. `created` is False for a resource of which there is none (`count = 0`), and UNKNOWN where nobody
    can tell.
    """

    __slots__ = ("address", "base_address", "mode", "name", "type")

    def __init__(
        self,
        block: Block,
        *,
        mode: str,
        kind: str,
        name: str,
        address: str,
        base_address: str,
        created: bool | UnknownType,
    ) -> None:
        super().__init__(block.raw, block.nested, block._node, block._body, block._tracer, block._names, created)
        self.mode = mode
        self.type = kind
        self.name = name
        self.address = address
        self.base_address = base_address

    def __repr__(self) -> str:
        return f"<Resource {self.address}>"


class Configuration:
    """What a root module and the modules below it come to."""

    __slots__ = ("_by_address", "_locals", "_outputs", "_resources", "_variables", "providers")

    def __init__(
        self,
        resources: Sequence[Resource],
        *,
        variables: Mapping[str, Value],
        local_values: Mapping[str, Value],
        outputs: Mapping[str, Value],
        providers: Mapping[str, list[Block]],
    ) -> None:
        self._resources = resources
        self._variables = variables
        self._locals = local_values
        self._outputs = outputs
        self._by_address: dict[str, Resource] | None = None
        self.providers = providers
        """The `provider` blocks of the root module, by name."""

    @property
    def variables(self) -> dict[str, PlainValue]:
        """The root module's variables; UNKNOWN where neither a default nor a value is given."""
        return {name: plain(value) for name, value in self._variables.items()}

    @property
    def locals(self) -> dict[str, PlainValue]:
        return {name: plain(value) for name, value in self._locals.items()}

    @property
    def outputs(self) -> dict[str, PlainValue]:
        return {name: plain(value) for name, value in self._outputs.items()}

    def resources(self, type: str | None = None) -> list[Resource]:  # noqa: A002 - what everybody calls it
        """The managed resources of every module, in order; one that is never created is listed once."""
        return [one for one in self._resources if one.mode == "managed" and type in (None, one.type)]

    def data(self, type: str | None = None) -> list[Resource]:  # noqa: A002 - what everybody calls it
        """The data sources of every module."""
        return [one for one in self._resources if one.mode == "data" and type in (None, one.type)]

    def resource(self, address: str) -> Resource | None:
        """The managed resource or data source at an address; a base address gives the first instance."""
        if self._by_address is None:
            self._by_address = {}
            for one in self._resources:
                self._by_address.setdefault(one.address, one)
                self._by_address.setdefault(one.base_address, one)
        return self._by_address.get(address)


def _within(value: Value, steps: Sequence[str]) -> Value:
    """The value further down a path through lists and maps."""
    at = 0
    while at < len(steps):
        step = steps[at]
        if value is ABSENT or value is None:
            return ABSENT
        if isinstance(value, Unknown):
            return value.part(step)
        if isinstance(value, dict):
            value = value.get(step, ABSENT)
            at += 1
        elif isinstance(value, list):
            place = 0
            if step.isdigit():
                place = int(step)
                at += 1
            value = value[place] if place < len(value) else ABSENT
        else:
            return ABSENT
    return value


def _whole(block: Block) -> dict[str, Value]:
    out = dict(block.raw)
    for name, blocks in block.nested.items():
        out[name] = [_whole(one) if one.created is True else Unknown() for one in blocks]
    return out


def _referred(value: Value) -> Collection[Reference] | None:
    """The attributes that a value stands for; None when it does not know."""
    if isinstance(value, (list, dict)):
        return [reference for leaf in leaves(value) for reference in _referred(leaf) or ()] or None
    if isinstance(value, UnknownDocument) and not value.same:
        return _referred(value.document)
    if not isinstance(value, (Unknown, Origin)) or not value.references:
        return None
    if isinstance(value, Unknown) and value.ambiguous:
        return ()
    if value.same:
        return value.same
    return value.references if len({base_of(reference.address) for reference in value.references}) == 1 else ()


def _or_none(value: Value) -> Value:
    return None if value is ABSENT else value


__all__ = ["NO_REFERENCES", "Block", "Configuration", "Resource", "base_of"]
