"""Policy documents: which statements allow, and how far their wildcards reach."""

from __future__ import annotations

from typing import Any

import pytest

from rl_gym.hcl import UNKNOWN
from rl_gym.iac.policy import everything, is_account_root, spans_services, statements, whole_service, whole_services


def test_statements_take_one_shape() -> None:
    (found,) = statements({"Statement": {"Effect": "Allow", "Action": "s3:GetObject", "Resource": ["a", "b"]}}) or []
    assert found.actions == ("s3:GetObject",)
    assert found.resources == ("a", "b")
    assert found.principals is None
    assert (found.not_action, found.not_resource, found.certain) == (False, False, True)


@pytest.mark.parametrize("effect", ["Deny", "deny", " DENY "])
def test_deny_grants_nothing(effect: str) -> None:
    assert statements({"Statement": [{"Effect": effect, "Action": "*", "Resource": "*"}]}) == []


@pytest.mark.parametrize("document", [None, UNKNOWN, "text", 1, {"Statement": UNKNOWN}, {"Statement": [UNKNOWN]}])
def test_what_is_not_known_is_not_guessed(document: Any) -> None:
    assert statements(document) is None


def test_unknown_entries_stay_unknown() -> None:
    (found,) = statements({"Statement": [{"Effect": UNKNOWN, "Action": ["a:B", UNKNOWN], "Resource": UNKNOWN}]}) or []
    assert found.actions == ("a:B", UNKNOWN)
    assert found.resources == (UNKNOWN,)
    assert not found.certain


def test_a_principal_delegates_only_when_every_one_is_a_root() -> None:
    def delegates(principal: Any) -> bool:
        (found,) = statements({"Statement": [{"Action": "kms:*", "Principal": principal}]}) or []
        return found.delegates

    root = "arn:aws:iam::111122223333:root"
    assert delegates({"AWS": root})
    assert delegates({"AWS": [root, "444455556666"]})
    assert not delegates({"AWS": [root, "*"]})
    assert not delegates("*")
    assert not delegates({"Service": "logs.amazonaws.com"})


@pytest.mark.parametrize(
    ("principal", "root"),
    [
        ("arn:aws:iam::111122223333:root", True),
        ("arn:aws-cn:iam::111122223333:root", True),
        ("111122223333", True),
        ("arn:aws:iam::*:root", False),
        # A user who is called like the account's own.
        (f"arn:aws:iam::111122223333:user/{'root'}", False),
        ("*", False),
        ("1111", False),
        (UNKNOWN, False),
        (None, False),
    ],
)
def test_the_root_of_an_account(principal: Any, root: bool) -> None:
    assert is_account_root(principal) is root


@pytest.mark.parametrize(
    ("action", "spans"),
    [
        ("*", True),
        ("**", True),
        ("*:*", True),
        ("*:Get*", True),
        ("ec?:Run*", True),
        ("s3:*", False),
        ("s3:Get*", False),
    ],
)
def test_wildcards_that_span_services(action: str, spans: bool) -> None:
    assert spans_services(action) is spans


@pytest.mark.parametrize(
    ("action", "service"),
    [("s3:*", "s3"), ("S3:**", "s3"), ("s3:?*", "s3"), ("s3:Get*", None), ("s3:?", None), ("*:*", None), ("s3", None)],
)
def test_a_whole_service(action: str, service: str | None) -> None:
    assert whole_service(action) == service


def test_patterns_add_up() -> None:
    assert whole_services(["s3:Put*", "s3:Delete*"]) == ()
    assert whole_services(["s3:Put*", "s3:Delete*", "s3:Create*"]) == ("s3",)
    assert whole_services(["s3:*e*"]) == ("s3",)
    assert whole_services(["ec2:*", "s3:Get*", "s3:List*", UNKNOWN]) == ("ec2",)


@pytest.mark.parametrize(
    "resource",
    [
        "*",
        "**",
        "arn:*",
        "arn:aws:*:*:*:*",
        "arn:aws:s3:::*",
        "arn:aws:s3:::*/*",
        "arn:aws:logs:*:*:*",
        "arn:aws:ec2:*",
    ],
)
def test_every_resource(resource: str) -> None:
    assert everything(resource)


@pytest.mark.parametrize(
    "resource",
    [
        "arn:aws:s3:::data",
        "arn:aws:s3:::data/*",
        "arn:aws:s3:::data-*",
        "arn:aws:dynamodb:*:*:table/*",
        "arn:aws:sqs:eu-west-1:111122223333:*",
        "data*",
        "",
        UNKNOWN,
    ],
)
def test_less_than_every_resource(resource: Any) -> None:
    assert not everything(resource)
