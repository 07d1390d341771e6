"""A value says whose it is: through locals, conditionals, instances, loops, functions, templates and modules."""

from __future__ import annotations

import pytest

from rl_gym.hcl import Reference, Resource
from tests.unit.hcl.folded import configured

TEXT = """
variable "unset" {}
resource "aws_s3_bucket" "one" {
  bucket = "data"
}
resource "aws_s3_bucket" "many" {
  count  = 2
  bucket = "data-${count.index}"
}
resource "aws_s3_bucket" "each" {
  for_each = { a = "x", b = "y" }
  bucket   = each.value
}
resource "aws_s3_bucket" "maybe" {
  count = var.unset
}
locals {
  id    = aws_s3_bucket.one.id
  ids   = { first = aws_s3_bucket.one.id, second = aws_s3_bucket.many[1].id }
  chain = local.id
}
"""


def companion(body: str) -> tuple[Resource, dict[str, Resource]]:
    """A companion with a body, and the buckets by address."""
    configuration = configured(f'{TEXT}resource "aws_x" "c" {{\n{body}\n}}\n')
    found = configuration.resource("aws_x.c")
    assert found is not None
    return found, {one.address: one for one in configuration.resources("aws_s3_bucket")}


DIRECT = [
    ("aws_s3_bucket.one.id", "aws_s3_bucket.one", "id"),
    ("aws_s3_bucket.one.arn", "aws_s3_bucket.one", "arn"),
    ("aws_s3_bucket.one.bucket", "aws_s3_bucket.one", "bucket"),
    ('"${aws_s3_bucket.one.id}"', "aws_s3_bucket.one", "id"),
    ("(aws_s3_bucket.one.id)", "aws_s3_bucket.one", "id"),
    ("resource.aws_s3_bucket.one.id", "aws_s3_bucket.one", "id"),
    ("aws_s3_bucket.one.grant[0].id", "aws_s3_bucket.one", "grant.0.id"),
    ("local.id", "aws_s3_bucket.one", "id"),
    ("local.chain", "aws_s3_bucket.one", "id"),
    ("local.ids.second", "aws_s3_bucket.many[1]", "id"),
    ('lookup(local.ids, "second")', "aws_s3_bucket.many[1]", "id"),
    ("values(local.ids)[0]", "aws_s3_bucket.one", "id"),
    ("aws_s3_bucket.many[0].id", "aws_s3_bucket.many[0]", "id"),
    ('aws_s3_bucket.each["a"].id', 'aws_s3_bucket.each["a"]', "id"),
    ('aws_s3_bucket.each["a"].bucket', 'aws_s3_bucket.each["a"]', "bucket"),
    ("values(aws_s3_bucket.each)[1].id", 'aws_s3_bucket.each["b"]', "id"),
    ("[for b in aws_s3_bucket.each : b.id][0]", 'aws_s3_bucket.each["a"]', "id"),
    ("(aws_s3_bucket.many[*].id)[1]", "aws_s3_bucket.many[1]", "id"),
    ("aws_s3_bucket.many.*.id[1]", "aws_s3_bucket.many[1]", "id"),
    ("element(aws_s3_bucket.many[*].id, 3)", "aws_s3_bucket.many[1]", "id"),
    ("one(aws_s3_bucket.one[*].id)", "aws_s3_bucket.one", "id"),
    ("aws_s3_bucket.maybe[0].id", "aws_s3_bucket.maybe", "id"),
    ("one(aws_s3_bucket.maybe[*].id)", "aws_s3_bucket.maybe", "id"),
    ("try(aws_s3_bucket.one.id, null)", "aws_s3_bucket.one", "id"),
    ('coalesce("", aws_s3_bucket.one.id)', "aws_s3_bucket.one", "id"),
    ('join("", aws_s3_bucket.one[*].id)', "aws_s3_bucket.one", "id"),
    ('format("%s", aws_s3_bucket.one.id)', "aws_s3_bucket.one", "id"),
    ("true ? aws_s3_bucket.one.id : aws_s3_bucket.many[0].id", "aws_s3_bucket.one", "id"),
    ("tostring(aws_s3_bucket.one.id)", "aws_s3_bucket.one", "id"),
    ("data.aws_s3_bucket.d.id", "data.aws_s3_bucket.d", "id"),
    ("aws_kms_key.undeclared[0].arn", "aws_kms_key.undeclared", "arn"),
]


