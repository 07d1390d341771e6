"""What a rule may ask about the rest of the configuration: resources by type, and companions of a resource.

A companion (an access block, a flow log, a standalone ingress rule) says by one of its arguments which resource it is
for; it counts for that one alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

from rl_gym.hcl import UNKNOWN, Configuration, Module, Resource
from rl_gym.iac.literals import Sources, texts
from rl_gym.iac.verdicts import Body, Truth

T = TypeVar("T")

_NAMES = ("bucket", "name", "id", "function_name", "key_id")
_CHAIN = 4


class Companion(NamedTuple):
    """A resource that is for another one; `attached` is false where it only may be."""

    resource: Resource
    attached: bool

    @property
    def certain(self) -> bool:
        """Whether it surely exists and surely is for the other one."""
        return self.attached and self.resource.created is True


class Context:
    """One evaluated configuration with the look-ups that rules share, each made once."""

    __slots__ = ("_by_address", "_by_base", "_by_type", "_module", "_remembered", "addresses", "configuration")

    def __init__(
        self,
        configuration: Configuration,
        module: Module | None = None,
        addresses: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self.configuration = configuration
        self.addresses = addresses
        """Addresses to show in place of those of the configuration, where it was written for a plan."""
        self._module = module
        self._by_type: dict[str, list[Resource]] = {}
        self._by_address: dict[str, Resource] = {}
        self._by_base: dict[str, list[Resource]] = {}
        self._remembered: dict[str, Any] = {}
        for resource in (*configuration.resources(), *configuration.data()):
            if resource.created is False:
                continue
            kind = resource.type if resource.mode == "managed" else f"data.{resource.type}"
            self._by_type.setdefault(kind, []).append(resource)
            self._by_address[resource.address] = resource
            self._by_base.setdefault(resource.base_address, []).append(resource)

    def remember(self, key: str, make: Callable[[Context], T]) -> T:
        """What `make` answers about this configuration, computed once."""
        if key not in self._remembered:
            self._remembered[key] = make(self)
        found: T = self._remembered[key]
        return found

    def sources(self) -> Sources | None:
        """The syntax trees of the configuration; None where it was read from a plan."""
        return self.remember("sources", lambda _: Sources(self._module) if self._module else None)

    def texts(self, resource: Resource, argument: str) -> list[str]:
        """The pieces of text in the expression of an argument, where the syntax tree is at hand."""
        sources = self.sources()
        block, names = sources.of(resource) if sources else (None, {})
        attribute = block.body.attributes.get(argument) if block else None
        return list(texts(attribute.expression, names)) if attribute else []

    def providers(self) -> list[Resource]:
        """The provider blocks of the root module, as resources of mode "provider": `provider.aws`."""
        return [
            Resource(
                block,
                mode="provider",
                kind=name,
                name=str(block.get("alias") or name),
                address=f"provider.{name}" + (f".{block.get('alias')}" if block.get("alias") else ""),
                base_address=f"provider.{name}",
                created=True,
            )
            for name, blocks in self.configuration.providers.items()
            for block in blocks
        ]

    def default_tags(self) -> Any:
        """The tags that the AWS provider gives to every resource: a map, None, or UNKNOWN."""
        blocks = self.configuration.providers.get("aws", ())
        return next((block.get("default_tags.tags") for block in blocks if block.get("alias") is None), None)

    def all(self) -> list[Resource]:
        """Every resource and data source that is, or may be, created, in the order of the configuration."""
        return list(self._by_address.values())

    def of_type(self, *types: str) -> list[Resource]:
        """Created (or maybe created) resources of these types; a data source's type is written `data.TYPE`."""
        return [resource for kind in types for resource in self._by_type.get(kind, ())]

    def find(self, address: str) -> Resource | None:
        """The resource at an address; an address without instance key finds a sole instance."""
        found = self._by_address.get(address)
        if found is None:
            instances = self._by_base.get(address, ())
            found = instances[0] if len(instances) == 1 else None
        return found

    def instances(self, base_address: str) -> list[Resource]:
        """Every instance of a resource block."""
        return self._by_base.get(base_address, [])

    def referred(self, body: Body, path: str) -> Resource | None:
        """The resource or data source that the value at `path` is an attribute of."""
        reference = body.reference(path)
        return self.find(reference.address) if reference else None

    def companions(self, target: Resource, kind: str, path: str) -> list[Companion]:
        """Resources of type `kind` whose argument `path` names `target`, or may name it."""
        found = []
        for candidate in self._by_type.get(kind, ()):
            attached = self.attached(candidate, path, target)
            if attached is not False:
                found.append(Companion(candidate, attached is True))
        return found

    def orphan(self, companion: Resource, path: str, targets: tuple[str, ...]) -> bool:
        """Whether a companion is not surely for any of the configuration's resources of the types `targets`."""
        return all(self.attached(companion, path, target) is not True for target in self.of_type(*targets))

    def attached(self, companion: Resource, path: str, target: Resource) -> Truth:
        """Whether `companion` is for `target`: by reference, else by the literal name that both carry."""
        return self._attached(companion, path, target, _CHAIN)

    def _attached(self, companion: Resource, path: str, target: Resource, depth: int) -> Truth:
        reference = companion.reference(path)
        if reference is not None:
            if reference.address == target.address:
                return True
            if reference.address == target.base_address:
                return None
            via = self.find(reference.address)
            if via is None or depth == 0 or via.type == target.type:
                return False
            # `bucket = aws_s3_bucket_versioning.v.bucket` names the bucket of the other companion.
            return self._attached(via, path, target, depth - 1) if via.get(path) is not None else False
        value = companion.get(path)
        if value is None:
            return False
        if value is UNKNOWN:
            return self._mentions(companion, path, target)
        return self._named(target, value)

    def _named(self, target: Resource, value: object) -> Truth:
        """Whether the target carries a literal name; unknown where two do, since AWS would let only one of them."""
        known = [target.get(name) for name in _NAMES]
        if value in [own for own in known if own is not UNKNOWN]:
            twins = (one for one in self.of_type(target.type) if one is not target)
            return None if any(value == one.get(name) for one in twins for name in _NAMES) else True
        return None if UNKNOWN in known else False

    def _mentions(self, companion: Resource, path: str, target: Resource) -> Truth:
        """The value is computed: is `target` the one resource that it is computed from?"""
        bases = companion.references(path)
        if target.base_address not in bases:
            return None if not bases else False
        if len(bases) > 1 or len(self.instances(target.base_address)) > 1:
            return None
        return True


def type_of(address: str) -> str:
    """The resource type in an address, without module path and `data.`."""
    parts = address.split(".")
    while parts[0] == "module" and len(parts) > 2:
        parts = parts[2:]
    return parts[1] if parts[0] == "data" and len(parts) > 1 else parts[0]
