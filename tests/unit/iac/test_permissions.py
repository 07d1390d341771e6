"""Whom the resources let in that are one statement of a policy."""

from __future__ import annotations

import pytest

from rl_gym.iac.permissions import permission
from rl_gym.iac.scan import read

CONDITION = """principal = "*"
  condition {{
    key   = "{key}"
    type  = "StringEquals"
    value = "o-1"
  }}
"""


@pytest.mark.parametrize(
    ("kind", "arguments", "verdict"),
    [
        ("aws_lambda_permission", 'principal = "s3.amazonaws.com"', "pass"),
        ("aws_lambda_permission", 'principal = "*"', "fail"),
        ("aws_lambda_permission", 'principal = "*"\n  source_account = "111122223333"', "pass"),
        ("aws_lambda_permission", 'principal = "*"\n  source_arn = aws_sns_topic.t.arn', "pass"),
        ("aws_lambda_permission", 'principal = "*"\n  source_arn = "arn:aws:s3:::*"', "fail"),
        ("aws_lambda_permission", 'principal = "*"\n  source_arn = var.any', "unknown"),
        ("aws_lambda_permission", "principal = var.any", "unknown"),
        ("aws_lambda_permission", "principal = aws_iam_role.r.arn", "pass"),
        ("aws_cloudwatch_event_permission", "principal = data.aws_caller_identity.me.account_id", "pass"),
        ("aws_lambda_layer_version_permission", 'principal = "*"\n  organization_id = "o-1"', "pass"),
        ("aws_lambda_layer_version_permission", 'principal = "*"', "fail"),
        ("aws_cloudwatch_event_permission", 'principal = "111122223333"', "pass"),
        ("aws_cloudwatch_event_permission", CONDITION.format(key="aws:PrincipalOrgID"), "pass"),
        ("aws_cloudwatch_event_permission", CONDITION.format(key="aws:PrincipalTag/a"), "fail"),
    ],
)
def test_a_permission(kind: str, arguments: str, verdict: str) -> None:
    others = """
        variable "any" {}
        data "aws_caller_identity" "me" {}
        resource "aws_iam_role" "r" {}
        resource "aws_sns_topic" "t" {}
    """
    context = read(f'{others}\nresource "{kind}" "p" {{\n  {arguments}\n}}\n')
    found = context.find(f"{kind}.p")
    assert found is not None
    assert permission(found).verdict == verdict
