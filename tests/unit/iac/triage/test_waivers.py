"""Waivers: what they cover, until when, and what is said of those that cover nothing."""

from __future__ import annotations

from datetime import date

import pytest

from rl_gym.iac.triage import JudgedModule
from rl_gym.iac.triage.waivers import Waiver, waived

TODAY = date(2027, 1, 31)


def _waiver(**given: str) -> Waiver:
    return Waiver(**{"rule": "rds_public", "reason": "a playground", **given}, expires=TODAY, origin="w.toml:3")


def _excused(module: JudgedModule, *waivers: Waiver, today: date = TODAY) -> set[tuple[str, str]]:
    (after,), _ = waived([module], waivers, today, whole=True)
    return {(issue.rule, issue.address) for issue in after.issues if issue.suppression}


def test_a_waiver_excuses_until_the_end_of_its_last_day(module: JudgedModule) -> None:
    (after,), said = waived([module], [_waiver()], TODAY, whole=True)
    (excused,) = [issue for issue in after.issues if issue.suppression]
    assert (excused.rule, excused.address, excused.counts) == ("rds_public", "aws_db_instance.d", False)
    assert excused.suppression is not None
    assert excused.suppression.reason == "waived until 2027-01-31: a playground"
    assert said == []

    (after,), said = waived([module], [_waiver()], date(2027, 2, 1), whole=False)
    assert all(issue.suppression is None for issue in after.issues)
    assert said == [
        "w.toml:3: the waiver of rds_public for * ended on 2027-01-31: what it covers counts again",
    ]


@pytest.mark.parametrize(
    ("given", "excused"),
    [
        ({"rule": "rds_*", "address": "aws_db_instance.d"}, {"rds_public", "rds_encrypted", "rds_backup"}),
        ({"rule": "*", "path": "infra/d*.tf"}, {"rds_public", "rds_encrypted", "rds_backup", "tags"}),
        ({"path": "*/db.tf"}, {"rds_public"}),
        ({"path": "db.tf"}, set()),
        ({"address": "aws_db_instance"}, set()),
        ({"rule": "rds"}, set()),
    ],
)
def test_patterns_cover_whole_names(module: JudgedModule, given: dict[str, str], excused: set[str]) -> None:
    assert {rule for rule, _ in _excused(module, _waiver(**given))} == excused


def test_brackets_of_an_address_are_meant_as_they_stand(module: JudgedModule) -> None:
    waiver = _waiver(rule="ec2_imdsv2", address="aws_instance.web[0]")
    assert _excused(module, waiver) == {("ec2_imdsv2", "aws_instance.web[0]")}


def test_what_cannot_be_told_may_be_waived_too(module: JudgedModule) -> None:
    assert _excused(module, _waiver(rule="kms_rotation")) == {("kms_rotation", "aws_kms_key.k")}


@pytest.mark.parametrize(("whole", "said"), [(True, 1), (False, 0)])
def test_a_waiver_for_nothing_is_told_where_all_was_looked_at(module: JudgedModule, whole: bool, said: int) -> None:
    _, complaints = waived([module], [_waiver(address="aws_db_instance.gone")], TODAY, whole=whole)
    assert len(complaints) == said
    assert all("for aws_db_instance.gone is for nothing that was found: delete it" in line for line in complaints)


def test_of_two_waivers_the_one_that_lasts_excuses(module: JudgedModule) -> None:
    old = Waiver("rds_public", "old", date(2026, 1, 1))
    assert _excused(module, old, _waiver()) == {("rds_public", "aws_db_instance.d")}
