"""The floor for requests that no builder drew: each required type once, protected by nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from random import Random
from typing import Any

from rl_gym.hcl.conversion import Type
from rl_gym.iac.equivalents import essentials
from rl_gym.iac.schema.bundled import versions
from rl_gym.iac.schema.combinations import AT_LEAST_ONE
from rl_gym.iac.schema.packing import Body
from rl_gym.iac.secret_names import names_secret
from rl_gym.iac.tasks.builders import BUILDERS
from rl_gym.iac.tasks.hcl_writer import Attr, Block, Item, quote, write
from rl_gym.iac.tasks.parts import Hurried, Stack

__all__ = ["BODIES", "bare"]

_PROJECT = "main"


def bare(required: Iterable[str]) -> str:
    """A configuration with a resource of every required type, as little of each as makes it one.

    Neighbours are named by made-up identifiers, so that each resource stands alone.
    """
    blocks = [block for kind in dict.fromkeys(required) for block in _blocks(kind)]
    if any(_asks_for_secret(block) for block in blocks):
        blocks.insert(0, _SECRET)
    return write(blocks)


def _blocks(resource_type: str) -> Iterator[Block]:
    builder = next((b for b in BUILDERS.values() if resource_type in b.types), None)
    if builder is None:
        body = BODIES.get(resource_type) or _required_by_schema(resource_type)
        yield Block("resource", (resource_type, _PROJECT), body)
        return
    part = builder.draw(_PROJECT, Random(resource_type))
    yield from builder.build(part, Stack(_PROJECT, [part]), Hurried(builder.floor_tagged))


def _required_by_schema(resource_type: str) -> Sequence[Item]:
    """What the provider requires, and what makes it one; a name alone of a type that is not known."""
    body = next((found for one in versions() if (found := one.find("resource", resource_type))), None)
    if body is None:
        return _NAMED
    besides = {group[0] for group in (*AT_LEAST_ONE.get(resource_type, ()), *essentials(resource_type))}
    optional = [name for name, one in body.attributes.items() if one.settable and one.type == "string"]
    if not besides and not body.required and not body.needed:
        besides = set(optional[:1])
    return _items(body, besides | {"name"} & set(optional))


def _items(body: Body, besides: Collection[str] = ()) -> list[Item]:
    """The required arguments and blocks of a body, with those named besides."""
    arguments = [name for name in body.attributes if name in body.required or name in besides]
    items: list[Item] = [Attr(name, _value(name, body.attributes[name].type)) for name in arguments]
    for name, nested in body.blocks.items():
        times = max(nested.least, int(name in besides))
        items += [Block(name, (), _items(nested.body)) for _ in range(times)]
    return items


def _value(name: str, kind: Type) -> str:
    """A made-up value of a type: a secret is a variable's, and a policy grants something small."""
    if isinstance(kind, tuple):
        return _collection(name, kind)
    if names_secret(name):
        return "var.secret"
    if name.endswith(("policy", "policies", "policy_document")):
        return _GRANT
    return {"number": "1", "bool": "false"}.get(kind, quote(_PROJECT))


def _collection(name: str, kind: tuple[Any, ...]) -> str:
    match kind[0], kind[1]:
        case "map", inner:
            return f"{{ {_PROJECT} = {_value(name, inner)} }}"
        case "object", fields:
            return "{ " + ", ".join(f"{field} = {_value(field, inner)}" for field, inner in fields) + " }"
        case "tuple", inners:
            return "[" + ", ".join(_value(name, inner) for inner in inners) + "]"
        case _, inner:
            return f"[{_value(name, inner)}]"


def _asks_for_secret(block: Block) -> bool:
    items = [item for item in block.body if item is not None]
    return any(_asks_for_secret(item) if isinstance(item, Block) else item.value == "var.secret" for item in items)


def _text(**arguments: str) -> list[Item]:
    return [Attr(name, quote(value)) for name, value in arguments.items()]


def _document(statement: str) -> str:
    """A policy of one statement, on one line."""
    return f'jsonencode({{ Version = "2012-10-17", Statement = [{{ {statement} }}] }})'


_GRANT = _document('Effect = "Allow", Action = "s3:GetObject", Resource = "arn:aws:s3:::main/*"')
_TRUST = _document('Effect = "Allow", Action = "sts:AssumeRole", Principal = { Service = "ec2.amazonaws.com" }')
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
_SECRET = Block("variable", ("secret",), [Attr("type", "string"), Attr("sensitive", "true")])

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
    "aws_iam_role": [*_text(name="main"), Attr("assume_role_policy", _TRUST)],
    "aws_iam_role_policy_attachment": _text(role="main", policy_arn=_READ_ONLY),
    "aws_iam_user_policy": [*_text(name="main", user="main"), Attr("policy", _GRANT)],
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
"""What types that requests name often, and no builder draws, are made of; others hold what the provider requires."""
