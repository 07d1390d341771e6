"""A provider's schema out of its bindings: what their JavaScript says of each argument and block."""

from __future__ import annotations

import gzip
import io
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from rl_gym.iac.schema.bindings import read_bindings
from rl_gym.iac.schema.packing import Attribute
from rl_gym.infra.errors import UsageError

ENTRY = """\
            %s: {
                value: %s,
                isBlock: %s,
                type: "%s",
                storageClassType: "%s",
            },
"""
THING = (
    """\
function thingRuleToHclTerraform(struct) {
    const attrs = {
"""
    + ENTRY % ("port", "cdktf.numberToHclTerraform(struct.port)", "false", "simple", "number")
    + ENTRY % ("open", "cdktf.booleanToHclTerraform(struct.open)", "false", "simple", "boolean")
    + """\
    };
}
class ThingRuleOutputReference extends cdktf.ComplexObject {
    resetOpen() {
    }
    get id() {
        return this.getStringAttribute('id');
    }
}
class Thing extends cdktf.TerraformResource {
    constructor(scope, id, config) {
        super(scope, id, {
            terraformResourceType: 'aws_thing',
            terraformGeneratorMetadata: {
                providerVersion: '9.1.0',
            },
        });
        // parts - computed: true, optional: false, required: false
    }
    resetTags() {
    }
    resetFetchPasswordData() {
    }
    resetNames() {
    }
    resetRule() {
    }
    resetInline() {
    }
    get arn() {
        return this.getStringAttribute('arn');
    }
    get fetchPasswordData() {
        return this.getBooleanAttribute('get_password_data');
    }
    get zones() {
        return cdktf.Fn.tolist(this.getListAttribute('zones'));
    }
    synthesizeHclAttributes() {
        const attrs = {
"""
    + ENTRY % ("name", "cdktf.stringToHclTerraform(this._name)", "false", "simple", "string")
    + ENTRY % ("get_password_data", "cdktf.booleanToHclTerraform(this._getPasswordData)", "false", "simple", "boolean")
    + ENTRY % ("tags", "cdktf.hashMapperHcl(cdktf.stringToHclTerraform)(this._tags)", "false", "map", "stringMap")
    + ENTRY
    % ("names", "cdktf.listMapperHcl(cdktf.stringToHclTerraform, false)(this._names)", "false", "set", "stringList")
    + ENTRY
    % ("rule", "cdktf.listMapperHcl(thingRuleToHclTerraform, true)(this._rule.internalValue)", "true", "set", "R")
    + ENTRY
    % ("inline", "cdktf.listMapperHcl(thingRuleToHclTerraform, false)(this._inline.internalValue)", "true", "list", "R")
    + ENTRY % ("only", "thingRuleToHclTerraform(this._only.internalValue)", "true", "list", "RList")
    + """\
        };
    }
}
"""
)
DATA = """\
class DataThing extends cdktf.TerraformDataSource {
    constructor(scope, id, config) {
        super(scope, id, { terraformResourceType: 'aws_thing' });
    }
}
//# sourceMappingURL=get arn() { return this.getStringAttribute('arn'); }
"""


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    # A large module is in several files.
    middle = THING.index("class Thing extends")
    path = tmp_path / "bindings.whl"
    texts = {"thing/index.js": THING[:middle], "thing/index-structs.js": THING[middle:], "data-thing/index.js": DATA}
    write(path, texts)
    return path


def write(path: Path, texts: Mapping[str, str], name: str = "cdktf/_jsii/provider@1.jsii.tgz") -> None:
    inner = io.BytesIO()
    with tarfile.open(fileobj=inner, mode="w:gz") as archive:
        for module, text in texts.items():
            member = tarfile.TarInfo(f"package/lib/{module}")
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))
    with zipfile.ZipFile(path, "w") as outer:
        outer.writestr(name, inner.getvalue())


def test_every_type_is_read_with_what_it_takes(wheel: Path) -> None:
    version, types = read_bindings(wheel)
    assert version == "9.1.0"
    assert set(types) == {("resource", "aws_thing"), ("data", "aws_thing")}
    assert types["data", "aws_thing"].attributes == {}
    fields = (("id", "string"), ("open", "bool"), ("port", "number"))
    assert types["resource", "aws_thing"].attributes == {
        "name": Attribute("string", required=True),
        "get_password_data": Attribute("bool"),
        "tags": Attribute(("map", "string")),
        "names": Attribute(("set", "string")),
        "inline": Attribute(("list", ("object", fields))),
        "arn": Attribute("string", settable=False),
        "zones": Attribute(("list", "string"), settable=False),
        "parts": Attribute("any", settable=False),
    }


def test_blocks_know_how_many_there_may_be_and_what_stands_in_them(wheel: Path) -> None:
    blocks = read_bindings(wheel)[1]["resource", "aws_thing"].blocks
    assert {name: (nested.least, nested.most) for name, nested in blocks.items()} == {"rule": (0, None), "only": (1, 1)}
    assert blocks["rule"].body is blocks["only"].body
    assert blocks["only"].body.attributes == {
        "port": Attribute("number", required=True),
        "open": Attribute("bool"),
        "id": Attribute("string", settable=False),
    }


def test_what_are_no_bindings_is_refused_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "other.whl"
    with pytest.raises(UsageError, match=r"other\.whl: cannot be read as a wheel: No such file or directory$"):
        read_bindings(path)
    for content in (b"", gzip.compress(b"text")):
        path.write_bytes(content)
        with pytest.raises(UsageError, match=r"other\.whl: cannot be read as a wheel: File is not a zip file$"):
            read_bindings(path)
    write(path, {}, "cdktf/provider.tgz")
    with pytest.raises(UsageError, match="holds no bindings"):
        read_bindings(path)
    write(path, {"data-thing/index.js": DATA})
    with pytest.raises(UsageError, match="bindings of no one version"):
        read_bindings(path)
    write(path, {"thing/index.js": THING.replace('"stringList"', '"marvelList"')})
    with pytest.raises(UsageError, match=r"a type that is not known here: marvel$"):
        read_bindings(path)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "usage: python -m rl_gym.iac.schema.build SCHEMA_JSON WHEEL"),
        (["absent.json", "absent.whl"], "error: absent.whl: cannot be read as a wheel: No such file or directory"),
        (["absent.json", "bindings.whl"], "error: absent.json: no such file"),
        (["bindings.whl", "bindings.whl"], "error: bindings.whl: no JSON: "),
    ],
)
def test_a_wrong_argument_of_the_script_is_one_line(wheel: Path, arguments: list[str], message: str) -> None:
    command = [sys.executable, "-m", "rl_gym.iac.schema.build", *arguments]
    done = subprocess.run(command, cwd=wheel.parent, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith(message)
    assert done.stderr.count("\n") == 1
