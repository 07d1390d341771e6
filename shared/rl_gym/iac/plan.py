"""A plan of `terraform show -json` as Terraform source, so that rules judge it like any other configuration.

The planned values come as literals. What is not known before apply comes as the reference that the configuration part
of the plan names for it, so that a companion still says which resource it is for.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from rl_gym.infra.errors import UsageError

_ABSENT: Final[Any] = type("Absent", (), {"__slots__": ()})()
_UNKNOWN = "${var.unknown}"
"""The value of a variable that has none: what nobody can tell before apply, and not whose it is."""
_HANDED_IN = "${var.secret}"
"""A known text that came by a sensitive variable without default: it is written in no file."""
_REFERENCE = re.compile(r'((?:data\.)?[A-Za-z][\w-]*\.[A-Za-z_][\w-]*)(\[(?:\d+|"[^"]*")\])?(?:\.(.+))?')
_NOT_RESOURCES = ("var.", "local.", "each.", "count.", "self.", "path.", "terraform.", "module.")
_DEEPEST = 16


class PlanSource(NamedTuple):
    """Source in JSON syntax, and the planned address of each resource in it by the address that it has there."""

    text: str
    addresses: dict[str, str]


def plan_source(plan: Mapping[str, Any]) -> PlanSource:
    """The source that a plan amounts to; raises UsageError for a document that is no plan."""
    try:
        return _Writer(plan).source()
    except KeyError as error:
        raise UsageError(f"plan: not as `terraform show -json PLANFILE` writes it: a part has no {error}") from error
    except (AttributeError, IndexError, TypeError, ValueError, RecursionError) as error:
        raise UsageError("plan: not as `terraform show -json PLANFILE` writes it") from error


@dataclass
class _Scope:
    """One module of the plan: its address, its part of the configuration, and the module and call that it is from."""

    address: str
    configuration: Mapping[str, Any]
    parent: _Scope | None = None
    call: Mapping[str, Any] = field(default_factory=dict)

    def path(self, name: str) -> str:
        return f"{self.address}.{name}" if self.address else name


class _Planned(NamedTuple):
    """One resource instance of the plan, and the name that it gets in the source."""

    resource: Mapping[str, Any]
    scope: _Scope
    name: str

    @property
    def base(self) -> str:
        mode = "data." if self.resource["mode"] == "data" else ""
        return self.scope.path(f"{mode}{self.resource['type']}.{self.resource['name']}")

    @property
    def address(self) -> str:
        mode = "data." if self.resource["mode"] == "data" else ""
        return f"{mode}{self.resource['type']}.{self.name}"


class _Writer:
    def __init__(self, plan: Mapping[str, Any]) -> None:
        if "planned_values" not in plan:
            raise UsageError("plan: there are no planned_values: `terraform show -json PLANFILE` writes them")
        root = plan.get("configuration", {}).get("root_module", {})
        self._providers = plan.get("configuration", {}).get("provider_config", {})
        changes = plan.get("resource_changes", ())
        self._unknown = {one["address"]: one["change"].get("after_unknown", {}) for one in changes}
        self._planned: list[_Planned] = []
        self._by_base: dict[str, list[_Planned]] = {}
        scope = _Scope("", root)
        self._collect(plan["planned_values"].get("root_module", {}), scope, data_only=False)
        # Terraform leaves the changes out where nothing is planned; elsewhere they tell what is not known.
        if self._planned and "resource_changes" not in plan:
            raise UsageError("plan: there are no resource_changes: `terraform show -json PLANFILE` writes them")
        prior = plan.get("prior_state", {}).get("values", {})
        self._collect(prior.get("root_module", {}), scope, data_only=True)

    def source(self) -> PlanSource:
        out: dict[str, Any] = {"variable": {"unknown": {}, "secret": {"sensitive": True}}, "resource": {}, "data": {}}
        for one in self._planned:
            kind = "data" if one.resource["mode"] == "data" else "resource"
            out[kind].setdefault(one.resource["type"], {})[one.name] = self._body_of(one)
        providers = {name: self._provider(config) for name, config in self._providers.items() if ":" not in name}
        out["provider"] = {name.partition(".")[0]: body for name, body in providers.items() if body}
        return PlanSource(json.dumps(out), {one.address: one.resource["address"] for one in self._planned})

    # ---- what is planned ----

    def _collect(self, module: Mapping[str, Any], scope: _Scope, *, data_only: bool) -> None:
        """Note the resources of a module and of those below it; of the prior state, what has been looked up."""
        known = {one.resource["address"] for one in self._planned}
        for resource in module.get("resources", ()):
            if resource["address"] not in known and (resource["mode"] == "data" or not data_only):
                planned = _Planned(resource, scope, f"r{len(self._planned)}")
                self._planned.append(planned)
                self._by_base.setdefault(planned.base, []).append(planned)
        for child in module.get("child_modules", ()):
            name = re.sub(r"\[.*\]$", "", child["address"].rpartition("module.")[2])
            call = scope.configuration.get("module_calls", {}).get(name, {})
            self._collect(child, _Scope(child["address"], call.get("module", {}), scope, call), data_only=data_only)

    def _body_of(self, one: _Planned) -> dict[str, Any]:
        written: Mapping[str, Any] = next(
            (
                entry.get("expressions", {})
                for entry in one.scope.configuration.get("resources", ())
                if (entry["mode"], entry["type"], entry["name"])
                == (one.resource["mode"], one.resource["type"], one.resource["name"])
            ),
            {},
        )
        unknown = self._unknown.get(one.resource["address"], {})
        return self._body(one.resource.get("values", {}), unknown, written, one)

    # ---- values ----

    def _body(
        self, values: Mapping[str, Any], unknown: Mapping[str, Any], written: Mapping[str, Any] | None, one: _Planned
    ) -> dict[str, Any]:
        """The arguments of a resource or nested block; `written` is None in a block that `dynamic` made."""
        names = dict.fromkeys([*values, *(name for name, value in unknown.items() if value)])
        rendered = {
            name: self._value(
                values.get(name),
                unknown.get(name, False),
                {} if written is None else written.get(name, _ABSENT),
                one,
            )
            for name in names
        }
        return {name: value for name, value in rendered.items() if value is not _ABSENT}

    def _value(self, value: Any, unknown: Any, written: Any, one: _Planned) -> Any:
        """One argument; what the provider computes and nobody wrote is absent."""
        if unknown is True:
            return _ABSENT if written is _ABSENT else self._references(written, one)
        if value is None or value == [] or value == {}:
            return _ABSENT
        if isinstance(value, list):
            return [self._item(value, unknown, written, one, index) for index in range(len(value))]
        if isinstance(value, Mapping):
            parts = unknown if isinstance(unknown, Mapping) else {}
            known = {key: _escaped(item) for key, item in value.items()}
            return {**known, **{key: self._references(written, one) for key, flag in parts.items() if flag}}
        if isinstance(value, str) and self._is_handed_in(written, one.scope):
            return _HANDED_IN
        return self._origin(value, written, one) or _escaped(value)

    def _item(self, values: Sequence[Any], unknown: Any, written: Any, one: _Planned, index: int) -> Any:
        flag = unknown[index] if isinstance(unknown, list) and index < len(unknown) else False
        value = values[index]
        if not isinstance(value, Mapping):
            return self._references(written, one) if flag is True else _escaped(value)
        blocks = written if isinstance(written, list) else [written]
        inner = blocks[index] if len(blocks) == len(values) and isinstance(blocks[index], Mapping) else None
        return self._body(value, flag if isinstance(flag, Mapping) else {}, inner, one)

    def _origin(self, value: Any, written: Any, one: _Planned) -> str | None:
        """The reference that a known value was read from, where the one it names has that very value."""
        found = self._resolve(written, one.scope, one.resource.get("index"))
        if len(found) == 1 and found[0][1] and found[0][0].resource.get("values", {}).get(found[0][1]) == value:
            return _template(*found[0])
        return None

    def _references(self, written: Any, one: _Planned) -> Any:
        """What is not known before apply, as the attributes that it is made of."""
        found = [
            _template(target, name) for target, name in self._resolve(written, one.scope, one.resource.get("index"))
        ]
        if not found:
            return _UNKNOWN
        return found[0] if len(found) == 1 else found

    # ---- references ----

    def _resolve(self, written: Any, scope: _Scope, index: Any, depth: int = 0) -> list[tuple[_Planned, str]]:
        """The resource instances, each with an attribute, that an expression names, also through modules."""
        names = written.get("references", ()) if isinstance(written, Mapping) else ()
        found: dict[str, tuple[_Planned, str]] = {}
        if depth < _DEEPEST:
            for before, name in zip(("", *names), names, strict=False):
                if before.startswith((f"{name}.", f"{name}[")):
                    # The plan lists `b[0].id`, then `b[0]`, then `b`: the first says all.
                    continue
                for target, attribute in self._named(name, scope, index, depth):
                    found.setdefault(target.address, (target, attribute))
        return list(found.values())

    def _named(self, name: str, scope: _Scope, index: Any, depth: int) -> Iterator[tuple[_Planned, str]]:
        if name.startswith("var.") and scope.parent is not None:
            argument = scope.call.get("expressions", {}).get(name.split(".")[1])
            yield from self._resolve(argument, scope.parent, index, depth + 1)
        elif name.startswith("module."):
            yield from self._output(name, scope, index, depth)
        elif not name.startswith(_NOT_RESOURCES) and (match := _REFERENCE.fullmatch(name)):
            for target in self._instances(scope.path(match[1]), match[2], index):
                yield target, (match[3] or "").partition(".")[0].partition("[")[0]

    def _is_handed_in(self, written: Any, scope: _Scope, depth: int = 0) -> bool:
        """Whether an expression names a sensitive variable without default, also through modules: nobody wrote it."""
        names = written.get("references", ()) if isinstance(written, Mapping) and depth < _DEEPEST else ()
        for name in (name.split(".")[1] for name in names if name.startswith("var.")):
            if scope.parent is not None:
                if self._is_handed_in(scope.call.get("expressions", {}).get(name), scope.parent, depth + 1):
                    return True
            else:
                variable = scope.configuration.get("variables", {}).get(name, {})
                if variable.get("sensitive") and "default" not in variable:
                    return True
        return False

    def _output(self, name: str, scope: _Scope, index: Any, depth: int) -> Iterator[tuple[_Planned, str]]:
        parts = re.sub(r"\[[^\]]*\]", "", name).split(".")
        call = scope.configuration.get("module_calls", {}).get(parts[1], {})
        output = call.get("module", {}).get("outputs", {}).get(parts[2], {}) if len(parts) > 2 else {}
        prefix = scope.path(f"module.{parts[1]}")
        addresses = {one.scope.address: one.scope for one in self._planned if one.scope.address.startswith(prefix)}
        for address, inner in addresses.items():
            if address == prefix or address.startswith(f"{prefix}["):
                yield from self._resolve(output.get("expression"), inner, index, depth + 1)

    def _instances(self, base: str, key: str | None, index: Any) -> list[_Planned]:
        """The instances that a reference means: the one of its key, else the one of the same key, else all."""
        instances = self._by_base.get(base, [])
        wanted = json.loads(key[1:-1]) if key else index
        same = [one for one in instances if one.resource.get("index") == wanted] if wanted is not None else []
        return same or instances

    def _provider(self, config: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of a provider that are constants."""
        return {
            name: constant
            for name, expression in config.get("expressions", {}).items()
            if (constant := _constant(expression)) is not _ABSENT
        }


def _template(target: _Planned, attribute: str) -> str:
    return "${" + ".".join(filter(None, (target.address, attribute or "id"))) + "}"


def _constant(expression: Any) -> Any:
    if isinstance(expression, list):
        blocks = [{name: _constant(inner) for name, inner in block.items()} for block in expression]
        return [{name: value for name, value in block.items() if value is not _ABSENT} for block in blocks]
    if isinstance(expression, Mapping) and "constant_value" in expression:
        return _escaped(expression["constant_value"])
    return _UNKNOWN if isinstance(expression, Mapping) and expression.get("references") else _ABSENT


def _escaped(value: Any) -> Any:
    """A value in which no string is a template."""
    if isinstance(value, str):
        return value.replace("${", "$${").replace("%{", "%%{")
    if isinstance(value, list):
        return [_escaped(item) for item in value]
    if isinstance(value, Mapping):
        return {key: _escaped(item) for key, item in value.items()}
    return value
