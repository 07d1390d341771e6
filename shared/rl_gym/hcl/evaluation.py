"""From a module to a configuration: variables, locals, instances of resources, and the modules that are called.

Everything is evaluated, so that whatever is wrong with a configuration is said at once.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from rl_gym.hcl import ast, policy_document
from rl_gym.hcl.configuration import Block, Configuration, Resource
from rl_gym.hcl.conversion import ANY, PRIMITIVES, ConversionError, Type, convert, parse_type, to_number, type_name
from rl_gym.hcl.documents import ABSENT
from rl_gym.hcl.errors import HclError, HclEvaluationError
from rl_gym.hcl.folding import NO_NAMES, CycleError, Names, Scope, Step, exceeded, failed, follow
from rl_gym.hcl.folding import evaluate as fold
from rl_gym.hcl.limits import DEFAULT, Limits
from rl_gym.hcl.module import Module, ResourceKey, declarations
from rl_gym.hcl.parser import parse
from rl_gym.hcl.settling import Run, Task
from rl_gym.hcl.tracing import spelled, traversals
from rl_gym.hcl.values import (
    NOTHING_KNOWN,
    UNKNOWN,
    BlockObject,
    List,
    Map,
    Reference,
    Set,
    Unknown,
    UnknownType,
    Value,
    Whole,
    described,
    references_of,
    with_origin,
)

_SPELLED = frozenset({"depends_on", "provider", "providers", "ignore_changes", "replace_triggered_by"})
"""Arguments that name things, and have no value."""
_META = frozenset({"count", "for_each", "depends_on", "provider", "lifecycle", "provisioner", "connection"})
"""Arguments and blocks that belong to Terraform, and cannot be read from outside the resource."""


def evaluate(module: Module, variables: Mapping[str, Any] | None = None, limits: Limits = DEFAULT) -> Configuration:
    """The configuration that a module comes to.

    `variables` are values for the root module, above those of `.tfvars` files: plain Python, or text, which is read as
    an expression where the variable's type is not primitive. Raises HclEvaluationError for a cycle, a function that
    fails, something declared twice or wrongly; HclLimitError for what would exceed `limits`.
    """
    run = Run(limits)
    scope = _ModuleScope(run, module, "", True)
    scope.given = _root_values(scope, variables or {})
    resources = list(scope.settled())
    run.refuse_cycles()
    return Configuration(
        resources,
        variables=scope.variables,
        local_values=scope.locals,
        outputs=scope.outputs,
        providers=scope.providers(),
    )


def _root_values(scope: _ModuleScope, variables: Mapping[str, Any]) -> dict[str, Value]:
    """Values of root variables, later ones above earlier ones: `.tfvars` files, then those that were passed."""
    given: dict[str, Value] = {}
    for file in scope.module.settings:
        for name, attribute in file.body.attributes.items():
            given[name] = fold(_Constants(scope), attribute.expression)
    for name, value in variables.items():
        block = scope.declared.variables.get(name)
        if block is None:
            raise HclEvaluationError(f'a value was given for the variable "{name}", which is not declared')
        given[name] = _passed(scope, name, block, value)
    return given


def _passed(scope: _ModuleScope, name: str, block: ast.Block, value: Any) -> Value:
    if not isinstance(value, str):
        return _internal(value)
    kind = scope.variable_type(block)
    if kind in PRIMITIVES or kind == ANY:
        return value
    file = parse(f"value = {value}\n", f"<value of {name}>", scope.run.limits)
    return fold(_Constants(scope), file.body.attributes["value"].expression)


def _internal(value: Any) -> Value:
    """Plain Python data as a value of the evaluator."""
    if value is UNKNOWN:
        return NOTHING_KNOWN
    if isinstance(value, float):
        return json.loads(json.dumps(value), parse_float=_number, parse_constant=_number)
    if isinstance(value, Mapping):
        return {str(key): _internal(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_internal(item) for item in value]
    return value


def _number(text: str) -> Value:
    value = convert(text, "number")
    return value


class _Constants(Scope):
    """Where only literals and functions may stand: defaults of variables, `.tfvars` files."""

    def __init__(self, scope: _ModuleScope) -> None:
        self.budget = scope.budget

    def refer(self, root: ast.Name, steps: Sequence[Step], names: Names) -> Value:
        raise failed(root, "a variable's value cannot refer to anything else")


class _Expansion:
    """The instances of a resource or module: `kind` is single, count, each or unknown."""

    __slots__ = ("instances", "kind", "value")

    def __init__(self, kind: str, instances: dict[Any, Any], value: Value) -> None:
        self.kind = kind
        self.instances = instances
        self.value = value


class _ModuleScope(Scope):
    """One instance of a module: what its names mean, and all that it comes to."""

    def __init__(self, run: Run, module: Module, prefix: str, created: bool | UnknownType, depth: int = 0) -> None:
        self.run = run
        self.budget = run.budget
        self.module = module
        self.prefix = prefix
        self.created = created
        self.depth = depth
        self.declared = declarations(module)
        self.given: Mapping[str, Value] = {}
        self.caller: tuple[_ModuleScope, ast.Block, Names] | None = None
        self.variables: dict[str, Value] = {}
        self.locals: dict[str, Value] = {}
        self.outputs: dict[str, Value] = {}
        self._expansions: dict[ResourceKey | str, Any] = {}
        self._types: dict[str, Type] = {}

    # ---- names -------------------------------------------------------------------------------------------------------

    def refer(self, root: ast.Name, steps: Sequence[Step], names: Names) -> Value:
        meaning = _ROOTS.get(root.name)
        if meaning is not None:
            return meaning(self, root, steps, names)
        return self._resource(root, "managed", root.name, steps, names)

    def _var(self, root: ast.Name, steps: Sequence[Step], names: Names) -> Value:
        name = _named(root, steps, 0, "var")
        if name not in self.declared.variables:
            return NOTHING_KNOWN
        return follow(self, self.variable(name, steps[0]), steps[1:], names)

    def _local(self, root: ast.Name, steps: Sequence[Step], names: Names) -> Value:
        name = _named(root, steps, 0, "local")
        attribute = self.declared.locals.get(name)
        if attribute is None:
            return NOTHING_KNOWN
        self.run.link(f"{self.prefix}local.{name}", root)
        value = self.locals.get(name, ABSENT)
        if value is ABSENT or type(value) is object:
            value = self.run.settle(self._local_task(name, attribute))
        return follow(self, value, steps[1:], names)

    def _data(self, root: ast.Name, steps: Sequence[Step], names: Names) -> Value:
        kind = _named(root, steps, 0, "data")
        return self._resource(root, "data", kind, steps[1:], names)

    def _explicit(self, root: ast.Name, steps: Sequence[Step], names: Names) -> Value:
        kind = _named(root, steps, 0, "resource")
        return self._resource(root, "managed", kind, steps[1:], names)

    def _resource(self, root: ast.Name, mode: str, kind: str, steps: Sequence[Step], names: Names) -> Value:
        if not steps or type(steps[0]) is not ast.GetAttr:
            raise failed(root, f'"{kind}" is no value: a reference names a type and a resource; text needs quotes')
        key = ResourceKey(mode, kind, steps[0].name)
        base = self.prefix + key.address
        rest = steps[1:]
        if key not in self.declared.resources:
            while rest and type(rest[0]) is ast.Index:
                rest = rest[1:]
            whole = Reference(base, "")
            return follow(self, Unknown(frozenset((whole,)), whole), rest, names)
        self.run.link(base, root)
        return self._instances_value(root, base, self.expansion(key), rest, names)

    def _module(self, root: ast.Name, steps: Sequence[Step], names: Names) -> Value:
        name = _named(root, steps, 0, "module")
        if name not in self.declared.modules:
            return NOTHING_KNOWN
        address = f"{self.prefix}module.{name}"
        return self._instances_value(root, address, self.calls(name), steps[1:], names)

    def _instances_value(
        self, root: ast.Name, base: str, expansion: _Expansion, steps: Sequence[Step], names: Names
    ) -> Value:
        """The value of a path into the instances of a resource or module."""
        first = steps[0] if steps else None
        if expansion.kind == "single":
            if type(first) is ast.Index and type(fold(self, first.key, names)) is int:
                raise failed(first, f"{base} has no count, so it has no instance keys")
            return follow(self, expansion.instances[None].whole, steps, names)
        if expansion.kind == "unknown":
            while steps and type(steps[0]) is ast.Index:
                steps = steps[1:]
            return follow(self, expansion.instances[None].whole, steps, names)
        if type(first) is ast.GetAttr:
            raise failed(first, f"{base} has several instances: one of them must be chosen by its key")
        if expansion.kind == "count":
            value: Value = [instance.whole for instance in expansion.instances.values()]
        else:
            value = {key: instance.whole for key, instance in expansion.instances.items()}
        return follow(self, value, steps, names)

    def _path(self, root: ast.Name, steps: Sequence[Step], names: Names) -> Value:
        name = _named(root, steps, 0, "path")
        known = {"module": self.module.directory, "root": "."}
        return known.get(name, NOTHING_KNOWN)

    def _terraform(self, root: ast.Name, steps: Sequence[Step], names: Names) -> Value:
        return "default" if _named(root, steps, 0, "terraform") == "workspace" else NOTHING_KNOWN

    def _without_instances(self, root: ast.Name, steps: Sequence[Step], names: Names) -> Value:
        needed = "for_each" if root.name == "each" else "count"
        raise failed(root, f'"{root.name}" can be used only where "{needed}" is set')

    def _unknown(self, root: ast.Name, steps: Sequence[Step], names: Names) -> Value:
        return NOTHING_KNOWN

    # ---- variables, locals, outputs ----------------------------------------------------------------------------------

    def variable(self, name: str, node: ast.Node) -> Value:
        """The value of a declared variable."""
        if self.caller is not None:
            self.run.link(f"{self.prefix}var.{name}", node)
        value = self.variables.get(name, ABSENT)
        if value is ABSENT or type(value) is object:
            return self.run.settle(self._variable_task(name))
        return value

    def _variable_task(self, name: str) -> Task:
        block = self.declared.variables[name]
        return Task(self.variables, name, block, f"{self.prefix}var.{name}", partial(self._variable_value, name, block))

    def _variable_value(self, name: str, block: ast.Block) -> Value:
        attributes = block.body.attributes
        kind = self.variable_type(block)
        node: ast.Node = block
        value = ABSENT
        if self.caller is not None:
            caller, call, names = self.caller
            argument = call.body.attributes.get(name)
            if argument is not None:
                node, value = argument, fold(caller, argument.expression, names)
        else:
            value = self.given.get(name, ABSENT)
        if value is None and _is_false(attributes.get("nullable")):
            value = ABSENT
        if value is ABSENT:
            default = attributes.get("default")
            if default is None:
                return NOTHING_KNOWN
            node, value = default, fold(_Constants(self), default.expression)
        try:
            return convert(value, kind)
        except ConversionError as error:
            raise failed(node, f'the value of the variable "{name}" does not fit {type_name(kind)}: {error}') from None

    def variable_type(self, block: ast.Block) -> Type:
        """The type constraint of a variable; "any" when it has none."""
        name = block.labels[0]
        if name not in self._types:
            written = block.body.attributes.get("type")
            try:
                self._types[name] = (
                    ANY if written is None else parse_type(written.expression, partial(fold, _Constants(self)))
                )
            except ConversionError as error:
                raise failed(written or block, error) from None
        return self._types[name]

    def _local_task(self, name: str, attribute: ast.Attribute) -> Task:
        return Task(
            self.locals, name, attribute, f"{self.prefix}local.{name}", partial(fold, self, attribute.expression)
        )

    def output(self, name: str, node: ast.Node) -> Value:
        """The value of an output, for the module's caller."""
        block = self.declared.outputs.get(name)
        if block is None:
            raise failed(node, f'the module {self.prefix.rstrip(".")} has no output "{name}"')
        self.run.link(f"{self.prefix}output.{name}", node)
        return self.run.settle(self._output_task(name, block))

    def _output_task(self, name: str, block: ast.Block) -> Task:
        value = block.body.attributes.get("value")
        compute = partial(fold, self, value.expression) if value is not None else lambda: NOTHING_KNOWN
        return Task(self.outputs, name, block, f"{self.prefix}output.{name}", compute)

    # ---- instances ---------------------------------------------------------------------------------------------------

    def expansion(self, key: ResourceKey) -> _Expansion:
        """The instances of a declared resource."""
        block = self.declared.resources[key]
        owner = self.prefix + key.address
        expanded: _Expansion = self._expanded(key, block, owner, partial(_Instance, self, key, block))
        return expanded

    def calls(self, name: str) -> _Expansion:
        """The instances of a called module."""
        block = self.declared.modules[name]
        owner = f"{self.prefix}module.{name}"
        expanded: _Expansion = self._expanded(f"module.{name}", block, owner, partial(self._call, name, block))
        return expanded

    def _expanded(self, key: ResourceKey | str, block: ast.Block, owner: str, make: Any) -> Any:
        found = self._expansions.get(key)
        if type(found) is _Expansion:
            return found
        attributes = block.body.attributes
        if "count" not in attributes and "for_each" not in attributes:
            found = self._expansions[key] = _Expansion("single", {None: make(None, NO_NAMES, self.created)}, None)
            return found
        return self.run.settle(Task(self._expansions, key, block, owner, partial(self._expand, block, make)))

    def _expand(self, block: ast.Block, make: Any) -> _Expansion:
        count, for_each = block.body.attributes.get("count"), block.body.attributes.get("for_each")
        if count is not None:
            if for_each is not None:
                raise failed(for_each, '"count" and "for_each" exclude each other')
            value = fold(self, count.expression)
            if isinstance(value, Unknown):
                return _Expansion("unknown", {None: make(None, {"count": {"index": NOTHING_KNOWN}}, UNKNOWN)}, value)
            number = self._count(count, value)
            self.budget.spend(number)
            return _Expansion(
                "count", {at: make(at, {"count": {"index": at}}, self.created) for at in range(number)}, value
            )
        assert for_each is not None
        value = fold(self, for_each.expression)
        if isinstance(value, Unknown):
            names = {"each": {"key": Unknown(value.references), "value": Unknown(value.references)}}
            return _Expansion("unknown", {None: make(None, names, UNKNOWN)}, value)
        entries = self._for_each(for_each, value)
        self.budget.spend(len(entries))
        return _Expansion(
            "each",
            {key: make(key, {"each": {"key": key, "value": item}}, self.created) for key, item in entries.items()},
            value,
        )

    def _count(self, node: ast.Attribute, value: Value) -> int:
        try:
            number = to_number(value)
        except ConversionError as error:
            raise failed(node, f"count: {error}") from None
        if type(number) is not int or number < 0:
            raise failed(node, "count must be a whole number that is not negative")
        self._refuse_instances(node, number)
        return number

    def _for_each(self, node: ast.Attribute, value: Value) -> dict[str, Value]:
        if isinstance(value, dict):
            self._refuse_instances(node, len(value))
            return dict(sorted(value.items()))
        if type(value) is not Set or not all(isinstance(item, str) for item in value):
            raise failed(node, f"for_each must be a map, or a set of strings, not {described(value)}")
        self._refuse_instances(node, len(value))
        return {str(item): item for item in value}

    def _refuse_instances(self, node: ast.Node, number: int) -> None:
        most = self.run.limits.max_instances
        if number > most:
            raise exceeded(node, f"{number} instances are more than {most}; raise Limits.max_instances if it is meant")

    def _call(self, name: str, block: ast.Block, key: Any, names: Names, created: bool | UnknownType) -> _Called:
        child = self.module.calls.get(name)
        if child is None:
            return _Called(None)
        if self.depth >= self.run.limits.max_module_depth:
            raise exceeded(
                block,
                f"modules call modules more than {self.run.limits.max_module_depth} deep; "
                "raise Limits.max_module_depth if it is meant",
            )
        prefix = f"{self.prefix}module.{name}{_instance_key(key)}."
        scope = _ModuleScope(self.run, child, prefix, created, self.depth + 1)
        scope.caller = (self, block, names)
        return _Called(scope)

    # ---- everything --------------------------------------------------------------------------------------------------

    def settled(self) -> Iterator[Resource]:
        """Settle every value of this module and of those that it calls; yields their resources in order."""
        settle = self.run.settle_all
        for name, attribute in self.declared.locals.items():
            self._quietly(self._local_task(name, attribute))
        for name in self.declared.variables:
            self._quietly(self._variable_task(name))
        for key, block in self.declared.resources.items():
            self.run.owner = self.prefix + key.address
            expansion = settle(Task({}, key, block, self.run.owner, partial(self.expansion, key)))
            instances = list(expansion.instances.values()) or [_Instance(self, key, block, None, _GHOST, False)]
            for instance in instances:
                yield instance.settled(expansion)
        for name, block in self.declared.outputs.items():
            self._quietly(self._output_task(name, block))
        for name, block in self.declared.modules.items():
            expansion = settle(Task({}, name, block, f"{self.prefix}module.{name}", partial(self.calls, name)))
            called = list(expansion.instances.values())
            if not called and name in self.module.calls:
                called = [self._call(name, block, None, _GHOST, False)]
            for one in called:
                if one.scope is not None:
                    yield from one.scope.settled()

    def _quietly(self, task: Task) -> None:
        """Settle a task; in a module that is never created, what fails there is unknown."""
        self.settle_or_unknown(task, self.created)

    def settle_or_unknown(self, task: Task, created: bool | UnknownType) -> Value:
        try:
            return self.run.settle_all(task)
        except CycleError:
            raise
        except HclEvaluationError:
            if created is not False:
                raise
            task.memo[task.key] = NOTHING_KNOWN
            return NOTHING_KNOWN

    def providers(self) -> dict[str, list[Block]]:
        """The provider blocks, by name."""
        found: dict[str, list[Block]] = {}
        for block in self.declared.providers:
            self.run.owner = f"provider.{block.labels[0]}"
            task = Task({}, "provider", block, self.run.owner, partial(_evaluated, self, block, block.body, NO_NAMES))
            found.setdefault(block.labels[0], []).append(self.run.settle_all(task))
        return found

    def trace(self, expression: ast.Expression, names: Mapping[str, Value]) -> frozenset[str]:
        """Base addresses of all that an expression names, by way of locals, variables and outputs."""
        found: set[str] = set()
        pending: list[tuple[_ModuleScope, ast.Expression, Mapping[str, Value]]] = [(self, expression, names)]
        seen: set[int] = set()
        while pending:
            scope, item, known = pending.pop()
            if id(item) in seen:
                continue
            seen.add(id(item))
            for path in traversals(item):
                if path[0] in known:
                    found |= {_base(reference.address) for reference in references_of(known[path[0]])}
                else:
                    scope._trace_path(path, found, pending)
        return frozenset(found)

    def _trace_path(self, path: list[str], found: set[str], pending: list[Any]) -> None:
        root, name = path[0], path[1] if len(path) > 1 else ""
        if root == "local" and name in self.declared.locals:
            pending.append((self, self.declared.locals[name].expression, NO_NAMES))
        elif root == "var" and self.caller is not None:
            caller, call, names = self.caller
            argument = call.body.attributes.get(name)
            if argument is not None:
                pending.append((caller, argument.expression, names))
        elif root == "module" and name in self.declared.modules:
            for called in self.calls(name).instances.values():
                output = called.scope.declared.outputs.get(path[2]) if called.scope and len(path) > 2 else None
                if output is not None and "value" in output.body.attributes:
                    pending.append((called.scope, output.body.attributes["value"].expression, NO_NAMES))
        elif root == "data" and len(path) > 2:
            found.add(f"{self.prefix}data.{name}.{path[2]}")
        elif root not in _ROOTS and name:
            found.add(f"{self.prefix}{root}.{name}")


