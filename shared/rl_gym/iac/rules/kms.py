"""KMS: keys and their rotation."""

from __future__ import annotations

from rl_gym.hcl import UNKNOWN, Resource
from rl_gym.iac.context import Context
from rl_gym.iac.rules.registry import rule
from rl_gym.iac.verdicts import Answer, answer, truth, written


@rule(
    "kms_rotation",
    severity="medium",
    types=("aws_kms_key",),
    title="Customer managed keys rotate",
    fix="set enable_key_rotation = true",
    references=("CKV_AWS_7", "CIS AWS 3.6"),
)
def kms_rotation(resource: Resource, context: Context) -> Answer | None:
    """Yearly rotation limits what a leaked key opens. It exists for symmetric encryption keys held by KMS alone."""
    rotates = truth(resource.get("enable_key_rotation"), False)
    if not rotates:
        usage = resource.get("key_usage", "ENCRYPT_DECRYPT")
        spec = resource.get("customer_master_key_spec", "SYMMETRIC_DEFAULT")
        if usage is UNKNOWN or spec is UNKNOWN:
            return Answer("unknown", "the kind of key is not known before apply", "customer_master_key_spec")
        if (usage, spec) != ("ENCRYPT_DECRYPT", "SYMMETRIC_DEFAULT") or written(resource, "custom_key_store_id"):
            return None
    return answer(rotates, "the key rotates", "the key does not rotate", "enable_key_rotation")
