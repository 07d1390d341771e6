"""Which passes count: those on the resources that were asked for and on what belongs to them.

Otherwise a configuration could bury a failure under resources that nobody asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rl_gym.hcl import Resource
from rl_gym.hcl.configuration import base_of
from rl_gym.iac.context import Context
from rl_gym.iac.equivalents import stand_ins
from rl_gym.iac.report import Finding

ATTACHMENTS: dict[str, tuple[str, ...]] = {
    "aws_autoscaling_group": ("launch_template.id", "launch_configuration"),
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
    "aws_rds_cluster_instance": ("cluster_identifier",),
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


def counted(results: Sequence[Finding], required: Sequence[str], context: Context) -> frozenset[int]:
    """Positions of the passes that count: all on requested resources, and on companions one for each rule.

    One, since a companion is cheap: nine empty security groups on an instance are not nine times as secure as one.
    With nothing requested every resource is.
    """
    passes = [position for position, result in enumerate(results) if result.verdict == "pass"]
    if not required:
        return frozenset(passes)
    wanted = {name for kind in required for name in stand_ins(kind)}
    requested = {one.address: one for one in context.all() if one.type in wanted}
    companions = _companions(requested, context)
    found: set[int] = set()
    rules: set[str] = set()
    for position in passes:
        address, rule = results[position].address, results[position].rule
        if address in requested or (base_of(address) in companions and rule not in rules):
            found.add(position)
            if address not in requested:
                rules.add(rule)
    return frozenset(found)


def _companions(requested: Mapping[str, Resource], context: Context) -> frozenset[str]:
    """Base addresses of the requested resources and of what hangs on them, transitively.

    What a resource refers to in its configuration belongs to it, and so does what attaches itself to it.
    """
    attached = _attached(context.all())
    found, pending = {one.base_address for one in requested.values()}, list(requested.values())
    while pending:
        current = pending.pop()
        for base in {*_mentions(current), *attached.get(current.base_address, ())} - found:
            found.add(base)
            pending.extend(context.instances(base))
    return frozenset(found)


def _mentions(resource: Resource) -> Iterable[str]:
    """Base addresses that the configuring arguments of a resource refer to."""
    names = [name for name in resource.attributes() if name not in _DECORATION]
    return {base for name in names for base in resource.references(name)}


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
