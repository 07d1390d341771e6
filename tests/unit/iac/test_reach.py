"""Which passes count: those on what was asked for, and on what says by one of its arguments that it is for it."""

from __future__ import annotations

import pytest

from rl_gym.iac.scan import scan

_BALANCER = """
resource "{kind}" "b" {{
  name    = "b"
  subnets = ["subnet-1", "subnet-2"]
}}
resource "{kind}_listener" "l" {{
  load_balancer_arn = {target}
  port              = 443
  protocol          = "HTTPS"
  certificate_arn   = "arn:aws:acm:eu-west-1:111122223333:certificate/1"
  default_action {{
    type             = "forward"
    target_group_arn = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/t/1"
  }}
}}
"""

_TABLE = """
resource "aws_dynamodb_table" "t" {{
  name     = "t"
  hash_key = "id"
  attribute {{
    name = "id"
    type = "S"
  }}
}}
resource "aws_dynamodb_table_replica" "r" {{
  global_table_arn       = {target}
  point_in_time_recovery = true
}}
"""

_WAREHOUSE = """
resource "aws_redshiftserverless_namespace" "n" {{
  namespace_name = "n"
}}
resource "aws_redshiftserverless_workgroup" "w" {{
  workgroup_name = "w"
  namespace_name = {target}
}}
"""


def _counted(hcl: str, required: str, leniently: bool) -> set[tuple[str, str]]:
    report = scan(hcl, required=[required])
    positions = report.rewarded_leniently if leniently else report.rewarded
    return {(report.results[position].rule, report.results[position].address) for position in positions}


@pytest.mark.parametrize(
    ("hcl", "required", "target", "rule", "address"),
    [
        (_BALANCER.replace("{kind}", "aws_lb"), "aws_lb", "aws_lb.b.arn", "elb_https_only", "aws_lb_listener.l"),
        (_BALANCER.replace("{kind}", "aws_alb"), "aws_alb", "aws_alb.b.arn", "elb_https_only", "aws_alb_listener.l"),
        (_TABLE, "aws_dynamodb_table", "aws_dynamodb_table.t.arn", "dynamodb_pitr", "aws_dynamodb_table_replica.r"),
        (
            _WAREHOUSE,
            "aws_redshiftserverless_namespace",
            "aws_redshiftserverless_namespace.n.namespace_name",
            "redshift_public",
            "aws_redshiftserverless_workgroup.w",
        ),
    ],
)
def test_what_attaches_itself_belongs_to_what_it_names_alone(
    hcl: str, required: str, target: str, rule: str, address: str
) -> None:
    assert (rule, address) in _counted(hcl.format(target=target), required, leniently=True)
    assert (rule, address) not in _counted(hcl.format(target='"elsewhere"'), required, leniently=True)
    # By itself it earns nothing, however safe it is: a resource that nobody asked for never raises a reward.
    assert (rule, address) not in _counted(hcl.format(target=target), required, leniently=False)


_DENIAL = """
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Deny"
      Principal = "*"
      Action    = "sqs:DeleteQueue"
      Resource  = "*"
    }]
  })
"""
_QUEUE = 'resource "aws_sqs_queue" "q" {{\n  name = "q"\n{policy}}}\n'


def test_a_policy_that_is_carried_at_will_earns_nothing_unless_a_policy_was_asked_for() -> None:
    carried = _QUEUE.format(policy=_DENIAL)
    assert scan(carried, required=["aws_sqs_queue"]).security == 0
    assert ("iam_wildcard", "aws_sqs_queue.q") in _counted(carried, "aws_sqs_queue", leniently=True)
    assert ("iam_wildcard", "aws_sqs_queue.q") in _counted(carried, "aws_sqs_queue_policy", leniently=False)


def test_what_a_carried_policy_grants_wrongly_costs_and_what_a_role_trusts_earns() -> None:
    opened = _QUEUE.format(policy=_DENIAL.replace("Deny", "Allow"))
    assert ("iam_wildcard_principal", "fail") in {
        (found.rule, found.verdict) for found in scan(opened, required=["aws_sqs_queue"]).findings
    }
    role = """
    resource "aws_iam_role" "r" {
      assume_role_policy = jsonencode({
        Version = "2012-10-17"
        Statement = [{ Effect = "Allow", Action = "sts:AssumeRole", Principal = { Service = "ec2.amazonaws.com" } }]
      })
      managed_policy_arns = ["arn:aws:iam::aws:policy/AWSSupportAccess"]
    }
    """
    assert _counted(role, "aws_iam_role", leniently=False) == {("iam_wildcard_principal", "aws_iam_role.r")}