@pytest.mark.parametrize(("expression", "address", "attribute"), DIRECT)
def test_a_reference_says_whose_it_is(expression: str, address: str, attribute: str) -> None:
    one, buckets = companion(f"  bucket = {expression}")
    assert one.reference("bucket") == Reference(address, attribute)
    assert one.references("bucket") == {address.partition("[")[0]}
    assert [name for name, bucket in buckets.items() if one.refers_to(bucket, "bucket")] == [
        name for name in buckets if name == address
    ]


def test_instances_refer_to_the_instance_of_their_index() -> None:
    configuration = configured(
        f'{TEXT}resource "aws_x" "c" {{\n  count  = 2\n  bucket = aws_s3_bucket.many[count.index].id\n}}\n'
        'resource "aws_y" "e" {\n  for_each = aws_s3_bucket.each\n  bucket   = each.value.id\n  name = each.key\n}\n'
        'resource "aws_z" "k" {\n  for_each = aws_s3_bucket.each\n  bucket   = aws_s3_bucket.each[each.key].id\n}\n'
        'resource "aws_w" "v" {\n  for_each = { p = aws_s3_bucket.one.id }\n  bucket   = each.value\n}\n'
    )
    references = {
        one.address: one.reference("bucket") for one in configuration.resources() if one.type != "aws_s3_bucket"
    }
    assert references == {
        "aws_x.c[0]": ("aws_s3_bucket.many[0]", "id"),
        "aws_x.c[1]": ("aws_s3_bucket.many[1]", "id"),
        'aws_y.e["a"]': ('aws_s3_bucket.each["a"]', "id"),
        'aws_y.e["b"]': ('aws_s3_bucket.each["b"]', "id"),
        'aws_z.k["a"]': ('aws_s3_bucket.each["a"]', "id"),
        'aws_z.k["b"]': ('aws_s3_bucket.each["b"]', "id"),
        'aws_w.v["p"]': ("aws_s3_bucket.one", "id"),
    }
    assert configuration.resource('aws_y.e["a"]').get("name") == "a"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("expression", "bases"),
    [
        ('"arn:${aws_s3_bucket.one.id}/${aws_s3_bucket.many[0].id}"', {"aws_s3_bucket.one", "aws_s3_bucket.many"}),
        ('"${aws_s3_bucket.one.bucket}-logs"', {"aws_s3_bucket.one"}),
        ("upper(aws_s3_bucket.one.bucket)", {"aws_s3_bucket.one"}),
        ("upper(aws_s3_bucket.one.id)", {"aws_s3_bucket.one"}),
        ("[aws_s3_bucket.one.id, aws_s3_bucket.many[0].id]", {"aws_s3_bucket.one", "aws_s3_bucket.many"}),
        ("jsonencode({ r = aws_s3_bucket.one.arn })", {"aws_s3_bucket.one"}),
        ("length(aws_s3_bucket.many)", {"aws_s3_bucket.many"}),
        ("var.unset ? aws_s3_bucket.one.id : aws_s3_bucket.many[0].id", {"aws_s3_bucket.one", "aws_s3_bucket.many"}),
        ("false ? aws_s3_bucket.one.id : aws_s3_bucket.many[0].id", {"aws_s3_bucket.many"}),
        ('"literal"', set()),
    ],
)
def test_what_is_made_from_others_refers_to_them_and_is_none_of_them(expression: str, bases: set[str]) -> None:
    one, _ = companion(f"  bucket = {expression}")
    assert one.references("bucket") == bases
    if len(bases) != 1 or "false ?" not in expression:
        assert one.reference("bucket") is None


def test_one_of_several_is_neither() -> None:
    one, buckets = companion("  bucket = var.unset ? aws_s3_bucket.one.id : aws_s3_bucket.many[0].id")
    assert not any(one.refers_to(bucket, "bucket") for bucket in buckets.values())
    one, buckets = companion("  bucket = [aws_s3_bucket.one.id, aws_s3_bucket.many[0].id][var.unset]")
    assert not any(one.refers_to(bucket, "bucket") for bucket in buckets.values())
    for text in ('"${aws_s3_bucket.one.id}${aws_s3_bucket.many[0].id}"', "lower(%s)", '"x-${%s}"', "trimspace(%s)"):
        chosen = text.replace("%s", "var.unset ? aws_s3_bucket.one.id : aws_s3_bucket.many[0].id")
        one, buckets = companion(f"  bucket = {chosen}")
        assert not any(one.refers_to(bucket, "bucket") for bucket in buckets.values())
        assert one.references("bucket") == {"aws_s3_bucket.one", "aws_s3_bucket.many"}
    one, buckets = companion("  bucket = var.unset ? aws_s3_bucket.one.id : null")
    assert one.refers_to(buckets["aws_s3_bucket.one"], "bucket")


