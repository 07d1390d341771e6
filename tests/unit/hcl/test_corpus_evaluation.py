"""The public corpora evaluate as terraform says: what it finds valid is accepted, and its plans hold our values."""

from __future__ import annotations

import csv
import gzip
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rl_gym.hcl import UNKNOWN, Configuration, HclEvaluationError, HclLimitError, HclSyntaxError, evaluate, load
from rl_gym.hcl.limits import FILES

SOURCES = ("iac_eval", "checkov_tf", "github_tf")
OF_TERRAFORM = {"count", "for_each", "depends_on", "provider", "lifecycle", "provisioner", "connection", "timeouts"}


def rows(data_dir: Path, source: str) -> Iterator[tuple[int, str]]:
    """Number and text of the configurations of one source."""
    if source == "iac_eval":
        csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
        with (data_dir / "iac_eval.csv").open(newline="", encoding="utf-8") as file:
            for number, row in enumerate(csv.DictReader(file)):
                yield number, row["Reference output"] + "\n"
    else:
        for number, line in enumerate((data_dir / f"{source}.jsonl").read_text(encoding="utf-8").splitlines()):
            text = json.loads(line)["hcl"]
            if text:
                yield number, text + "\n"


def labels(data_dir: Path) -> dict[tuple[str, int], bool]:
    """Whether terraform finds each configuration valid."""
    lines = (data_dir / "terraform_labels.jsonl").read_text(encoding="utf-8").splitlines()
    found = [json.loads(line) for line in lines]
    return {(one["source"], one["row"]): one["valid"] for one in found}


@pytest.mark.parametrize("source", SOURCES)
def test_what_terraform_finds_valid_is_accepted(data_dir: Path, source: str) -> None:
    valid = labels(data_dir)
    refused, seen = [], 0
    for number, text in rows(data_dir, source):
        try:
            configuration = evaluate(load({"main.tf": text}, FILES))
        except HclSyntaxError:
            continue
        except (HclEvaluationError, HclLimitError) as error:
            if valid.get((source, number), valid.get((source.removesuffix("_tf"), number))):
                refused.append((number, str(error)))
            continue
        seen += 1
        for one in configuration.resources() + configuration.data():
            json.dumps(one.attributes(), default=repr)
            one.references()
    assert refused == []
    assert seen > 100


# ---- plans -----------------------------------------------------------------------------------------------------------


def planned(plan: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The planned values of managed resources, by address."""
    found, pending = {}, [plan["planned_values"]["root_module"]]
    while pending:
        module = pending.pop()
        pending += module.get("child_modules", [])
        found.update(
            {one["address"]: one.get("values", {}) for one in module.get("resources", []) if one["mode"] == "managed"}
        )
    return found


def comparable(value: Any) -> Any:
    """A value without what a provider's schema adds: order of sets, spelling of numbers and of JSON."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, (int, float)):
        return str(value)
    if isinstance(value, list):
        return sorted((comparable(item) for item in value), key=str)
    if isinstance(value, dict):
        return {key: comparable(item) for key, item in value.items()}
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return json.dumps(json.loads(value), sort_keys=True)
        except ValueError:
            return value
    return value


def contradictions(ours: Any, theirs: Any) -> Iterator[tuple[Any, Any]]:
    """Where a known value of ours is another one in the plan; blocks that are not one to one are left out."""
    if ours is UNKNOWN or ours is None or theirs is None:
        return
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key, item in ours.items():
            yield from contradictions(item, theirs.get(key))
    elif isinstance(ours, list) and isinstance(theirs, list):
        if len(ours) == len(theirs) == 1:
            yield from contradictions(ours[0], theirs[0])
        elif not any(isinstance(item, dict) or item is UNKNOWN for item in ours):
            missing = [item for item in comparable(ours) if item not in comparable(theirs)]
            if missing:
                yield ours, theirs
    elif comparable(ours) != comparable(theirs):
        yield ours, theirs


def test_known_values_are_those_of_the_plans(data_dir: Path) -> None:
    texts = dict(rows(data_dir, "iac_eval"))
    compared, wrong = 0, []
    for path in sorted((data_dir / "plans").glob("iac_eval-*.json.gz")):
        match = re.search(r"-(\d+)\.", path.name)
        assert match is not None
        configuration: Configuration = evaluate(load({"main.tf": texts[int(match[1])]}, FILES))
        plan = planned(json.loads(gzip.decompress(path.read_bytes())))
        created = {one.address: one for one in configuration.resources() if one.created is True}
        assert set(created) == set(plan), path.name
        for address, one in created.items():
            for name, value in one.attributes().items():
                if name not in OF_TERRAFORM:
                    compared += 1
                    found = contradictions(value, plan[address].get(name))
                    wrong += [(path.name, address, name, *pair) for pair in found]
    assert wrong == []
    assert compared > 2500
