"""`builds_required`: created and configured, or an equivalent; `no_critical`: failures alone."""

from __future__ import annotations

import pytest

from rl_gym.iac.scan import scan

ROLE = 'resource "aws_iam_role" "r" {\n  assume_role_policy = "{}"\n%s\n}\n'
POLICY = 'resource "aws_iam_policy" "p" {\n  policy = "{}"\n}\n'
ATTACHED = (
    'resource "aws_iam_role_policy_attachment" "a" {\n  role       = "r"\n  policy_arn = aws_iam_policy.p.arn\n}\n'
)
GROUP = 'resource "aws_security_group" "g" {\n  name = "g"\n%s\n}\n'
INGRESS = (
    '  ingress {\n    from_port = 443\n    to_port = 443\n    protocol = "tcp"\n    cidr_blocks = ["10.0.0.0/8"]\n  }\n'
)


def _resource(kind: str, body: str, name: str = "x") -> str:
    return f'resource "{kind}" "{name}" {{\n{body}\n}}\n'


BUILT = [
    ("nothing asked", (), ""),
    ("a key", ("aws_kms_key",), _resource("aws_kms_key", "  enable_key_rotation = true")),
    (
        "two, asked for twice",
        ("aws_kms_key", "aws_kms_key"),
        _resource("aws_kms_key", "  count = 2\n  is_enabled = true"),
    ),
    ("a VPC", ("aws_vpc",), _resource("aws_vpc", '  cidr_block = "10.0.0.0/16"')),
    ("a VPC from a pool", ("aws_vpc",), _resource("aws_vpc", '  ipv4_ipam_pool_id = "p"\n  ipv4_netmask_length = 20')),
    ("a VPC of unknown range", ("aws_vpc",), 'variable "c" {}\n' + _resource("aws_vpc", "  cidr_block = var.c")),
    ("an instance", ("aws_instance",), _resource("aws_instance", '  ami = "a"\n  instance_type = "t3.micro"')),
    (
        "an instance from a template",
        ("aws_instance",),
        _resource("aws_instance", '  launch_template {\n    id = "lt-1"\n  }'),
    ),
    ("an address with no argument", ("aws_eip",), _resource("aws_eip", "")),
    (
        "an event rule by schedule",
        ("aws_cloudwatch_event_rule",),
        _resource("aws_cloudwatch_event_rule", '  schedule_expression = "rate(1 day)"'),
    ),
    (
        "a target group of functions",
        ("aws_lb_target_group",),
        _resource("aws_lb_target_group", '  target_type = "lambda"'),
    ),
    ("a data source", ("aws_region",), 'data "aws_region" "r" {}\n'),
    ("a balancer by its other name", ("aws_lb",), _resource("aws_alb", '  subnets = ["s"]')),
    ("an object by its old name", ("aws_s3_object",), _resource("aws_s3_bucket_object", '  bucket = "b"\n  key = "k"')),
    (
        "an old rule for a new one",
        ("aws_vpc_security_group_ingress_rule",),
        _resource("aws_security_group_rule", '  type = "ingress"\n  security_group_id = "sg"\n  protocol = "tcp"'),
    ),
    ("a rule inside its group", ("aws_security_group_rule",), GROUP % INGRESS),
    (
        "a policy inside its role",
        ("aws_iam_role_policy",),
        ROLE % '  inline_policy {\n    name = "p"\n    policy = "{}"\n  }\n',
    ),
    ("a policy attached", ("aws_iam_role_policy",), POLICY + ATTACHED),
    (
        "versioning inside the bucket",
        ("aws_s3_bucket_versioning",),
        _resource("aws_s3_bucket", "  versioning {\n    enabled = true\n  }"),
    ),
    (
        "a document in jsonencode",
        ("aws_iam_policy_document",),
        _resource("aws_iam_policy", "  policy = jsonencode({ Statement = [] })"),
    ),
]
NOT_BUILT = [
    ("nothing", ("aws_kms_key",), ""),
    ("one of two", ("aws_kms_key", "aws_vpc"), _resource("aws_kms_key", "  enable_key_rotation = true")),
    (
        "asked for twice, built once",
        ("aws_kms_key", "aws_kms_key"),
        _resource("aws_kms_key", "  enable_key_rotation = true"),
    ),
    ("a stub", ("aws_kms_key",), _resource("aws_kms_key", "")),
    ("a stub with tags", ("aws_kms_key",), _resource("aws_kms_key", '  tags = { Name = "k" }')),
    (
        "a stub with a lifecycle",
        ("aws_kms_key",),
        _resource("aws_kms_key", "  lifecycle {\n    prevent_destroy = true\n  }"),
    ),
    ("only nulls", ("aws_kms_key",), _resource("aws_kms_key", "  description = null\n  policy = null")),
    ("only empty strings", ("aws_kms_key",), _resource("aws_kms_key", '  description = ""')),
    ("never created", ("aws_kms_key",), _resource("aws_kms_key", "  count = 0\n  is_enabled = true")),
    ("for_each of nothing", ("aws_kms_key",), _resource("aws_kms_key", "  for_each = {}\n  is_enabled = true")),
    (
        "may be created",
        ("aws_kms_key",),
        'variable "n" {}\n' + _resource("aws_kms_key", "  count = var.n\n  is_enabled = true"),
    ),
    ("in a comment", ("aws_kms_key",), "/*\n" + _resource("aws_kms_key", "  is_enabled = true") + "*/\n"),
    (
        "in a heredoc",
        ("aws_kms_key",),
        "locals {\n  t = <<EOT\n" + _resource("aws_kms_key", "  is_enabled = true") + "EOT\n}\n",
    ),
    ("looked up, not built", ("aws_kms_key",), 'data "aws_kms_key" "k" {\n  key_id = "alias/k"\n}\n'),
    ("something near it", ("aws_kms_alias",), _resource("aws_kms_key", "  is_enabled = true")),
    ("a VPC without a range", ("aws_vpc",), _resource("aws_vpc", "  enable_dns_support = true")),
    ("an instance without an image", ("aws_instance",), _resource("aws_instance", '  instance_type = "t3.micro"')),
    ("an instance without a type", ("aws_instance",), _resource("aws_instance", '  ami = "a"')),
    (
        "an event rule for no event",
        ("aws_cloudwatch_event_rule",),
        _resource("aws_cloudwatch_event_rule", '  name = "r"'),
    ),
    ("a stream of no size", ("aws_kinesis_stream",), _resource("aws_kinesis_stream", '  name = "s"')),
    ("a target group of no port", ("aws_lb_target_group",), _resource("aws_lb_target_group", '  name = "t"')),
    (
        "a delivery to nowhere",
        ("aws_kinesis_firehose_delivery_stream",),
        _resource("aws_kinesis_firehose_delivery_stream", '  name        = "s"\n  destination = "extended_s3"'),
    ),
    ("a policy attached to nothing", ("aws_iam_role_policy",), POLICY),
    (
        "a managed policy of AWS attached",
        ("aws_iam_role_policy",),
        _resource(
            "aws_iam_role_policy_attachment", '  role = "r"\n  policy_arn = "arn:aws:iam::aws:policy/ReadOnlyAccess"'
        ),
    ),
    ("a group without rules", ("aws_security_group_rule",), GROUP % ""),
    (
        "in a module that is not here",
        ("aws_vpc",),
        'module "v" {\n  source = "terraform-aws-modules/vpc/aws"\n  cidr   = "10.0.0.0/16"\n}\n',
    ),
]


@pytest.mark.parametrize(
    ("expected", "name", "required", "hcl"),
    [(True, *case) for case in BUILT] + [(False, *case) for case in NOT_BUILT],
)
def test_builds_required(expected: bool, name: str, required: tuple[str, ...], hcl: str) -> None:
    report = scan(hcl, required=required)
    assert report.valid, report.errors
    assert report.gates["builds_required"] is expected


def test_no_critical_looks_at_failures_alone() -> None:
    database = 'variable "v" {}\nresource "aws_db_instance" "d" {\n  publicly_accessible = %s\n}\n'
    assert scan(database % "true").gates["no_critical"] is False
    assert scan(database % "var.v").gates["no_critical"] is True
    assert scan('resource "aws_s3_bucket" "b" {\n  bucket = "b"\n}\n').gates["no_critical"] is True
