"""Modules to configurations: variables, locals, outputs, instances, dynamic blocks, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from rl_gym.hcl import UNKNOWN, HclEvaluationError
from tests.unit.hcl.folded import configured, resource


def test_variables_take_their_defaults_converted_to_their_type() -> None:
    configuration = configured("""
variable "ports" {
  type    = list(number)
  default = ["22", 443]
}
variable "tags" {
  type    = map(string)
  default = { retain = true, days = 7 }
}
variable "settings" {
  type = object({
    name    = string
    size    = optional(number, 3)
    zones   = optional(set(string), ["b", "a", "b"])
    missing = optional(string)
  })
  default = { name = "x", ignored = 1 }
}
variable "unset" {
  type = string
}
variable "nothing" {
  default = null
}
""")
    assert configuration.variables == {
        "ports": [22, 443],
        "tags": {"retain": "true", "days": "7"},
        "settings": {"name": "x", "size": 3, "zones": ["a", "b"], "missing": None},
        "unset": UNKNOWN,
        "nothing": None,
    }


def test_values_that_are_passed_stand_above_files_and_files_above_defaults() -> None:
    files = {
        "main.tf": "".join(f'variable "{name}" {{\n  default = "default"\n}}\n' for name in "abcde"),
        "terraform.tfvars": 'a = "tfvars"\nb = "tfvars"\nc = "tfvars"\nd = "tfvars"\n',
        "b.auto.tfvars": 'b = "b.auto"\nc = "b.auto"\n',
        "a.auto.tfvars": 'b = "a.auto"\nc = "a.auto"\nd = "a.auto"\n',
        "terraform.tfvars.json": '{"d": "json"}',
        "other.tfvars": 'e = "not read"\n',
    }
    configuration = configured(files, {"c": "passed"})
    assert configuration.variables == {"a": "tfvars", "b": "b.auto", "c": "passed", "d": "a.auto", "e": "default"}


def test_text_for_a_variable_that_is_not_primitive_is_an_expression() -> None:
    text = 'variable "zones" {\n  type = list(string)\n}\nvariable "name" {\n  type = string\n}\n'
    configuration = configured(text, {"zones": '["a", "b"]', "name": '["a"]'})
    assert configuration.variables == {"zones": ["a", "b"], "name": '["a"]'}
    assert configured(text, {"zones": ["c"], "name": 1.5}).variables == {"zones": ["c"], "name": "1.5"}


def test_null_for_a_variable_that_is_not_nullable_means_its_default() -> None:
    text = 'variable "a" {\n  default  = 1\n  nullable = false\n}\nvariable "b" {\n  default = 1\n}\n'
    assert configured(text, {"a": None, "b": None}).variables == {"a": 1, "b": None}


@pytest.mark.parametrize(
    ("text", "variables", "reason"),
    [
        ('variable "a" {\n  type = number\n  default = "x"\n}\n', {}, "does not fit number: a number is required"),
        ('variable "a" {\n  type = map(number)\n}\n', {"a": {"k": "x"}}, 'element "k": a number is required'),
        ('variable "a" {\n  type = object({ b = string })\n  default = {}\n}\n', {}, 'attribute "b" is required'),
        ('variable "a" {\n  type = strin\n}\n', {}, "a type is one of string"),
        ('variable "a" {\n  default = var.b\n}\nvariable "b" {}\n', {}, "cannot refer to anything else"),
        ('variable "a" {}\n', {"b": 1}, 'the variable "b", which is not declared'),
    ],
)
def test_variables_that_are_refused(text: str, variables: dict[str, Any], reason: str) -> None:
    with pytest.raises(HclEvaluationError, match=reason):
        configured(text, variables)


def test_locals_are_settled_in_whatever_order_they_stand() -> None:
    configuration = configured('locals {\n  a = "${local.b}!"\n}\nlocals {\n  b = upper(local.c)\n  c = "x"\n}\n')
    assert configuration.locals == {"a": "X!", "b": "X", "c": "x"}


def test_outputs_are_evaluated() -> None:
    text = 'output "a" {\n  value = 1 + 1\n}\noutput "b" {\n  value = aws_vpc.v.id\n}\nresource "aws_vpc" "v" {}\n'
    assert configured(text).outputs == {"a": 2, "b": UNKNOWN}


@pytest.mark.parametrize(
    "text",
    [
        "locals {\n  a = local.b\n  b = local.a\n}\n",
        "locals {\n  a = local.a\n}\n",
        "locals {\n  a = try(local.b, 1)\n  b = try(local.a, 1)\n}\n",
        "locals {\n  a = false ? local.a : 1\n}\n",
        "locals {\n" + "".join(f"  l{i} = local.l{(i + 1) % 300}\n" for i in range(300)) + "}\n",
        'resource "aws_a" "x" {\n  b = aws_b.y.id\n}\nresource "aws_b" "y" {\n  a = aws_a.x.id\n}\n',
        'resource "aws_a" "x" {\n  b = aws_a.x.id\n}\n',
        'resource "aws_a" "x" {\n  b = local.l\n}\nlocals {\n  l = aws_a.x.id\n}\n',
        'resource "aws_a" "x" {\n  depends_on = [aws_b.y]\n}\n'
        'resource "aws_b" "y" {\n  a {\n    b = aws_a.x.id\n  }\n}\n',
        'resource "aws_a" "x" {\n  count = length(aws_a.x)\n}\n',
        'data "aws_a" "x" {\n  b = data.aws_a.y.c\n}\ndata "aws_a" "y" {\n  b = data.aws_a.x.c\n}\n',
    ],
)
def test_a_cycle_is_an_error(text: str) -> None:
    with pytest.raises(HclEvaluationError, match=r"refers to itself|cycle: "):
        configured(text)


def test_a_chain_longer_than_the_call_stack_is_no_cycle() -> None:
    chain = "".join(f"  l{i} = abs(local.l{i + 1})\n" for i in range(1000))
    assert configured(f"locals {{\n{chain}  l1000 = -1\n}}\n").locals["l0"] == 1
    resources = "".join(f'resource "aws_a" "r{i}" {{\n  b = [aws_a.r{i + 1}.b[0]]\n}}\n' for i in range(500))
    configuration = configured(resources + 'resource "aws_a" "r500" {\n  b = [1]\n}\n')
    assert configuration.resources()[0].get("b") == [1]


@pytest.mark.parametrize(
    ("text", "reason", "line"),
    [
        ('resource "aws_a" "x" {}\nresource "aws_a" "x" {}\n', "already declared at main.tf:1", 2),
        ('data "aws_a" "x" {}\ndata "aws_a" "x" {}\n', 'data "aws_a" "x" was already declared', 2),
        ("locals {\n  a = 1\n}\nlocals {\n  a = 2\n}\n", "local.a was already declared", 5),
        ('variable "a" {}\nvariable "a" {}\n', "var.a was already declared", 2),
        ('output "a" {\n  value = 1\n}\noutput "a" {\n  value = 1\n}\n', "output.a was already declared", 4),
        ('module "a" {\n  source = "x"\n}\nmodule "a" {\n  source = "x"\n}\n', "module.a was already declared", 4),
        ('\nresource "aws_a" {}\n', 'a block of type "resource" has 2 labels', 2),
        ('resource "aws_a" "a b" {}\n', '"a b" is not a valid name', 1),
        ("resources {}\n", 'blocks of type "resources" are not expected', 1),
        ("a = 1\n", 'an argument named "a" is not expected outside a block', 1),
        ('variable "count" {}\n', "cannot be the name of a variable", 1),
        ("locals {\n  a {}\n}\n", 'blocks of type "a" are not expected in locals', 2),
    ],
)
def test_what_terraform_refuses_to_read(text: str, reason: str, line: int) -> None:
    with pytest.raises(HclEvaluationError) as caught:
        configured(text)
    assert reason in caught.value.message
    assert caught.value.line == line


# ---- instances -------------------------------------------------------------------------------------------------------


def addresses(text: str) -> list[tuple[str, Any]]:
    return [(one.address, one.created) for one in configured(text).resources()]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("", [("aws_a.x", True)]),
        ("count = 2", [("aws_a.x[0]", True), ("aws_a.x[1]", True)]),
        ('count = "1"', [("aws_a.x[0]", True)]),
        ("count = 0", [("aws_a.x", False)]),
        ("count = var.unset", [("aws_a.x", UNKNOWN)]),
        ("count = var.unset ? 1 : 0", [("aws_a.x", UNKNOWN)]),
        ("count = module.other.enabled ? 1 : 0", [("aws_a.x", UNKNOWN)]),
        ('for_each = toset(["b", "a"])', [('aws_a.x["a"]', True), ('aws_a.x["b"]', True)]),
        ('for_each = { "k\\"1" = 1 }', [('aws_a.x["k\\"1"]', True)]),
        ("for_each = {}", [("aws_a.x", False)]),
        ("for_each = toset([])", [("aws_a.x", False)]),
        ("for_each = var.unset", [("aws_a.x", UNKNOWN)]),
        ("for_each = toset([var.unset])", [("aws_a.x", UNKNOWN)]),
    ],
)
def test_instances(body: str, expected: list[tuple[str, Any]]) -> None:
    declared = 'variable "unset" {}\nmodule "other" {\n  source = "somewhere/else"\n}\n'
    assert addresses(f'{declared}resource "aws_a" "x" {{\n  {body}\n}}\n') == expected


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("count = -1", "must be a whole number that is not negative"),
        ("count = 1.5", "must be a whole number"),
        ('count = "x"', "count: a number is required"),
        ("count = null", "a number is required"),
        ('for_each = ["a"]', "must be a map, or a set of strings, not tuple"),
        ("for_each = toset([1])", "must be a map, or a set of strings, not set"),
        ("for_each = null", "must be a map, or a set of strings, not null"),
        ("count = 1\n  for_each = {}", "exclude each other"),
        ("b = each.key", "only where"),
    ],
)
def test_instances_that_are_refused(body: str, reason: str) -> None:
    with pytest.raises(HclEvaluationError) as caught:
        configured(f'resource "aws_a" "x" {{\n  {body}\n}}\n')
    assert reason in caught.value.message


def test_instances_know_their_key() -> None:
    configuration = configured("""
