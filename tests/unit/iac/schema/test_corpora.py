"""The corpora, and what Terraform with the AWS provider 5.100 said of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from rl_gym.hcl import HclError
from rl_gym.hcl.limits import FILES
from rl_gym.iac.corpora import iac_eval_rows, json_rows
from rl_gym.iac.report import Problem
from rl_gym.iac.scan import read
from rl_gym.iac.schema import find_problems

Row = tuple[str, int]

SIX_ALONE = frozenset({("checkov_tf", 346), ("checkov_tf", 417), ("checkov_tf", 488)})
"""What only version 6 takes: a bucket's own region; and a firewall's statement, which is free there."""

SCHEMA_REASONS = (
    "Unsupported argument",
    "Unsupported block type",
    "Missing required argument",
    "Invalid resource type",
    "Value for unconfigurable attribute",
    "Incorrect attribute value type",
    "Insufficient ",
    "Attribute redefined",
    "Duplicate ",
)


@pytest.fixture(scope="module")
def labels(data_dir: Path) -> dict[Row, Mapping[str, Any]]:
    rows = map(json.loads, (data_dir / "terraform_labels.jsonl").read_text().splitlines())
    return {(row["source"], row["row"]): row for row in rows}


@pytest.fixture(scope="module")
def found(data_dir: Path) -> dict[Row, list[Problem] | HclError]:
    """Of each configuration its problems, or why it cannot be read."""
    texts: dict[Row, str] = {}
    for number, row in enumerate(iac_eval_rows(data_dir, fetch=False)):
        texts[("iac_eval", number)] = row["Reference output"]
    for source in ("checkov_tf", "github_tf"):
        rows = enumerate(json_rows(data_dir, f"{source}.jsonl"))
        texts.update(((source, number), row["hcl"]) for number, row in rows if row["hcl"])
    return {row: _problems(text) for row, text in texts.items()}


def _problems(text: str) -> list[Problem] | HclError:
    try:
        return list(find_problems(read(text, limits=FILES)))
    except HclError as error:
        return error


def test_nothing_that_terraform_takes_has_a_problem(
    labels: dict[Row, Mapping[str, Any]], found: dict[Row, list[Problem] | HclError]
) -> None:
    valid = [row for row, label in labels.items() if label["valid"]]
    assert len(valid) > 500
    assert {row: found[row] for row in valid if found[row]} == {}


def test_what_terraform_refuses_for_its_schema_is_refused(
    labels: dict[Row, Mapping[str, Any]], found: dict[Row, list[Problem] | HclError]
) -> None:
    refused = [row for row, label in labels.items() if _for_schema(label) and row not in SIX_ALONE]
    missed = [row for row in refused if not found[row]]
    assert len(refused) > 70
    assert missed == []


def _for_schema(label: Mapping[str, Any]) -> bool:
    return any(error["summary"].startswith(SCHEMA_REASONS) for error in label.get("errors", ()))


def test_every_reference_of_iac_eval_is_well_formed(found: dict[Row, list[Problem] | HclError]) -> None:
    """The 78 that Terraform did not take call modules and providers that were not there, or files that are not."""
    references = {row: problems for row, problems in found.items() if row[0] == "iac_eval"}
    assert len(references) == 458
    assert {row: problems for row, problems in references.items() if problems} == {}


def test_few_modules_of_repositories_are_refused(found: dict[Row, list[Problem] | HclError]) -> None:
    """They refer to what is in files beside them; their blocks are those of some version of the provider."""
    modules = {row: problems for row, problems in found.items() if row[0] == "github_tf"}
    refused = [
        row
        for row, problems in modules.items()
        if isinstance(problems, HclError) or any(problem.kind != "reference" for problem in problems)
    ]
    assert len(modules) == 158
    assert len(refused) <= 6, refused
