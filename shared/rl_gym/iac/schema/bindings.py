"""Reads the schema of the AWS provider 6.x out of its prebuilt CDK for Terraform bindings, a Python wheel.

The wheel holds an npm package whose JavaScript, one module a resource type, writes every argument and block out with
its Terraform name and type; what has no `reset` method is required, and what has no setter is computed. Not in there:
a maximum of more than one block, and the fields of what is computed.
"""

from __future__ import annotations

import io
import re
import tarfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path

from rl_gym.hcl.conversion import ANY, BOOL, NUMBER, STRING, Type
from rl_gym.iac.schema.packing import Attribute, Body, Nested
from rl_gym.infra.errors import UsageError

_ARCHIVE = re.compile(r".*/_jsii/.*\.tgz")
_MODULE = re.compile(r"package/lib/([^/]+)/.*\.js")
_VERSION = re.compile(r"providerVersion: '([^']+)'")
_CLASS = re.compile(r"^class (\w+) extends cdktf\.(\w+) \{$(.*?)^\}$", re.MULTILINE | re.DOTALL)
_STRUCT = re.compile(r"^function (\w+)ToHclTerraform\(struct\) \{$(.*?)^\}$", re.MULTILINE | re.DOTALL)
_TYPE_NAME = re.compile(r"terraformResourceType: '(\w+)'")
_ENTRY = re.compile(
    r"^ +(\w+): \{\s+value: (.*),\s+isBlock: (true|false),\s+type: \"(\w+)\",\s+storageClassType: \"(\w+)\",$",
    re.MULTILINE,
)
_PROPERTY = re.compile(r"(?:this\._|struct\.)(\w+)")
_MAPPER = re.compile(r"(\w+)ToHclTerraform(?:, (true|false))?\)?\(")
"""The function that writes a nested body; behind it whether the many that it writes are blocks or an argument."""
_GETTER = re.compile(r"^    get (\w+)\(\) \{\s+return (?:cdktf\.Fn\.\w+\()?this\.get(\w+)Attribute\('(\w+)'\)", re.M)
_COMPUTED = re.compile(r"// (\w+) - computed: true, optional: false, required: false")

_KINDS = {"TerraformResource": "resource", "TerraformDataSource": "data", "TerraformProvider": "provider"}
_TYPES: Mapping[str, Type] = {"string": STRING, "number": NUMBER, "boolean": BOOL, "any": ANY}
_GETTER_TYPES: Mapping[str, Type] = {
    "String": STRING,
    "Number": NUMBER,
    "Boolean": BOOL,
    "List": ("list", STRING),
    "NumberList": ("list", NUMBER),
    "StringMap": ("map", STRING),
    "NumberMap": ("map", NUMBER),
    "BooleanMap": ("map", BOOL),
}


def read_bindings(wheel: Path) -> tuple[str, dict[tuple[str, str], Body]]:
    """The provider's version, and the body of every (kind, name) in the wheel. Raises UsageError for another file."""
    try:
        modules = _modules(wheel)
    except (OSError, zipfile.BadZipFile, tarfile.TarError, EOFError, zlib.error) as error:
        raise UsageError(f"{wheel}: cannot be read as a wheel: {getattr(error, 'strerror', None) or error}") from None
    versions = {match[1] for text in modules for match in [_VERSION.search(text)] if match}
    if len(versions) != 1:
        raise UsageError(f"{wheel}: holds the bindings of no one version of a provider")
    return versions.pop(), {(kind, name): body for text in modules for kind, name, body in _Module(text).types()}


def _modules(wheel: Path) -> list[str]:
    """The text of each module; that of a large one is in several files."""
    texts: dict[str, list[str]] = {}
    with zipfile.ZipFile(wheel) as outer:
        inner = next((name for name in outer.namelist() if _ARCHIVE.fullmatch(name)), None)
        if inner is None:
            raise UsageError(f"{wheel}: holds no bindings")
        with tarfile.open(fileobj=io.BytesIO(outer.read(inner)), mode="r:gz") as archive:
            for member in archive:
                module = _MODULE.fullmatch(member.name)
                stream = archive.extractfile(member) if module else None
                if module and stream:
                    texts.setdefault(module[1], []).append(stream.read().decode().partition("//# sourceMappingURL=")[0])
    return ["".join(parts) for parts in texts.values()]


class _Module:
    """One module of the bindings."""

    def __init__(self, text: str) -> None:
        self._classes = {name: (base, body) for name, base, body in _CLASS.findall(text)}
        self._structs: dict[str, str] = dict(_STRUCT.findall(text))
        self._bodies: dict[str, Body] = {}

    def types(self) -> Iterator[tuple[str, str, Body]]:
        """Kind, name and body of the resource types of the module."""
        for base, text in self._classes.values():
            name = _TYPE_NAME.search(text)
            if base in _KINDS and name is not None:
                yield _KINDS[base], name[1], self._body(text, text)

    def _struct(self, name: str) -> Body:
        if name not in self._bodies:
            accessors = self._classes.get(f"{_capital(name)}OutputReference", ("", ""))[1]
            self._bodies[name] = self._body(self._structs[name], accessors)
        return self._bodies[name]

    def _body(self, synthesis: str, accessors: str) -> Body:
        """What the text of a synthesis writes; the accessors tell what of it may be left out, and what is computed."""
        body = Body({}, {})
        getters = {name: (getter, kind) for getter, kind, name in _GETTER.findall(accessors)}
        for name, value, is_block, container, storage in _ENTRY.findall(synthesis):
            # A property whose name would clash has another (fetchPasswordData), and so has its method.
            names = {_only(_PROPERTY, value), getters.get(name, ("", ""))[0]}
            required = not any(f" reset{_capital(one)}(" in accessors for one in names)
            if is_block == "false":
                body.attributes[name] = Attribute(_simple(container, storage), required)
            else:
                self._add_nested(body, name, value, container, required)
        computed: dict[str, Type] = {name: _GETTER_TYPES[kind] for name, (_, kind) in getters.items()}
        for name, kind in {**dict.fromkeys(_COMPUTED.findall(accessors), ANY), **computed}.items():
            if name not in body.attributes and name not in body.blocks:
                body.attributes[name] = Attribute(kind, settable=False)
        return body

    def _add_nested(self, body: Body, name: str, value: str, container: str, required: bool) -> None:
        mapper = _MAPPER.search(value)
        inner = self._struct(mapper[1] if mapper else "")
        if mapper and mapper[2] == "false":
            body.attributes[name] = Attribute((container, _object(inner)), required)
        else:
            many = mapper is not None and mapper[2] == "true"
            body.blocks[name] = Nested(inner, int(required), None if many else 1)


def _only(pattern: re.Pattern[str], text: str) -> str:
    found = pattern.search(text)
    return found[1] if found else ""


def _capital(name: str) -> str:
    return name[:1].upper() + name[1:]


def _simple(container: str, storage: str) -> Type:
    """The type of an argument: `set` of `stringList` is a set of strings."""
    if storage in _TYPES:
        return _TYPES[storage]
    for ending, name in (("List", container), ("Map", "map")):
        if storage.endswith(ending):
            return (name, _simple("list", storage.removesuffix(ending)))
    raise UsageError(f"the bindings have an argument of a type that is not known here: {storage}")


def _object(body: Body) -> Type:
    """The type of the elements of an argument that may be written as blocks."""
    fields = {name: attribute.type for name, attribute in body.attributes.items()}
    fields.update((name, ("list", _object(nested.body))) for name, nested in body.blocks.items())
    return ("object", tuple(sorted(fields.items())))