resource "aws_a" "x" {
  count = 2
  name  = "n${count.index}"
}
resource "aws_a" "y" {
  for_each = { k = { size = 3 } }
  name     = each.key
  size     = each.value.size
}
""")
    assert [one.get("name") for one in configuration.resources()] == ["n0", "n1", "k"]
    assert [one.base_address for one in configuration.resources()] == ["aws_a.x", "aws_a.x", "aws_a.y"]
    last = configuration.resource('aws_a.y["k"]')
    assert last is not None
    assert last.get("size") == 3


def test_nothing_that_is_wrong_in_a_resource_never_created_is_an_error() -> None:
    text = (
        'resource "aws_a" "x" {\n  count = 0\n}\n'
        'resource "aws_b" "y" {\n  count = 0\n  a     = aws_a.x[0].id\n  b     = 1\n}\n'
    )
    one = resource(text, "aws_b.y")
    assert (one.created, one.get("a"), one.get("b")) == (False, UNKNOWN, 1)


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("aws_a.many.id", "has several instances: one of them must be chosen"),
        ("aws_a.one[0].id", "has no count"),
        ("aws_a.many[5].id", "the index 5 is not in a list of 2 elements"),
        ('aws_a.each["z"].id', 'no attribute or key "z"'),
    ],
)
def test_instances_that_are_not_there(path: str, reason: str) -> None:
    text = f"""
