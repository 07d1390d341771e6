"""What the data source `aws_iam_policy_document` writes: its blocks as an IAM policy in JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from rl_gym.hcl.budget import Budget, NoValueError
from rl_gym.hcl.configuration import Block
from rl_gym.hcl.documents import ABSENT
from rl_gym.hcl.functions.encoding import json_value
from rl_gym.hcl.number import to_python
from rl_gym.hcl.values import (
    UNKNOWN,
    Unknown,
    UnknownDocument,
    Value,
    has_unknown,
    references_of,
    text_of,
    with_origin,
)

TYPE = "aws_iam_policy_document"
OUTPUTS = ("json", "minified_json")

_VERSION = "2012-10-17"
_LISTS = (
    ("actions", "Action"),
    ("not_actions", "NotAction"),
    ("resources", "Resource"),
    ("not_resources", "NotResource"),
)


def policy_text(source: Block, budget: Budget, minified: bool = False) -> Value:
    """The policy as JSON text; an UnknownDocument when parts of it are unknown."""
    document = policy(source, budget)
    references = references_of(document)
    if has_unknown(document):
        return UnknownDocument(document, references)
    text = _written(document, None if minified else 2)
    budget.text(len(text))
    return with_origin(text, references) if references else text


def _written(document: dict[str, Value], indent: int | None) -> str:
    separators = (",", ":") if indent is None else (",", ": ")
    return json.dumps(document, indent=indent, separators=separators, default=to_python)


def policy(source: Block, budget: Budget) -> dict[str, Value]:
    """The policy as a document: the statements of the sources, then its own, then those that override by their Sid."""
    values = source.raw

    def named(*arguments: str) -> Iterator[list[Value]]:
        for argument in arguments:
            yield from _documents(values.get(argument), budget)

    merged: list[Value] = []
    below, above = ("source_policy_documents", "source_json"), ("override_policy_documents", "override_json")
    for statements in (*named(*below), list(_statements(source)), *named(*above)):
        budget.value(statements)
        _merge(merged, statements)
    out: dict[str, Value] = {"Version": _plain_text(values.get("version")) or _VERSION}
    identity = _plain_text(values.get("policy_id"))
    if identity is not None:
        out["Id"] = identity
    out["Statement"] = merged
    return out


def _merge(into: list[Value], statements: Iterable[Value]) -> None:
    """Add statements; one with the Sid of another takes its place."""
    places = {sid: place for place, other in reversed(list(enumerate(into))) if (sid := _sid(other))}
    for statement in statements:
        sid = _sid(statement)
        if sid in places:
            into[places[sid]] = statement
        else:
            if sid:
                places[sid] = len(into)
            into.append(statement)


def _sid(statement: Value) -> str | None:
    sid = statement.get("Sid") if isinstance(statement, dict) else None
    return sid if isinstance(sid, str) and sid else None


def _documents(value: Value, budget: Budget) -> Iterator[list[Value]]:
    """The statements of each of some policies in JSON; one unknown statement for a policy that is unknown."""
    if value is None or value is ABSENT:
        return
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, UnknownDocument):
            item = item.document
        elif isinstance(item, str):
            budget.text(len(item))
            item = _read(item)
        if isinstance(item, Unknown):
            yield [item]
        elif isinstance(item, dict):
            statements = item.get("Statement", [])
            yield statements if isinstance(statements, list) else [statements]


def _read(text: str) -> Value:
    try:
        return json_value(text)
    except NoValueError:
        return None


def _statements(source: Block) -> Iterator[Value]:
    for block in source.blocks("statement"):
        if block.created is UNKNOWN:
            yield Unknown()
            continue
        values = block.raw
        statement: dict[str, Value] = {}
        sid, effect = _plain_text(values.get("sid")), _plain_text(values.get("effect"))
        if sid:
            statement["Sid"] = sid
        statement["Effect"] = "Allow" if effect is None else effect
        for name, key in _LISTS:
            items = _strings(values.get(name))
            if items is not None:
                statement[key] = items
        for name, key in (("principals", "Principal"), ("not_principals", "NotPrincipal")):
            principals = _principals(block.blocks(name))
            if principals is not None:
                statement[key] = principals
        conditions = _conditions(block.blocks("condition"))
        if conditions:
            statement["Condition"] = conditions
        yield statement


def _strings(value: Value) -> Value:
    """A list as the provider writes it: one entry stands without brackets, several stand in reverse order."""
    if value is None or isinstance(value, Unknown):
        return value
    items = [_plain_text(item) for item in value] if isinstance(value, list) else [_plain_text(value)]
    if not items:
        return None
    if len(items) == 1:
        return items[0]
    if all(isinstance(item, str) for item in items):
        return sorted(set(items), reverse=True)
    return items


def _plain_text(item: Value) -> Value:
    return item if isinstance(item, Unknown) else text_of(item)


def _principals(blocks: list[Block]) -> Value:
    if not blocks:
        return None
    by_type: dict[str, list[Value]] = {}
    for block in blocks:
        kind, identifiers = block.raw.get("type"), block.raw.get("identifiers")
        if block.created is UNKNOWN or not isinstance(kind, str) or isinstance(identifiers, Unknown):
            return Unknown(references_of(block.raw))
        by_type.setdefault(str(kind), []).extend(identifiers if isinstance(identifiers, list) else [identifiers])
    if list(by_type) == ["*"] and by_type["*"] == ["*"]:
        return "*"
    return {kind: _strings(items) for kind, items in by_type.items()}


def _conditions(blocks: list[Block]) -> Value:
    out: dict[str, dict[str, Value]] = {}
    for block in blocks:
        values = block.raw
        test, variable = values.get("test"), values.get("variable")
        if block.created is UNKNOWN or not isinstance(test, str) or not isinstance(variable, str):
            return Unknown(references_of(values))
        items: Value = values.get("values")
        if not isinstance(items, Unknown):
            items = [_plain_text(item) for item in (items if isinstance(items, list) else [items])]
            items = items[0] if len(items) == 1 else items
        out.setdefault(str(test), {})[str(variable)] = items
    return out
