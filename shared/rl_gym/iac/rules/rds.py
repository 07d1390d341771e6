"""RDS: instances and clusters."""

from __future__ import annotations

from rl_gym.hcl import UNKNOWN, Resource
from rl_gym.iac.context import Context
from rl_gym.iac.rules.registry import rule
from rl_gym.iac.verdicts import Answer, answer, number, truth, written

_REPLICA_OF = ("replicate_source_db", "replication_source_identifier", "source_db_cluster_identifier")
_RESTORED_FROM = ("snapshot_identifier", "restore_to_point_in_time")
_LARGEST_CHAIN = 4


@rule(
    "rds_public",
    severity="critical",
    types=("aws_db_instance", "aws_rds_cluster_instance"),
    title="Databases have no public address",
    fix="set publicly_accessible = false",
    references=("CKV_AWS_17", "CIS AWS 2.3.3"),
)
def rds_public(resource: Resource, context: Context) -> Answer | None:
    """A public address leaves the security group as the only thing between the internet and the data.

    Absent means false for both types.
    """
    public = truth(resource.get("publicly_accessible"), False)
    holds = None if public is None else not public
    return answer(holds, "the database has no public address", "the database is public", "publicly_accessible")


@rule(
    "rds_encrypted",
    severity="high",
    types=("aws_db_instance", "aws_rds_cluster", "aws_rds_global_cluster"),
    title="Databases are encrypted at rest",
    fix="set storage_encrypted = true",
    references=("CKV_AWS_16", "CKV_AWS_96", "CIS AWS 2.3.1"),
)
def rds_encrypted(resource: Resource, context: Context) -> Answer | None:
    """Storage, backups and replicas share the encryption of the instance or cluster; absent means unencrypted.

    A replica is encrypted as its source is, a restored database as its snapshot, a serverless cluster always.
    """
    holds, reason = _encrypted(resource, context, _LARGEST_CHAIN)
    return answer(holds, "storage is encrypted", reason, "storage_encrypted")


def _encrypted(resource: Resource, context: Context, depth: int) -> tuple[bool | None, str]:
    value = resource.get("storage_encrypted")
    if value is not None:
        return truth(value, False), "storage is not encrypted"
    if resource.get("engine_mode") == "serverless":
        return True, ""
    for path in _REPLICA_OF:
        if resource.has(path):
            source = context.referred(resource, path)
            if source is None or depth == 0:
                return None, ""
            holds, _ = _encrypted(source, context, depth - 1)
            return holds, f"storage is not encrypted at its source {source.address}"
    if any(resource.has(path) or resource.blocks(path) for path in _RESTORED_FROM):
        return None, ""
    return False, "storage is not encrypted"


@rule(
    "rds_backup",
    severity="medium",
    types=("aws_db_instance", "aws_rds_cluster"),
    title="Databases keep automatic backups",
    fix="set backup_retention_period to 7 or more days",
    references=("CKV_AWS_133",),
)
def rds_backup(resource: Resource, context: Context) -> Answer | None:
    """At least one day of automatic backups. An instance keeps none unless told; an Aurora cluster keeps one day.

    Read replicas are left out: their source keeps the backups.
    """
    path = "backup_retention_period"
    days = resource.get(path, 1 if resource.type == "aws_rds_cluster" else 0)
    if days is UNKNOWN:
        return answer(None, "", "", path)
    kept = (number(days) or 0) >= 1
    if not kept and any(resource.has(replica) for replica in _REPLICA_OF):
        return None
    return answer(kept, f"backups are kept for {days} days", "no backups are kept", path)


@rule(
    "rds_multi_az",
    severity="medium",
    types=("aws_db_instance",),
    title="Databases stand by in a second zone",
    fix="set multi_az = true",
    references=("CKV_AWS_157",),
)
def rds_multi_az(resource: Resource, context: Context) -> Answer | None:
    """A standby takes over when a zone fails. Read replicas are left out: they are the copy."""
    standby = truth(resource.get("multi_az"), False)
    if not standby and written(resource, "replicate_source_db"):
        return None
    return answer(standby, "a standby is kept in another zone", "there is no standby in another zone", "multi_az")
