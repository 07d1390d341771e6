"""Plans: they are judged as the source that they were made of, by values, references, instances and modules."""

from __future__ import annotations

import csv
import gzip
import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from rl_gym.iac.report import ScanReport
from rl_gym.iac.scan import scan
from rl_gym.infra.errors import UsageError

SETTINGS = ("block_public_acls", "block_public_policy", "ignore_public_acls", "restrict_public_buckets")


def _resource(address: str, values: Mapping[str, Any], index: object = None) -> dict[str, Any]:
    kind, name = re.sub(r"\[.*\]", "", address).split(".")[-2:]
    found = {"address": address, "mode": "managed", "type": kind, "name": name, "values": values}
    return found if index is None else {**found, "index": index}


def _written(address: str, **expressions: Any) -> dict[str, Any]:
    kind, name = address.split(".")
    return {"address": address, "mode": "managed", "type": kind, "name": name, "expressions": expressions}


def _change(address: str, **unknown: Any) -> dict[str, Any]:
    return {"address": address, "change": {"actions": ["create"], "after_unknown": unknown}}


def _plan(
    resources: list[dict[str, Any]],
    changes: list[dict[str, Any]],
    written: list[dict[str, Any]],
    *,
    children: list[dict[str, Any]] | None = None,
    **configuration: Any,
) -> dict[str, Any]:
    module = {"resources": resources, "child_modules": children or []}
    return {
        "planned_values": {"root_module": module},
        "resource_changes": changes,
        "configuration": {"root_module": {"resources": written, **configuration}},
    }


def _refer(*names: str) -> dict[str, Any]:
    return {"references": list(names)}


def _verdicts(report: ScanReport, rule: str) -> dict[str, str]:
    assert report.valid, report.errors
    return {result.address: result.verdict for result in report.results if result.rule == rule}


def test_values_are_judged() -> None:
    database = {"engine": "postgres", "publicly_accessible": True, "storage_encrypted": False}
    report = scan(
        None, plan=_plan([_resource("aws_db_instance.d", database)], [_change("aws_db_instance.d", id=True)], [])
    )
    assert _verdicts(report, "rds_public") == {"aws_db_instance.d": "fail"}
    assert _verdicts(report, "rds_encrypted") == {"aws_db_instance.d": "fail"}


def test_a_companion_is_for_the_bucket_that_it_refers_to() -> None:
    buckets = [_resource(f"aws_s3_bucket.{name}", {"tags": {"Name": name}}) for name in "ab"]
    block = _resource("aws_s3_bucket_public_access_block.p", dict.fromkeys(SETTINGS, True))
    changes = [_change(one["address"], id=True, bucket=True) for one in (*buckets, block)]
    written = [
        _written("aws_s3_bucket.a"),
        _written("aws_s3_bucket_public_access_block.p", bucket=_refer("aws_s3_bucket.a.id", "aws_s3_bucket.a")),
    ]
    report = scan(None, plan=_plan([*buckets, block], changes, written))
    assert _verdicts(report, "s3_block_public") == {"aws_s3_bucket.a": "pass", "aws_s3_bucket.b": "fail"}


def test_an_instance_refers_to_the_instance_of_its_key() -> None:
    resources = [_resource(f'aws_s3_bucket.b["{key}"]', {}, key) for key in "xy"]
    on = dict.fromkeys(SETTINGS, True)
    blocks = [
        _resource(f'aws_s3_bucket_public_access_block.p["{key}"]', {**on, "block_public_acls": key == "x"}, key)
        for key in "xy"
    ]
    changes = [_change(one["address"], id=True, bucket=True) for one in (*resources, *blocks)]
    refer = _refer("aws_s3_bucket.b", "each.key")
    written = [_written("aws_s3_bucket.b"), _written("aws_s3_bucket_public_access_block.p", bucket=refer)]
    report = scan(None, plan=_plan([*resources, *blocks], changes, written))
    assert _verdicts(report, "s3_block_public") == {'aws_s3_bucket.b["x"]': "pass", 'aws_s3_bucket.b["y"]': "fail"}


def test_references_go_through_modules() -> None:
    child = {
        "address": "module.m",
        "resources": [_resource("module.m.aws_s3_bucket_public_access_block.p", dict.fromkeys(SETTINGS, True))],
    }
    inner = [_written("aws_s3_bucket_public_access_block.p", bucket=_refer("var.bucket"))]
    plan = _plan(
        [_resource("aws_s3_bucket.b", {})],
        [
            _change("aws_s3_bucket.b", id=True),
            _change("module.m.aws_s3_bucket_public_access_block.p", bucket=True),
        ],
        [_written("aws_s3_bucket.b")],
        children=[child],
        module_calls={
            "m": {
                "expressions": {"bucket": _refer("aws_s3_bucket.b.id", "aws_s3_bucket.b")},
                "module": {"resources": inner},
            }
        },
    )
    assert _verdicts(scan(None, plan=plan), "s3_block_public") == {"aws_s3_bucket.b": "pass"}


def test_what_nobody_wrote_is_absent_and_what_somebody_wrote_is_unknown() -> None:
    key = _resource("aws_kms_key.k", {})
    change = _change("aws_kms_key.k", enable_key_rotation=True)
    absent = scan(None, plan=_plan([key], [change], [_written("aws_kms_key.k")]))
    assert _verdicts(absent, "kms_rotation") == {"aws_kms_key.k": "fail"}
    written = [_written("aws_kms_key.k", enable_key_rotation=_refer("local.rotate"))]
    assert _verdicts(scan(None, plan=_plan([key], [change], written)), "kms_rotation") == {"aws_kms_key.k": "unknown"}


