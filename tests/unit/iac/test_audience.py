"""Whom statements let in: which principals are everyone, and which conditions bound who it is."""

from __future__ import annotations

from typing import Any

import pytest

from rl_gym.hcl import UNKNOWN
from rl_gym.iac.audience import bounded, is_everyone, open_to_everyone
from rl_gym.iac.policy import Principal, denials, statements

OFFICE = {"IpAddress": {"aws:SourceIp": "203.0.113.0/24"}}
ENDPOINT = {"StringEquals": {"aws:SourceVpce": "vpce-1"}}


def opens(*entries: dict[str, Any]) -> bool | None:
    document = {"Statement": [{"Effect": "Allow", "Principal": "*", "Action": "a:B", **entry} for entry in entries]}
    (allowed,) = statements(document) or []
    return open_to_everyone(allowed, denials(document) or ())


@pytest.mark.parametrize(
    ("kind", "name", "everyone"),
    [
        ("*", "*", True),
        ("AWS", " * ", True),
        ("AWS", "arn:aws:iam::*:root", True),
        ("AWS", "arn:aws:iam::111122223333:role/*", False),
        ("AWS", "111122223333", False),
        ("AWS", "", False),
        ("AWS", UNKNOWN, None),
        ("Service", "s3.amazonaws.com", False),
        ("Service", UNKNOWN, False),
        ("CanonicalUser", UNKNOWN, False),
    ],
)
def test_everyone(kind: str, name: Any, everyone: bool | None) -> None:
    assert is_everyone(Principal(kind, name)) is everyone


@pytest.mark.parametrize(
    ("condition", "bounds"),
    [
        (OFFICE, True),
        (ENDPOINT, True),
        ({"stringequals": {"AWS:SOURCEVPCE": ["vpce-1", "vpce-2"]}}, True),
        ({"StringLike": {"aws:userid": "AROAEXAMPLE:*"}}, True),
        ({"ArnLike": {"aws:SourceArn": "arn:aws:s3:::data"}}, True),
        ({"ArnLike": {"aws:SourceArn": "arn:aws:s3:::data*"}}, False),
        ({"ArnLike": {"aws:SourceArn": "arn:aws:s3:*:*:data"}}, True),
        ({"ArnLike": {"aws:SourceArn": "arn:aws:s3:*:111122223333:*"}}, True),
        ({"ArnLike": {"aws:SourceArn": "arn:aws:s3:*:*:*"}}, False),
        ({"ArnLike": {"aws:SourceArn": "arn:aws:s3:*:*:accesspoint/data"}}, False),
        ({"ArnLike": {"aws:SourceArn": "arn:aws:sns:*:*:data"}}, False),
        ({"ArnLike": {"aws:SourceArn": "*"}}, False),
        ({"StringEquals": {"aws:SourceVpce": ["vpce-1", "*"]}}, False),
        ({"StringEquals": {"aws:SourceVpce": ""}}, False),
        ({"StringEqualsIfExists": {"aws:SourceVpce": "vpce-1"}}, False),
        ({"StringNotEquals": {"aws:SourceVpce": "vpce-1"}}, False),
        ({"IpAddress": {"aws:SourceIp": ["203.0.113.0/24", "0.0.0.0/0"]}}, False),
        ({"IpAddress": {"aws:SourceIp": "nowhere"}}, False),
        ({"Bool": {"aws:SecureTransport": True}}, False),
        ({"StringEquals": {"aws:SourceVpce": UNKNOWN}}, None),
        (UNKNOWN, None),
        (None, False),
    ],
)
def test_conditions_that_bound(condition: Any, bounds: bool | None) -> None:
    (statement,) = statements({"Statement": [{"Effect": "Allow", "Principal": "*", "Condition": condition}]}) or []
    assert bounded(statement) is bounds


def test_a_statement_of_an_identity_lets_nobody_in() -> None:
    (statement,) = statements({"Statement": {"Effect": "Allow", "Action": "*", "Resource": "*"}}) or []
    assert open_to_everyone(statement) is False


def test_a_denial_takes_back_what_it_covers() -> None:
    but_office = {"Effect": "Deny", "Action": "a:*", "Condition": {"NotIpAddress": OFFICE["IpAddress"]}}
    assert opens({}) is True
    assert opens({}, but_office) is False
    assert opens({}, {**but_office, "Condition": OFFICE}) is True
    assert opens({}, {**but_office, "Action": "a:C"}) is True
    assert opens({}, {**but_office, "Principal": {"AWS": "111122223333"}}) is True
    assert opens({"Resource": "arn:x/*"}, {**but_office, "Resource": "arn:x/y/*"}) is True
    assert opens({"Resource": "arn:x/y"}, {**but_office, "Resource": "arn:x/*"}) is False
    assert opens({}, {**but_office, "Condition": UNKNOWN}) is None


def test_a_denial_of_all_but_something_and_one_of_what_is_left_take_back_nothing() -> None:
    but_office = {"Effect": "Deny", "Action": "a:*", "Condition": {"NotIpAddress": OFFICE["IpAddress"]}}
    assert opens({"Action": None, "NotAction": "a:B"}, but_office) is True
    assert opens({"Resource": None, "NotResource": "arn:x/y"}, {**but_office, "Resource": "arn:x/*"}) is True
    assert opens({}, {**but_office, "Action": None, "NotAction": "a:B"}) is True
    assert opens({"Resource": "arn:x/y"}, {**but_office, "Resource": None, "NotResource": "arn:x/*"}) is True
    assert opens({}, {**but_office, "Principal": None, "NotPrincipal": "*"}) is True


def test_a_token_lets_in_whoever_holds_it_where_the_principal_is_a_provider_of_tokens() -> None:
    condition = {"StringEquals": {"accounts.google.com:email": "x"}}
    assert opens({"Principal": {"Federated": "accounts.google.com"}, "Condition": condition}) is True
    assert opens({"Principal": {"AWS": "111122223333"}, "Condition": condition}) is False


def test_an_effect_that_is_not_known_is_not_guessed() -> None:
    assert opens({"Effect": UNKNOWN}) is None
