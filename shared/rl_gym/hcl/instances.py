"""Instances of resources and of called modules: how many there are, and what others see of each."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from rl_gym.hcl import ast, policy_document
from rl_gym.hcl.bodies import argument, blocks_of
from rl_gym.hcl.budget import LimitExceededError
from rl_gym.hcl.configuration import Block, Resource
from rl_gym.hcl.conversion import ConversionError, to_number
from rl_gym.hcl.documents import ABSENT
from rl_gym.hcl.folding import NO_NAMES, Names, evaluate, exceeded, failed
from rl_gym.hcl.module import ResourceKey
from rl_gym.hcl.settling import BUSY, Task
from rl_gym.hcl.tracing import weight
from rl_gym.hcl.values import (
    NOTHING_KNOWN,
    UNKNOWN,
    BlockObject,
    Origin,
    Reference,
    Set,
    Unknown,
    UnknownType,
    Value,
    Whole,
    computed,
    described,
    with_origin,
)

if TYPE_CHECKING:
    from rl_gym.hcl.scope import ModuleScope

_INSTANCE_STEPS = 16
"""What making one instance costs beside its body."""
_META = frozenset({"count", "for_each", "depends_on", "provider", "lifecycle", "provisioner", "connection"})
"""Arguments and blocks that belong to Terraform, and cannot be read from outside the resource."""
_NESTED = "blocks"

NEVER_CREATED: Names = {
    "count": {"index": NOTHING_KNOWN},
    "each": {"key": NOTHING_KNOWN, "value": NOTHING_KNOWN},
}
"""What the body of something that is never created is evaluated with."""


class Expansion:
    """The instances of a resource or module by key; `kind` is single, count, each or unknown.

    A single one and an unknown number of them have one instance, with the key None. `value` is that of `count` or
    `for_each`.
    """

    __slots__ = ("instances", "kind", "value")

    def __init__(self, kind: str, instances: dict[Any, Any], value: Value) -> None:
        self.kind = kind
        self.instances = instances
        self.value = value


Make = Callable[[Any, Names, "bool | UnknownType"], Any]
"""Makes an instance of its key, the names that its body knows, and whether it is created."""


def expand(scope: ModuleScope, block: ast.Block, make: Make) -> Expansion:
    """The instances that `count` or `for_each` ask for."""
    count, for_each = block.body.attributes.get("count"), block.body.attributes.get("for_each")
    node = for_each if count is None else count
    if node is None:
        return Expansion("single", {None: make(None, NO_NAMES, scope.created)}, None)
    if count is not None and for_each is not None:
        raise failed(for_each, '"count" and "for_each" exclude each other')
    value = evaluate(scope, node.expression)
    if isinstance(value, Unknown):
        names: Names = {"count": {"index": NOTHING_KNOWN}} if count else {"each": {"key": value, "value": value}}
        created = False if scope.created is False else UNKNOWN
        return Expansion("unknown", {None: make(None, names, created)}, value)
    if count is not None:
        number = _count(scope, count, value)
        scope.budget.spend(number * (_INSTANCE_STEPS + weight(block)))
        return Expansion(
            "count", {at: make(at, {"count": {"index": at}}, scope.created) for at in range(number)}, value
        )
    entries = _for_each(scope, node, value)
    scope.budget.spend(len(entries) * (_INSTANCE_STEPS + weight(block)))
    made = {}
    for key, item in entries.items():
        each = {"key": item if type(value) is Set else key, "value": item}
        made[key] = make(key, {"each": each}, scope.created)
    return Expansion("each", made, value)


def _count(scope: ModuleScope, node: ast.Attribute, value: Value) -> int:
    try:
        number = to_number(value)
    except ConversionError as error:
        raise failed(node, f"count: {error}") from None
    if type(number) is not int or number < 0:
        raise failed(node, "count must be a whole number that is not negative")
    scope.refuse_instances(node, number)
    return number


def _for_each(scope: ModuleScope, node: ast.Attribute, value: Value) -> dict[str, Value]:
    if isinstance(value, dict):
        scope.refuse_instances(node, len(value))
        return dict(sorted(value.items()))
    if type(value) is not Set or not all(isinstance(item, str) for item in value):
        raise failed(node, f"for_each must be a map, or a set of strings, not {described(value)}")
    scope.refuse_instances(node, len(value))
    return {str(item): item for item in value}


def instance_key(key: Any) -> str:
    """The key of an instance as it stands in an address."""
    return "" if key is None else f"[{json.dumps(key, ensure_ascii=False)}]"


class CalledModule:
    """An instance of a called module; `scope` is None when its files are not given."""

    __slots__ = ("scope", "whole")

    def __init__(self, scope: ModuleScope | None, call: ast.Block) -> None:
        self.scope = scope
        self.whole: Unknown = NOTHING_KNOWN if scope is None else Whole(None, partial(scope.output, node=call))


def called_module(
    scope: ModuleScope, name: str, block: ast.Block, key: Any, names: Names, created: bool | UnknownType
) -> CalledModule:
    """An instance of the module that a `module` block calls."""
    child = scope.module.calls.get(name)
    if child is None:
        return CalledModule(None, block)
    if scope.is_inside(child):
        raise failed(block, f"module.{name} calls the module that it stands in, which has no end")
    deepest = scope.run.limits.max_module_depth
    if scope.depth >= deepest:
        message = f"modules call modules more than {deepest} deep"
        raise exceeded(block, LimitExceededError(message, "max_module_depth"))
    scope.budget.spend(_INSTANCE_STEPS + child.weight)
    return CalledModule(scope.child(child, f"module.{name}{instance_key(key)}.", block, names, created), block)


class Instance:
    """One instance of a resource or data source, evaluated as far as somebody has asked."""

    __slots__ = ("_nested", "address", "base", "block", "created", "names", "resource_key", "scope", "values", "whole")

    def __init__(
        self,
        scope: ModuleScope,
        resource_key: ResourceKey,
        block: ast.Block,
        key: Any,
        names: Names,
        created: bool | UnknownType,
    ) -> None:
        self.scope = scope
        self.resource_key = resource_key
        self.block = block
        self.names = names
        self.created = created
        self.base = scope.prefix + resource_key.address
        self.address = self.base + instance_key(key)
        self.values: dict[str, Value] = {}
        self._nested: dict[str, Any] = {}
        self.whole = Whole(Reference(self.address, ""), self.read)

    def read(self, name: str) -> Value:
        """An attribute as others see it: what is not configured is unknown, and all of it says whose it is."""
        reference = Reference(self.address, name)
        if name not in _META:
            if name in self.block.body.attributes:
                return self._seen(self._attribute(name), reference)
            if self._is_policy and name in policy_document.OUTPUTS:
                return self._seen(self._settle(name, partial(self._policy, name)), reference)
            blocks = self._blocks().get(name)
            if blocks is not None and all(block.created is True for block in blocks):
                return [_object(one, Reference(self.address, f"{name}.{at}")) for at, one in enumerate(blocks)]
        return computed(reference)

    def _seen(self, value: Value, reference: Reference) -> Value:
        """A configured value that remembers where it was read; a null one is for the provider to choose."""
        if value is None:
            return computed(reference)
        if isinstance(value, (Unknown, Origin)):
            self.scope.budget.spend(len(value.references))
            return value.seen_as(reference)
        if isinstance(value, str):
            return with_origin(value, frozenset((reference,)), (reference,))
        return value

    def _attribute(self, name: str) -> Value:
        attribute = self.block.body.attributes[name]
        return self._settle(name, partial(argument, self.scope, attribute, self.names), attribute)

    def _settle(self, name: str, compute: Callable[[], Value], node: ast.Node | None = None) -> Value:
        value = self.values.get(name, ABSENT)
        if value is ABSENT or value is BUSY:
            return self.scope.run.settle(Task(self.values, name, node or self.block, self.base, compute))
        return value

    def _blocks(self) -> dict[str, list[Block]]:
        if not self.block.body.blocks:
            return {}
        found: _Nested = self.scope.run.settle(self._nested_task())
        return found.blocks

    def _nested_task(self) -> Task:
        return Task(self._nested, _NESTED, self.block, self.base, self._evaluated_blocks)

    def _evaluated_blocks(self) -> _Nested:
        return _Nested(blocks_of(self.scope, self.block.body, self.names))

    @property
    def _is_policy(self) -> bool:
        return self.resource_key.type == policy_document.TYPE and self.resource_key.mode == "data"

    def _policy(self, name: str) -> Value:
        written = {key: self._attribute(key) for key in self.block.body.attributes}
        block = Block(written, self._blocks(), self.block, self.block.body, self.scope, self.names, True)
        return policy_document.policy_text(block, self.scope.budget, minified=name == "minified_json")

    def settled(self, expansion: Expansion) -> Resource:
        """The resource with all that it says evaluated."""
        scope, body, values = self.scope, self.block.body, self.values
        for name, attribute in body.attributes.items():
            expression = attribute.expression
            if name == "count" or name == "for_each":
                values[name] = expansion.value
            elif type(expression) is ast.Literal and type(expression.value) is not float:
                values[name] = expression.value
            elif name not in values:
                compute = partial(argument, scope, attribute, self.names)
                scope.settle(Task(values, name, attribute, self.base, compute), self.created)
        nested: dict[str, list[Block]] = {}
        if body.blocks:
            found = scope.settle(self._nested_task(), self.created)
            nested = found.blocks if type(found) is _Nested else {}
        if self._is_policy:
            for name in policy_document.OUTPUTS:
                minified = name == "minified_json"
                compute = partial(policy_document.policy_text, self._as_block(nested), scope.budget, minified)
                scope.settle(Task(values, name, self.block, self.base, compute), self.created)
        return Resource(
            self._as_block(nested),
            mode=self.resource_key.mode,
            kind=self.resource_key.type,
            name=self.resource_key.name,
            address=self.address,
            base_address=self.base,
            created=self.created,
        )

    def _as_block(self, nested: dict[str, list[Block]]) -> Block:
        return Block(self.values, nested, self.block, self.block.body, self.scope, self.names, True)


class _Nested:
    """Nested blocks, kept among values."""

    __slots__ = ("blocks",)

    def __init__(self, blocks: dict[str, list[Block]]) -> None:
        self.blocks = blocks


def _object(block: Block, reference: Reference) -> BlockObject:
    """A nested block as a value for others."""
    content = dict(block.raw)
    for name, inner in block.nested.items():
        content[name] = [
            _object(one, Reference(reference.address, f"{reference.attribute}.{name}.{at}"))
            for at, one in enumerate(inner)
        ]
    return BlockObject(content, reference)