_GHOST: Names = {
    "count": {"index": NOTHING_KNOWN},
    "each": {"key": NOTHING_KNOWN, "value": NOTHING_KNOWN},
}
"""What the body of something that is never created is evaluated with."""

_ROOTS = {
    "var": _ModuleScope._var,
    "local": _ModuleScope._local,
    "data": _ModuleScope._data,
    "resource": _ModuleScope._explicit,
    "module": _ModuleScope._module,
    "path": _ModuleScope._path,
    "terraform": _ModuleScope._terraform,
    "each": _ModuleScope._without_instances,
    "count": _ModuleScope._without_instances,
    "self": _ModuleScope._unknown,
    "ephemeral": _ModuleScope._unknown,
}


def _named(root: ast.Name, steps: Sequence[Step], at: int, what: str) -> str:
    step = steps[at] if at < len(steps) else None
    if type(step) is ast.GetAttr:
        return step.name
    if type(step) is ast.Index and type(step.key) is ast.Literal and isinstance(step.key.value, str):
        return step.key.value
    raise failed(root, f'"{what}" must be followed by a dot and a name')


def _is_false(attribute: ast.Attribute | None) -> bool:
    return attribute is not None and type(attribute.expression) is ast.Literal and attribute.expression.value is False


def _instance_key(key: Any) -> str:
    if key is None:
        return ""
    return f"[{json.dumps(key, ensure_ascii=False)}]"


