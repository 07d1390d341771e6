"""The floor for requests that no builder drew: each required type once, protected by nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from random import Random

from rl_gym.iac.tasks.builders import BUILDERS
from rl_gym.iac.tasks.hcl_writer import Attr, Block, Item, quote, write
from rl_gym.iac.tasks.parts import Hurried, Stack

__all__ = ["BODIES", "bare"]

_PROJECT = "main"


def bare(required: Iterable[str]) -> str:
    """A configuration with a resource of every required type, as little of each as makes it one.

    Neighbours are named by made-up identifiers, so that each resource stands alone.
    """
    return write(block for kind in dict.fromkeys(required) for block in _blocks(kind))


def _blocks(resource_type: str) -> Iterator[Block]:
    builder = next((b for b in BUILDERS.values() if resource_type in b.types), None)
    if builder is None:
        yield Block("resource", (resource_type, _PROJECT), BODIES.get(resource_type, _NAMED))
        return
    part = builder.draw(_PROJECT, Random(resource_type))
    yield from builder.build(part, Stack(_PROJECT, [part]), Hurried(builder.floor_tagged))


def _text(**arguments: str) -> list[Item]:
    return [Attr(name, quote(value)) for name, value in arguments.items()]


def _trust(service: str) -> Attr:
    statement = f'{{ Effect = "Allow", Action = "sts:AssumeRole", Principal = {{ Service = "{service}" }} }}'
    return Attr("assume_role_policy", f'jsonencode({{ Version = "2012-10-17", Statement = [{statement}] }})')


def _grant() -> Attr:
    statement = '{ Effect = "Allow", Action = "s3:GetObject", Resource = "arn:aws:s3:::main/*" }'
    return Attr("policy", f'jsonencode({{ Version = "2012-10-17", Statement = [{statement}] }})')


_SUBNETS = '["subnet-0a1b2c3d", "subnet-4e5f6a7b"]'
_READ_ONLY = "arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess"
_ROLE = "arn:aws:iam::123456789012:role/main"
_TARGETS = "arn:aws:elasticloadbalancing:us-east-1:123456789012:targetgroup/main/0123456789abcdef"
_BALANCER = "arn:aws:elasticloadbalancing:us-east-1:123456789012:loadbalancer/app/main/0123456789abcdef"
_BALANCED: list[Item] = [*_text(name="main"), Attr("subnets", _SUBNETS)]
_LISTENER: list[Item] = [
    *_text(load_balancer_arn=_BALANCER),
    Attr("port", "80"),
    Block("default_action", (), _text(type="forward", target_group_arn=_TARGETS)),
]

_NAMED: list[Item] = _text(name=_PROJECT)

BODIES: Mapping[str, Sequence[Item]] = {
    "aws_alb": _BALANCED,
    "aws_autoscaling_group": [
        Attr("max_size", "2"),
        Attr("min_size", "1"),
        *_text(launch_configuration="main"),
        Attr("vpc_zone_identifier", _SUBNETS),
    ],
    "aws_cloudtrail": _text(name="main", s3_bucket_name="main-trail"),
    "aws_db_subnet_group": [*_text(name="main"), Attr("subnet_ids", _SUBNETS)],
    "aws_eks_cluster": [*_text(name="main", role_arn=_ROLE), Block("vpc_config", (), [Attr("subnet_ids", _SUBNETS)])],
    "aws_iam_instance_profile": _text(name="main", role="main"),
    "aws_iam_role": [*_text(name="main"), _trust("ec2.amazonaws.com")],
    "aws_iam_role_policy_attachment": _text(role="main", policy_arn=_READ_ONLY),
    "aws_iam_user_policy": [*_text(name="main", user="main"), _grant()],
    "aws_iam_user_policy_attachment": _text(user="main", policy_arn=_READ_ONLY),
    "aws_lambda_function": _text(
        function_name="main", role=_ROLE, filename="main.zip", handler="main.handler", runtime="python3.12"
    ),
    "aws_lb": _BALANCED,
    "aws_lb_listener": _LISTENER,
    "aws_lb_target_group_attachment": _text(target_group_arn=_TARGETS, target_id="i-0a1b2c3d"),
    "aws_redshift_cluster": _text(cluster_identifier="main", node_type="ra3.large", master_username="app"),
    "aws_route": _text(route_table_id="rtb-0a1b2c3d", destination_cidr_block="10.1.0.0/16", gateway_id="igw-0a1b2c3d"),
    "aws_route53_record": [
        *_text(zone_id="Z0123456789", name="main.example.com", type="A"),
        Attr("ttl", "300"),
        Attr("records", '["10.0.0.10"]'),
    ],
    "aws_route_table": _text(vpc_id="vpc-0a1b2c3d"),
    "aws_route_table_association": _text(route_table_id="rtb-0a1b2c3d", subnet_id="subnet-0a1b2c3d"),
    "aws_s3_bucket_acl": _text(bucket="main", acl="private"),
    "aws_s3_bucket_logging": _text(bucket="main", target_bucket="main-logs", target_prefix="log/"),
    "aws_s3_bucket_versioning": [
        *_text(bucket="main"),
        Block("versioning_configuration", (), _text(status="Suspended")),
    ],
    "aws_s3_object": _text(bucket="main", key="main.txt", content="main"),
    "aws_subnet": _text(vpc_id="vpc-0a1b2c3d", cidr_block="10.0.1.0/24"),
    "aws_vpc_security_group_egress_rule": _text(
        security_group_id="sg-0a1b2c3d", ip_protocol="-1", cidr_ipv4="0.0.0.0/0"
    ),
}
"""What the types that requests name most often, and no builder draws, cannot be made without; others get a name."""
