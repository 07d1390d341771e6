"""When a remedy is not a mechanical one after all: what a fixer asks of a resource before it edits."""

from __future__ import annotations

from collections.abc import Iterator

from rl_gym.iac.fixes.fixers import Subject
from rl_gym.iac.rules.ec2 import launch_template

__all__ = [
    "addressed_by_interface",
    "cannot_be_optimised",
    "devices_of_template",
    "has_lifecycle",
    "has_policy",
    "heard_by_services",
    "lists_no_device",
    "logs_nowhere",
    "metadata_of_template",
    "openings",
    "restored_or_replica",
]

_NOT_OPTIMISED = ("t1.", "t2.", "m1.", "m2.", "m3.", "c1.", "c3.", "cc2.", "cr1.", "hs1.", "g2.", "i2.", "r3.")
"""Families of instances that have no bandwidth of their own to volumes, or only in some sizes."""

_OPENING = {
    "aws_s3_bucket_acl": "s3_public_acl",
    "aws_s3_bucket_object": "s3_public_acl",
    "aws_s3_bucket_policy": "s3_policy_public",
    "aws_s3_object": "s3_public_acl",
}
"""What may let everyone into a bucket, and the rule that says so of it."""


def restored_or_replica(subject: Subject) -> bool:
    """Whether the encryption of a database is that of another one, where it says nothing itself."""
    said = subject.resource.has("storage_encrypted")
    sources = ("replicate_source_db", "replication_source_identifier", "source_db_cluster_identifier")
    return said is False and any(subject.resource.has(path) for path in sources)


def devices_of_template(subject: Subject) -> bool:
    """Whether an instance has the root volume of its launch template."""
    return _of_template(subject, "root_block_device")


def metadata_of_template(subject: Subject) -> bool:
    """Whether an instance has the metadata options of its launch template."""
    return _of_template(subject, "metadata_options")


def _of_template(subject: Subject, block: str) -> bool:
    """Whether a block of an instance is that of its launch template, where that is in the configuration."""
    instance = subject.resource
    return not instance.blocks(block) and launch_template(instance, subject.context) is not None


def addressed_by_interface(subject: Subject) -> bool:
    """Whether an instance has a network interface of its own making, beside which it takes no word on addresses."""
    return bool(subject.resource.blocks("network_interface"))


def cannot_be_optimised(subject: Subject) -> bool:
    """Whether AWS may refuse to optimise an instance: its type is not known, or of an old family."""
    kind = subject.resource.get("instance_type")
    return not isinstance(kind, str) or kind.startswith(_NOT_OPTIMISED)


def heard_by_services(subject: Subject) -> bool:
    """Whether a service may publish to a topic: it has a policy, or something other than a subscription names it."""
    topic, rest = subject.resource, subject.context.all()
    named = any(topic.base_address in one.references() for one in rest if one.type != "aws_sns_topic_subscription")
    return named or has_policy(subject)


def has_lifecycle(subject: Subject) -> bool:
    """Whether a bucket says itself what becomes of its objects."""
    return bool(subject.resource.blocks("lifecycle_rule"))


def has_policy(subject: Subject) -> bool:
    """Whether a resource has, or may have, a policy in itself."""
    return subject.resource.has("policy") is not False


def lists_no_device(subject: Subject) -> bool:
    """Whether a launch template says nothing of volumes, not even under which name its image has the root volume."""
    return not subject.resource.blocks("block_device_mappings")


def logs_nowhere(subject: Subject) -> bool:
    """Whether a load balancer names no bucket for its logs."""
    return not any(block.has("bucket") for block in subject.resource.blocks("access_logs"))


def openings(subject: Subject) -> Iterator[tuple[str, str]]:
    """The findings, by rule and address, that may say of a bucket that it lets everyone in."""
    for rule in ("s3_public_acl", "s3_policy_public"):
        yield rule, subject.resource.address
    for kind, rule in _OPENING.items():
        for companion in subject.context.companions(subject.resource, kind, "bucket"):
            yield rule, companion.resource.address
