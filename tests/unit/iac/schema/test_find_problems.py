"""What Terraform refuses in a configuration that can be read, and what it takes."""

from __future__ import annotations

import json

import pytest

from rl_gym.iac.report import Problem
from rl_gym.iac.scan import read, scan
from rl_gym.iac.schema import find_problems

BUCKET = 'resource "aws_s3_bucket" "b" {\n%s\n}\n'
TABLE = 'resource "aws_dynamodb_table" "t" {\n  name     = "t"\n  hash_key = "id"\n%s\n}\n'
ATTRIBUTE = '  attribute {\n    name = "id"\n    type = "S"\n%s  }\n'
VERSIONING = 'resource "aws_s3_bucket_versioning" "v" {\n  bucket = "b"\n%s\n}\n'
CONFIGURATION = '  versioning_configuration {\n    status = "Enabled"\n  }\n'
GROUP = 'resource "aws_security_group" "g" {\n%s\n}\n'
INGRESS = 'ingress {\n from_port = 1\n to_port = 2\n protocol = "tcp"\n cidr_blocks = ["10.0.0.0/8"]\n%s}\n'
INSTANCE = 'resource "aws_instance" "i" {\n  ami           = "ami-1"\n  instance_type = "t3.micro"\n%s\n}\n'
LIFECYCLE = "  lifecycle {\n    %s\n  }"

FINE = [
    "",
    BUCKET % "",
    BUCKET % "  bucket = null",
    BUCKET % "  force_destroy = 1 == 1",
    BUCKET % '  force_destroy = "true"',
    BUCKET % "  tags = { count = 3 }",
    BUCKET % "  tags = merge({}, local.t)" + "locals {\n  t = {}\n}\n",
    BUCKET % '  region = "eu-west-1"',
    BUCKET % "  arn = null",
    BUCKET % "  versioning {\n    enabled = true\n  }",
    BUCKET % "  timeouts {\n    create = var.t\n  }" + 'variable "t" {}\n',
    BUCKET % "  count = 2\n  bucket = count.index",
    BUCKET % '  for_each = toset(["a"])\n  bucket = each.key',
    BUCKET % LIFECYCLE % "ignore_changes = [tags, versioning[0].enabled]",
    BUCKET % LIFECYCLE % "ignore_changes = all",
    BUCKET % '  provisioner "local-exec" {\n    when    = destroy\n    command = "echo ${self.id}"\n  }',
    BUCKET % "  connection {\n    whatever = 1\n  }",
    TABLE % (ATTRIBUTE % ""),
    TABLE % '  dynamic "attribute" {\n    for_each = ["id"]\n    content {\n      name = attribute.value\n'
    '      type = "S"\n    }\n  }',
    TABLE % (ATTRIBUTE % "")
    + 'output "o" {\n  value = [for k, v in { a = 1 } : "${k}-${v}" if k != aws_dynamodb_table.t.arn]\n}\n',
    GROUP % '  dynamic "ingress" {\n    for_each = []\n    content {\n      bogus = 1\n    }\n  }',
    GROUP % INGRESS % "",
    GROUP % "  ingress = []",
    GROUP % "  ingress = [{\n cidr_blocks = [], description = null, from_port = 1, ipv6_cidr_blocks = [],\n"
    ' prefix_list_ids = [], protocol = "tcp", security_groups = [], self = false, to_port = "2"\n }]',
    INSTANCE % "  ebs_block_device {\n    device_name = var.d[count.index]\n  }\n  count = 2" + 'variable "d" {}\n',
    'provider "aws" {\n  region = "eu-west-1"\n  default_tags {\n    tags = {}\n  }\n}\n',
    'provider "aws" {\n  alias = "w"\n}\n' + BUCKET % "  provider = aws.w",
    'data "aws_ami" "a" {\n  most_recent = true\n  owners      = ["self"]\n}\n'
    'output "o" {\n  value = data.aws_ami.a.block_device_mappings[*].ebs\n}\n',
    'resource "google_storage_bucket" "b" {\n  anything = true\n}\n',
    'module "m" {\n  source = "terraform-aws-modules/vpc/aws"\n  any    = 1\n}\n'
    'output "o" {\n  value = module.m.any.thing\n}\n',
    'check "c" {\n  data "aws_region" "r" {}\n  assert {\n    condition     = data.aws_region.r.name != ""\n'
    '    error_message = "no"\n  }\n}\n',
    'variable "v" {\n  type    = map(object({ a = optional(string, "x") }))\n  default = {}\n}\n',
    "removed {\n  from = aws_s3_bucket.gone\n  lifecycle {\n    destroy = false\n  }\n}\n",
    "moved {\n  from = aws_s3_bucket.old\n  to   = aws_s3_bucket.b\n}\n" + BUCKET % "",
    # Version 6 alone.
    'resource "aws_nat_gateway" "n" {\n  vpc_id = "v"\n  availability_mode = "regional"\n}\n',
    # Version 5 alone.
    'resource "aws_opsworks_stack" "s" {\n  name = "s"\n  region = "r"\n  service_role_arn = "a"\n'
    '  default_instance_profile_arn = "p"\n}\n',
]

