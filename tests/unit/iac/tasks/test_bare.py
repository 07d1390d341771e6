"""The floor of the public corpora: everything is built, nothing critical is wrong, little is protected."""

from __future__ import annotations

import pytest

from rl_gym.iac.scan import scan
from rl_gym.iac.tasks.bare import BODIES, bare
from rl_gym.iac.tasks.builders import BUILDERS

DRAWN = [kind for builder in BUILDERS.values() for kind in builder.types]
MADE_BY_SCHEMA = [
    "aws_cloudfront_distribution",
    "aws_cloudwatch_event_rule",
    "aws_codebuild_project",
    "aws_ecs_cluster",
    "aws_efs_file_system",
    "aws_internet_gateway",
    "aws_mq_broker",
    "aws_msk_cluster",
    "aws_neptune_cluster",
    "aws_s3_bucket_policy",
    "aws_secretsmanager_secret_version",
]


@pytest.mark.parametrize("kind", [*DRAWN, *BODIES, *MADE_BY_SCHEMA])
def test_a_bare_resource_passes_every_gate(kind: str) -> None:
    report = scan(bare([kind]), required=[kind])
    assert report.gates == {"well_formed": True, "builds_required": True, "no_critical": True}


def test_types_stand_once_in_their_order() -> None:
    text = bare(["aws_subnet", "aws_vpc", "aws_subnet"])
    assert text.count('resource "aws_subnet"') == 1
    assert text.index('"aws_subnet"') < text.index('"aws_vpc"')
    assert bare([]) == ""


def test_a_secret_that_must_be_there_is_left_to_a_variable() -> None:
    assert bare(["aws_mq_broker"]).startswith('variable "secret" {\n')
    assert "variable" not in bare(["aws_vpc"])