def _base(address: str) -> str:
    from rl_gym.hcl.configuration import base_of

    return base_of(address)


class _Called:
    """An instance of a called module; `scope` is None when its files are not given."""

    __slots__ = ("scope", "whole")

    def __init__(self, scope: _ModuleScope | None) -> None:
        self.scope = scope
        self.whole: Unknown = NOTHING_KNOWN if scope is None else Whole(None, self._read)

    def _read(self, name: str) -> Value:
        assert self.scope is not None
        assert self.scope.caller is not None
        return self.scope.output(name, self.scope.caller[1])


class _Instance:
    """One instance of a resource or data source, evaluated as far as somebody has asked."""

    __slots__ = ("address", "base", "block", "created", "key", "names", "resource_key", "scope", "values", "whole")

    def __init__(
        self,
        scope: _ModuleScope,
        resource_key: ResourceKey,
        block: ast.Block,
        key: Any,
        names: Names,
        created: bool | UnknownType,
    ) -> None:
        self.scope = scope
        self.resource_key = resource_key
        self.block = block
        self.key = key
        self.names = names
        self.created = created
        self.base = scope.prefix + resource_key.address
        self.address = self.base + _instance_key(key)
        self.values: dict[Any, Value] = {}
        self.whole = Whole(Reference(self.address, ""), self.read)

    def read(self, name: str) -> Value:
        """An attribute as others see it: what is not configured is unknown, and all of it says whose it is."""
        reference = Reference(self.address, name)
        if name in self.block.body.attributes and name not in _META:
            value = self.attribute(name)
            if value is None:
                return Unknown(frozenset((reference,)), reference)
            if isinstance(value, Unknown):
                return value.seen_as(reference)
            if isinstance(value, str):
                return with_origin(value, references_of(value) | {reference}, reference)
            return value
        if self._is_policy and name in policy_document.OUTPUTS:
            value = self._settle(name, partial(self._policy, name))
            if isinstance(value, Unknown):
                return value.seen_as(reference)
            return with_origin(value, references_of(value) | {reference}, reference)
        blocks = self.blocks().get(name) if name not in _META else None
        if blocks is None or any(block.created is UNKNOWN for block in blocks):
            return Unknown(frozenset((reference,)), reference)
        return [_seen(block, Reference(self.address, f"{name}.{at}")) for at, block in enumerate(blocks)]

    def attribute(self, name: str) -> Value:
        attribute = self.block.body.attributes[name]
        return self._settle(name, partial(_argument, self.scope, attribute, self.names), attribute)

    def blocks(self) -> dict[str, list[Block]]:
        """The nested blocks, by type."""
        if not self.block.body.blocks:
            return {}
        found: dict[str, list[Block]] = self._settle(_NESTED, self._nested).nested
        return found

    def _nested(self) -> Any:
        return _Nested(_blocks(self.scope, self.block.body, self.names))

    def _settle(self, key: Any, compute: Any, node: ast.Node | None = None) -> Value:
        value = self.values.get(key, ABSENT)
        if value is ABSENT or type(value) is object:
            return self.scope.run.settle(Task(self.values, key, node or self.block, self.base, compute))
        return value

    @property
    def _is_policy(self) -> bool:
        return self.resource_key.type == policy_document.TYPE and self.resource_key.mode == "data"

    def _policy(self, name: str) -> Value:
        written = {key: self.attribute(key) for key in self.block.body.attributes}
        body = Block(written, self.blocks(), self.block, self.block.body, self.scope, self.names, True)
        return policy_document.policy_text(body, minified=name == "minified_json")

    def settled(self, expansion: _Expansion) -> Resource:
        """The resource with all that it says evaluated."""
        scope, body = self.scope, self.block.body
        values = self.values
        for name, attribute in body.attributes.items():
            expression = attribute.expression
            if name == "count" or name == "for_each":
                values[name] = expansion.value
            elif type(expression) is ast.Literal and type(expression.value) is not float:
                values[name] = expression.value
            elif name not in values:
                compute = partial(_argument, scope, attribute, self.names)
                scope.settle_or_unknown(Task(values, name, attribute, self.base, compute), self.created)
        nested: dict[str, list[Block]] = {}
        if body.blocks:
            task = Task(values, _NESTED, self.block, self.base, self._nested)
            found = scope.settle_or_unknown(task, self.created)
            nested = found.nested if type(found) is _Nested else {}
        if self._is_policy:
            for name in policy_document.OUTPUTS:
                task = Task(values, name, self.block, self.base, partial(self._policy, name))
                scope.settle_or_unknown(task, self.created)
        shown = {name: value for name, value in values.items() if name is not _NESTED}
        block = Block(shown, nested, self.block, body, scope, self.names, True)
        return Resource(
            block,
            mode=self.resource_key.mode,
            kind=self.resource_key.type,
            name=self.resource_key.name,
            address=self.address,
            base_address=self.base,
            created=self.created,
        )


