"""What belongs to a resource: what it refers to, and what attaches itself to it, found in the reference graph."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from rl_gym.hcl import Block, Resource
from rl_gym.iac.context import Context, type_of

__all__ = ["ATTACHMENTS", "Belongings", "belongings", "mentions", "taken"]

ATTACHMENTS: dict[str, tuple[str, ...]] = {
    "aws_alb_listener": ("load_balancer_arn",),
    "aws_alb_listener_rule": ("listener_arn",),
    "aws_autoscaling_group": ("launch_template.id", "launch_configuration"),
    "aws_cloudwatch_log_delivery": ("delivery_source_name",),
    "aws_cloudwatch_log_delivery_source": ("resource_arn",),
    "aws_dynamodb_table_replica": ("global_table_arn",),
    "aws_eip": ("instance", "network_interface"),
    "aws_eip_association": ("instance_id", "network_interface_id"),
    "aws_flow_log": ("vpc_id",),
    "aws_iam_group_policy": ("group",),
    "aws_iam_group_policy_attachment": ("group", "policy_arn"),
    "aws_iam_policy_attachment": ("policy_arn",),
    "aws_iam_role_policy": ("role",),
    "aws_iam_role_policy_attachment": ("role", "policy_arn"),
    "aws_iam_user_policy": ("user",),
    "aws_iam_user_policy_attachment": ("user", "policy_arn"),
    "aws_kms_alias": ("target_key_id",),
    "aws_kms_key_policy": ("key_id",),
    "aws_lb_listener": ("load_balancer_arn",),
    "aws_lb_listener_rule": ("listener_arn",),
    "aws_rds_cluster_instance": ("cluster_identifier",),
    "aws_redshiftserverless_workgroup": ("namespace_name",),
    "aws_s3_bucket_*": ("bucket",),
    "aws_secretsmanager_secret_policy": ("secret_id",),
    "aws_secretsmanager_secret_rotation": ("secret_id",),
    "aws_secretsmanager_secret_version": ("secret_id",),
    "aws_security_group_rule": ("security_group_id",),
    "aws_sns_topic_policy": ("arn",),
    "aws_sqs_queue_policy": ("queue_url",),
    "aws_vpc_security_group_egress_rule": ("security_group_id",),
    "aws_vpc_security_group_ingress_rule": ("security_group_id",),
}
"""The argument by which a companion says what it is for."""

_DECORATION = frozenset(
    {"tags", "tags_all", "depends_on", "lifecycle", "description", "name", "name_prefix", "count", "for_each"}
)
"""Arguments in which a mention of another resource makes it no part of this one."""

_PLACES = {
    "aws_alb": "load_balancer",
    "aws_cloudwatch_log_group": "logs?_group|log_destination",
    "aws_db_subnet_group": "subnet_group",
    "aws_efs_file_system": "file_system",
    "aws_iam_instance_profile": "instance_profile",
    "aws_iam_policy": "policy|permissions_boundary",
    "aws_iam_role": "role",
    "aws_kms_alias": "kms|kms_key|kms_master_key",
    "aws_kms_key": "kms|kms_key|kms_master_key|target_key|key(?=_arn)",
    "aws_launch_configuration": "launch_configuration",
    "aws_launch_template": "launch_template",
    "aws_lb": "load_balancer",
    "aws_lb_target_group": "target_group",
    "aws_rds_cluster": "cluster",
    "aws_s3_bucket": "bucket|log_destination",
    "aws_security_group": "security_group",
    "aws_sns_topic": "topic",
    "aws_sqs_queue": "queue",
    "aws_subnet": "subnet",
    "aws_vpc": "vpc",
}
"""What the arguments are called that take a thing of a type: `kms_key_id` a key, `launch_template.id` a template."""

_ENDING = r"s?(?:_(?:id|arn|name|identifier)s?)?(?:\.(?:id|name))?$"
_FITTING = {kind: re.compile(rf"(?:^|[._])(?:{place}){_ENDING}") for kind, place in _PLACES.items()}


class Belongings(NamedTuple):
    """Base addresses of what belongs to some resources: all of it, and what is referred to on the way."""

    all: frozenset[str]
    referred: frozenset[str]


def belongings(
    resources: Mapping[str, Resource], context: Context, mentioned: Callable[[Resource], Iterable[str]]
) -> Belongings:
    """What hangs on these resources, transitively, themselves included.

    What a resource refers to in its configuration (`mentioned`: base addresses) belongs to it, and so does what
    attaches itself to it.
    """
    attached = _attached(context.all())
    found, pending = {one.base_address for one in resources.values()}, list(resources.values())
    referred: set[str] = set()
    while pending:
        current = pending.pop()
        named = set(mentioned(current))
        referred |= named
        for base in {*named, *attached.get(current.base_address, ())} - found:
            found.add(base)
            pending.extend(context.instances(base))
    return Belongings(frozenset(found), frozenset(referred))


def mentions(resource: Resource) -> Iterable[str]:
    """Base addresses that the configuring arguments of a resource refer to."""
    names = [name for name in resource.attributes() if name not in _DECORATION]
    return {base for name in names for base in resource.references(name)}


def taken(resource: Resource) -> Iterator[str]:
    """Base addresses of what a resource refers to by an argument that takes things of that kind, one by one."""
    for path, block, name in _arguments(resource):
        found = block.references(name)
        if len(found) == 1 or isinstance(block.raw[name], list):
            yield from (base for base in found if _fits(path, type_of(base)))


def _arguments(block: Block, prefix: str = "") -> Iterator[tuple[str, Block, str]]:
    """Every argument in a block: its path, and the innermost block and the name that it has there."""
    for name in block.raw:
        yield prefix + name, block, name
    for name, inner in block.nested.items():
        for one in inner:
            yield from _arguments(one, f"{prefix}{name}.")


def _fits(path: str, kind: str) -> bool:
    return kind in _FITTING and _FITTING[kind].search(path) is not None


def _attached(resources: Iterable[Resource]) -> dict[str, set[str]]:
    """Base addresses of companions by that of what they are attached to."""
    found: dict[str, set[str]] = {}
    for resource in resources:
        for path in _attachment_paths(resource.type):
            for base in resource.references(path):
                found.setdefault(base, set()).add(resource.base_address)
    return found


def _attachment_paths(kind: str) -> tuple[str, ...]:
    return ATTACHMENTS.get("aws_s3_bucket_*" if kind.startswith("aws_s3_bucket_") else kind, ())
