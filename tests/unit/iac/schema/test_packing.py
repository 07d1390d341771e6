"""The compact form: what is written is read, the same input gives the same bytes, and other files are refused."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import zlib
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from rl_gym.iac.scan import read
from rl_gym.iac.schema import bundled, digest, find_problems
from rl_gym.iac.schema.build import FIVE, pack
from rl_gym.iac.schema.packing import Attribute, Body, Nested, Pack
from rl_gym.iac.schema.provider import read_provider
from rl_gym.infra.errors import UsageError

FIELDS = ("object", (("a", "string"), ("b", ("list", "number"))))
INNER = Body({"n": Attribute("number", required=True)}, {})
BODY = Body(
    {
        "name": Attribute("string", required=True),
        "things": Attribute(("set", FIELDS)),
        "free": Attribute("any"),
        "arn": Attribute("string", settable=False),
    },
    {
        "one": Nested(INNER, 1, 1),
        "many": Nested(INNER, 0, None),
        "deep": Nested(Body({}, {"x": Nested(INNER, 2, 5)}), 0, 3),
    },
)
DOCUMENT = {
    "provider_schemas": {
        "registry/hashicorp/aws": {
            "provider": {"block": {"attributes": {"region": {"type": "string", "optional": True}}}},
            "resource_schemas": {
                "aws_new": {
                    "block": {
                        "attributes": {
                            "id": {"type": "string", "optional": True, "computed": True},
                            "size": {"type": "number", "required": True},
                            "any": {"type": "dynamic", "optional": True},
                            "boxes": {"type": ["list", ["object", {"a": "bool"}]], "computed": True},
                        },
                        "block_types": {
                            "part": {"nesting_mode": "list", "block": {}, "min_items": 1, "max_items": 2},
                            "timeouts": {"nesting_mode": "single", "block": {}},
                        },
                    }
                }
            },
        }
    }
}


def shape(body: Body) -> Any:
    """A body as plain data."""
    blocks = {name: (shape(nested.body), nested.least, nested.most) for name, nested in body.blocks.items()}
    return dict(body.attributes), blocks


def test_what_is_packed_is_read() -> None:
    packed = pack({"1": {("resource", "aws_a"): BODY}, "2": {("resource", "aws_a"): INNER, ("data", "aws_a"): BODY}})
    read_back = Pack(packed, "p")
    assert read_back.versions == ["1", "2"]
    for version, kind, body in (("1", "resource", BODY), ("2", "resource", INNER), ("2", "data", BODY)):
        found = read_back.find(version, kind, "aws_a")
        assert found is not None
        assert shape(found) == shape(body)
    assert read_back.find("1", "data", "aws_a") is None
    assert read_back.find("1", "resource", "aws_b") is None
    assert (read_back.names("1", "data"), read_back.names("2", "data")) == ([], ["aws_a"])


def test_the_order_of_names_changes_nothing() -> None:
    turned = Body(dict(reversed(BODY.attributes.items())), dict(reversed(BODY.blocks.items())))
    assert pack({"1": {("data", "aws_a"): BODY}}) == pack({"1": {("data", "aws_a"): turned}})


def test_the_digest_is_that_of_the_data() -> None:
    data = (resources.files("rl_gym.iac") / "data" / bundled.DATA).read_bytes()
    assert bundled.digest_of(data) == bundled.BUNDLED_DIGEST == digest()


def test_the_bundled_versions() -> None:
    five, six = bundled.versions()
    assert (five.number, six.number) == (FIVE, "6.25.0")
    assert (len(five.names("resource")), len(five.names("data")), len(five.names("ephemeral"))) == (1526, 608, 7)
    assert (len(six.names("resource")), len(six.names("data")), six.has("ephemeral")) == (1581, 630, False)
    for version in (five, six):
        found = version.find("resource", "aws_s3_bucket_versioning")
        assert found is not None
        assert (found.required, found.needed) == (["bucket"], ["versioning_configuration"])
        assert not found.attributes["id"].settable
        vpc = version.find("data", "aws_vpc")
        assert vpc is not None
        assert vpc.attributes["id"].settable


_REFUSED = r"^thing\.gz: not a schema that `rl-gym schema import` wrote: [^\n]+$"


# Compressed data holds the second at which it was made, so that it is made in the test: a name has to stay the same.
@pytest.mark.parametrize("written", [b"", b"not gzip"])
def test_what_is_not_compressed_is_refused_in_one_line(written: bytes) -> None:
    with pytest.raises(UsageError, match=_REFUSED):
        Pack(written, "thing.gz")


@pytest.mark.parametrize(
    "text",
    [b"{}", b"[1]\n{}", b'{"format": 9, "types": 0, "provider": "p", "versions": []}\n{}', b"\xff\xfe"],
)
def test_another_file_is_refused_in_one_line(text: bytes) -> None:
    with pytest.raises(UsageError, match=_REFUSED):
        Pack(gzip.compress(text), "thing.gz")


def test_a_bomb_is_refused() -> None:
    bomb = zlib.compressobj(wbits=31)
    zeros = bytes(2**20)
    data = b"".join(bomb.compress(zeros) for _ in range(65)) + bomb.flush()
    with pytest.raises(UsageError, match="more than 64 MiB"):
        Pack(data, "bomb.gz")


def test_a_document_of_terraform_is_read() -> None:
    types = read_provider(DOCUMENT, "aws")
    assert set(types) == {("resource", "aws_new"), ("provider", "aws")}
    body = types[("resource", "aws_new")]
    assert body.attributes["any"].type == "any"
    assert not body.attributes["boxes"].settable
    assert [(name, nested.least, nested.most) for name, nested in body.blocks.items()] == [
        ("part", 1, 2),
        ("timeouts", 0, 1),
    ]


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ([], "has no provider_schemas"),
        ({"provider_schemas": {"x/y/google": {}}}, "no provider 'aws'; it has: x/y/google"),
        ({"provider_schemas": {"x/y/aws": {}}}, "cannot be read: KeyError"),
        ({"provider_schemas": {"x/y/aws": {"resource_schemas": {"aws_a": 3}}}}, "cannot be read: TypeError"),
    ],
)
def test_another_document_is_refused(document: object, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        read_provider(document, "aws")


def test_an_imported_schema_takes_what_the_bundled_ones_do_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = 'resource "aws_new" "n" {\n  size = 1\n  part {}\n}\n'
    assert len(find_problems(read(text))) == 1
    before = digest()
    path = tmp_path / "imported.gz"
    path.write_bytes(pack({"7.0.0": read_provider(DOCUMENT, "aws")}))
    monkeypatch.setenv(bundled.SETTING, str(path))
    assert list(find_problems(read(text))) == []
    assert [one.message for one in find_problems(read(text.replace("part {}", "")))] == [
        'aws_new needs at least 1 of the block "part"'
    ]
    assert digest().startswith(f"{before}+")
    monkeypatch.setenv(bundled.SETTING, str(tmp_path / "absent.gz"))
    with pytest.raises(UsageError, match=r"^RL_GYM_SCHEMA: .*absent\.gz: No such file or directory$"):
        find_problems(read(text))
    monkeypatch.setenv(bundled.SETTING, str(tmp_path))
    with pytest.raises(UsageError, match=r"^RL_GYM_SCHEMA: .*: (Is a directory|not a regular file)$"):
        find_problems(read(text))


@pytest.mark.slow
def test_version_5_is_what_the_provider_says(terraform: str, provider_mirror: Path, tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text(
        'terraform {\n  required_providers {\n    aws = { source = "hashicorp/aws" }\n  }\n}\n'
    )
    environment = {**os.environ, "CHECKPOINT_DISABLE": "1"}

    def run(*arguments: str) -> str:
        done = subprocess.run(
            [terraform, *arguments],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=240,
            check=True,
        )
        return done.stdout

    run("init", "-input=false", f"-plugin-dir={provider_mirror}")
    said = Pack(pack({FIVE: read_provider(json.loads(run("providers", "schema", "-json")), "aws")}), "said")
    five = next(bundled.versions())
    for kind in ("resource", "data", "ephemeral", "provider"):
        assert five.names(kind) == said.names(FIVE, kind)
        for name in five.names(kind):
            ours, theirs = five.find(kind, name), said.find(FIVE, kind, name)
            assert ours is not None
            assert theirs is not None
            assert shape(ours) == shape(theirs), name
