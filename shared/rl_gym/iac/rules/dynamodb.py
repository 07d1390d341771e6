"""DynamoDB: tables and their replicas in other regions."""

from __future__ import annotations

from rl_gym.hcl import Resource
from rl_gym.iac.context import Context
from rl_gym.iac.rules.registry import rule
from rl_gym.iac.verdicts import Answer, Body, answer, inside, truth, worst

_REPLICA = "aws_dynamodb_table_replica"
_RECOVERY = "point_in_time_recovery"


@rule(
    "ddb_encryption",
    severity="high",
    types=("aws_dynamodb_table",),
    title="Tables are encrypted with a key of the account",
    fix="add server_side_encryption { enabled = true }",
    short="server_side_encryption enabled",
    references=("CKV_AWS_119",),
    passing="""
        resource "aws_dynamodb_table" "orders" {
          name         = "orders"
          hash_key     = "id"
          billing_mode = "PAY_PER_REQUEST"
          attribute {
            name = "id"
            type = "S"
          }
          server_side_encryption {
            enabled = true
          }
        }
    """,
    failing="""
        resource "aws_dynamodb_table" "orders" {
          name         = "orders"
          hash_key     = "id"
          billing_mode = "PAY_PER_REQUEST"
          attribute {
            name = "id"
            type = "S"
          }
          server_side_encryption {
            enabled = false
          }
        }
    """,
)
def ddb_encryption(resource: Resource, context: Context) -> Answer | None:
    """Without the block the key belongs to AWS: its use can be neither audited nor revoked by the account."""
    path = "server_side_encryption.enabled"
    return answer(
        truth(resource.get(path), False),
        "server-side encryption uses a key of the account",
        "server-side encryption is not enabled",
        path,
    )


@rule(
    "dynamodb_pitr",
    severity="medium",
    types=("aws_dynamodb_table", _REPLICA),
    title="Tables can be restored to any point in time",
    fix="add a block point_in_time_recovery with enabled = true, and point_in_time_recovery = true to each replica",
    short="point_in_time_recovery enabled",
    references=("CKV_AWS_28", "CKV_AWS_165", "FSBP DynamoDB.2"),
    passing="""
        resource "aws_dynamodb_table" "orders" {
          name         = "orders"
          hash_key     = "id"
          billing_mode = "PAY_PER_REQUEST"
          attribute {
            name = "id"
            type = "S"
          }
          point_in_time_recovery {
            enabled = true
          }
        }
    """,
    failing="""
        resource "aws_dynamodb_table" "orders" {
          name         = "orders"
          hash_key     = "id"
          billing_mode = "PAY_PER_REQUEST"
          attribute {
            name = "id"
            type = "S"
          }
          point_in_time_recovery {
            enabled = false
          }
        }
    """,
)
def dynamodb_pitr(resource: Resource, context: Context) -> Answer | None:
    """What is overwritten or deleted comes back from the last 35 days; nothing is kept unless told.

    A replica in another region is a table of its own in this: that of its source does not cover it.
    """
    own = _RECOVERY if resource.type == _REPLICA else f"{_RECOVERY}.enabled"
    places = [(resource, own), *((block, _RECOVERY) for block in resource.blocks("replica"))]
    return worst(_recovers(body, path) for body, path in places)


def _recovers(body: Body, path: str) -> Answer:
    holds = inside(body, truth(body.get(path), False))
    return answer(holds, "it can be restored", "it cannot be restored to a point in time", path, body)
