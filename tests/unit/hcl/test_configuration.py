"""What a resource answers about its values, blocks and lines."""

from __future__ import annotations

import copy
import json
import pickle

import pytest

from rl_gym.hcl import UNKNOWN
from tests.unit.hcl.folded import configured, resource

TEXT = """variable "unset" {}
resource "aws_s3_bucket" "b" {
  bucket = "data"
  acl    = null
  size   = 1.5
  key    = var.unset
  role   = aws_iam_role.r.arn
  tags   = { Name = "n", Owner = var.unset }
  ports  = [80, 443]
  ingress = [{ from_port = 22, cidr_blocks = ["0.0.0.0/0"] }, { from_port = 80 }]
  rule {
    id = "first"
    transition {
      days = 30
    }
    transition {
      days = 60
    }
  }
  rule {
    id = "second"
  }
}
"""
BUCKET = resource(TEXT, "aws_s3_bucket.b")


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("bucket", "data"),
        ("acl", "default"),
        ("nothing", "default"),
        ("size", 1.5),
        ("key", UNKNOWN),
        ("key.deeper", UNKNOWN),
        ("tags.Name", "n"),
        ("tags.Owner", UNKNOWN),
        ("tags", {"Name": "n", "Owner": UNKNOWN}),
        ("tags.Missing", "default"),
        ("ports.1", 443),
        ("ports.7", "default"),
        ("bucket.deeper", "default"),
        ("ingress.from_port", 22),
        ("ingress.1.from_port", 80),
        ("ingress.0.cidr_blocks.0", "0.0.0.0/0"),
        ("rule.id", "first"),
        ("rule.1.id", "second"),
        ("rule.2.id", "default"),
        ("rule.transition.days", 30),
        ("rule.0.transition.1.days", 60),
        ("rule.1.transition.days", "default"),
        ("rule.1", {"id": "second"}),
    ],
)
def test_get(path: str, value: object) -> None:
    assert BUCKET.get(path, "default") == value


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("bucket", True),
        ("acl", False),
        ("nothing", False),
        ("key", UNKNOWN),
        ("role", True),
        ("rule", True),
        ("rule.transition", True),
        ("rule.2", False),
        ("ingress", True),
    ],
)
def test_has(path: str, value: object) -> None:
    assert BUCKET.has(path) is value


def test_blocks_are_written_or_given_as_an_attribute() -> None:
    assert [block.get("id") for block in BUCKET.blocks("rule")] == ["first", "second"]
    assert [block.get("from_port") for block in BUCKET.blocks("ingress")] == [22, 80]
    assert [block.get("days") for block in BUCKET.blocks("rule")[0].blocks("transition")] == [30, 60]
    assert BUCKET.blocks("nothing") == BUCKET.blocks("bucket") == []
    (unknown,) = BUCKET.blocks("key")
    assert (unknown.created, unknown.get("anything")) == (UNKNOWN, None)


def test_lines() -> None:
    assert (BUCKET.filename, BUCKET.line, BUCKET.column) == ("main.tf", 2, 1)
    assert BUCKET.line_of("bucket") == 3
    assert BUCKET.line_of("tags.Name") == 8
    assert BUCKET.line_of("nothing") == 2
    assert BUCKET.line_of("rule.1.id") == 21
    assert BUCKET.line_of("rule.1.nothing") == 20
    assert [block.line for block in BUCKET.blocks("rule")] == [11, 20]
    assert BUCKET.blocks("ingress")[1].line == 10


def test_attributes_are_plain_data() -> None:
    found = BUCKET.attributes()
    assert found["rule"] == [{"id": "first", "transition": [{"days": 30}, {"days": 60}]}, {"id": "second"}]
    assert found["role"] is UNKNOWN
    del found["key"], found["role"], found["tags"]
    assert json.loads(json.dumps(found)) == found


def test_a_configuration_is_asked_by_type_and_address() -> None:
    configuration = configured('resource "aws_a" "x" {\n  count = 2\n}\nresource "aws_b" "y" {}\ndata "aws_a" "z" {}\n')
    assert [one.address for one in configuration.resources()] == ["aws_a.x[0]", "aws_a.x[1]", "aws_b.y"]
    assert [one.name for one in configuration.resources("aws_b")] == ["y"]
    assert [(one.address, one.mode) for one in configuration.data("aws_a")] == [("data.aws_a.z", "data")]
    assert configuration.resource("aws_a.x[1]") is configuration.resources()[1]
    assert configuration.resource("aws_a.x") is configuration.resources()[0]
    assert configuration.resource("data.aws_a.z") is configuration.data()[0]
    assert configuration.resource("aws_a.nothing") is None


def test_unknown_is_one_object_wherever_it_goes() -> None:
    assert repr(UNKNOWN) == "UNKNOWN"
    assert copy.copy(UNKNOWN) is UNKNOWN
    assert copy.deepcopy([UNKNOWN])[0] is UNKNOWN
    assert pickle.loads(pickle.dumps(UNKNOWN)) is UNKNOWN