resource "aws_a" "one" {{}}
resource "aws_a" "many" {{
  count = 2
}}
resource "aws_a" "each" {{
  for_each = {{ a = 1 }}
}}
resource "aws_b" "b" {{
  a = {path}
}}
"""
    with pytest.raises(HclEvaluationError) as caught:
        configured(text)
    assert reason in caught.value.message


def test_a_configured_attribute_of_another_resource_is_known() -> None:
    text = """
resource "aws_s3_bucket" "b" {
  bucket = "data"
  tags   = { Name = "n" }
  rule {
    days = 3
  }
}
resource "aws_x" "y" {
  name   = aws_s3_bucket.b.bucket
  tag    = aws_s3_bucket.b.tags["Name"]
  days   = aws_s3_bucket.b.rule[0].days
  id     = aws_s3_bucket.b.id
  region = aws_s3_bucket.b.rule[0].computed
  count_ = length(aws_s3_bucket.b[*].id)
}
"""
    one = resource(text, "aws_x.y")
    assert one.attributes() == {
        "name": "data",
        "tag": "n",
        "days": 3,
        "id": UNKNOWN,
        "region": UNKNOWN,
        "count_": 1,
    }


# ---- dynamic blocks --------------------------------------------------------------------------------------------------


def test_dynamic_blocks_are_expanded() -> None:
    one = resource(
        """
