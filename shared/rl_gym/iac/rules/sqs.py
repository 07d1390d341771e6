"""SQS: queues."""

from __future__ import annotations

from rl_gym.hcl import Resource
from rl_gym.iac.context import Context
from rl_gym.iac.rules.registry import rule
from rl_gym.iac.verdicts import Answer, answer, given, some, truth

_KEY = "kms_master_key_id"
_MANAGED = "sqs_managed_sse_enabled"


@rule(
    "sqs_encrypted",
    severity="medium",
    types=("aws_sqs_queue",),
    title="Queues state how they are encrypted at rest",
    fix="set sqs_managed_sse_enabled = true, or kms_master_key_id to a KMS key",
    short="sqs_managed_sse_enabled = true",
    references=("CKV_AWS_27", "FSBP SQS.1"),
    passing="""
        resource "aws_sqs_queue" "orders" {
          name                    = "orders"
          sqs_managed_sse_enabled = true
        }
    """,
    failing="""
        resource "aws_sqs_queue" "orders" {
          name                    = "orders"
          sqs_managed_sse_enabled = false
        }
    """,
)
def sqs_encrypted(resource: Resource, context: Context) -> Answer | None:
    """Messages are encrypted with keys of SQS or with a KMS key, and the configuration says so.

    AWS encrypts new queues with SSE-SQS by itself since 2022, but the provider neither asks for it nor watches it
    where the argument is absent; the rule asks for the explicit statement, which keeps it on.
    """
    managed = truth(resource.get(_MANAGED), False)
    holds = some([managed, given(resource, _KEY)])
    return answer(holds, "messages are encrypted", "no encryption is stated", _MANAGED if managed is not True else _KEY)