def test_a_value_that_is_handed_on_is_of_all_who_held_it() -> None:
    configuration = configured(
        f'{TEXT}resource "aws_v" "v" {{\n  bucket = aws_s3_bucket.one.id\n'
        '  both   = "${local.ids.first}${local.ids.second}"\n}\n'
        'resource "aws_x" "c" {\n  bucket = aws_v.v.bucket\n  both = aws_v.v.both\n}\n'
    )
    one, middle, bucket = (configuration.resource(name) for name in ("aws_x.c", "aws_v.v", "aws_s3_bucket.one"))
    assert one is not None
    assert middle is not None
    assert bucket is not None
    assert one.reference("bucket") == ("aws_v.v", "bucket")
    assert one.refers_to(middle, "bucket")
    assert one.refers_to(bucket, "bucket")
    assert one.refers_to(middle, "both")
    assert not one.refers_to(bucket, "both")


def test_a_list_and_a_document_refer_to_all_of_their_parts() -> None:
    for text in ("[%s]", "jsonencode([%s])", "{ a = [%s] }"):
        both = text.replace("%s", "aws_s3_bucket.one.arn, aws_s3_bucket.many[0].arn")
        one, buckets = companion(f"  bucket = {both}")
        found = [name for name, bucket in buckets.items() if one.refers_to(bucket, "bucket")]
        assert found == ["aws_s3_bucket.one", "aws_s3_bucket.many[0]"]


def test_an_equal_name_is_no_reference() -> None:
    one, buckets = companion('  bucket = "data"')
    assert not one.refers_to(buckets["aws_s3_bucket.one"], "bucket")
    assert not one.refers_to(buckets["aws_s3_bucket.one"])


def test_a_whole_resource_refers_by_any_of_its_parts() -> None:
    one, buckets = companion(
        "  depends_on = [aws_s3_bucket.one]\n  rule {\n    filter {\n      id = aws_s3_bucket.many[0].id\n    }\n  }"
    )
    assert one.references() == {"aws_s3_bucket.one", "aws_s3_bucket.many"}
    assert one.references("rule") == {"aws_s3_bucket.many"}
    assert one.references("rule.filter.id") == {"aws_s3_bucket.many"}
    assert one.references("nothing") == frozenset()
    assert one.refers_to(buckets["aws_s3_bucket.many[1]"])
    assert not one.refers_to(buckets['aws_s3_bucket.each["a"]'])


def test_references_lead_through_modules() -> None:
    configuration = configured(
        {
            "main.tf": """
module "bucket" {
  source = "./bucket"
  key    = aws_kms_key.k.arn
}
resource "aws_kms_key" "k" {}
resource "aws_x" "c" {
  bucket = module.bucket.id
  key    = module.bucket.key
  text   = "${module.bucket.name}!"
}
""",
            "bucket/main.tf": """
variable "key" {}
resource "aws_s3_bucket" "b" {
  bucket = "inner"
  kms    = var.key
}
output "id" {
  value = aws_s3_bucket.b.id
}
output "key" {
  value = var.key
}
output "name" {
  value = aws_s3_bucket.b.bucket
}
""",
        }
    )
    one, inner = configuration.resource("aws_x.c"), configuration.resource("module.bucket.aws_s3_bucket.b")
    assert one is not None
    assert inner is not None
    assert one.reference("bucket") == ("module.bucket.aws_s3_bucket.b", "id")
    assert one.refers_to(inner, "bucket")
    assert one.reference("key") == inner.reference("kms") == ("aws_kms_key.k", "arn")
    assert one.get("text") == "inner!"
    assert one.references("text") == {"module.bucket.aws_s3_bucket.b"}
    assert one.references() == {"module.bucket.aws_s3_bucket.b", "aws_kms_key.k"}
    assert inner.references() == {"aws_kms_key.k"}
