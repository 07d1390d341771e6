"""What fixers are made of: set an argument, set it in a nested block, give a resource its companion.

A fixer knows one remedy and nothing about the rule. It answers the edits that carry it out for one resource, or raises
`UnfixableError` with the reason where a person has to decide: it changes a value only where that is written out on the
spot, since what a variable or a local says may be meant for others too.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, count

from rl_gym.hcl import Resource, ast
from rl_gym.iac.context import Context
from rl_gym.iac.fixes import edits
from rl_gym.iac.fixes.edits import Edit
from rl_gym.iac.tasks.hcl_writer import Attr, Block, Item

__all__ = [
    "Fixer",
    "Subject",
    "UnfixableError",
    "add_companion",
    "by_type",
    "change_value",
    "each_block",
    "leave",
    "set_argument",
    "set_arguments",
    "set_in_block",
    "together",
    "unless",
    "with_companions",
]


class UnfixableError(Exception):
    """Why a remedy is not mechanical here; one clause without a full stop."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A resource that breaks a rule, with the block that it is written as."""

    resource: Resource
    block: ast.Block
    context: Context

    @classmethod
    def of(cls, resource: Resource, context: Context) -> Subject:
        """Raises UnfixableError for a resource without a block that can be edited."""
        sources = context.sources()
        block = sources.of(resource)[0] if sources else None
        if block is None or resource.filename.endswith(".json"):
            raise UnfixableError(f"{resource.filename} is in JSON syntax, which is not edited")
        return cls(resource, block, context)

    def companions(self, kind: str, link: str) -> list[Subject]:
        """The companions of a type that surely are for this resource, each block once."""
        found = [one for one in self.context.companions(self.resource, kind, link) if one.attached]
        subjects = [Subject.of(one.resource, self.context) for one in found]
        return list({id(one.block): one for one in subjects}.values())


Fixer = Callable[[Subject], list[Edit]]


def set_argument(name: str, value: str, *, wrong: Collection[object] | None = None) -> Fixer:
    """Give an argument this value. Another that it has must be a literal, and one of `wrong` where these are given."""
    return lambda subject: _set(subject.block, {name: value}, wrong)


def set_arguments(values: Mapping[str, str]) -> Fixer:
    """Give arguments these values."""
    return lambda subject: _set(subject.block, values, None)


def change_value(name: str, value: str, *, wrong: Collection[str]) -> Fixer:
    """Give an argument this value where its literal is one of `wrong`, in any case; where it is absent, add nothing."""

    def fixer(subject: Subject) -> list[Edit]:
        attribute = subject.block.body.attributes.get(name)
        literal = _literal(attribute.expression) if attribute is not None else None
        bad = attribute is not None and isinstance(literal, str) and literal.strip().lower() in wrong
        return [edits.replace(attribute, value)] if attribute is not None and bad else []

    return fixer


def set_in_block(*path: str, new: Mapping[str, str] | None = None, **arguments: str) -> Fixer:
    """Give arguments these values in every nested block at a path; where there is none, add one with `new` as well."""
    added = {**(new or {}), **arguments}

    def fixer(subject: Subject) -> list[Edit]:
        return list(_in_blocks(subject.block, path, arguments, added))

    return fixer


def each_block(*path: str, besides: Collection[str] = (), **arguments: str) -> Fixer:
    """Give arguments these values in the nested blocks at a path that are there; those that hold `besides` are left.

    The innermost block is added where the one around it is there.
    """

    def fixer(subject: Subject) -> list[Edit]:
        outer = [block for block in _blocks(subject.block, path[0]) if not set(besides) & set(block.body.attributes)]
        if len(path) == 1:
            return [edit for block in outer for edit in _set(block, arguments, None)]
        return [edit for block in outer for edit in _in_blocks(block, path[1:], arguments, arguments)]

    return fixer


def add_companion(kind: str, *body: Item | Callable[[str], Item], link: str = "bucket") -> Fixer:
    """Add a resource that is for this one: as many of it, of the same provider, right below.

    `link` is its argument that takes the id of the resource; what is callable in its body gets the reference to it.
    """

    def fixer(subject: Subject) -> list[Edit]:
        block = subject.block
        written = block.body.attributes
        address = f"{block.labels[0]}.{block.labels[1]}"
        head, one = [], address
        if "for_each" in written:
            head, one = [Attr("for_each", address)], "each.value"
        elif "count" in written:
            head, one = [Attr("count", f"length({address})")], f"{address}[count.index]"
        if (provider := written.get("provider")) is not None:
            head.append(Attr("provider", _text(provider)))
        head.append(Attr(link, f"{one}.id"))
        made = [item(one) if callable(item) else item for item in body]
        return [edits.add_after(block, Block("resource", (kind, _free_name(subject, kind)), [*head, *made]))]

    return fixer


