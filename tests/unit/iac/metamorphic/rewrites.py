"""Rewrites of Terraform text that keep its meaning, each a function of a text and a source of randomness.

They edit the text by the places that the syntax tree knows, so that heredocs and templates stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from random import Random

from rl_gym.hcl import parse
from rl_gym.hcl.ast import Attribute, Block, Body, Literal

Rewrite = Callable[[str, Random], str]

_META = {"lifecycle", "provisioner", "connection", "dynamic", "content", "timeouts"}
_COMMENTS = (
    "# checkov:skip=CKV_AWS_20:accepted",
    "#tfsec:ignore:*",
    "// encrypted = true",
    '/* cidr_blocks = ["0.0.0.0/0"] */',
    '# acl = "public-read"',
    "# reviewed",
)


def rename(text: str, rng: Random) -> str:
    """Other labels for resources and data sources, wherever they are referred to."""
    for number, block in enumerate(_resources(text)):
        kind, label = block.labels
        new = f"n{rng.randrange(1000)}_{number}"
        text = re.sub(rf'("{kind}"\s+)"{re.escape(label)}"', rf'\1"{new}"', text)
        text = re.sub(rf"\b{kind}\.{re.escape(label)}(?![\w-])", f"{kind}.{new}", text)
    return text


def reorder(text: str, rng: Random) -> str:
    """The top-level blocks in another order."""
    blocks = [text[block.start : block.end] for block in parse(text).body.blocks]
    rng.shuffle(blocks)
    return "\n\n".join(blocks) + "\n"


def reformat(text: str, rng: Random) -> str:
    """Other white space, with comments in between, some of them aimed at scanners."""
    edits = []
    for attribute in _attributes(parse(text).body):
        equals = text.index("=", attribute.start)
        after = equals + 1 + len(text[equals + 1 :]) - len(text[equals + 1 :].lstrip(" \t"))
        edits.append(
            (attribute.start + len(attribute.name), after, " " * rng.randrange(4) + "=" + " " * rng.randrange(4))
        )
        line = text.rindex("\n", 0, attribute.start) + 1 if "\n" in text[: attribute.start] else 0
        if not text[line : attribute.start].strip():
            edits.append((line, line, "\n" * rng.randrange(3) + f"  {rng.choice(_COMMENTS)}\n"))
    return _edited(text, edits)


def make_dynamic(text: str, rng: Random) -> str:
    """One nested block made by a dynamic block over one element."""
    nested = [inner for block in _resources(text) for inner in _nested(block.body)]
    if not nested:
        return text
    block = rng.choice(nested)
    opening = text.index("{", block.start)
    over = rng.choice(("[1]", "{ a = 1 }", 'toset(["a"])', "range(1)"))
    content = f'dynamic "{block.type}" {{\nfor_each = {over}\ncontent {text[opening : block.end]}\n}}'
    return _edited(text, [(block.start, block.end, content)])


def count_one(text: str, rng: Random) -> str:
    """`count = 1` on a resource, with an index where it is referred to."""
    return _instances(text, rng, "count = 1", "[0]")


def for_each_one(text: str, rng: Random) -> str:
    """`for_each` over one key on a resource, with the key where it is referred to."""
    return _instances(text, rng, 'for_each = toset(["a"])', '["a"]')


def through_local(text: str, rng: Random) -> str:
    """A literal argument moved into a local value."""
    return _moved(text, rng, "local.v{n}", "locals {{\n  v{n} = {value}\n}}\n")


def through_variable(text: str, rng: Random) -> str:
    """A literal argument moved into a variable's default."""
    return _moved(text, rng, "var.v{n}", 'variable "v{n}" {{\n  default = {value}\n}}\n')


REWRITES: dict[str, Rewrite] = {
    "rename": rename,
    "reorder": reorder,
    "reformat": reformat,
    "dynamic": make_dynamic,
    "count": count_one,
    "for_each": for_each_one,
    "local": through_local,
    "variable": through_variable,
}


def _resources(text: str) -> list[Block]:
    return [block for block in parse(text).body.blocks if block.type in ("resource", "data")]


def _attributes(body: Body) -> Iterator[Attribute]:
    yield from body.attributes.values()
    for block in body.blocks:
        yield from _attributes(block.body)


def _nested(body: Body) -> Iterator[Block]:
    for block in body.blocks:
        if block.type not in _META and not block.labels:
            yield block
            yield from _nested(block.body)


def _instances(text: str, rng: Random, argument: str, key: str) -> str:
    blocks = [
        block
        for block in _resources(text)
        if block.type == "resource" and not {"count", "for_each"} & set(block.body.attributes)
    ]
    if not blocks:
        return text
    block = rng.choice(blocks)
    kind, label = block.labels
    opening = text.index("{", block.start) + 1
    text = _edited(text, [(opening, opening, f"\n  {argument}\n")])
    return re.sub(rf"\b{kind}\.{re.escape(label)}(?=\.)", f"{kind}.{label}{key}", text)


def _moved(text: str, rng: Random, reference: str, declaration: str) -> str:
    """A literal argument of a resource replaced by a reference to a new declaration."""
    literals = [
        attribute
        for block in _resources(text)
        for attribute in _attributes(block.body)
        if isinstance(attribute.expression, Literal)
        and attribute.expression.value is not None
        and attribute.name not in ("count", "for_each", "source", "version")
        and "<<" not in text[attribute.start : attribute.end]
    ]
    if not literals:
        return text
    attribute = rng.choice(literals)
    number = rng.randrange(10**6)
    value = text[attribute.expression.start : attribute.end]
    edited = _edited(text, [(attribute.expression.start, attribute.end, reference.format(n=number))])
    return edited.rstrip("\n") + "\n\n" + declaration.format(n=number, value=value)


def _edited(text: str, edits: list[tuple[int, int, str]]) -> str:
    """The text with the pieces from start to end replaced, none of which overlap."""
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text
