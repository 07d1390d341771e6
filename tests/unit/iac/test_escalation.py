"""Every listed way to more rights is one, and is none without any part of it."""

from __future__ import annotations

from typing import Any

import pytest

from rl_gym.iac.escalation import ALONE, PASSING, WITH_A_ROLE, harmless, passes_any_role, passes_roles
from rl_gym.iac.grants import Grant
from rl_gym.iac.policy import denials, statements


def granted(*entries: dict[str, Any]) -> Grant:
    document = {"Statement": [{"Effect": "Allow", "Resource": "*", **entry} for entry in entries]}
    body: Any = None
    return Grant(body, "policy", statements(document), denials(document), True)


@pytest.mark.parametrize(("action", "kind"), ALONE.items())
def test_an_action_alone_on_every_resource_of_its_kind(action: str, kind: str) -> None:
    everywhere, one = ("arn:aws:" + kind.format(region="*", account="111122223333", name=name) for name in ("*", "app"))
    assert harmless(granted({"Action": action}))[0] is False
    assert harmless(granted({"Action": action, "Resource": everywhere}))[0] is False
    assert harmless(granted({"Action": action, "Resource": one}))[0] is True
    assert harmless(granted({"Action": action}, {"Action": action, "Effect": "Deny"}))[0] is True


@pytest.mark.parametrize("way", WITH_A_ROLE, ids=" ".join)
def test_what_runs_as_any_role_needs_all_of_its_parts(way: tuple[str, ...]) -> None:
    parts = (PASSING, *way)
    assert harmless(granted(*({"Action": part} for part in parts)))[0] is False
    for left_out in parts:
        assert harmless(granted({"Action": [part for part in parts if part != left_out]}))[0] is True


def test_one_role_to_pass_is_no_way() -> None:
    role = {"Action": PASSING, "Resource": "arn:aws:iam::111122223333:role/app"}
    grant = granted(role, {"Action": "ec2:RunInstances"})
    assert harmless(grant)[0] is True
    assert (passes_roles(grant), passes_any_role(grant)) == (True, False)


@pytest.mark.parametrize(
    "resource", ["*", "arn:aws:iam::*:*", "arn:*", "arn:aws:iam::1:role/*", "arn:aws:iam::1:role*"]
)
def test_patterns_of_every_role(resource: str) -> None:
    assert passes_any_role(granted({"Action": PASSING, "Resource": resource})) is True


@pytest.mark.parametrize(
    "resource", ["arn:aws:iam::1:user/*", "arn:aws:iam::1:role/a*", "arn:aws:iam::*:role/a/*", "x*"]
)
def test_patterns_of_fewer_roles(resource: str) -> None:
    assert passes_any_role(granted({"Action": PASSING, "Resource": resource})) is False
