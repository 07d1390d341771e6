"""KMS: keys, their rotation, and to whom they are given."""

from __future__ import annotations

from rl_gym.hcl import UNKNOWN, Resource
from rl_gym.iac.context import Context
from rl_gym.iac.grants import grant, judged
from rl_gym.iac.key_policies import kept
from rl_gym.iac.rules.registry import rule
from rl_gym.iac.verdicts import Answer, answer, truth, worst, written

_KEYS = ("aws_kms_key", "aws_kms_external_key", "aws_kms_replica_key", "aws_kms_replica_external_key")
_KEY_POLICY = "aws_kms_key_policy"


@rule(
    "kms_rotation",
    severity="medium",
    types=("aws_kms_key",),
    title="Customer managed keys rotate",
    fix="set enable_key_rotation = true",
    references=("CKV_AWS_7", "CIS AWS 3.6", "FSBP KMS.4"),
    passing="""
        resource "aws_kms_key" "k" {
          enable_key_rotation = true
        }
    """,
    failing="""
        resource "aws_kms_key" "k" {
          enable_key_rotation = false
        }
    """,
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


@rule(
    "kms_key_policy",
    severity="high",
    types=(*_KEYS, _KEY_POLICY),
    title="No key is given to everyone or to all of another account",
    fix="give the key to the root of its own account and to single roles, and bind other accounts by conditions",
    short="no key for everyone",
    references=("CKV_AWS_33", "FSBP KMS.5"),
    passing="""
        resource "aws_kms_key" "k" {
          policy = jsonencode({
            Version = "2012-10-17"
            Statement = [{
              Effect    = "Allow"
              Principal = { AWS = "arn:aws:iam::111122223333:root" }
              Action    = "kms:*"
              Resource  = "*"
            }]
          })
        }
    """,
    failing="""
        resource "aws_kms_key" "k" {
          policy = jsonencode({
            Version = "2012-10-17"
            Statement = [{
              Effect    = "Allow"
              Principal = { AWS = "*" }
              Action    = "kms:*"
              Resource  = "*"
            }]
          })
        }
    """,
)
def kms_key_policy(resource: Resource, context: Context) -> Answer | None:
    """Whoever may decrypt with a key or decide over it has the data: that is nobody but whom the account chose.

    The root of the key's own account is the recommended form, and what a key without a policy gets by default. A policy
    in an aws_kms_key_policy is judged with its key. See `rl_gym.iac.key_policies`.
    """
    if resource.type == _KEY_POLICY:
        policies = [resource] if context.orphan(resource, "key_id", _KEYS) else []
    else:
        attached = [one.resource for one in context.companions(resource, _KEY_POLICY, "key_id") if one.attached]
        policies = [one for one in (resource, *attached) if one.get("policy") not in (None, "")]
        if not policies:
            return Answer("pass", "by its default policy the account's own IAM decides")
    return worst(judged(grant(one, "policy", context), kept, "the key is given to its account") for one in policies)
