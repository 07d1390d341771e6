"""Requests from types alone: the same each time, varied, and naming every type."""

from __future__ import annotations

from rl_gym.iac.mining.requests import request_for

TYPES = ("aws_iam_role", "aws_vpc", "aws_sqs_queue")


def test_a_name_decides_about_the_wording() -> None:
    made = [request_for(f"ada/engine:{index}", TYPES) for index in range(300)]
    assert made == [request_for(f"ada/engine:{index}", TYPES) for index in range(300)]
    assert len(set(made)) >= 20


def test_every_type_is_named_in_words_or_as_it_is_spelt() -> None:
    for index in range(100):
        request = request_for(str(index), TYPES)
        spelt = all(kind in request for kind in TYPES)
        assert spelt or all(words in request for words in ("IAM role", "VPC", "SQS queue"))


def test_words_have_their_article() -> None:
    said = {request_for(str(index), (kind,)) for index in range(60) for kind in ("aws_iam_role", "aws_nat_gateway")}
    assert any("an IAM role" in one or "An IAM role" in one for one in said)
    assert any("a NAT gateway" in one or "A NAT gateway" in one for one in said)
    assert not any("a IAM" in one or "an NAT" in one for one in said)
