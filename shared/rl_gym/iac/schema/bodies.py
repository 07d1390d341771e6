"""Checks blocks against what a provider, or the language, says may stand in them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import lru_cache
from typing import NamedTuple

from rl_gym.hcl import ast
from rl_gym.hcl.conversion import ANY, PRIMITIVES, Type
from rl_gym.iac.schema.language import ANYTHING, DYNAMIC_BLOCK, PROVISIONER, PROVISIONERS
from rl_gym.iac.schema.literal_types import Names, mismatch
from rl_gym.iac.schema.packing import NOTHING, Attribute, Body, Nested
from rl_gym.iac.schema.reporting import Reporter
from rl_gym.iac.schema.written import DYNAMIC, Written, read

_ESCAPE = "_"
"""The block for arguments whose names mean something to the language."""


def is_null(expression: ast.Expression) -> bool:
    """Whether an expression is the word null, by which an argument counts as not written."""
    return isinstance(expression, ast.Literal) and expression.value is None


def check(block: ast.Block, schema: Body, address: str, what: str, scope: Scope, meta: Body = NOTHING) -> None:
    """Check a block and all in it; `meta` is what the language takes there beside the schema."""
    if not any(block.body.blocks_of(_ESCAPE)):
        _Body(scope, block, block.body, address, what, schema, meta).check()


class Scope(NamedTuple):
    """What the blocks of one module have in common: where problems go, and what names stand for."""

    reporter: Reporter
    names: Names


class _Body:
    """One block while it is checked; `what` is what to call it."""

    def __init__(
        self, scope: Scope, node: ast.Node, body: ast.Body, address: str, what: str, schema: Body, meta: Body
    ) -> None:
        self._scope = scope
        self._node = node
        self._body = body
        self._address = address
        self._what = what
        self._schema = schema
        self._meta = meta
        # The provider lets a null pass in some nested blocks, and its schema does not say in which.
        self._refuses_null = meta is not NOTHING

    def check(self) -> None:
        schema, meta = self._schema, self._meta
        attributes, blocks = read(self._body, schema.blocks)
        for attribute in attributes:
            if attribute.name not in meta.attributes:
                self._attribute(attribute, schema.attributes.get(attribute.name))
        times: dict[str, list[int | None]] = {}
        for written in blocks:
            self._block(written)
            times.setdefault(written.name, []).append(written.times)
        for block in self._body.blocks:
            if block.type == DYNAMIC:
                self._dynamic(block)
        for name in schema.required:
            if name not in self._body.attributes and name not in times:
                self._report(self._node, f'{self._what} lacks the required argument "{name}"')
        for name in schema.needed:
            if name not in times and all(attribute.name != name for attribute in attributes):
                self._report(
                    self._node, f'{self._what} needs at least {schema.blocks[name].least} of the block "{name}"'
                )
        for name, counts in times.items():
            nested = schema.blocks.get(name) or meta.blocks.get(name)
            if nested is not None:
                self._count(name, nested, counts)

    def _report(
        self, node: ast.Node, message: str, wrong: str = "", right: Callable[[], Collection[str]] = tuple
    ) -> None:
        hint = self._scope.reporter.hint(wrong, right) if wrong else ""
        self._scope.reporter.add("schema", node, message, self._address, hint)

    def _right_names(self) -> list[str]:
        settable = [name for name, attribute in self._schema.attributes.items() if attribute.settable]
        return [*settable, *self._schema.blocks, *self._meta.attributes, *self._meta.blocks]

    def _attribute(self, attribute: ast.Attribute, known: Attribute | None) -> None:
        name, what = attribute.name, self._what
        if known is None:
            if name in self._schema.blocks or name in self._meta.blocks:
                self._report(attribute, f'"{name}" of {what} is a block, not an argument: write {name} {{ ... }}')
            else:
                self._report(attribute, f'{what} takes no argument "{name}"', name, self._right_names)
            return
        null = is_null(attribute.expression)
        if not known.settable:
            if not null:
                self._report_computed(attribute, name)
        elif known.required and null and self._refuses_null:
            self._report(attribute, f'the required argument "{name}" of {what} is null')
        elif why := mismatch(attribute.expression, known.type, self._scope.names):
            self._report(attribute, f'"{name}" of {what} is of the wrong type: {why}')

    def _report_computed(self, node: ast.Node, name: str) -> None:
        self._report(node, f'"{name}" of {self._what} is computed by the provider and cannot be set')

    def _block(self, written: Written) -> None:
        name = written.name
        if name in self._meta.blocks:
            self._meta_block(written, self._meta.blocks[name])
            return
        if name in self._schema.blocks:
            if written.labels:
                self._report(written.node, f'the block "{name}" of {self._what} takes no label')
            self._nested(written, self._schema.blocks[name].body)
            return
        known = self._schema.attributes.get(name)
        if known is None:
            self._report(written.node, f'{self._what} takes no block "{name}"', name, self._right_names)
        elif not known.settable:
            self._report_computed(written.node, name)
        elif known.type != ANY:
            body = _as_blocks(known.type)
            if body is None:
                self._report(written.node, f'"{name}" of {self._what} is an argument, not a block: write {name} = ...')
            else:
                self._nested(written, body)

    def _meta_block(self, written: Written, nested: Nested) -> None:
        if written.dynamic:
            self._report(written.node, f'the block "{written.name}" of {self._what} cannot be dynamic')
        elif written.name == PROVISIONER:
            self._provisioner(written)
        else:
            self._nested(written, nested.body)

    def _nested(self, written: Written, schema: Body) -> None:
        # Terraform does not look at what is never made.
        if written.times != 0 and schema is not ANYTHING:
            what = f"{written.name} of {self._what}"
            _Body(self._scope, written.node, written.body, self._address, what, schema, NOTHING).check()

    def _provisioner(self, written: Written) -> None:
        kind = written.labels[0] if len(written.labels) == 1 else ""
        if kind in PROVISIONERS:
            self._nested(written, PROVISIONERS[kind])
        else:
            self._report(written.node, f'there is no provisioner "{kind}"', kind, PROVISIONERS.keys)

    def _dynamic(self, block: ast.Block) -> None:
        what = " ".join([block.type, *block.labels])
        _Body(self._scope, block, block.body, self._address, f"{what} of {self._what}", DYNAMIC_BLOCK, NOTHING).check()

    def _count(self, name: str, nested: Nested, times: Sequence[int | None]) -> None:
        surely = sum(count for count in times if count is not None)
        here = f'of the block "{name}", and here are {surely}'
        if nested.most is not None and surely > nested.most:
            self._report(self._node, f"{self._what} takes at most {nested.most} {here}")
        elif None not in times and surely < nested.least:
            self._report(self._node, f"{self._what} needs at least {nested.least} {here}")


@lru_cache(maxsize=1024)
def _as_blocks(kind: Type) -> Body | None:
    """What may stand in the blocks by which an argument may be written too; None where it has to be an argument."""
    if kind in PRIMITIVES or kind[0] not in ("list", "set") or kind[1] in PRIMITIVES or kind[1][0] != "object":
        return None
    return Body({name: Attribute(field) for name, field in kind[1][1]}, {})
