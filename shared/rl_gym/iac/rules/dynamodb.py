"""DynamoDB tables."""

from __future__ import annotations

from rl_gym.hcl import Resource
from rl_gym.iac.context import Context
from rl_gym.iac.rules.registry import rule
from rl_gym.iac.verdicts import Answer, answer, truth


@rule(
    "ddb_encryption",
    severity="high",
    types=("aws_dynamodb_table",),
    title="Tables are encrypted with a key of the account",
    fix="add server_side_encryption { enabled = true }",
    references=("CKV_AWS_28", "CKV_AWS_119"),
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