WRONG = [
    ("schema", 'no resource type "aws_s3_bucke"', "aws_s3_bucket", 'resource "aws_s3_bucke" "b" {}\n'),
    ("schema", 'no data source "aws_amis"', "aws_ami", 'data "aws_amis" "b" {}\n'),
    ("schema", 'takes no argument "bucket_name"', "bucket", BUCKET % '  bucket_name = "b"'),
    ("schema", 'takes no argument "forcedestroy"', "force_destroy", BUCKET % "  forcedestroy = true"),
    ("schema", 'takes no block "versionning"', "versioning", BUCKET % "  versionning {\n    enabled = true\n  }"),
    ("schema", "is a block, not an argument", "", BUCKET % "  versioning = { enabled = true }"),
    ("schema", "is an argument, not a block", "", BUCKET % '  tags {\n    Name = "b"\n  }'),
    ("schema", "takes no label", "", BUCKET % '  versioning "v" {\n    enabled = true\n  }'),
    ("schema", "computed by the provider", "", BUCKET % '  arn = "a"'),
    ("schema", "computed by the provider", "", BUCKET % '  id = "a"'),
    ("schema", "a string is required", "", BUCKET % "  bucket = {}"),
    ("schema", "a bool is required", "", BUCKET % '  force_destroy = "yes"'),
    ("schema", "a map(string) is required", "", BUCKET % '  tags = ["a"]'),
    ("schema", "a map(string) is required", "", BUCKET % "  tags = local.t" + 'locals {\n  t = "a"\n}\n'),
    ("schema", "a string is required", "", BUCKET % "  bucket = var.b" + 'variable "b" {\n  type = list(string)\n}\n'),
    ("schema", 'lacks the required argument "bucket"', "", (VERSIONING % CONFIGURATION).replace('bucket = "b"', "")),
    ("schema", '"bucket" of aws_s3_bucket_versioning is null', "", (VERSIONING % CONFIGURATION).replace('"b"', "null")),
    ("schema", "needs at least 1 of the block", "", VERSIONING % ""),
    ("schema", "takes at most 1 of the block", "", VERSIONING % (CONFIGURATION * 2)),
    (
        "schema",
        "needs at least 1 of the block",
        "",
        VERSIONING % '  dynamic "versioning_configuration" {\n'
        '    for_each = []\n    content {\n      status = "Enabled"\n    }\n  }',
    ),
    ("schema", 'lacks the required argument "status"', "", VERSIONING % "  versioning_configuration {}"),
    (
        "schema",
        'attribute of aws_dynamodb_table takes no block "server_side_encryption"',
        "",
        TABLE % (ATTRIBUTE % "server_side_encryption {\n enabled = true\n }\n"),
    ),
    (
        "schema",
        'takes no argument "bogus"',
        "",
        TABLE % '  dynamic "attribute" {\n    for_each = var.a\n    content {\n'
        '      name  = "id"\n      type  = "S"\n      bogus = 1\n    }\n  }' + 'variable "a" {}\n',
    ),
    (
        "schema",
        'takes no block "atribute"',
        "attribute",
        TABLE % '  dynamic "atribute" {\n    for_each = [1]\n'
        '    content {\n      name = "id"\n      type = "S"\n    }\n  }',
    ),
    ("schema", "cannot be dynamic", "", BUCKET % '  dynamic "lifecycle" {\n    for_each = [1]\n    content {}\n  }'),
    ("schema", 'takes no argument "cidr_block"', "cidr_blocks", GROUP % INGRESS % 'cidr_block = "10.0.0.0/8"\n'),
    ("schema", "the attributes", "", GROUP % "  ingress = [{ from_port = 1 }]"),
    (
        "schema",
        'takes no argument "prevent_destroyed"',
        "prevent_destroy",
        BUCKET % LIFECYCLE % "prevent_destroyed = true",
    ),
    ("schema", 'ignore_changes names "tag"', "tags", BUCKET % LIFECYCLE % "ignore_changes = [tag]"),
    ("schema", 'lacks the required argument "command"', "", BUCKET % '  provisioner "local-exec" {}'),
    ("schema", 'there is no provisioner "chef"', "", BUCKET % '  provisioner "chef" {}'),
    (
        "schema",
        'needs one of the arguments "ami"',
        "",
        'resource "aws_instance" "i" {\n  instance_type = "t3.micro"\n}\n',
    ),
    ("schema", 'has no attribute "urn"', "", BUCKET % "" + 'output "o" {\n  value = aws_s3_bucket.b.urn\n}\n'),
    ("schema", 'has no attribute "foo"', "", BUCKET % "" + 'output "o" {\n  value = aws_s3_bucket.b.arn.foo\n}\n'),
    ("schema", 'provider aws takes no argument "regoin"', "region", 'provider "aws" {\n  regoin = "r"\n}\n'),
    ("schema", 'lacks the required argument "value"', "", 'output "o" {}\n'),
    ("schema", 'takes no argument "defalt"', "default", 'variable "v" {\n  defalt = 1\n}\n'),
    ("schema", 'lacks the required argument "source"', "", 'module "m" {}\n'),
    # No version takes both.
    ("schema", "", "", FINE[-1] + FINE[-2]),
    ("duplicate", "without an alias was already declared", "", 'provider "aws" {}\nprovider "aws" {}\n'),
    ("duplicate", 'with the alias "a"', "", 'provider "aws" {\n  alias = "a"\n}\n' * 2),
    ("duplicate", "required_providers was already", "", "terraform {\n  required_providers {}\n}\n" * 2),
    ("reference", 'the resource "aws_s3_bucket" "c" is not', "", BUCKET % "  bucket = aws_s3_bucket.c.id"),
    (
        "reference",
        '"aws_iam_role" "rol" is not declared',
        "role",
        BUCKET % "  bucket = aws_iam_role.rol.name"
        + 'resource "aws_iam_role" "role" {\n  assume_role_policy = ""\n}\n',
    ),
    ("reference", 'the data source "aws_ami" "a"', "", BUCKET % "  bucket = data.aws_ami.a.id"),
    ("reference", 'the variable "nmae"', "name", BUCKET % "  bucket = var.nmae" + 'variable "name" {}\n'),
    ("reference", 'the local value "x"', "", BUCKET % '  bucket = "a-${local.x}"'),
    ("reference", 'the module "x"', "", BUCKET % "  bucket = module.x.name"),
    ("reference", 'the resource "aws_s3_bucket" "c"', "", BUCKET % "  depends_on = [aws_s3_bucket.c]"),
    ("reference", 'the resource "aws_s3_bucket" "c"', "", BUCKET % '  depends_on = ["aws_s3_bucket.c"]'),
    (
        "reference",
        '"self" stands for',
        "",
        BUCKET % LIFECYCLE % 'precondition {\n condition = self.id != ""\n error_message = "m"\n }',
    ),
    ("reference", 'alias "w" is declared', "", BUCKET % "  provider = aws.w"),
]