_NESTED = object()
"""The key of an instance's nested blocks among its values."""


class _Nested:
    __slots__ = ("nested",)

    def __init__(self, nested: dict[str, list[Block]]) -> None:
        self.nested = nested


def _seen(block: Block, reference: Reference) -> BlockObject:
    content = dict(block._values)
    for name, inner in block._nested.items():
        content[name] = [
            _seen(one, Reference(reference.address, f"{reference.attribute}.{name}.{at}"))
            for at, one in enumerate(inner)
        ]
    return BlockObject(content, reference)


# ---- bodies ----------------------------------------------------------------------------------------------------------


def _argument(scope: _ModuleScope, attribute: ast.Attribute, names: Names) -> Value:
    if attribute.name in _SPELLED:
        for path in traversals(attribute.expression):
            if attribute.name == "depends_on":
                _link_path(scope, path, attribute)
        return spelled(attribute.expression)
    return fold(scope, attribute.expression, names)


def _link_path(scope: _ModuleScope, path: list[str], node: ast.Node) -> None:
    if path[0] == "data" and len(path) > 2:
        scope.run.link(f"{scope.prefix}data.{path[1]}.{path[2]}", node)
    elif path[0] not in _ROOTS and len(path) > 1:
        scope.run.link(f"{scope.prefix}{path[0]}.{path[1]}", node)


