"""What a stack is made of: parts drawn at random, a builder for each kind of part, and styles of writing them.

A builder never decides whether a protection is written. It names the rule that the protection serves, the secure form
and the lapses that people write instead, and the style picks: so one builder gives the oracle, the floor and every
mixture between them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, ClassVar, Protocol, TypeVar

from rl_gym.iac.tasks.demands import Demand
from rl_gym.iac.tasks.hcl_writer import Block

__all__ = ["CRITICAL", "Builder", "Careful", "Hurried", "Mixed", "Part", "Stack", "Style"]

T = TypeVar("T")

CRITICAL = frozenset(
    {
        "s3_public_acl",
        "s3_policy_public",
        "sg_world_admin",
        "sg_open_database_ports",
        "rds_public",
        "hardcoded_secret",
        "iam_wildcard",
    }
)
"""The rules whose failure zeroes a reward: of those that builders name, only `Mixed` ever breaks one, and rarely."""


@dataclass(frozen=True, slots=True)
class Part:
    """One asked-for thing: the kind of its builder, its name in AWS and its other drawn parameters (JSON values)."""

    kind: str
    name: str
    params: Mapping[str, Any]

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "name": self.name, **self.params}

    @classmethod
    def from_dict(cls, row: Mapping[str, Any]) -> Part:
        return cls(row["kind"], row["name"], {k: v for k, v in row.items() if k not in ("kind", "name")})


@dataclass(frozen=True, slots=True)
class Stack:
    """Parts that stand together, at most one of a kind, all labelled with their project's name."""

    project: str
    parts: Sequence[Part]

    def find(self, kind: str) -> Part | None:
        return next((part for part in self.parts if part.kind == kind), None)

    def links(self, **demands: Demand) -> list[Demand]:
        """The demands, given by kind, whose kind stands in the stack."""
        return [demand for kind, demand in demands.items() if self.find(kind)]

    def ref(self, kind: str, resource_type: str, attribute: str) -> str | None:
        """The reference to another part's resource, or None where the stack has no such part."""
        return f"{resource_type}.{self.project}.{attribute}" if self.find(kind) else None


class Style(Protocol):
    """Decides, rule by rule, what is written."""

    def protect(self, rule: str, secure: T, *lapses: T) -> T | None:
        """A protection that may be left out: its secure form, one of the lapses, or None."""
        ...

    def limit(self, rule: str, secure: T, *lapses: T) -> T:
        """Something that has to be written one way or the other: its secure form, or one of the lapses."""
        ...


@dataclass(frozen=True, slots=True)
class Careful:
    """Every protection that `rules` asks for and no other, everything limited."""

    rules: Collection[str]

    def protect(self, rule: str, secure: T, *lapses: T) -> T | None:
        return secure if rule in self.rules else None

    def limit(self, rule: str, secure: T, *lapses: T) -> T:
        return secure


@dataclass(frozen=True, slots=True)
class Hurried:
    """What it takes to work: no protection but tags (where `tagged`), limits only where a lapse would be critical."""

    tagged: bool

    def protect(self, rule: str, secure: T, *lapses: T) -> T | None:
        return secure if rule == "tags" and self.tagged else None

    def limit(self, rule: str, secure: T, *lapses: T) -> T:
        return secure if rule in CRITICAL else lapses[0]


@dataclass(frozen=True, slots=True)
class Mixed:
    """Secure with a probability, else left out (seven times in ten, where it can be) or written insecurely.

    `secure` is one probability for all rules or one for each named rule (1 for the others). With one for all, a
    critical lapse is ten times rarer than another. Rules outside of `rules` are kept to as `Careful` does.
    """

    secure: float | Mapping[str, float]
    rng: Random
    rules: Collection[str]

    def protect(self, rule: str, secure: T, *lapses: T) -> T | None:
        if rule not in self.rules:
            return None
        if self._keeps(rule):
            return secure
        return self.rng.choice(lapses) if lapses and self.rng.random() < 0.3 else None

    def limit(self, rule: str, secure: T, *lapses: T) -> T:
        return secure if rule not in self.rules or self._keeps(rule) else self.rng.choice(lapses)

    def _keeps(self, rule: str) -> bool:
        if isinstance(self.secure, Mapping):
            probability = self.secure.get(rule, 1.0)
        elif rule in CRITICAL:
            probability = 1 - (1 - self.secure) / 10
        else:
            probability = self.secure
        return self.rng.random() < probability


class Builder(ABC):
    """One kind of part: how it is drawn, asked for in words, and built."""

    kind: ClassVar[str]
    types: ClassVar[tuple[str, ...]]
    """The resource types that a request for this part requires."""

    others: ClassVar[tuple[str, ...]] = ()
    """Other types that may stand in for these."""

    floor_tagged: ClassVar[bool] = True
    """Whether the floor tags it: where the tags are all that a hurried author could forget, it must not."""

    @abstractmethod
    def draw(self, project: str, rng: Random) -> Part:
        """A random part that belongs to `project`."""

    @abstractmethod
    def nouns(self, part: Part) -> Sequence[str]:
        """What people call it, with its article: 'an S3 bucket', 'object storage'."""

    def identity(self, part: Part) -> Sequence[Demand]:
        """What its name, and what it is called, ask for; of a thing whose name is a tag, the name is no demand."""
        return ()

    @abstractmethod
    def demands(self, part: Part, stack: Stack) -> Sequence[Demand]:
        """Its parameters and links, each in words that may follow its name or be left out."""

    def details(self, part: Part, stack: Stack) -> Sequence[str]:
        """The words of its demands."""
        return [demand.words for demand in self.demands(part, stack)]

    @abstractmethod
    def build(self, part: Part, stack: Stack, style: Style) -> Iterator[Block]:
        """Its resource, then the companions that protect it."""