_PASSES_A_ROLE = """
  inline_policy {
    name = "deploy"
    policy = jsonencode({
      Version = "2012-10-17"
      Statement = [{ Effect = "Allow", Action = "iam:PassRole", Resource = "arn:aws:iam::111122223333:role/app" }]
    })
  }
"""


@pytest.mark.parametrize(
    ("kind", "carried"),
    [
        ("aws_ecr_repository_creation_template", _DENIAL.replace("policy =", "repository_policy =")),
        ("aws_glacier_vault", _DENIAL.replace("policy =", "access_policy =")),
        ("aws_iam_role", _PASSES_A_ROLE),
        ("aws_kms_key", _DENIAL),
        ("aws_kms_replica_external_key", _DENIAL),
        ("aws_opensearch_domain", _DENIAL.replace("policy =", "access_policies =")),
        ("aws_s3_access_point", _DENIAL),
        ("aws_s3_bucket", _DENIAL),
        ("aws_vpc_endpoint", _DENIAL),
    ],
)
def test_no_rule_rewards_a_harmless_policy_that_its_resource_would_be_as_safe_without(kind: str, carried: str) -> None:
    bare, carrying = (f'resource "{kind}" "one" {{\n  name = "one"\n{policy}}}\n' for policy in ("", carried))
    assert _counted(carrying, kind, leniently=True) > _counted(bare, kind, leniently=True)
    assert _counted(carrying, kind, leniently=False) == _counted(bare, kind, leniently=False)


_SERVER = """
resource "aws_kms_key" "k" {{
  enable_key_rotation = true
}}
resource "aws_security_group" "g" {{
  name = "g"
}}
resource "aws_instance" "i" {{
  ami           = "ami-0abcdef1234567890"
  instance_type = "t3.micro"
  {argument}
}}
"""


@pytest.mark.parametrize(
    ("argument", "address"),
    [
        ("vpc_security_group_ids = [aws_security_group.g.id]", "aws_security_group.g"),
        ("vpc_security_group_ids = [aws_security_group.other.id, aws_security_group.g.id]", "aws_security_group.g"),
        ("root_block_device {\n    kms_key_id = aws_kms_key.k.arn\n  }", "aws_kms_key.k"),
    ],
)
def test_what_an_argument_takes_belongs_to_the_resource(argument: str, address: str) -> None:
    counted = _counted(_SERVER.format(argument=argument), "aws_instance", leniently=False)
    assert {where for _, where in counted} == {address}


@pytest.mark.parametrize(
    "argument",
    [
        'user_data = "${aws_kms_key.k.id}"',
        "key_name = aws_kms_key.k.id",
        "iam_instance_profile = aws_security_group.g.id",
        'root_block_device {\n    kms_key_id = "${aws_kms_key.k.arn}${aws_security_group.g.id}"\n  }',
    ],
)
def test_what_an_argument_only_mentions_belongs_to_nobody(argument: str) -> None:
    assert _counted(_SERVER.format(argument=argument), "aws_instance", leniently=False) == set()


@pytest.mark.parametrize("document", ['"{}"', "jsonencode({ Statement = [] })", "data.aws_iam_policy_document.d.json"])
def test_a_policy_that_states_nothing_earns_nothing(document: str) -> None:
    hcl = f'data "aws_iam_policy_document" "d" {{}}\nresource "aws_iam_policy" "p" {{\n  policy = {document}\n}}\n'
    assert {rule for rule, _ in _counted(hcl, "aws_iam_policy", leniently=True)} >= {"iam_wildcard"}
    assert _counted(hcl, "aws_iam_policy", leniently=False) == set()


@pytest.mark.parametrize("kind", ["aws_dynamodb_resource_policy", "aws_glacier_vault_lock"])
def test_a_policy_of_a_resource_earns_by_what_it_states(kind: str) -> None:
    named = _DENIAL.replace('Principal = "*"', 'Principal = { AWS = "arn:aws:iam::111122223333:root" }')
    stating, silent = (f'resource "{kind}" "p" {{{policy}}}\n' for policy in (named, '\n  policy = "{}"\n'))
    assert _counted(stating, kind, leniently=False) == {("iam_wildcard_principal", f"{kind}.p")}
    assert _counted(silent, kind, leniently=False) == set()


def test_what_only_may_be_created_takes_the_place_of_nothing_that_is() -> None:
    key = 'resource "aws_kms_key" "{}" {{\n{}  enable_key_rotation = true\n}}\n'
    hcl = 'variable "n" {}\n' + key.format("maybe", "  count = var.n\n") + key.format("sure", "")
    assert ("kms_rotation", "aws_kms_key.sure") in _counted(hcl, "aws_kms_key", leniently=False)