def test_text_is_no_template() -> None:
    group = _resource("aws_cloudwatch_log_group.g", {"name": "${local.x} %{ if true }", "retention_in_days": 7})
    plan = _plan([group], [_change("aws_cloudwatch_log_group.g")], [])
    assert _verdicts(scan(None, plan=plan), "cw_retention") == {"aws_cloudwatch_log_group.g": "pass"}


def test_default_tags_of_the_provider_count() -> None:
    plan = _plan([_resource("aws_sns_topic.t", {"name": "t"})], [_change("aws_sns_topic.t")], [])
    assert _verdicts(scan(None, plan=plan), "tags") == {"aws_sns_topic.t": "fail"}
    tags = {"default_tags": [{"tags": {"constant_value": {"Team": "x"}}}]}
    plan["configuration"]["provider_config"] = {"aws": {"name": "aws", "expressions": tags}}
    assert _verdicts(scan(None, plan=plan), "tags") == {"aws_sns_topic.t": "pass"}


@pytest.mark.parametrize(
    "plan",
    [
        {},
        {"planned_values": {"root_module": {"resources": [_resource("aws_kms_key.k", {})]}}},
        {"planned_values": 1, "resource_changes": []},
        {"planned_values": {}, "resource_changes": [1]},
    ],
)
def test_what_is_no_plan_is_said_to_be_none(plan: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=r"^plan: .*terraform show -json"):
        scan(None, plan=plan)


def test_a_reference_to_one_instance_is_for_that_one_alone() -> None:
    """`aws_s3_bucket.b[1].id` is listed with `aws_s3_bucket.b[1]` and `aws_s3_bucket.b` behind it."""
    buckets = [_resource(f"aws_s3_bucket.b[{index}]", {"bucket": f"b{index}"}, index) for index in (0, 1)]
    block = _resource("aws_s3_bucket_public_access_block.p", dict.fromkeys(SETTINGS, True))
    plan = _plan(
        [*buckets, block],
        [_change("aws_s3_bucket_public_access_block.p", bucket=True)],
        [
            _written(
                "aws_s3_bucket_public_access_block.p",
                bucket=_refer("aws_s3_bucket.b[1].id", "aws_s3_bucket.b[1]", "aws_s3_bucket.b"),
            )
        ],
    )
    verdicts = _verdicts(scan(None, plan=plan), "s3_block_public")
    assert verdicts == {"aws_s3_bucket.b[0]": "fail", "aws_s3_bucket.b[1]": "pass"}


@pytest.mark.parametrize(
    ("variable", "verdict"),
    [({"sensitive": True}, "pass"), ({"sensitive": True, "default": "hunter2hunter2"}, "fail")],
)
def test_a_secret_that_was_handed_in_is_written_nowhere(variable: dict[str, Any], verdict: str) -> None:
    inner = {"resources": [_written("aws_db_instance.d", password=_refer("var.password"))]}
    plan = _plan(
        [],
        [],
        [],
        children=[
            {
                "address": "module.m",
                "resources": [_resource("module.m.aws_db_instance.d", {"password": "hunter2hunter2"})],
            }
        ],
        variables={"password": variable},
        module_calls={"m": {"module": inner, "expressions": {"password": _refer("var.password")}}},
    )
    verdicts = _verdicts(scan(None, plan=plan), "hardcoded_secret")
    assert verdicts == {"module.m.aws_db_instance.d": verdict}


def test_a_plan_of_nothing_is_judged() -> None:
    """Terraform writes no `resource_changes` where there is nothing to change."""
    report = scan(None, plan={"planned_values": {"root_module": {}}, "configuration": {"root_module": {}}})
    assert report.valid
    assert report.results == []


def test_what_is_destroyed_is_not_judged() -> None:
    key = _resource("aws_kms_key.k", {"enable_key_rotation": False})
    plan = {
        "planned_values": {"root_module": {}},
        "resource_changes": [{"address": "aws_kms_key.k", "change": {"actions": ["delete"]}}],
        "prior_state": {"values": {"root_module": {"resources": [key]}}},
    }
    assert _verdicts(scan(None, plan=plan), "kms_rotation") == {}


def test_a_plan_and_source_are_one_too_many() -> None:
    with pytest.raises(UsageError, match="either a plan or source text"):
        scan("", files={"a.tf": ""}, plan={"planned_values": {}})


def test_a_plan_is_judged_as_its_source(data_dir: Path) -> None:
    csv.field_size_limit(sys.maxsize)
    with open(data_dir / "iac_eval.csv", newline="") as stream:
        rows = list(csv.DictReader(stream))
    compared, different = 0, []
    for path in sorted((data_dir / "plans").glob("*.json.gz"))[::4]:
        row = int(path.name.removesuffix(".json.gz").rpartition("-")[2])
        with gzip.open(path) as packed:
            planned = _by_pair(scan(None, plan=json.load(packed), ruleset="base+drift"))
        for pair, verdict in _by_pair(scan(rows[row]["Reference output"], ruleset="base+drift")).items():
            compared += 1
            # A policy of which any part is unknown is unknown as a whole in a plan.
            if planned.get(pair) not in (verdict, "unknown"):
                different.append((row, *pair, verdict, planned.get(pair)))
    assert compared > 250
    assert different == []


def _by_pair(report: ScanReport) -> dict[tuple[str, str], str]:
    assert report.valid, report.errors
    return {(result.rule, result.address): result.verdict for result in report.results}