def problems(text: str, **files: str) -> list[Problem]:
    return list(
        find_problems(read(text, files={name.replace("__", "/") + ".tf": body for name, body in files.items()}))
    )


@pytest.mark.parametrize("text", FINE)
def test_what_terraform_takes_has_no_problem(text: str) -> None:
    assert [str(problem) for problem in problems(text)] == []


@pytest.mark.parametrize(("kind", "message", "hint", "text"), WRONG)
def test_what_terraform_refuses_is_named(kind: str, message: str, hint: str, text: str) -> None:
    found = problems(text)
    assert {problem.kind for problem in found} == {kind}, found
    first = next(problem for problem in found if message in problem.message)
    assert first.hint == hint
    assert text.splitlines()[first.line - 1][first.column - 1 :].strip()


def test_a_problem_knows_its_place_and_the_nearest_name() -> None:
    (problem,) = problems(BUCKET % '  buckett = "b"')
    assert str(problem) == "main.tf:2:3: aws_s3_bucket takes no argument \"buckett\" (did you mean 'bucket'?)"
    assert problem.address == "aws_s3_bucket.b"


def test_a_reference_across_the_files_of_a_module_is_declared() -> None:
    assert problems(BUCKET % "  bucket = var.n", variables='variable "n" {}\n') == []


