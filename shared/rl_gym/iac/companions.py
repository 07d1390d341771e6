"""Which resource a companion is for, by reference or by name, found without trying every pair."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from rl_gym.hcl import UNKNOWN, Resource

_NAMES = ("bucket", "name", "id", "function_name", "key_id")
"""Arguments by whose literal value others may name a resource."""
_HOPS = 4

Find = Callable[[str], Resource | None]


class Companion(NamedTuple):
    """A resource that is for another one; `attached` is false where it only may be."""

    resource: Resource
    attached: bool

    @property
    def certain(self) -> bool:
        """Whether it surely exists and surely is for the other one."""
        return self.attached and self.resource.created is True


class Aim(NamedTuple):
    """What the argument of a companion says about the resource that it is for.

    `addresses` where it refers to one (and to what that one refers to in turn), `name` where it is a literal, `bases`
    where it is computed from resources; none of them where it may be anything.
    """

    addresses: tuple[str, ...] = ()
    name: object = None
    bases: frozenset[str] = frozenset()


def aim(companion: Resource, path: str, find: Find) -> Aim | None:
    """Where an argument aims; None where it is absent."""
    addresses: list[str] = []
    current: Resource | None = companion
    while current is not None and len(addresses) < _HOPS and (reference := current.reference(path)) is not None:
        addresses.append(reference.address)
        # `bucket = aws_s3_bucket_versioning.v.bucket` names the bucket of the other companion.
        current = find(reference.address) if reference.attribute in (path, "id") else None
    if addresses:
        return Aim(addresses=tuple(addresses))
    value = companion.get(path)
    if value is None:
        return None
    return Aim(bases=companion.references(path)) if value is UNKNOWN else Aim(name=value)


class Companions:
    """The companions of one type by one argument, ready to be asked by the resource that they are for."""

    def __init__(self, candidates: Iterable[Resource], path: str, find: Find) -> None:
        self._by_address: dict[str, list[Resource]] = {}
        self._by_name: dict[object, list[Resource]] = {}
        self._by_base: dict[str, list[tuple[Resource, bool]]] = {}
        self._loose: list[Resource] = []
        for candidate in candidates:
            target = aim(candidate, path, find)
            if target is None:
                continue
            for address in target.addresses:
                self._by_address.setdefault(address, []).append(candidate)
            for base in target.bases:
                self._by_base.setdefault(base, []).append((candidate, len(target.bases) == 1))
            if isinstance(target.name, str):
                self._by_name.setdefault(target.name, []).append(candidate)
            elif not target.addresses and not target.bases and target.name is None:
                self._loose.append(candidate)

    def of(self, target: Resource, twins: Callable[[str], int], siblings: int) -> list[Companion]:
        """The companions that are, or may be, for a resource.

        `twins(name)` counts the resources of its type that carry a literal name: AWS lets only one, so two of them say
        nothing. `siblings` counts the instances of its block.
        """
        found = [Companion(one, True) for one in self._by_address.get(target.address, ())]
        if target.base_address != target.address:
            found += [Companion(one, False) for one in self._by_address.get(target.base_address, ())]
        if self._by_name:
            found += self._named(target, twins)
        computed = self._by_base.get(target.base_address, ())
        found += [Companion(one, sole and siblings == 1) for one, sole in computed]
        return found + [Companion(one, False) for one in self._loose]

    def _named(self, target: Resource, twins: Callable[[str], int]) -> list[Companion]:
        """Those that name the resource by a literal."""
        names = [target.get(name) for name in _NAMES]
        if UNKNOWN in names:
            return [Companion(one, False) for named in self._by_name.values() for one in named]
        literals = {name for name in names if isinstance(name, str)}
        return [Companion(one, twins(name) == 1) for name in literals for one in self._by_name.get(name, ())]


def literal_names(resource: Resource) -> set[str]:
    """The names by which others may mean a resource."""
    return {name for argument in _NAMES if isinstance(name := resource.get(argument), str)}
