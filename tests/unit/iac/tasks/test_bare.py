"""The floor of the public corpora: everything is built, nothing critical is wrong, little is protected."""

from __future__ import annotations

import pytest

from rl_gym.iac.scan import scan
from rl_gym.iac.tasks.bare import BODIES, bare
from rl_gym.iac.tasks.builders import BUILDERS

DRAWN = [kind for builder in BUILDERS.values() for kind in builder.types]


@pytest.mark.parametrize("kind", [*DRAWN, *BODIES, "aws_ecs_cluster"])
def test_a_bare_resource_passes_every_gate(kind: str) -> None:
    report = scan(bare([kind]), required=[kind])
    assert report.gates == {"well_formed": True, "builds_required": True, "no_critical": True}


def test_types_stand_once_in_their_order() -> None:
    text = bare(["aws_subnet", "aws_vpc", "aws_subnet"])
    assert text.count('resource "aws_subnet"') == 1
    assert text.index('"aws_subnet"') < text.index('"aws_vpc"')
    assert bare([]) == ""
