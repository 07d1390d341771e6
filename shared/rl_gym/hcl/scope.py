"""One instance of a module: what its names mean, and all that it comes to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from rl_gym.hcl import ast
from rl_gym.hcl.bodies import body_of
from rl_gym.hcl.budget import LimitExceededError
from rl_gym.hcl.configuration import Block, Resource, base_of
from rl_gym.hcl.conversion import ANY, ConversionError, Type, convert, parse_type, type_name
from rl_gym.hcl.documents import ABSENT
from rl_gym.hcl.errors import HclEvaluationError
from rl_gym.hcl.folding import NO_NAMES, CycleError, Names, Scope, evaluate, exceeded, failed, follow
from rl_gym.hcl.instances import NEVER_CREATED, CalledModule, Expansion, Instance, called_module, expand
from rl_gym.hcl.module import Module, ResourceKey
from rl_gym.hcl.settling import BUSY, Run, Task
from rl_gym.hcl.tracing import Step, traversals
from rl_gym.hcl.values import NOTHING_KNOWN, Reference, UnknownType, Value, computed, references_of


class Constants(Scope):
    """Where only literals and functions may stand: defaults of variables, `.tfvars` files."""

    def __init__(self, run: Run) -> None:
        self.budget = run.budget

    def refer(self, root: ast.Name, steps: Sequence[Step], names: Names) -> Value:
        raise failed(root, "a variable's value cannot refer to anything else")


class ModuleScope(Scope):
    """An instance of a module.

    `prefix` stands before the addresses of its resources; `given` are the values of a root module's variables, and
    `caller` is where those of a called one come from: the caller's scope, the `module` block, and the names it knows.
    """

    def __init__(
        self, run: Run, module: Module, prefix: str = "", created: bool | UnknownType = True, depth: int = 0
    ) -> None:
        self.run = run
        self.budget = run.budget
        self.module = module
        self.prefix = prefix
        self.created = created
        self.depth = depth
        self.declared = module.declared
        self.given: Mapping[str, Value] = {}
        self.caller: tuple[ModuleScope, ast.Block, Names] | None = None
        self.variables: dict[str, Value] = {}
        self.locals: dict[str, Value] = {}
        self.outputs: dict[str, Value] = {}
        self._expansions: dict[ResourceKey | str, Any] = {}
        self._types: dict[str, Type] = {}

    def child(
        self, module: Module, step: str, call: ast.Block, names: Names, created: bool | UnknownType
    ) -> ModuleScope:
        """An instance of a module that this one calls."""
        scope = ModuleScope(self.run, module, self.prefix + step, created, self.depth + 1)
        scope.caller = (self, call, names)
        return scope

    def is_inside(self, module: Module) -> bool:
        """Whether this is an instance of a module, or was called by one, directly or not."""
        if self.module is module:
            return True
        return self.caller is not None and self.caller[0].is_inside(module)

    # ---- names -------------------------------------------------------------------------------------------------------

    def refer(self, root: ast.Name, steps: Sequence[Step], names: Names) -> Value:
        meaning = _ROOTS.get(root.name)
        if meaning is not None:
            return meaning(self, root, steps, names)
        return self._resource(root, "managed", root.name, steps, names)

    def _var(self, root: ast.Name, steps: Sequence[Step], names: Names) -> Value:
        name = _named(root, steps)
        if name not in self.declared.variables:
            return NOTHING_KNOWN
        if self.caller is not None:
            self.run.link(f"{self.prefix}var.{name}", root)
        value = self.variables.get(name, ABSENT)
        if value is ABSENT or value is BUSY:
            value = self.run.settle(self._variable_task(name))
        return follow(self, value, steps[1:], names)

    def _local(self, root: ast.Name, steps: Sequence[Step], names: Names) -> Value:
        name = _named(root, steps)
        attribute = self.declared.locals.get(name)
        if attribute is None:
            return NOTHING_KNOWN
        self.run.link(f"{self.prefix}local.{name}", root)
        value = self.locals.get(name, ABSENT)
        if value is ABSENT or value is BUSY:
            value = self.run.settle(self._local_task(name, attribute))
        return follow(self, value, steps[1:], names)

    def _data(self, root: ast.Name, steps: Sequence[Step], names: Names) -> Value:
        return self._resource(root, "data", _named(root, steps), steps[1:], names)

    def _explicit(self, root: ast.Name, steps: Sequence[Step], names: Names) -> Value:
        return self._resource(root, "managed", _named(root, steps), steps[1:], names)

    def _resource(self, root: ast.Name, mode: str, kind: str, steps: Sequence[Step], names: Names) -> Value:
        first = steps[0] if steps else None
        if type(first) is not ast.GetAttr:
            raise failed(root, f'"{kind}" is no value: a reference names a type and a resource; text needs quotes')
        key = ResourceKey(mode, kind, first.name)
        base = self.prefix + key.address
        if key not in self.declared.resources:
            reference = Reference(base, "")
            return follow(self, computed(reference), _after_indexes(steps[1:]), names)
        self.run.link(base, root)
        return self._read(base, self.expansion(key), steps[1:], names)

    def _module(self, root: ast.Name, steps: Sequence[Step], names: Names) -> Value:
        name = _named(root, steps)
        if name not in self.declared.modules:
            return NOTHING_KNOWN
        return self._read(f"{self.prefix}module.{name}", self.calls(name), steps[1:], names)

    def _read(self, base: str, expansion: Expansion, steps: Sequence[Step], names: Names) -> Value:
        """The value of a path into the instances of a resource or module."""
        first = steps[0] if steps else None
        if expansion.kind == "single":
            if type(first) is ast.Index and type(evaluate(self, first.key, names)) is int:
                raise failed(first, f"{base} has no count, so it has no instance keys")
            return follow(self, expansion.instances[None].whole, steps, names)
        if expansion.kind == "unknown":
            return follow(self, expansion.instances[None].whole, _after_indexes(steps), names)
        if type(first) is ast.GetAttr:
            raise failed(first, f"{base} has several instances: one of them must be chosen by its key")
        value: Value = {key: instance.whole for key, instance in expansion.instances.items()}
        return follow(self, list(value.values()) if expansion.kind == "count" else value, steps, names)

    def _path(self, root: ast.Name, steps: Sequence[Step], names: Names) -> Value:
        return {"module": self.module.directory, "root": "."}.get(_named(root, steps), NOTHING_KNOWN)

    def _terraform(self, root: ast.Name, steps: Sequence[Step], names: Names) -> Value:
        return "default" if _named(root, steps) == "workspace" else NOTHING_KNOWN

    def _without_instances(self, root: ast.Name, steps: Sequence[Step], names: Names) -> Value:
        needed = "for_each" if root.name == "each" else "count"
        raise failed(root, f'"{root.name}" can be used only where "{needed}" is set')

    def _unknown(self, root: ast.Name, steps: Sequence[Step], names: Names) -> Value:
        return NOTHING_KNOWN

    # ---- variables, locals, outputs ----------------------------------------------------------------------------------

    def _variable_task(self, name: str) -> Task:
        block = self.declared.variables[name]
        return Task(self.variables, name, block, f"{self.prefix}var.{name}", partial(self._variable, name, block))

    def _variable(self, name: str, block: ast.Block) -> Value:
        attributes = block.body.attributes
        node: ast.Node = block
        value = self.given.get(name, ABSENT)
        if self.caller is not None:
            scope, call, names = self.caller
            passed = call.body.attributes.get(name)
            if passed is not None:
                node, value = passed, evaluate(scope, passed.expression, names)
        if value is None and _is_false(attributes.get("nullable")):
            value = ABSENT
        kind = self.variable_type(block)
        if value is ABSENT:
            default = attributes.get("default")
            if default is None:
                return NOTHING_KNOWN
            node, value = default, evaluate(Constants(self.run), default.expression)
        try:
            return convert(value, kind)
        except ConversionError as error:
            raise failed(node, f'the value of the variable "{name}" does not fit {type_name(kind)}: {error}') from None

    def variable_type(self, block: ast.Block) -> Type:
        """The type constraint of a variable; "any" when it has none."""
        name = block.labels[0]
        written = block.body.attributes.get("type")
        if written is None:
            return ANY
        if name not in self._types:
            try:
                self._types[name] = parse_type(written.expression, partial(evaluate, Constants(self.run)))
            except ConversionError as error:
                raise failed(written, error) from None
        return self._types[name]

    def _local_task(self, name: str, attribute: ast.Attribute) -> Task:
        owner = f"{self.prefix}local.{name}"
        return Task(self.locals, name, attribute, owner, partial(evaluate, self, attribute.expression))

    def output(self, name: str, node: ast.Node) -> Value:
        """The value of an output, for the caller of the module; `node` is the call."""
        block = self.declared.outputs.get(name)
        if block is None:
            raise failed(node, f'{self.prefix.rstrip(".")} has no output "{name}"')
        self.run.link(f"{self.prefix}output.{name}", node)
        return self.run.settle(self._output_task(name, block))

    def _output_task(self, name: str, block: ast.Block) -> Task:
        value = block.body.attributes.get("value")
        compute = partial(evaluate, self, value.expression) if value is not None else lambda: NOTHING_KNOWN
        return Task(self.outputs, name, block, f"{self.prefix}output.{name}", compute)

    # ---- instances ---------------------------------------------------------------------------------------------------

    def expansion(self, key: ResourceKey) -> Expansion:
        """The instances of a declared resource."""
        found = self._expansions.get(key)
        if type(found) is Expansion:
            return found
        block = self.declared.resources[key]
        return self._expanded(key, block, key.address, partial(Instance, self, key, block))

    def calls(self, name: str) -> Expansion:
        """The instances of a called module."""
        found = self._expansions.get(f"module.{name}")
        if type(found) is Expansion:
            return found
        block = self.declared.modules[name]
        return self._expanded(f"module.{name}", block, f"module.{name}", partial(called_module, self, name, block))

    def _expanded(self, key: ResourceKey | str, block: ast.Block, address: str, make: Any) -> Expansion:
        if type(key) is ResourceKey and _is_single(block):
            expansion = self._expansions[key] = expand(self, block, make)
            return expansion
        task = Task(self._expansions, key, block, self.prefix + address, partial(expand, self, block, make))
        settled: Expansion = self.run.settle(task)
        return settled

    def refuse_instances(self, node: ast.Node, number: int) -> None:
        """Raise HclLimitError for more instances than the limits allow."""
        most = self.run.limits.max_instances
        if number > most:
            raise exceeded(node, LimitExceededError(f"{number} instances are more than {most}", "max_instances"))

    # ---- everything --------------------------------------------------------------------------------------------------

    def settled(self) -> Iterator[Resource]:
        """Settle every value of this module and of those that it calls; yields their resources in order."""
        for name, attribute in self.declared.locals.items():
            self.settle(self._local_task(name, attribute), self.created)
        for name in self.declared.variables:
            self.settle(self._variable_task(name), self.created)
        for key, block in self.declared.resources.items():
            expansion = self._settled_expansion(key, block, partial(self.expansion, key))
            for instance in expansion.instances.values() or [Instance(self, key, block, None, NEVER_CREATED, False)]:
                yield instance.settled(expansion)
        for name, block in self.declared.outputs.items():
            self.settle(self._output_task(name, block), self.created)
        for name, block in self.declared.modules.items():
            expansion = self._settled_expansion(f"module.{name}", block, partial(self.calls, name))
            for called in expansion.instances.values() or [self._never_called(name, block)]:
                if called.scope is not None:
                    yield from called.scope.settled()

    def _never_called(self, name: str, block: ast.Block) -> CalledModule:
        """What stands for a module of which there is no instance."""
        make = partial(called_module, self, name, block, None, NEVER_CREATED, False)
        called: CalledModule = self.run.settle_all(Task({}, name, block, f"{self.prefix}module.{name}", make))
        return called

    def _settled_expansion(self, key: ResourceKey | str, block: ast.Block, ask: Any) -> Expansion:
        """The instances of a resource or module, settled from here; none of what fails in a module never created."""
        if type(key) is ResourceKey and _is_single(block):
            single: Expansion = ask()
            return single
        task = Task({}, key, block, self.run.owner, ask)
        found = self.settle(task, self.created)
        return found if type(found) is Expansion else Expansion("count", {}, NOTHING_KNOWN)

    def settle(self, task: Task, created: bool | UnknownType) -> Value:
        """Settle a task; in what is never created, that which fails is unknown."""
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
            name = block.labels[0]
            task = Task({}, name, block, f"provider.{name}", partial(body_of, self, block, block.body, NO_NAMES))
            found.setdefault(name, []).append(self.run.settle_all(task))
        return found

    # ---- references --------------------------------------------------------------------------------------------------

    def link_path(self, path: Sequence[str], node: ast.Node) -> None:
        """Note that what is being evaluated refers to the resource of a dotted path, if it is one."""
        base = _resource_base(path)
        if base is not None:
            self.run.link(self.prefix + base, node)

    def trace(self, expression: ast.Expression, names: Mapping[str, Value]) -> frozenset[str]:
        """Base addresses of all that an expression names, by way of locals, variables and outputs."""
        found: set[str] = set()
        pending: list[tuple[ModuleScope, ast.Expression, Mapping[str, Value]]] = [(self, expression, names)]
        seen: set[tuple[int, int]] = set()
        while pending:
            scope, item, known = pending.pop()
            if (id(scope), id(item)) in seen:
                continue
            seen.add((id(scope), id(item)))
            for path in traversals(item):
                base = _resource_base(path)
                if path[0] in known:
                    found |= {base_of(reference.address) for reference in references_of(known[path[0]])}
                elif base is not None:
                    found.add(scope.prefix + base)
                else:
                    pending += scope._definitions(path)
        return frozenset(found)

    def _definitions(self, path: Sequence[str]) -> Iterator[tuple[ModuleScope, ast.Expression, Mapping[str, Value]]]:
        """The expressions that define what a path names: a local, a variable of a called module, a module's output."""
        root, name = path[0], path[1] if len(path) > 1 else ""
        if root == "local" and name in self.declared.locals:
            yield self, self.declared.locals[name].expression, NO_NAMES
        elif root == "var" and self.caller is not None:
            scope, call, names = self.caller
            if name in call.body.attributes:
                yield scope, call.body.attributes[name].expression, names
        elif root == "module" and name in self.declared.modules and len(path) > 2:
            for called in self.calls(name).instances.values():
                output = called.scope.declared.outputs.get(path[2]) if called.scope is not None else None
                if output is not None and "value" in output.body.attributes:
                    yield called.scope, output.body.attributes["value"].expression, NO_NAMES