def with_companions(kind: str, *, mend: Fixer, add: Fixer | None = None, inline: Fixer | None = None) -> Fixer:
    """Mend the companions of a bucket and what it says of itself (`inline`); where it has neither, add a companion."""

    def fixer(subject: Subject) -> list[Edit]:
        there = subject.companions(kind, "bucket")
        found = [edit for one in there for edit in mend(one)]
        if inline is not None:
            found += inline(subject)
        return found if found or there or add is None else add(subject)

    return fixer


def together(*fixers: Fixer) -> Fixer:
    """What several fixers do."""
    return lambda subject: [edit for fixer in fixers for edit in fixer(subject)]


def leave(reason: str) -> Fixer:
    """Change nothing, for a reason."""

    def fixer(subject: Subject) -> list[Edit]:
        raise UnfixableError(reason)

    return fixer


def unless(condition: Callable[[Subject], bool], reason: str, then: Fixer) -> Fixer:
    """Another fixer, except under a condition."""

    def fixer(subject: Subject) -> list[Edit]:
        if condition(subject):
            raise UnfixableError(reason)
        return then(subject)

    return fixer


def by_type(**fixers: Fixer) -> Fixer:
    """The fixer for the type of the resource."""

    def fixer(subject: Subject) -> list[Edit]:
        found = fixers.get(subject.resource.type)
        if found is None:
            raise UnfixableError(f"there is no remedy for {subject.resource.type} that is always right")
        return found(subject)

    return fixer


def _in_blocks(
    block: ast.Block, path: tuple[str, ...], arguments: Mapping[str, str], added: Mapping[str, str]
) -> Iterator[Edit]:
    inner = list(_blocks(block, path[0]))
    if path[0] in block.body.attributes:
        raise UnfixableError(f"{path[0]} is written as an argument")
    if not inner:
        yield edits.add_block(block, _nested(path, added))
    for one in inner:
        if len(path) == 1:
            yield from _set(one, arguments, None)
        else:
            yield from _in_blocks(one, path[1:], arguments, added)


def _nested(path: tuple[str, ...], arguments: Mapping[str, str]) -> Block:
    body: list[Item] = [Attr(name, value) for name, value in arguments.items()]
    return Block(path[0], (), body if len(path) == 1 else [_nested(path[1:], arguments)])


def _blocks(block: ast.Block, name: str) -> Iterator[ast.Block]:
    """The nested blocks of a name, and the content of those that are made by `dynamic`."""
    for inner in block.body.blocks:
        if inner.type == name:
            yield inner
        elif inner.type == "dynamic" and inner.labels == [name]:
            yield from inner.body.blocks_of("content")


def _set(block: ast.Block, arguments: Mapping[str, str], wrong: Collection[object] | None) -> list[Edit]:
    """The edits that give arguments their values. A computed one is left, and taken for right where others are not."""
    found: list[Edit] = []
    missing: dict[str, str] = {}
    computed = ""
    for name, value in arguments.items():
        attribute = block.body.attributes.get(name)
        if attribute is None:
            missing[name] = value
        elif not _is_literal(attribute):
            computed = f"{name} is computed: {_text(attribute)[:60]}"
        elif _text(attribute) != value:
            if wrong is not None and _literal(attribute.expression) not in wrong:
                raise UnfixableError(f"what is meant by {name} = {_text(attribute)} is not known")
            found.append(edits.replace(attribute, value))
    if missing:
        found.append(edits.add_arguments(block, missing))
    if computed and not found:
        raise UnfixableError(computed)
    return found


def _text(attribute: ast.Attribute) -> str:
    return attribute.source.text[attribute.expression.start : attribute.end]


def _is_literal(attribute: ast.Attribute) -> bool:
    """Whether a value is written out in place, without a comment in it: a literal or a list of them, no heredoc."""
    expression, text = attribute.expression, _text(attribute)
    items: Iterable[ast.Expression] = expression.items if isinstance(expression, ast.Tuple) else (expression,)
    plain = not text.startswith("<<") and not any(mark in text for mark in ("#", "//", "/*"))
    return plain and all(isinstance(item, ast.Literal) for item in items)


def _literal(expression: ast.Expression) -> object:
    return expression.value if isinstance(expression, ast.Literal) else None


def _free_name(subject: Subject, kind: str) -> str:
    """The name of the resource, with a number where its module has such a companion of that name for another one."""
    name = subject.block.labels[1]
    others = (f"{name}_{number}" for number in count(2))
    taken = _taken_names(subject, kind)
    return next(one for one in chain([name], others) if one not in taken)


def _taken_names(subject: Subject, kind: str) -> set[str]:
    key = ("fixes.names", kind, posixpath.dirname(subject.block.source.filename))
    sources = subject.context.sources()
    return subject.context.remember(key, lambda _: sources.names(subject.block, kind) if sources else set())
