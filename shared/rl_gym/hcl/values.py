"""What an expression evaluates to.

A known value is plain Python: None (null), bool, int or `Real`, str, and containers, where `list` is Terraform's
tuple, `List` its list, `Set` its set, `dict` its object and `Map` its map. A value that only a provider or a user can
supply is an `Unknown`, which remembers the resources it came from. Outside the package an `Unknown` is the one object
`UNKNOWN`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, TypeAlias

from rl_gym.hcl.number import Real, format_number, to_python

Value: TypeAlias = Any
"""A value inside the evaluator."""
PlainValue: TypeAlias = Any
"""None, bool, int, float, str, list, dict or UNKNOWN."""


class Reference(NamedTuple):
    """One attribute of one resource: `Reference("aws_s3_bucket.logs[0]", "arn")`.

    `attribute` is a dotted path, empty when the resource as a whole is meant.
    """

    address: str
    attribute: str


NO_REFERENCES: frozenset[Reference] = frozenset()


class UnknownType:
    """The type of `UNKNOWN`, the value of whatever cannot be known from the configuration. Test with `is`."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "UNKNOWN"

    def __reduce__(self) -> str:
        return "UNKNOWN"

    def __copy__(self) -> UnknownType:
        return self

    def __deepcopy__(self, memo: object) -> UnknownType:
        return self


UNKNOWN = UnknownType()


class Unknown:
    """A value that is not known yet.

    `references` are the attributes of resources that it was made from, and `same` those that it is equal to, from the
    one that a provider computes to the one that was read last. It is `ambiguous` when it is one of several values and
    nobody can say which, and `computed` when it comes from a provider, not from a user.
    """

    __slots__ = ("ambiguous", "computed", "references", "same")

    def __init__(
        self,
        references: frozenset[Reference] = NO_REFERENCES,
        same: tuple[Reference, ...] = (),
        *,
        ambiguous: bool = False,
        computed: bool = False,
    ) -> None:
        self.references = references
        self.same = same
        self.ambiguous = ambiguous
        self.computed = computed

    @property
    def direct(self) -> Reference | None:
        """The attribute that this value is, when it is one, neither changed nor combined."""
        return self.same[-1] if self.same else None

    def seen_as(self, reference: Reference) -> Unknown:
        """The same value, read through an attribute of a resource."""
        return Unknown(
            self.references | {reference},
            (*self.same, reference),
            ambiguous=self.ambiguous,
            computed=self.computed,
        )

    def part(self, name: str) -> Unknown:
        """One attribute or element of the value."""
        if not self.same:
            return Unknown(self.references, ambiguous=self.ambiguous)
        parts = tuple([Reference(one.address, f"{one.attribute}.{name}".lstrip(".")) for one in self.same])
        others = self.references.difference(self.same)
        return Unknown(others.union(parts), parts, ambiguous=self.ambiguous, computed=self.computed)

    def __repr__(self) -> str:
        return f"<unknown {sorted(self.references)}>" if self.references else "<unknown>"


def computed(reference: Reference) -> Unknown:
    """An attribute that a provider computes."""
    return Unknown(frozenset((reference,)), (reference,), computed=True)


class UnknownText(Unknown):
    """A string of which pieces are known: `pieces` are non-empty strings and Unknowns, in order."""

    __slots__ = ("pieces",)

    def __init__(
        self,
        pieces: tuple[str | Unknown, ...],
        references: frozenset[Reference],
        same: tuple[Reference, ...] = (),
    ) -> None:
        ambiguous = any(isinstance(piece, Unknown) and piece.ambiguous for piece in pieces)
        super().__init__(references, same, ambiguous=ambiguous)
        self.pieces = pieces

    def seen_as(self, reference: Reference) -> UnknownText:
        return UnknownText(self.pieces, self.references | {reference}, (*self.same, reference))


class UnknownDocument(Unknown):
    """JSON text of a document that has unknown leaves; `document` is that document."""

    __slots__ = ("document",)

    def __init__(self, document: Value, references: frozenset[Reference], same: tuple[Reference, ...] = ()) -> None:
        super().__init__(references, same)
        self.document = document

    def seen_as(self, reference: Reference) -> UnknownDocument:
        return UnknownDocument(self.document, self.references | {reference}, (*self.same, reference))


class Whole(Unknown):
    """A resource, data source or module as a whole: `read` answers its attributes by name.

    A module is no resource, so it has no reference of its own.
    """

    __slots__ = ("read",)

    def __init__(self, reference: Reference | None, read: Callable[[str], Value]) -> None:
        super().__init__(*((NO_REFERENCES, ()) if reference is None else (frozenset((reference,)), (reference,))))
        self.read = read


NOTHING_KNOWN = Unknown()


class Origin(str):
    """A known string that was read from a resource: `bucket = aws_s3_bucket.b.bucket` still says whose it is.

    `references` and `same` are those of an Unknown.
    """

    __slots__ = ("references", "same")
    references: frozenset[Reference]
    same: tuple[Reference, ...]

    @property
    def direct(self) -> Reference | None:
        return self.same[-1] if self.same else None

    def seen_as(self, reference: Reference) -> Origin:
        return with_origin(self, self.references | {reference}, (*self.same, reference))


