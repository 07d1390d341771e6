"""Redshift: clusters and serverless workgroups."""

from __future__ import annotations

from rl_gym.hcl import Resource
from rl_gym.iac.context import Context
from rl_gym.iac.rules.registry import rule
from rl_gym.iac.verdicts import Answer, answer, truth, written

_CLUSTER = "aws_redshift_cluster"
_RESTORED_FROM = ("snapshot_identifier", "snapshot_arn")


@rule(
    "redshift_public",
    severity="high",
    types=(_CLUSTER, "aws_redshiftserverless_workgroup"),
    title="Data warehouses have no public address",
    fix="set publicly_accessible = false",
    references=("CKV_AWS_87", "FSBP Redshift.1", "FSBP RedshiftServerless.3"),
    passing="""
        resource "aws_redshift_cluster" "sales" {
          cluster_identifier  = "sales"
          node_type           = "ra3.large"
          publicly_accessible = false
        }
    """,
    failing="""
        resource "aws_redshift_cluster" "sales" {
          cluster_identifier  = "sales"
          node_type           = "ra3.large"
          publicly_accessible = true
        }
    """,
)
def redshift_public(resource: Resource, context: Context) -> Answer | None:
    """A public address leaves the security group as the only thing between the internet and the warehouse.

    A cluster must say so: version 5 of the provider makes it public where the argument is absent, version 6 does not.
    A serverless workgroup is private unless told otherwise.
    """
    public = truth(resource.get("publicly_accessible"), resource.type == _CLUSTER)
    holds = None if public is None else not public
    return answer(holds, "it has no public address", "it has a public address", "publicly_accessible")


@rule(
    "redshift_encrypted",
    severity="high",
    types=(_CLUSTER,),
    title="Data warehouses are encrypted at rest",
    fix="set encrypted = true",
    references=("CKV_AWS_64", "FSBP Redshift.10"),
    passing="""
        resource "aws_redshift_cluster" "sales" {
          cluster_identifier = "sales"
          node_type          = "ra3.large"
          encrypted          = true
        }
    """,
    failing="""
        resource "aws_redshift_cluster" "sales" {
          cluster_identifier = "sales"
          node_type          = "ra3.large"
          encrypted          = false
        }
    """,
)
def redshift_encrypted(resource: Resource, context: Context) -> Answer | None:
    """Blocks, metadata and snapshots of the cluster are encrypted. A key alone encrypts nothing.

    A cluster must say so: version 5 of the provider leaves it plain where the argument is absent, version 6 does not.
    One that is restored is encrypted as its snapshot is. Serverless namespaces always are, and are not asked.
    """
    value = resource.get("encrypted")
    if value is None and any(written(resource, path) is not False for path in _RESTORED_FROM):
        return Answer("unknown", "the cluster is encrypted if its snapshot is", "snapshot_identifier")
    return answer(truth(value, False), "the cluster is encrypted", "the cluster is not encrypted", "encrypted")
