"""CloudTrail: what an account records of its own use, and whether the record can be trusted."""

from __future__ import annotations

from rl_gym.hcl import Resource
from rl_gym.iac.context import Context
from rl_gym.iac.rules.registry import rule
from rl_gym.iac.verdicts import Answer, answer, given, truth

_TRAIL = ("aws_cloudtrail",)


@rule(
    "cloudtrail_encrypted",
    severity="high",
    types=_TRAIL,
    title="Trails are encrypted with a KMS key",
    fix="set kms_key_id = the ARN of a KMS key whose policy lets CloudTrail use it",
    short="kms_key_id",
    references=("CKV_AWS_35", "CIS AWS 3.5", "FSBP CloudTrail.2"),
    passing="""
        resource "aws_cloudtrail" "account" {
          name           = "account"
          s3_bucket_name = "account-trail"
          kms_key_id     = "arn:aws:kms:eu-west-1:111122223333:key/0a1b2c3d"
        }
    """,
    failing="""
        resource "aws_cloudtrail" "account" {
          name           = "account"
          s3_bucket_name = "account-trail"
        }
    """,
)
def cloudtrail_encrypted(resource: Resource, context: Context) -> Answer | None:
    """The record of who did what is readable only with a key of the account, beside access to the bucket.

    Without a key the bucket's own encryption is all there is, and whoever may read the bucket may read the record.
    """
    return answer(given(resource, "kms_key_id"), "a KMS key is set", "no KMS key is set", "kms_key_id")


@rule(
    "cloudtrail_multi_region",
    severity="medium",
    types=_TRAIL,
    title="Trails record every region",
    fix="set is_multi_region_trail = true",
    references=("CKV_AWS_67", "CIS AWS 3.1", "FSBP CloudTrail.1"),
    passing="""
        resource "aws_cloudtrail" "account" {
          name                  = "account"
          s3_bucket_name        = "account-trail"
          is_multi_region_trail = true
        }
    """,
    failing="""
        resource "aws_cloudtrail" "account" {
          name                  = "account"
          s3_bucket_name        = "account-trail"
          is_multi_region_trail = false
        }
    """,
)
def cloudtrail_multi_region(resource: Resource, context: Context) -> Answer | None:
    """Who breaks in works where nobody looks: a trail of one region, the default, sees none of the others.

    A trail that is switched off (`enable_logging = false`) records no region at all.
    """
    if truth(resource.get("enable_logging"), True) is False:
        return Answer("fail", "the trail is switched off", "enable_logging")
    path = "is_multi_region_trail"
    return answer(truth(resource.get(path), False), "every region is recorded", "one region alone is recorded", path)


@rule(
    "cloudtrail_log_validation",
    severity="medium",
    types=_TRAIL,
    title="Trails sign their log files",
    fix="set enable_log_file_validation = true",
    references=("CKV_AWS_36", "CIS AWS 3.2", "FSBP CloudTrail.4"),
    passing="""
        resource "aws_cloudtrail" "account" {
          name                       = "account"
          s3_bucket_name             = "account-trail"
          enable_log_file_validation = true
        }
    """,
    failing="""
        resource "aws_cloudtrail" "account" {
          name                       = "account"
          s3_bucket_name             = "account-trail"
          enable_log_file_validation = false
        }
    """,
)
def cloudtrail_log_validation(resource: Resource, context: Context) -> Answer | None:
    """Signed digests show whether a log file was changed or removed afterwards; there are none unless asked for."""
    path = "enable_log_file_validation"
    return answer(truth(resource.get(path), False), "log files are signed", "log files are not signed", path)