def with_origin(text: str, references: frozenset[Reference], same: tuple[Reference, ...] = ()) -> Origin:
    """A string that remembers what it was made from, and what it is equal to."""
    made = Origin(text)
    made.references = references
    made.same = same
    return made


class List(list[Value]):
    """A Terraform list: every element of one type."""

    __slots__ = ()


class Set(list[Value]):
    """A Terraform set: no two elements equal, in Terraform's order."""

    __slots__ = ()


class Map(dict[str, Value]):
    """A Terraform map: every element of one type."""

    __slots__ = ()


class BlockObject(dict[str, Value]):
    """A nested block of a resource, seen from another: what is not written there is unknown, not absent."""

    __slots__ = ("reference",)

    def __init__(self, content: dict[str, Value], reference: Reference) -> None:
        super().__init__(content)
        self.reference = reference


SCALARS = frozenset({str, int, bool, type(None)})
"""Types of values that are the same inside and outside the evaluator."""


def plain(value: Value) -> PlainValue:
    """The value as plain Python data, every unknown part as `UNKNOWN`."""
    kind = type(value)
    if kind in SCALARS:
        return value
    if kind is Origin:
        return str(value)
    if isinstance(value, Unknown):
        return UNKNOWN
    if kind is Real:
        return to_python(value)
    if kind is float:  # in a document that was decoded for the outside
        return value
    if isinstance(value, list):
        return [item if type(item) in SCALARS else plain(item) for item in value]
    if isinstance(value, dict):
        return {key: item if type(item) in SCALARS else plain(item) for key, item in value.items()}
    raise TypeError(f"not a value: {kind.__name__}")


def leaves(value: Value) -> Iterator[Value]:
    """Every scalar and unknown part of a value."""
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, list):
            pending.extend(item)
        elif isinstance(item, dict):
            pending.extend(item.values())
        else:
            yield item


def references_of(value: Value) -> frozenset[Reference]:
    """The resources that the parts of a value came from."""
    kind = type(value)
    if kind in SCALARS or kind is Real:
        return NO_REFERENCES
    if kind is Origin or isinstance(value, Unknown):
        return value.references  # type: ignore[no-any-return]
    found: set[Reference] = set()
    for leaf in leaves(value):
        if type(leaf) is Origin or isinstance(leaf, Unknown):
            found |= leaf.references
    return frozenset(found) if found else NO_REFERENCES


def has_unknown(value: Value) -> bool:
    """Whether any part of a value is unknown."""
    if type(value) in SCALARS:
        return False
    if isinstance(value, Unknown):
        return True
    return isinstance(value, (list, dict)) and any(isinstance(leaf, Unknown) for leaf in leaves(value))


def unknown_from(values: Iterable[Value]) -> Unknown:
    """An unknown that was made from these values."""
    found: frozenset[Reference] = NO_REFERENCES
    ambiguous = False
    for value in values:
        found |= references_of(value)
        ambiguous = ambiguous or (isinstance(value, Unknown) and value.ambiguous)
    return Unknown(found, ambiguous=ambiguous) if found else NOTHING_KNOWN


def text_of(value: Value) -> str | None:
    """What a scalar is as a string, or None when it has no such form."""
    kind = type(value)
    if kind is str or kind is Origin:
        return value  # type: ignore[no-any-return]
    if kind is bool:
        return "true" if value else "false"
    if kind is int or kind is Real:
        return format_number(value)
    return None


def joined(pieces: Iterable[str | Unknown]) -> str | Unknown:
    """Pieces of text put together: a string when all are known, else an UnknownText; origins are remembered.

    An unknown piece with nothing around it is itself.
    """
    known: list[str] = []
    out: list[str | Unknown] = []
    references: frozenset[Reference] = NO_REFERENCES
    for piece in _flattened(pieces):
        if isinstance(piece, str):
            if type(piece) is Origin:
                references |= piece.references
            if piece:
                known.append(piece)
            continue
        references |= piece.references
        if known:
            out.append("".join(known))
            known = []
        out.append(piece)
    if not out:
        text = "".join(known)
        return with_origin(text, references) if references else text
    if known:
        out.append("".join(known))
    if len(out) == 1 and isinstance(out[0], Unknown):
        return out[0]
    return UnknownText(tuple(out), references)


def _flattened(pieces: Iterable[str | Unknown]) -> Iterator[str | Unknown]:
    for piece in pieces:
        if type(piece) is UnknownText:
            yield from piece.pieces
        else:
            yield piece


def sorted_items(value: dict[str, Value]) -> list[tuple[str, Value]]:
    """A map or object in Terraform's order of iteration."""
    return sorted(value.items())


def described(value: Value) -> str:
    """What kind of value this is, in Terraform's words."""
    kind = type(value)
    if value is None:
        return "null"
    if kind is bool:
        return "bool"
    if kind is int or kind is Real:
        return "number"
    if isinstance(value, str):
        return "string"
    if kind is List:
        return "list"
    if kind is Set:
        return "set"
    if kind is Map:
        return "map"
    if isinstance(value, list):
        return "tuple"
    if isinstance(value, dict):
        return "object"
    return "unknown value"
