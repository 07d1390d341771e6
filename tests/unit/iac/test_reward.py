"""Reward profiles: what each one pays for, what its gates stop, and what its digest covers."""

from __future__ import annotations

import pytest

from rl_gym.gym.core import Episode
from rl_gym.iac.reward import PROFILES, IacAction, make_reward
from rl_gym.iac.rules import get_ruleset
from rl_gym.iac.scan import scan, score
from rl_gym.infra.errors import NotFoundError

KEY = 'resource "aws_kms_key" "k" {\n  enable_key_rotation = true\n  tags = { Name = "k" }\n}\n'
PLAIN_KEY = 'resource "aws_kms_key" "k" {\n  is_enabled = true\n  tags = { Name = "k" }\n}\n'
PUBLIC = 'resource "aws_db_instance" "d" {\n  publicly_accessible = true\n}\n'
REQUIRED = ("aws_kms_key",)


def test_the_default_profile_pays_for_security() -> None:
    found = score(PLAIN_KEY, required=REQUIRED)
    assert found.reward == found.components["security"] == scan(PLAIN_KEY, required=REQUIRED).security
    assert 0 < found.reward < 1
    assert found.gates == {"well_formed": True, "builds_required": True, "no_critical": True}
    assert score(KEY, required=REQUIRED).reward == 1.0


def test_the_seed_profile_pays_for_the_pass_rate() -> None:
    found = score(PLAIN_KEY, required=REQUIRED, ruleset="seed18", profile="seed@1")
    assert found.components == {"pass_rate": 0.5}
    assert found.reward == 0.5
    assert set(found.gates) == {"builds_required", "no_critical"}


@pytest.mark.parametrize("profile", PROFILES)
def test_a_gate_zeroes_the_reward(profile: str) -> None:
    assert score(KEY + PUBLIC, required=REQUIRED, profile=profile).reward == 0.0
    assert score(KEY, required=("aws_vpc",), profile=profile).reward == 0.0
    broken = score(KEY + "}", required=REQUIRED, profile=profile)
    assert (broken.reward, broken.valid) == (0.0, False)


@pytest.mark.parametrize("profile", PROFILES)
def test_nothing_earns_nothing(profile: str) -> None:
    assert score("", profile=profile).reward == 0.0
    assert score("locals {\n  a = 1\n}\n", profile=profile).reward == 0.0


def test_a_bare_name_is_the_newest_version() -> None:
    assert make_reward("default", "base").digest == make_reward("default@2", "base").digest
    assert make_reward("seed", "base").digest == make_reward("seed@1", "base").digest


def test_a_digest_names_profile_and_ruleset() -> None:
    digests = {make_reward(profile, ruleset).digest for profile in PROFILES for ruleset in ("seed18", "base+drift")}
    assert len(digests) == 2 * len(PROFILES)
    assert score(KEY).digest == make_reward("default", "base").digest


def test_a_name_that_does_not_exist_is_answered_with_those_that_do() -> None:
    with pytest.raises(NotFoundError, match="seed@1, default@1, default@2"):
        make_reward("default@9", "base")
    with pytest.raises(NotFoundError, match="seed18"):
        make_reward("default", "bass")


def test_an_action_reports_once_for_each_question() -> None:
    action = IacAction(KEY, ruleset="seed18")
    assert action.text == KEY
    assert action.valid
    assert action.report() is action.report()
    assert action.report(REQUIRED) is action.report(list(REQUIRED))
    assert action.report() is not action.report(REQUIRED)
    assert action.report().ruleset.name == "seed18"
    assert action.report(ruleset=get_ruleset("base+drift")).ruleset.name == "base+drift"
    assert not IacAction("{").valid


def test_the_reward_reads_the_request_from_the_episode() -> None:
    reward = make_reward("default", "base")
    action = IacAction(KEY)
    assert reward.score(action, Episode("e", "a key", data={"required": ["aws_kms_key"]})).reward == 1.0
    assert reward.score(action, Episode("e", "a VPC", data={"required": ["aws_vpc"]})).reward == 0.0
