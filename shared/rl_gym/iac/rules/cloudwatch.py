"""CloudWatch: log groups."""

from __future__ import annotations

from rl_gym.hcl import UNKNOWN, Resource
from rl_gym.iac.context import Context
from rl_gym.iac.rules.registry import rule
from rl_gym.iac.verdicts import Answer, answer, number, written

_LOG_GROUP = ("aws_cloudwatch_log_group",)
_RETENTION_DAYS = frozenset(
    (1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653)
)


@rule(
    "cw_retention",
    severity="low",
    types=_LOG_GROUP,
    title="Log groups state how long they keep logs",
    fix="set retention_in_days, for example to 365",
    short="retention_in_days",
    references=("CKV_AWS_66", "FSBP CloudWatch.16"),
    passing="""
        resource "aws_cloudwatch_log_group" "app" {
          name              = "app"
          retention_in_days = 365
        }
    """,
    failing="""
        resource "aws_cloudwatch_log_group" "app" {
          name              = "app"
          retention_in_days = 0
        }
    """,
)
def cw_retention(resource: Resource, context: Context) -> Answer | None:
    """Absent or 0 means that logs never expire; only certain periods exist (the API of PutRetentionPolicy lists them).

    A log group of class DELIVERY keeps its logs for two days, whatever is written.
    """
    path = "retention_in_days"
    if resource.get("log_group_class") == "DELIVERY":
        return Answer("pass", "a group of class DELIVERY keeps logs for two days", path)
    days = resource.get(path, 0)
    if days is UNKNOWN:
        return answer(None, "", "", path)
    kept = number(days) in _RETENTION_DAYS
    bad = "logs never expire" if number(days) == 0 else f"{days} is not a period that CloudWatch offers"
    return answer(kept, f"logs are kept for {days} days", bad, path)


@rule(
    "cw_log_kms",
    severity="medium",
    types=_LOG_GROUP,
    title="Log groups are encrypted with a customer managed key",
    fix="set kms_key_id to the ARN of a KMS key whose policy lets CloudWatch Logs use it",
    short="kms_key_id",
    references=("CKV_AWS_158",),
    passing="""
        resource "aws_cloudwatch_log_group" "app" {
          name       = "app"
          kms_key_id = "arn:aws:kms:eu-west-1:111122223333:key/0a1b2c3d"
        }
    """,
    failing="""
        resource "aws_cloudwatch_log_group" "app" {
          name = "app"
        }
    """,
)
def cw_log_kms(resource: Resource, context: Context) -> Answer | None:
    """Logs carry whatever the application prints; a key of one's own decides who may read them."""
    return answer(written(resource, "kms_key_id"), "a KMS key is set", "no KMS key is set", "kms_key_id")
