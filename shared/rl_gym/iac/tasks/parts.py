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

from rl_gym.iac.tasks.hcl_writer import Block

__all__ = ["CRITICAL", "Builder", "Careful", "Hurried", "Mixed", "Part", "Stack", "Style"]

T = TypeVar("T")

CRITICAL = frozenset(
    {"s3_public_acl", "sg_world_admin", "sg_open_database_ports", "rds_public", "hardcoded_secret", "iam_wildcard"}
)
"""The rules whose failure zeroes a reward: no style but `Mixed` ever breaks one."""

_NEVER_ABSENT = CRITICAL | {"iam_svc_wildcard"}
"""Rules where leaving the thing out is no lapse, or would leave the resource unfinished."""


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

    def ref(self, kind: str, resource_type: str, attribute: str) -> str | None:
        """The reference to another part's resource, or None where the stack has no such part."""
        return f"{resource_type}.{self.project}.{attribute}" if self.find(kind) else None


class Style(Protocol):
    """Decides, protection by protection, which form is written."""

    def pick(self, rule: str, secure: T, *lapses: T) -> T | None:
        """The secure form, one of the lapses, or None: the protection is left out."""
        ...


@dataclass(frozen=True, slots=True)
class Careful:
    """Every protection that `rules` asks for, and no other."""

    rules: Collection[str]

    def pick(self, rule: str, secure: T, *lapses: T) -> T | None:
        return secure if rule in self.rules or rule in _NEVER_ABSENT else None


@dataclass(frozen=True, slots=True)
class Hurried:
    """Nothing that was not needed to make it work: no critical slip, no protection, tags where `tagged` says so."""

    tagged: bool = True

    def pick(self, rule: str, secure: T, *lapses: T) -> T | None:
        if rule in CRITICAL or (rule == "tags" and self.tagged):
            return secure
        return lapses[0] if rule == "iam_svc_wildcard" else None


@dataclass(frozen=True, slots=True)
class Mixed:
    """Each protection is written securely with its probability, else left out or written insecurely.

    `secure` is one probability for all rules or one for each named rule (others: 1). With one for all, a critical slip
    is ten times rarer than another lapse.
    """

    secure: float | Mapping[str, float]
    rng: Random

    def pick(self, rule: str, secure: T, *lapses: T) -> T | None:
        if self.rng.random() < self._probability(rule):
            return secure
        if not lapses or (rule not in _NEVER_ABSENT and self.rng.random() < 0.7):
            return None
        return self.rng.choice(lapses)

    def _probability(self, rule: str) -> float:
        if isinstance(self.secure, Mapping):
            return self.secure.get(rule, 1.0)
        return 1 - (1 - self.secure) / 10 if rule in CRITICAL else self.secure


class Builder(ABC):
    """One kind of part: how it is drawn, asked for in words, and built."""

    kind: ClassVar[str]
    types: ClassVar[tuple[str, ...]]
    """The resource types that a request for this part requires."""

    floor_tagged: ClassVar[bool] = True
    """Whether the floor tags it: where the tags are all that a hurried author could forget, it must not."""

    @abstractmethod
    def draw(self, project: str, rng: Random) -> Part:
        """A random part that belongs to `project`."""

    @abstractmethod
    def nouns(self, part: Part) -> Sequence[str]:
        """What people call it, with its article: 'an S3 bucket', 'object storage'."""

    @abstractmethod
    def details(self, part: Part) -> Sequence[str]:
        """Its parameters in words, each a phrase that may follow its name or be left out."""

    @abstractmethod
    def build(self, part: Part, stack: Stack, style: Style) -> Iterator[Block]:
        """Its resource, then the companions that protect it."""
