"""Which resource patterns hold a bucket and all of its objects, however its name is written."""

from __future__ import annotations

import pytest

from rl_gym.iac.bucket_policies import refuses_plain_http
from rl_gym.iac.grants import grant
from rl_gym.iac.scan import read

HCL = """
data "aws_caller_identity" "me" {{}}
data "aws_partition" "here" {{}}
variable "any" {{}}
resource "aws_s3_bucket" "other" {{
  bucket_prefix = "other"
}}
resource "aws_s3_bucket" "b" {{
  bucket = {name}
}}
resource "aws_s3_bucket_policy" "p" {{
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({{
    Statement = [{{
      Effect    = "Deny"
      Principal = "*"
      Action    = "s3:*"
      Resource  = {resources}
      Condition = {{ Bool = {{ "aws:SecureTransport" = "false" }} }}
    }}]
  }})
}}
"""
KNOWN, COMPUTED = '"data"', '"data-${data.aws_caller_identity.me.account_id}"'


@pytest.mark.parametrize(
    ("name", "resources", "refuses"),
    [
        (KNOWN, '[aws_s3_bucket.b.arn, "${aws_s3_bucket.b.arn}/*"]', True),
        (KNOWN, '["arn:aws:s3:::data", "arn:aws:s3:::${aws_s3_bucket.b.id}/*"]', True),
        (KNOWN, '["arn:${data.aws_partition.here.partition}:s3:::data*"]', True),
        (KNOWN, '["arn:aws:s3:::d?ta", "arn:aws:s3:::data/*/*"]', True),
        (KNOWN, '["*"]', True),
        (KNOWN, '["arn:aws:s3:::data/*"]', False),
        (KNOWN, '["arn:aws:s3:::data", "arn:aws:s3:::data/a*"]', False),
        (KNOWN, '["arn:aws:s3:::data-2", "arn:aws:s3:::data-2/*"]', False),
        (KNOWN, '["${aws_s3_bucket.other.arn}", "${aws_s3_bucket.other.arn}/*"]', False),
        (KNOWN, '["arn:aws:s3:::${data.aws_caller_identity.me.account_id}*"]', False),
        (KNOWN, "[var.any]", None),
        (COMPUTED, '[aws_s3_bucket.b.arn, "${aws_s3_bucket.b.arn}/*"]', True),
        (COMPUTED, '["arn:aws:s3:::data-${data.aws_caller_identity.me.account_id}*"]', True),
        (COMPUTED, '["arn:aws:s3:::${aws_s3_bucket.other.id}*"]', False),
        (COMPUTED, '["arn:aws:s3:::${var.any}", "arn:aws:s3:::${var.any}/*"]', None),
    ],
)
def test_the_bucket_and_its_objects(name: str, resources: str, refuses: bool | None) -> None:
    context = read(HCL.format(name=name, resources=resources))
    bucket, policy = context.find("aws_s3_bucket.b"), context.find("aws_s3_bucket_policy.p")
    assert bucket is not None
    assert policy is not None
    assert refuses_plain_http(grant(policy, "policy", context), bucket) is refuses
