"""Policies decode to plain data however they are written, and keep what is known of them."""

from __future__ import annotations

from typing import Any

import pytest

from rl_gym.hcl import UNKNOWN, Partial, Reference
from tests.unit.hcl.folded import configured, resource

DECLARED = 'variable "unset" {}\nresource "aws_s3_bucket" "b" {\n  bucket = "data"\n}\n'


def policy(value: str, **options: bool) -> Any:
    return resource(f'{DECLARED}resource "aws_x" "p" {{\n  policy = {value}\n}}\n', "aws_x.p").policy(
        "policy", **options
    )


KNOWN = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "*"}]}


@pytest.mark.parametrize(
    "value",
    [
        'jsonencode({ Version = "2012-10-17", Statement = [{ Effect = "Allow", Action = "*" }] })',
        '<<EOT\n{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "\\u002a"}]}\nEOT\n',
        '"{\\"Version\\": \\"2012-10-17\\", \\"Statement\\": [{\\"Effect\\": \\"Allow\\", \\"Action\\": \\"*\\"}]}"',
        '{ Version = "2012-10-17", Statement = [{ Effect = "Allow", Action = "*" }] }',
    ],
)
def test_a_known_policy(value: str) -> None:
    assert policy(value) == KNOWN


@pytest.mark.parametrize("value", ["null", '"no json"', "1", '"1"', '"[1"', '""'])
def test_what_is_no_document(value: str) -> None:
    assert policy(value) is None


def test_an_absent_policy_is_none_and_an_unknown_one_unknown() -> None:
    one = resource(f'{DECLARED}resource "aws_x" "p" {{\n  policy = var.unset\n}}\n', "aws_x.p")
    assert one.policy("nothing") is None
    assert one.policy("policy") is UNKNOWN
    assert one.policy("policy.deeper") is UNKNOWN


@pytest.mark.parametrize(
    "value",
    [
        'jsonencode({ R = ["${aws_s3_bucket.b.arn}/*", var.unset], A = "s3:${var.unset}", n = var.unset })',
        '<<EOT\n{"R": ["${aws_s3_bucket.b.arn}/*", "${var.unset}"], "A": "s3:${var.unset}", "n": ${var.unset}}\nEOT\n',
        '<<EOT\n{"R": ${jsonencode(["${aws_s3_bucket.b.arn}/*", var.unset])},'
        ' "A": "s3:${var.unset}", "n": ${jsonencode(var.unset)}}\nEOT\n',
    ],
)
def test_what_is_known_of_a_partly_unknown_policy(value: str) -> None:
    found = policy(value)
    assert found == {"R": ["${aws_s3_bucket.b.arn}/*", UNKNOWN], "A": UNKNOWN, "n": UNKNOWN}
    (leaf, _) = found["R"]
    assert isinstance(leaf, Partial)
    assert leaf.pieces == (Reference("aws_s3_bucket.b", "arn"), "/*")
    assert not leaf.open


def test_open_leaves_are_shown_on_demand() -> None:
    found = policy('jsonencode({ A = "s3:${var.unset}", B = var.unset })', open_leaves=True)
    assert found == {"A": "s3:${?}", "B": UNKNOWN}
    assert found["A"].open


@pytest.mark.parametrize(
    ("attribute", "closed"),
    [
        ("arn", True),
        ("master_user_secret_arn", True),
        ("id", True),
        ("tags", False),
        ("name", False),
        ("policy", False),
    ],
)
def test_only_identities_are_sure_to_hold_no_wildcard(attribute: str, closed: bool) -> None:
    found = policy(f"jsonencode({{ R = aws_kms_key.k.{attribute} }})")
    assert found == {"R": f"${{aws_kms_key.k.{attribute}}}" if closed else UNKNOWN}


def test_an_identity_that_a_user_chose_may_hold_anything() -> None:
    found = resource(
        'variable "unset" {}\ndata "aws_lb" "l" {\n  arn = var.unset\n}\n'
        'resource "aws_x" "p" {\n  policy = jsonencode({ R = data.aws_lb.l.arn, S = data.aws_lb.m.arn })\n}\n',
        "aws_x.p",
    )
    assert found.policy("policy") == {"R": UNKNOWN, "S": "${data.aws_lb.m.arn}"}


def test_a_policy_is_read_through_the_resource_that_holds_it() -> None:
    text = f"""{DECLARED}
resource "aws_iam_policy" "p" {{
  policy = jsonencode({{ R = "${{aws_s3_bucket.b.arn}}/*" }})
}}
resource "aws_x" "y" {{
  copy = aws_iam_policy.p.policy
  half = jsondecode(aws_iam_policy.p.policy).R
}}
"""
    one = resource(text, "aws_x.y")
    assert one.policy("copy") == {"R": "${aws_s3_bucket.b.arn}/*"}
    assert one.reference("copy") == ("aws_iam_policy.p", "policy")
    assert one.references("copy") == {"aws_iam_policy.p", "aws_s3_bucket.b"}
    assert one.references("half") == {"aws_s3_bucket.b"}


