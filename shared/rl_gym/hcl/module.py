"""The files of a configuration as modules: which file belongs to which, and what each module declares."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from rl_gym.hcl import ast
from rl_gym.hcl.errors import HclEvaluationError
from rl_gym.hcl.limits import DEFAULT, Limits
from rl_gym.hcl.overrides import merged
from rl_gym.hcl.parser import parse
from rl_gym.hcl.tracing import weight

NATIVE = ".tf"
JSON = ".tf.json"
_LABELS = {
    "resource": 2,
    "data": 2,
    "ephemeral": 2,
    "variable": 1,
    "output": 1,
    "module": 1,
    "provider": 1,
    "check": 1,
    "locals": 0,
    "terraform": 0,
    "moved": 0,
    "import": 0,
    "removed": 0,
}
_NAME = re.compile(r"[^\W\d][\w-]*")
_RESERVED = frozenset({"source", "version", "providers", "count", "for_each", "lifecycle", "depends_on", "locals"})

_Key = TypeVar("_Key")
_Node = TypeVar("_Node", bound=ast.Node)


class ResourceKey(NamedTuple):
    """What names a resource within its module; `mode` is "managed" or "data"."""

    mode: str
    type: str
    name: str

    @property
    def address(self) -> str:
        return f"data.{self.type}.{self.name}" if self.mode == "data" else f"{self.type}.{self.name}"


class Declarations:
    """What the files of one module declare, by name, in order."""

    __slots__ = ("locals", "modules", "outputs", "providers", "resources", "variables")

    def __init__(self) -> None:
        self.variables: dict[str, ast.Block] = {}
        self.locals: dict[str, ast.Attribute] = {}
        self.outputs: dict[str, ast.Block] = {}
        self.modules: dict[str, ast.Block] = {}
        self.resources: dict[ResourceKey, ast.Block] = {}
        self.providers: list[ast.Block] = []


class Module:
    """One directory of configuration, and the modules that it calls where their files are given.

    `directory` is relative to the root module, whose own is "."; `calls` maps the name of a `module` block to the
    module it calls; `settings` are the `.tfvars` files that apply, in the order in which they do.
    """

    __slots__ = ("_declared", "_weight", "calls", "directory", "files", "settings")

    def __init__(self, directory: str, files: list[ast.File], settings: list[ast.File]) -> None:
        self.directory = directory
        self.files = files
        self.settings = settings
        self.calls: dict[str, Module] = {}
        self._declared: Declarations | None = None
        self._weight: int | None = None

    @property
    def declared(self) -> Declarations:
        """What the module declares; raises HclEvaluationError for what `terraform validate` refuses to read."""
        if self._declared is None:
            self._declared = _declarations(self.files)
        return self._declared

    @property
    def weight(self) -> int:
        """Nodes in the files of the module: what evaluating one instance of it costs at least."""
        if self._weight is None:
            self._weight = weight([file.body for file in self.files])
        return self._weight


def load(files: Mapping[str, str], limits: Limits = DEFAULT) -> Module:
    """The root module of some files, by relative path; its directory is the shallowest that holds a `.tf` file.

    The modules that it calls by a local path are loaded too where their files are given; other directories are left
    out. Override files change what the others declare. Raises HclSyntaxError or HclLimitError, and HclEvaluationError
    for an override of nothing.
    """
    folders: dict[str, dict[str, str]] = {}
    for path, text in files.items():
        clean = posixpath.normpath(path.replace("\\", "/"))
        folders.setdefault(posixpath.dirname(clean) or ".", {})[path] = text
    roots = [folder for folder, texts in folders.items() if any(path.endswith((NATIVE, JSON)) for path in texts)]
    root = min(roots, key=lambda folder: (0 if folder == "." else folder.count("/") + 1, folder), default=".")
    return _Loader(folders, root, limits).module(root)


class _Loader:
    def __init__(self, folders: dict[str, dict[str, str]], root: str, limits: Limits) -> None:
        self._folders = folders
        self._root = root
        self._limits = limits
        self._loaded: dict[str, Module] = {}

    def module(self, folder: str) -> Module:
        """The module in a folder and, by way of the folders that it calls, everything below it."""
        first = self._read(folder)
        pending = [(folder, first)]
        while pending:
            where, module = pending.pop()
            for call, source in local_calls(module.files):
                name, target = call.labels[0], posixpath.normpath(posixpath.join(where, source))
                if target in self._loaded:
                    module.calls[name] = self._loaded[target]
                elif target in self._folders:
                    module.calls[name] = self._read(target)
                    pending.append((target, module.calls[name]))
        return first

    def _read(self, folder: str) -> Module:
        texts = self._folders.get(folder, {})
        files = [self._parse(path, texts[path]) for path in sorted(texts) if path.endswith((NATIVE, JSON))]
        settings: list[ast.File] = []
        if folder == self._root:
            settings = [self._parse(path, texts[path]) for path in sorted(texts, key=_precedence) if _applies(path)]
        module = Module(posixpath.relpath(folder, self._root), merged(files), settings)
        self._loaded[folder] = module
        return module

    def _parse(self, path: str, text: str) -> ast.File:
        return parse(text, path, self._limits)


def _applies(path: str) -> bool:
    """Whether a file of variable values is read without being asked for."""
    name = posixpath.basename(path)
    return name in ("terraform.tfvars", "terraform.tfvars.json") or name.endswith((".auto.tfvars", ".auto.tfvars.json"))


def _precedence(path: str) -> tuple[bool, str]:
    return posixpath.basename(path).endswith((".auto.tfvars", ".auto.tfvars.json")), path


def local_calls(files: Iterable[ast.File]) -> list[tuple[ast.Block, str]]:
    """The named `module` blocks of some files that call a module on disk, each with the path that it gives."""
    calls = []
    for file in files:
        for block in file.body.blocks_of("module"):
            source = block.body.attributes.get("source")
            path = source.expression.value if source and type(source.expression) is ast.Literal else None
            if block.labels and isinstance(path, str) and path.startswith(("./", "../")):
                calls.append((block, path))
    return calls


# ---- declarations ----------------------------------------------------------------------------------------------------


def _declarations(files: Sequence[ast.File]) -> Declarations:
    found = Declarations()
    for file in files:
        for attribute in file.body.attributes.values():
            raise wrong(attribute, f'an argument named "{attribute.name}" is not expected outside a block')
        for block in file.body.blocks:
            _declare(found, block)
    return found


def _declare(found: Declarations, block: ast.Block) -> None:
    kind, labels = block.type, block.labels
    wanted = _LABELS.get(kind)
    if wanted is None:
        raise wrong(block, f'blocks of type "{kind}" are not expected here')
    if len(labels) != wanted:
        raise wrong(block, f'a block of type "{kind}" has {wanted} labels, and this one has {len(labels)}')
    if kind == "resource" or kind == "data":
        key = ResourceKey("data" if kind == "data" else "managed", labels[0], labels[1])
        _add(found.resources, key, block, f'{kind} "{labels[0]}" "{labels[1]}"', labels)
    elif kind == "locals":
        for name, attribute in block.body.attributes.items():
            _add(found.locals, name, attribute, f"local.{name}", ())
        for inner in block.body.blocks:
            raise wrong(inner, f'blocks of type "{inner.type}" are not expected in locals')
    elif kind == "variable":
        if labels[0] in _RESERVED:
            raise wrong(block, f'"{labels[0]}" cannot be the name of a variable')
        _add(found.variables, labels[0], block, f"var.{labels[0]}", labels)
    elif kind == "output":
        _add(found.outputs, labels[0], block, f"output.{labels[0]}", labels)
    elif kind == "module":
        _add(found.modules, labels[0], block, f"module.{labels[0]}", labels)
    elif kind == "provider":
        found.providers.append(block)


def _add(into: dict[_Key, _Node], key: _Key, node: _Node, what: str, labels: Sequence[str]) -> None:
    if key in into:
        first = into[key]
        raise wrong(node, f"{what} was already declared at {first.source.filename}:{first.line}")
    for label in labels:
        if _NAME.fullmatch(label) is None:
            raise wrong(node, f'"{label}" is not a valid name')
    into[key] = node


def wrong(node: ast.Node, message: str) -> HclEvaluationError:
    line, column = node.source.position(node.start)
    return HclEvaluationError(message, filename=node.source.filename, line=line, column=column)