def _evaluated(
    scope: _ModuleScope, node: ast.Block, body: ast.Body, names: Names, created: bool | UnknownType = True
) -> Block:
    values = {name: _argument(scope, attribute, names) for name, attribute in body.attributes.items()}
    for value in values.values():
        if isinstance(value, (list, dict)):
            scope.budget.value(value)
    return Block(values, _blocks(scope, body, names), node, body, scope, names, created)


def _blocks(scope: _ModuleScope, body: ast.Body, names: Names) -> dict[str, list[Block]]:
    """The blocks of a body by type, each `dynamic` one expanded."""
    found: dict[str, list[Block]] = {}
    for block in body.blocks:
        if block.type == "dynamic" and len(block.labels) == 1:
            found.setdefault(block.labels[0], []).extend(_dynamic(scope, block, names))
        elif block.type in ("provisioner", "connection", "precondition", "postcondition"):
            found.setdefault(block.type, []).append(Block({}, {}, block, block.body, scope, names, True))
        else:
            found.setdefault(block.type, []).append(_evaluated(scope, block, block.body, names))
    return found


def _dynamic(scope: _ModuleScope, block: ast.Block, names: Names) -> Iterator[Block]:
    attributes = block.body.attributes
    for_each = attributes.get("for_each")
    content = next(block.body.blocks_of("content"), None)
    if for_each is None or content is None:
        raise failed(block, 'a dynamic block has an argument "for_each" and a block "content"')
    written = attributes.get("iterator")
    iterator = str(spelled(written.expression)) if written is not None else block.labels[0]
    value = fold(scope, for_each.expression, names)
    if isinstance(value, Unknown):
        inner = {**names, iterator: {"key": Unknown(value.references), "value": Unknown(value.references)}}
        yield _evaluated(scope, content, content.body, inner, UNKNOWN)
        return
    entries = list(_dynamic_entries(for_each, value))
    scope._refuse_instances(for_each, len(entries))
    for key, item in entries:
        scope.budget.spend(len(content.body.attributes) + len(content.body.blocks) + 1)
        yield _evaluated(scope, content, content.body, {**names, iterator: {"key": key, "value": item}})


def _dynamic_entries(node: ast.Attribute, value: Value) -> Iterator[tuple[Value, Value]]:
    if isinstance(value, dict):
        yield from sorted(value.items())
    elif type(value) is Set:
        yield from zip(value, value, strict=True)
    elif isinstance(value, list):
        yield from enumerate(value)
    else:
        raise failed(node, f"for_each must be a collection, not {described(value)}")


__all__ = ["HclError", "List", "Map", "evaluate"]
