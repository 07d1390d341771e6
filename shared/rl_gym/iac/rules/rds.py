"""RDS: instances and clusters."""

from __future__ import annotations

from rl_gym.hcl import UNKNOWN, Resource
from rl_gym.iac.context import Context
from rl_gym.iac.rules.registry import rule
from rl_gym.iac.verdicts import Answer, Truth, answer, number, some, truth, written

_REPLICA_OF = ("replicate_source_db", "replication_source_identifier", "source_db_cluster_identifier")
_RESTORED_FROM = ("snapshot_identifier", "restore_to_point_in_time")
_LARGEST_CHAIN = 4
_WITHOUT_IAM = ("oracle-", "sqlserver-", "db2-", "custom-oracle-", "custom-sqlserver-")
"""How the engines begin whose users cannot log in with IAM; those of MySQL, PostgreSQL, MariaDB and Aurora can."""


@rule(
    "rds_public",
    severity="critical",
    types=("aws_db_instance", "aws_rds_cluster_instance"),
    title="Databases have no public address",
    fix="set publicly_accessible = false",
    references=("CKV_AWS_17", "CIS AWS 2.3.3", "FSBP RDS.2"),
    passing="""
        resource "aws_db_instance" "app" {
          engine              = "postgres"
          instance_class      = "db.t4g.small"
          allocated_storage   = 20
          publicly_accessible = false
        }
    """,
    failing="""
        resource "aws_db_instance" "app" {
          engine              = "postgres"
          instance_class      = "db.t4g.small"
          allocated_storage   = 20
          publicly_accessible = true
        }
    """,
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
    references=("CKV_AWS_16", "CKV_AWS_96", "CIS AWS 2.3.1", "FSBP RDS.3", "FSBP RDS.27"),
    passing="""
        resource "aws_db_instance" "app" {
          engine            = "postgres"
          instance_class    = "db.t4g.small"
          allocated_storage = 20
          storage_encrypted = true
        }
    """,
    failing="""
        resource "aws_db_instance" "app" {
          engine            = "postgres"
          instance_class    = "db.t4g.small"
          allocated_storage = 20
          storage_encrypted = false
        }
    """,
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
    short="backup_retention_period >= 7",
    references=("CKV_AWS_133", "FSBP RDS.11"),
    passing="""
        resource "aws_db_instance" "app" {
          engine                  = "postgres"
          instance_class          = "db.t4g.small"
          allocated_storage       = 20
          backup_retention_period = 7
        }
    """,
    failing="""
        resource "aws_db_instance" "app" {
          engine                  = "postgres"
          instance_class          = "db.t4g.small"
          allocated_storage       = 20
          backup_retention_period = 0
        }
    """,
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
    references=("CKV_AWS_157", "FSBP RDS.5"),
    passing="""
        resource "aws_db_instance" "app" {
          engine            = "postgres"
          instance_class    = "db.t4g.small"
          allocated_storage = 20
          multi_az          = true
        }
    """,
    failing="""
        resource "aws_db_instance" "app" {
          engine            = "postgres"
          instance_class    = "db.t4g.small"
          allocated_storage = 20
          multi_az          = false
        }
    """,
)
def rds_multi_az(resource: Resource, context: Context) -> Answer | None:
    """A standby takes over when a zone fails. Read replicas are left out: they are the copy."""
    standby = truth(resource.get("multi_az"), False)
    if not standby and written(resource, "replicate_source_db"):
        return None
    return answer(standby, "a standby is kept in another zone", "there is no standby in another zone", "multi_az")


@rule(
    "rds_deletion_protection",
    severity="medium",
    types=("aws_db_instance", "aws_rds_cluster"),
    title="Databases are protected from deletion",
    fix="set deletion_protection = true",
    references=("CKV_AWS_139", "CKV_AWS_293", "FSBP RDS.7", "FSBP RDS.8"),
    passing="""
        resource "aws_db_instance" "app" {
          engine              = "postgres"
          instance_class      = "db.t4g.small"
          allocated_storage   = 20
          deletion_protection = true
        }
    """,
    failing="""
        resource "aws_db_instance" "app" {
          engine              = "postgres"
          instance_class      = "db.t4g.small"
          allocated_storage   = 20
          deletion_protection = false
        }
    """,
)
def rds_deletion_protection(resource: Resource, context: Context) -> Answer | None:
    """Neither a slip nor a stolen key deletes the data in one call; nothing is protected unless told.

    Read replicas are left out: their source has the data. Members of a cluster hold none, and are not asked.
    """
    protected = truth(resource.get("deletion_protection"), False)
    replica = some(written(resource, path) for path in _REPLICA_OF)
    if not protected and replica:
        return None
    if protected is False and replica is None:
        return Answer("unknown", "whether it is a replica is not known before apply", "replicate_source_db")
    return answer(protected, "deletion is refused", "one call deletes the database", "deletion_protection")


@rule(
    "rds_iam_auth",
    severity="low",
    types=("aws_db_instance", "aws_rds_cluster"),
    title="Databases let users log in with IAM",
    fix="set iam_database_authentication_enabled = true",
    references=("CKV_AWS_161", "CKV_AWS_162", "FSBP RDS.10", "FSBP RDS.12"),
    passing="""
        resource "aws_db_instance" "app" {
          engine                              = "postgres"
          instance_class                      = "db.t4g.small"
          allocated_storage                   = 20
          iam_database_authentication_enabled = true
        }
    """,
    failing="""
        resource "aws_db_instance" "app" {
          engine                              = "postgres"
          instance_class                      = "db.t4g.small"
          allocated_storage                   = 20
          iam_database_authentication_enabled = false
        }
    """,
)
def rds_iam_auth(resource: Resource, context: Context) -> Answer | None:
    """Short-lived tokens stand in for passwords that somebody keeps; they are off unless told.

    Asked of all engines but those that cannot: Oracle, SQL Server, Db2, and the first serverless version of Aurora.
    Every engine that a cluster may have is one that can.
    """
    path = "iam_database_authentication_enabled"
    enabled = truth(resource.get(path), False)
    supported = _takes_iam(resource, context)
    if supported is False:
        return None
    if supported is None and not enabled:
        return Answer("unknown", "whether the engine takes IAM tokens is not known before apply", "engine")
    return answer(enabled, "users may log in with IAM", "users log in with passwords alone", path)


def _takes_iam(resource: Resource, context: Context) -> Truth:
    mode = resource.get("engine_mode")
    if mode == "serverless":
        return False
    engine = _engine(resource, context, _LARGEST_CHAIN)
    if resource.type == "aws_rds_cluster" and engine in (None, UNKNOWN):
        return None if mode is UNKNOWN else True
    return None if engine is UNKNOWN else engine is not None and not str(engine).startswith(_WITHOUT_IAM)


def _engine(resource: Resource, context: Context, depth: int) -> object:
    """The engine of a database: that of its source for a replica, unknown for one that is restored."""
    engine = resource.get("engine")
    if engine is not None:
        return engine
    for path in _REPLICA_OF:
        if resource.has(path):
            source = context.referred(resource, path)
            return UNKNOWN if source is None or depth == 0 else _engine(source, context, depth - 1)
    return UNKNOWN if any(resource.has(path) or resource.blocks(path) for path in _RESTORED_FROM) else None