def test_an_override_file_declares_nothing_twice() -> None:
    text = 'terraform {\n  backend "%s" {}\n  required_providers {}\n}\nprovider "aws" {}\n'
    assert problems(text % "s3", override=text % "local") == []
    (two,) = problems("", override='terraform {\n  backend "s3" {}\n  backend "local" {}\n}\n')
    assert two.kind == "duplicate"


def test_each_module_is_asked_by_itself() -> None:
    call = 'module "m" {\n  source = "./m"\n%s}\n'
    inner = 'variable "n" {}\n' + BUCKET % "  bucket = var.n"
    assert problems(call % "  n = 1\n", m__main=inner) == []
    assert [one.message for one in problems(call % "", m__main=inner)] == ['module.m lacks the required argument "n"']
    (wrong,) = problems(call % "  n = 1\n  x = 2\n", m__main=inner)
    assert wrong.message == 'module.m takes no argument "x"'
    (undeclared,) = problems(call % "", m__main=BUCKET % "  bucket = var.o", extra='variable "o" {}\n')
    assert (undeclared.filename, undeclared.kind) == ("m/main.tf", "reference")


def test_json_syntax_is_read_by_the_schema() -> None:
    def found(resource: object) -> list[str]:
        text = json.dumps({"resource": {"aws_dynamodb_table": {"t": resource}}})
        return [one.message for one in find_problems(read(None, files={"main.tf.json": text}))]

    table = {"name": "t", "hash_key": "id", "attribute": [{"name": "id", "type": "S"}], "//": "a comment"}
    assert found(table) == []
    assert found({**table, "attribute": {"name": "id", "type": "S"}}) == []
    dynamic = {"attribute": {"for_each": ["id"], "content": {"name": "${attribute.value}", "type": "S"}}}
    assert found({**{k: v for k, v in table.items() if k != "attribute"}, "dynamic": dynamic}) == []
    assert found({**table, "attribute": [{"name": "id"}]}) == [
        'attribute of aws_dynamodb_table lacks the required argument "type"'
    ]
    assert found({**table, "ttl": [{"attribute_name": "a"}, {"attribute_name": "b"}]}) == [
        'aws_dynamodb_table takes at most 1 of the block "ttl", and here are 2'
    ]


def test_an_override_file_keeps_its_own_syntax() -> None:
    def found(**files: str) -> list[str]:
        named = {name.replace("__", "."): text for name, text in files.items()}
        return [one.message for one in find_problems(read(None, files=named))]

    versioning = json.dumps({"resource": {"aws_s3_bucket": {"b": {"versioning": {"enabled": True}}}}})
    assert found(main__tf=BUCKET % "", override__tf__json=versioning) == []
    (refused,) = found(main__tf__json=versioning, override__tf=BUCKET % "  versioning = { enabled = true }")
    assert "is a block, not an argument" in refused


def test_a_plan_is_not_asked() -> None:
    planned = {"address": "aws_nope.n", "mode": "managed", "type": "aws_nope", "name": "n", "values": {"a": 1}}
    plan = {
        "planned_values": {"root_module": {"resources": [planned]}},
        "configuration": {"root_module": {}},
        "resource_changes": [],
    }
    assert scan(None, plan=plan).problems == ()


def test_the_gate_and_references() -> None:
    assert scan(BUCKET % "  bucket = var.nope").gates["well_formed"] is True
    assert scan(BUCKET % "  bogus = 1").gates["well_formed"] is False


def test_hostile_text_is_answered_in_full() -> None:
    text = "".join(f'resource "aws_{"x" * 40}{n}" "r" {{\n  a{n} = b{n}.c\n}}\n' for n in range(500))
    found = problems(text)
    assert len(found) == 1000
    assert sum(bool(problem.hint) for problem in found) <= 16
