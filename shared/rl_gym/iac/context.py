"""What a rule may ask about the rest of the configuration: resources by type, and companions of a resource.

A companion (an access block, a flow log, a standalone ingress rule) says by one of its arguments which resource it is
for; it counts for that one alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping
from types import MappingProxyType
from typing import Any, TypeVar

from rl_gym.hcl import Configuration, HclLimitError, Module, Resource
from rl_gym.iac.companions import Companion, Companions, aim, literal_names
from rl_gym.iac.literals import Sources, provider_name, texts
from rl_gym.iac.verdicts import Body

T = TypeVar("T")


class Context:
    """One evaluated configuration with the look-ups that rules share, each made once."""

    __slots__ = (
        "_bound",
        "_by_address",
        "_by_base",
        "_by_type",
        "_module",
        "_remembered",
        "_steps",
        "addresses",
        "configuration",
    )

    def __init__(
        self,
        configuration: Configuration,
        module: Module | None = None,
        addresses: Mapping[str, str] = MappingProxyType({}),
        steps: int = 10_000,
    ) -> None:
        self.configuration = configuration
        self._bound = self._steps = steps
        self.addresses = addresses
        """Addresses to show in place of those of the configuration, where it was written for a plan."""
        self._module = module
        self._by_type: dict[str, list[Resource]] = {}
        self._by_address: dict[str, Resource] = {}
        self._by_base: dict[str, list[Resource]] = {}
        self._remembered: dict[Hashable, Any] = {}
        for resource in (*configuration.resources(), *configuration.data()):
            if resource.created is False:
                continue
            kind = resource.type if resource.mode == "managed" else f"data.{resource.type}"
            self._by_type.setdefault(kind, []).append(resource)
            self._by_address[resource.address] = resource
            self._by_base.setdefault(resource.base_address, []).append(resource)

    def remember(self, key: Hashable, make: Callable[[Context], T]) -> T:
        """What `make` answers about this configuration, computed once."""
        if key not in self._remembered:
            self._remembered[key] = make(self)
        found: T = self._remembered[key]
        return found

    @property
    def module(self) -> Module | None:
        """The configuration as it is written; None where it was read from a plan."""
        return None if self.addresses else self._module

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

    def provider_of(self, resource: Resource) -> str | None:
        """The provider configuration that makes a resource: "aws", "aws.west"; None where a plan does not tell."""
        sources = self.sources()
        block = sources.of(resource)[0] if sources else None
        if block is None:
            return None
        named = block.body.attributes.get("provider")
        return provider_name(named.expression) if named else resource.type.partition("_")[0]

    def default_tags(self, alias: str | None = None) -> Any:
        """The tags that the AWS provider gives to every resource that it makes: a map, None, or UNKNOWN."""
        blocks = self.configuration.providers.get("aws", ())
        return next((block.get("default_tags.tags") for block in blocks if block.get("alias") == alias), None)

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
        key = ("companions", kind, path)
        index = self.remember(key, lambda _: Companions(self.of_type(kind), path, self.find))
        found = index.of(target, lambda name: self._names(target.type)[name], len(self.instances(target.base_address)))
        self.spend(len(found))
        return found

    def orphan(self, companion: Resource, path: str, targets: tuple[str, ...]) -> bool:
        """Whether a companion is not surely for any of the configuration's resources of the types `targets`."""
        target = aim(companion, path, self.find)
        if target is None:
            return True
        if target.addresses:
            there = (self._by_address.get(address) for address in target.addresses)
            return not any(one.type in targets for one in there if one is not None)
        if isinstance(target.name, str):
            return all(self._names(kind)[target.name] != 1 for kind in targets)
        instances = [one for base in target.bases for one in self.instances(base)]
        return len(instances) != 1 or instances[0].type not in targets

    def _names(self, kind: str) -> Counter[str]:
        """How many resources of a type carry each literal name."""
        return self.remember(
            ("names", kind), lambda _: Counter(name for one in self.of_type(kind) for name in literal_names(one))
        )

    def begin(self) -> None:
        """Start a judgement, with all of its steps still to spend."""
        self._steps = self._bound

    def spend(self, steps: int) -> None:
        """Account for work that grows with the configuration; raises HclLimitError beyond the bound."""
        self._steps -= steps
        if self._steps < 0:
            raise HclLimitError("judging this takes too many steps: it holds too many resources or values")


def type_of(address: str) -> str:
    """The resource type in an address, without module path and `data.`."""
    parts = address.split(".")
    while parts[0] == "module" and len(parts) > 2:
        parts = parts[2:]
    return parts[1] if parts[0] == "data" and len(parts) > 1 else parts[0]