resource "aws_security_group" "s" {
  ingress {
    from_port = 1
  }
  dynamic "ingress" {
    for_each = { b = 3, a = 2 }
    content {
      description = ingress.key
      from_port   = ingress.value
      dynamic "inner" {
        for_each = [ingress.value, 9]
        iterator = item
        content {
          value = "${ingress.key}${item.key}${item.value}"
        }
      }
    }
  }
}
""",
        "aws_security_group.s",
    )
    assert [block.get("from_port") for block in one.blocks("ingress")] == [1, 2, 3]
    assert [block.created for block in one.blocks("ingress")] == [True, True, True]
    assert [inner.get("value") for inner in one.blocks("ingress")[1].blocks("inner")] == ["a02", "a19"]
    assert one.line_of("ingress.1.from_port") == one.line_of("ingress.2.from_port") == 10


def test_a_dynamic_block_over_something_unknown_may_be_there() -> None:
    one = resource(
        'variable "v" {}\nresource "aws_a" "x" {\n  dynamic "rule" {\n    for_each = var.v\n    content {\n'
        "      port = rule.value\n      open = true\n    }\n  }\n}\n",
        "aws_a.x",
    )
    (block,) = one.blocks("rule")
    assert block.created is UNKNOWN
    assert block.get("open") is True
    assert one.get("rule.open") is UNKNOWN
    assert one.has("rule") is UNKNOWN


def test_a_dynamic_block_over_nothing_is_not_there() -> None:
    one = resource('resource "aws_a" "x" {\n  dynamic "rule" {\n    for_each = []\n    content {}\n  }\n}\n', "aws_a.x")
    assert one.blocks("rule") == []
    assert one.has("rule") is False


@pytest.mark.parametrize(
    ("inside", "reason"),
    [
        ("content {}", 'has an argument "for_each"'),
        ("for_each = []", 'a block "content"'),
        ("for_each = 1\n    content {}", "must be a collection, not number"),
    ],
)
def test_dynamic_blocks_that_are_refused(inside: str, reason: str) -> None:
    with pytest.raises(HclEvaluationError) as caught:
        configured(f'resource "aws_a" "x" {{\n  dynamic "rule" {{\n    {inside}\n  }}\n}}\n')
    assert reason in caught.value.message


def test_arguments_that_name_things_are_kept_as_text() -> None:
    one = resource(
        """
resource "aws_a" "x" {
  provider   = aws.east
  depends_on = [aws_b.y, module.m]
  lifecycle {
    ignore_changes  = [tags, rule[0].days]
    prevent_destroy = true
  }
}
""",
        "aws_a.x",
    )
    assert one.get("provider") == "aws.east"
    assert one.get("depends_on") == ["aws_b.y", "module.m"]
    assert one.get("lifecycle.ignore_changes") == ["tags", "rule[0].days"]
    assert one.get("lifecycle.prevent_destroy") is True


def test_provider_blocks_are_evaluated() -> None:
    configuration = configured(
        'provider "aws" {\n  region = local.r\n  default_tags {\n    tags = { Owner = "me" }\n  }\n}\n'
        'provider "aws" {\n  alias = "east"\n}\nlocals {\n  r = "eu-west-1"\n}\n'
    )
    first, second = configuration.providers["aws"]
    assert (first.get("region"), first.get("default_tags.tags.Owner")) == ("eu-west-1", "me")
    assert second.get("alias") == "east"
