"""To whom a key policy gives a key: which account is its own, and what narrows another one."""

from __future__ import annotations

from typing import Any

import pytest

from rl_gym.hcl import UNKNOWN
from rl_gym.iac.grants import Grant
from rl_gym.iac.key_policies import kept
from rl_gym.iac.policy import denials, statements

OWN, OTHER = "arn:aws:iam::111122223333:root", "arn:aws:iam::444455556666:root"


def holds(*entries: dict[str, Any]) -> bool | None:
    return said(*entries)[0]


def said(*entries: dict[str, Any]) -> tuple[bool | None, str]:
    document = {"Statement": [{"Effect": "Allow", "Resource": "*", **entry} for entry in entries]}
    body: Any = None
    return kept(Grant(body, "policy", statements(document), denials(document), True))


def to(principal: str, action: str = "kms:*", **more: Any) -> dict[str, Any]:
    return {"Principal": {"AWS": principal}, "Action": action, **more}


def test_the_account_that_has_the_whole_of_kms_is_the_keys_own() -> None:
    assert holds(to(OWN)) is True
    assert holds(to(OTHER, "kms:DescribeKey"), to(OWN), to("111122223333", "kms:Decrypt")) is True
    assert holds(to(OTHER, "kms:Decrypt"), to(OWN)) is False
    assert holds(to("arn:aws:iam::111122223333:role/admin"), to(OWN, "kms:Decrypt")) is True


@pytest.mark.parametrize(
    ("condition", "narrows"),
    [
        ({"ArnEquals": {"aws:PrincipalArn": "arn:aws:iam::444455556666:role/app"}}, True),
        ({"StringEquals": {"kms:ViaService": "s3.eu-west-1.amazonaws.com"}}, True),
        ({"StringEquals": {"kms:EncryptionContext:app": "orders"}}, True),
        ({"Bool": {"kms:GrantIsForAWSResource": "true"}}, True),
        ({"Bool": {"kms:GrantIsForAWSResource": "false"}}, False),
        ({"StringNotEquals": {"kms:ViaService": "s3.eu-west-1.amazonaws.com"}}, False),
        ({"StringEquals": {"kms:ViaService": []}}, False),
        ({"StringEquals": {"aws:PrincipalOrgID": "o-1"}}, False),
    ],
)
def test_what_narrows_another_account(condition: Any, narrows: bool) -> None:
    assert holds(to(OWN), to(OTHER, "kms:Decrypt", Condition=condition)) is narrows


@pytest.mark.parametrize("action", ["kms:Encrypt", "kms:Verify", "kms:GetPublicKey", "kms:Describe*", "kms:List*"])
def test_what_another_account_may_do_with_a_key_and_everyone_may_not(action: str) -> None:
    assert holds(to(OWN), to(OTHER, action)) is True
    assert holds(to(OWN), to("*", action)) is False


@pytest.mark.parametrize("action", ["kms:Decrypt", "KMS:decrypt", "kms:Re*", "kms:Sign", "kms:*Policy", "*"])
def test_what_nobody_else_may_do_with_a_key(action: str) -> None:
    assert holds(to(OWN), to(OTHER, action)) is False
    assert holds(to(OWN), to("*", action)) is False


def test_the_account_that_is_looked_up_is_the_keys_own() -> None:
    looked_up = "arn:aws:iam::${data.aws_caller_identity.me.account_id}:root"
    assert holds(to(OWN), to(looked_up, "kms:DescribeKey")) is False
    assert holds(to(looked_up, "kms:DescribeKey"), to(looked_up)) is True


def test_everything_but_a_list_is_power_over_a_key() -> None:
    assert holds(to(OWN), {"Principal": {"AWS": OTHER}, "NotAction": "kms:ScheduleKeyDeletion"}) is False


def test_what_is_wrong_is_said() -> None:
    assert said(to(OWN), to("*")) == (False, "the key is given to everyone")
    assert said(to(OWN), to(OTHER)) == (False, "the key is given to all of another account")
    assert said(to(OWN)) == (True, "")


def test_what_may_be_given_is_not_guessed() -> None:
    assert holds(to(OWN), to(OTHER, Effect=UNKNOWN)) is None
    assert holds(to(OWN), to(OTHER, Condition=UNKNOWN)) is None
    assert holds(to(OWN), {"Principal": {"AWS": OTHER}, "Action": UNKNOWN}) is None