# ---- data "aws_iam_policy_document" ----------------------------------------------------------------------------------

DOCUMENT = """
data "aws_iam_policy_document" "base" {
  statement {
    sid       = "One"
    actions   = ["s3:GetObject"]
    resources = ["*"]
  }
  statement {
    sid         = "Two"
    effect      = "Deny"
    not_actions = ["iam:*", "s3:*"]
    resources   = ["a", "b"]
  }
}
data "aws_iam_policy_document" "full" {
  policy_id               = "id"
  source_policy_documents = [data.aws_iam_policy_document.base.json]
  override_policy_documents = [
    jsonencode({ Statement = { Sid = "Two", Effect = "Allow", Action = "*", Resource = "*" } }),
  ]
  statement {
    actions = ["sts:AssumeRole"]
    principals {
      type        = "Service"
      identifiers = ["ec2.amazonaws.com"]
    }
    condition {
      test     = "StringEquals"
      variable = "aws:x"
      values   = [true, 1]
    }
  }
  statement {
    actions       = ["s3:PutObject"]
    not_resources = ["c"]
    principals {
      type        = "*"
      identifiers = ["*"]
    }
  }
}
"""


def test_a_policy_document_becomes_its_policy() -> None:
    base, full = configured(DOCUMENT).data("aws_iam_policy_document")
    assert base.policy("json") == {
        "Version": "2012-10-17",
        "Statement": [
            {"Sid": "One", "Effect": "Allow", "Action": "s3:GetObject", "Resource": "*"},
            {"Sid": "Two", "Effect": "Deny", "NotAction": ["s3:*", "iam:*"], "Resource": ["b", "a"]},
        ],
    }
    assert full.policy("json") == {
        "Version": "2012-10-17",
        "Id": "id",
        "Statement": [
            {"Sid": "One", "Effect": "Allow", "Action": "s3:GetObject", "Resource": "*"},
            {"Sid": "Two", "Effect": "Allow", "Action": "*", "Resource": "*"},
            {
                "Effect": "Allow",
                "Action": "sts:AssumeRole",
                "Principal": {"Service": "ec2.amazonaws.com"},
                "Condition": {"StringEquals": {"aws:x": ["true", "1"]}},
            },
            {"Effect": "Allow", "Action": "s3:PutObject", "NotResource": "c", "Principal": "*"},
        ],
    }
    assert isinstance(base.get("json"), str)
    assert isinstance(base.get("minified_json"), str)
    assert "\n" not in base.get("minified_json")


def test_a_partly_known_policy_document() -> None:
    text = """
variable "unset" {}
data "aws_iam_policy_document" "d" {
  source_policy_documents = [var.unset]
  statement {
    actions   = ["s3:*"]
    resources = [aws_s3_bucket.b.arn, var.unset]
    principals {
      type        = "AWS"
      identifiers = [aws_iam_role.r.arn]
    }
  }
  dynamic "statement" {
    for_each = var.unset
    content {
      actions = ["*"]
    }
  }
}
resource "aws_x" "y" {
  policy = data.aws_iam_policy_document.d.json
}
"""
    configuration = configured(text)
    one = configuration.resource("aws_x.y")
    assert one is not None
    assert one.get("policy") is UNKNOWN
    assert one.policy("policy") == {
        "Version": "2012-10-17",
        "Statement": [
            UNKNOWN,
            {
                "Effect": "Allow",
                "Action": "s3:*",
                "Resource": ["${aws_s3_bucket.b.arn}", UNKNOWN],
                "Principal": {"AWS": "${aws_iam_role.r.arn}"},
            },
            UNKNOWN,
        ],
    }
    assert one.reference("policy") == ("data.aws_iam_policy_document.d", "json")
    assert one.refers_to(configuration.data()[0], "policy")


def test_numbers_in_policies_survive() -> None:
    assert policy('<<EOT\n{"n": [1, 2.5], "u": "${var.unset}"}\nEOT\n') == {"n": [1, 2.5], "u": UNKNOWN}
    text = """
data "aws_iam_policy_document" "d" {
  source_policy_documents = ["{\\"Statement\\": [{\\"Sid\\": \\"n\\", \\"Limit\\": 2.5}]}"]
  version                 = 2008
  statement {
    sid    = 7
    effect = "Allow"
  }
}
"""
    (document,) = configured(text).data()
    assert document.policy("json") == {
        "Version": "2008",
        "Statement": [{"Sid": "n", "Limit": 2.5}, {"Sid": "7", "Effect": "Allow"}],
    }


@pytest.mark.parametrize("unknown", ["", ', "u": "${var.unset}"'])
def test_a_document_that_nests_too_deeply_is_none(unknown: str) -> None:
    deep = "[" * 5000 + "]" * 5000
    assert policy(f'<<EOT\n{{"a": {deep}{unknown}}}\nEOT\n') in (None, UNKNOWN)
    less = "[" * 900 + "]" * 900
    assert policy(f'<<EOT\n{{"a": {less}{unknown}}}\nEOT\n') is not UNKNOWN