_ROOTS = {
    "var": ModuleScope._var,
    "local": ModuleScope._local,
    "data": ModuleScope._data,
    "resource": ModuleScope._explicit,
    "module": ModuleScope._module,
    "path": ModuleScope._path,
    "terraform": ModuleScope._terraform,
    "each": ModuleScope._without_instances,
    "count": ModuleScope._without_instances,
    "self": ModuleScope._unknown,
    "ephemeral": ModuleScope._unknown,
}
"""What the first name of a traversal means, where it is not the type of a resource."""


def _resource_base(path: Sequence[str]) -> str | None:
    if path[0] == "resource":
        path = path[1:]
    if path and path[0] == "data":
        return f"data.{path[1]}.{path[2]}" if len(path) > 2 else None
    return f"{path[0]}.{path[1]}" if len(path) > 1 and path[0] not in _ROOTS else None


def _named(root: ast.Name, steps: Sequence[Step]) -> str:
    """The name that follows a root such as `var`."""
    step = steps[0] if steps else None
    if type(step) is ast.GetAttr:
        return step.name
    if type(step) is ast.Index and type(step.key) is ast.Literal and isinstance(step.key.value, str):
        return step.key.value
    raise failed(root, f'"{root.name}" must be followed by a dot and a name')


def _after_indexes(steps: Sequence[Step]) -> Sequence[Step]:
    """The path behind the keys of instances that nobody can tell apart."""
    at = 0
    while at < len(steps) and type(steps[at]) is ast.Index:
        at += 1
    return steps[at:]


def _is_single(block: ast.Block) -> bool:
    return "count" not in block.body.attributes and "for_each" not in block.body.attributes


def _is_false(attribute: ast.Attribute | None) -> bool:
    return attribute is not None and type(attribute.expression) is ast.Literal and attribute.expression.value is False
