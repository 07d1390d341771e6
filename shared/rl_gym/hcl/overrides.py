"""Override files: `override.tf` and `*_override.tf` change what the other files of their folder declare.

What is merged are copies of the blocks; every node still knows the file and line that it was written on. The rules are
Terraform's own: an argument replaces its namesake, blocks of a type replace all of that type, `lifecycle` is merged
argument by argument, a backend replaces the backend, and what an override file names must be declared elsewhere.
"""

from __future__ import annotations

import posixpath
from collections.abc import Sequence

from rl_gym.hcl import ast
from rl_gym.hcl.errors import HclEvaluationError

__all__ = ["is_override", "merged"]

_NAMES = ("override.tf", "override.tf.json")
_ENDINGS = ("_override.tf", "_override.tf.json")
_MERGED = frozenset({"resource", "data", "ephemeral", "variable", "output", "module", "provider"})
_REFUSED = frozenset({"check", "import", "moved", "removed"})
"""Blocks that stand in no override file."""
_STATES = frozenset({"backend", "cloud"})
"""The blocks that say where the state is kept, of which there is one."""


def is_override(path: str) -> bool:
    """Whether Terraform reads a file of this name last, over the others."""
    name = posixpath.basename(path)
    return name in _NAMES or name.endswith(_ENDINGS)


def merged(files: Sequence[ast.File]) -> list[ast.File]:
    """The files of a folder without its override files, with what those say in its place.

    Raises HclEvaluationError where an override file names what nothing declares, or holds what none may.
    """
    overrides = [file for file in files if is_override(file.filename)]
    if not overrides:
        return list(files)
    bodies = [(file.source, _copy(file.body)) for file in files if not is_override(file.filename)]
    bodies = bodies or [(overrides[0].source, ast.Body())]
    for file in overrides:
        # What no file may hold is refused with the declarations of the others.
        bodies[-1][1].attributes.update(file.body.attributes)
        for block in file.body.blocks:
            _override(block, [body for _, body in bodies])
    return [ast.File(source, body) for source, body in bodies]


def _override(block: ast.Block, bodies: Sequence[ast.Body]) -> None:
    if block.type == "locals":
        for attribute in block.body.attributes.values():
            _override_local(attribute, bodies)
    elif block.type == "terraform":
        _override_settings(block, bodies)
    elif block.type in _REFUSED:
        raise _wrong(block, f'blocks of type "{block.type}" are not expected in an override file')
    elif block.type in _MERGED:
        _override_declaration(block, bodies)
    else:
        bodies[-1].blocks.append(block)


def _override_local(attribute: ast.Attribute, bodies: Sequence[ast.Body]) -> None:
    for body in bodies:
        for position, block in enumerate(body.blocks):
            if block.type == "locals" and attribute.name in block.body.attributes:
                inner = _copy(block.body)
                inner.attributes[attribute.name] = attribute
                body.blocks[position] = _with(block, inner)
                return
    raise _missing(attribute, f"local.{attribute.name}")


def _override_settings(block: ast.Block, bodies: Sequence[ast.Body]) -> None:
    rest = _copy(block.body)
    rest.blocks = [inner for inner in block.body.blocks if not _override_setting(inner, bodies)]
    bodies[-1].blocks.append(_with(block, rest))


def _override_setting(setting: ast.Block, bodies: Sequence[ast.Body]) -> bool:
    """Put a block of `terraform` where the one stands that it overrides; whether there is one, in another file."""
    for body in bodies:
        for position, block in enumerate(body.blocks):
            for number, inner in enumerate(block.body.blocks if block.type == "terraform" else ()):
                if _setting(inner) == _setting(setting) and inner.source is not setting.source:
                    changed = _copy(block.body)
                    changed.blocks[number] = setting if setting.type in _STATES else _over(inner, setting)
                    body.blocks[position] = _with(block, changed)
                    return True
    return False


def _setting(block: ast.Block) -> tuple[object, ...]:
    return ("state",) if block.type in _STATES else _identity(block)


def _override_declaration(block: ast.Block, bodies: Sequence[ast.Body]) -> None:
    for body in bodies:
        for position, other in enumerate(body.blocks):
            if _identity(other) == _identity(block):
                body.blocks[position] = _over(other, block)
                return
    if block.type != "provider" or "alias" in block.body.attributes:
        raise _missing(block, " ".join([block.type, *(f'"{label}"' for label in block.labels)]))
    # A provider that nobody configures is there all the same, with nothing set.
    bodies[-1].blocks.append(block)


def _identity(block: ast.Block) -> tuple[object, ...]:
    alias = block.body.attributes.get("alias") if block.type == "provider" else None
    name = alias.expression.value if alias is not None and isinstance(alias.expression, ast.Literal) else None
    return (block.type, *block.labels, name)


def _over(block: ast.Block, override: ast.Block) -> ast.Block:
    body = _copy(block.body)
    body.attributes.update(override.body.attributes)
    merging = {inner.type: inner for inner in override.body.blocks if inner.type == "lifecycle"}
    replaced = {_kind(inner) for inner in override.body.blocks} - set(merging)
    body.blocks = [
        _over(inner, merging.pop(inner.type)) if inner.type in merging else inner
        for inner in body.blocks
        if _kind(inner) not in replaced
    ]
    body.blocks += [inner for inner in override.body.blocks if inner.type != "lifecycle"]
    body.blocks += merging.values()
    return _with(block, body)


def _kind(block: ast.Block) -> str:
    """The type of a nested block; a dynamic one stands for what it makes."""
    return block.labels[0] if block.type == "dynamic" and block.labels else block.type


def _copy(body: ast.Body) -> ast.Body:
    copy = ast.Body()
    copy.attributes = dict(body.attributes)
    copy.blocks = list(body.blocks)
    return copy


def _with(block: ast.Block, body: ast.Body) -> ast.Block:
    return ast.Block(block.source, block.start, block.end, block.type, block.labels, body)


def _missing(node: ast.Node, what: str) -> HclEvaluationError:
    return _wrong(node, f"this overrides {what}, which is declared nowhere")


def _wrong(node: ast.Node, message: str) -> HclEvaluationError:
    line, column = node.source.position(node.start)
    return HclEvaluationError(message, filename=node.source.filename, line=line, column=column)
