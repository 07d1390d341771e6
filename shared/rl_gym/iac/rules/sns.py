"""SNS: topics."""

from __future__ import annotations

from rl_gym.hcl import Resource
from rl_gym.iac.context import Context
from rl_gym.iac.rules.registry import rule
from rl_gym.iac.verdicts import Answer, answer, given


@rule(
    "sns_encrypted",
    severity="medium",
    types=("aws_sns_topic",),
    title="Topics are encrypted at rest",
    fix='set kms_master_key_id = "alias/aws/sns", or the id of a key of your own',
    short="kms_master_key_id",
    references=("CKV_AWS_26", "FSBP SNS.1"),
    passing="""
        resource "aws_sns_topic" "orders" {
          name              = "orders"
          kms_master_key_id = "alias/aws/sns"
        }
    """,
    failing="""
        resource "aws_sns_topic" "orders" {
          name = "orders"
        }
    """,
)
def sns_encrypted(resource: Resource, context: Context) -> Answer | None:
    """Messages that wait for delivery are encrypted with a KMS key; without one a topic keeps them in clear text."""
    path = "kms_master_key_id"
    return answer(given(resource, path), "messages are encrypted", "no KMS key is set", path)
