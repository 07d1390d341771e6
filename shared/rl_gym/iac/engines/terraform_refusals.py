"""What a configuration may not hold if Terraform itself is to plan it: what would run, fetch or read at that moment.

A plan runs no provisioner and creates nothing, but it runs the programs of `data "external"`, loads modules and states
over a network, reads any file that a function names, and gives a provider the configuration files that it asks for.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from rl_gym.hcl import File, ast

__all__ = ["refusals"]

_DATA = frozenset({"external", "http", "terraform_remote_state"})
_PROVIDER_ARGUMENTS = frozenset(
    {"alias", "region", "version", "profile", "access_key", "secret_key", "token", "max_retries", "retry_mode"}
    | {"default_tags", "ignore_tags", "allowed_account_ids", "forbidden_account_ids", "s3_use_path_style"}
    | {"skip_credentials_validation", "skip_metadata_api_check", "skip_region_validation"}
    | {"skip_requesting_account_id", "sts_region", "use_dualstack_endpoint", "use_fips_endpoint"}
)
_READERS = frozenset(
    {"file", "fileexists", "fileset", "filebase64", "filebase64sha256", "filebase64sha512"}
    | {"filemd5", "filesha1", "filesha256", "filesha512", "templatefile"}
)
_HERE = frozenset({"module", "root"})


def refusals(file: File) -> Iterator[str]:
    """Why not, a line for each place; nothing for a configuration that may be planned."""
    for block in _blocks(file.body):
        for reason in _of_block(block):
            yield f"{file.filename}:{block.line}: {reason}"
    for call in _calls(file.body):
        if not _stays_inside(call):
            yield f"{file.filename}:{call.line}: {call.name}() may read what is not of this module"


def _blocks(body: ast.Body) -> Iterator[ast.Block]:
    """The blocks of a file, and those in its checks."""
    for block in body.blocks:
        yield block
        if block.type == "check":
            yield from block.body.blocks


def _of_block(block: ast.Block) -> Iterator[str]:
    if block.type == "data" and block.labels[:1] and block.labels[0] in _DATA:
        yield f'data "{block.labels[0]}" runs or reads something else'
    elif block.type == "module" and not _is_local(block):
        yield "this module's source is not a folder of this configuration"
    elif block.type == "provider":
        names = {*block.body.attributes, *(inner.type for inner in block.body.blocks)}
        for name in sorted(names - _PROVIDER_ARGUMENTS):
            yield f"the provider's {name} leads it elsewhere"


def _is_local(block: ast.Block) -> bool:
    source = block.body.attributes.get("source")
    text = source.expression.value if source and isinstance(source.expression, ast.Literal) else None
    if not isinstance(text, str) or not text.startswith(("./", "../")):
        return False
    folder = posixpath.dirname(posixpath.normpath(block.source.filename))
    return not posixpath.normpath(posixpath.join(folder, text)).startswith("..")


def _calls(body: ast.Body) -> Iterator[ast.Call]:
    """Every call of a function that reads files, found without recursion."""
    pending: list[object] = [body]
    while pending:
        item = pending.pop()
        if isinstance(item, ast.Body):
            pending.extend((*item.attributes.values(), *item.blocks))
        elif isinstance(item, (list, tuple)):
            pending.extend(item)
        elif isinstance(item, ast.Node):
            if isinstance(item, ast.Call) and item.name.rpartition("::")[2] in _READERS:
                yield item
            pending.extend(getattr(item, slot) for slot in type(item).__slots__)


def _stays_inside(call: ast.Call) -> bool:
    """Whether all paths are written out and below the module. A template may call any function, so it never is."""
    if call.name.rpartition("::")[2] == "templatefile" or call.expand:
        return False
    return all(_is_below(path) for path in call.args)


def _is_below(path: ast.Expression) -> bool:
    parts = path.parts if isinstance(path, ast.Template) else [path]
    words = [_word(part) for part in parts]
    if any(word is None for word in words):
        return False
    text = "".join(word for word in words if word is not None)
    return not text.startswith(("/", "~")) and ".." not in text.split("/")


def _word(part: ast.TemplatePart) -> str | None:
    if isinstance(part, str):
        return part
    if isinstance(part, ast.Literal) and isinstance(part.value, str):
        return part.value
    is_path = isinstance(part, ast.GetAttr) and isinstance(part.target, ast.Name) and part.target.name == "path"
    return "." if is_path and part.name in _HERE else None  # type: ignore[union-attr]
