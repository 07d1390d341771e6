"""Fixing what people wrote: the public corpora, laid out by `terraform fmt` first, so that all of them are clean."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from rl_gym.hcl import HclError
from rl_gym.iac.corpora import iac_eval_rows, json_rows
from rl_gym.iac.fixes import FixResult, fix
from rl_gym.iac.report import ScanReport

EVERY = 8
"""One configuration in so many, to answer in seconds."""
_COMMENT_OR_TEXT = re.compile(r'"(?:[^"\\\n]|\\.)*+"|((?:#|//)[^\n]*|/\*.*?\*/)', re.DOTALL)


def corpus(data_dir: Path) -> Iterator[str]:
    for name in ("checkov_tf.jsonl", "github_tf.jsonl"):
        yield from (row["hcl"] for row in json_rows(data_dir, name) if row["hcl"])
    yield from (row["Reference output"] for row in iac_eval_rows(data_dir))


@pytest.fixture(scope="module")
def results(data_dir: Path, terraform: str, tmp_path_factory: pytest.TempPathFactory) -> list[FixResult]:
    folder = tmp_path_factory.mktemp("corpus")
    for number, text in enumerate(list(corpus(data_dir))[::EVERY]):
        (folder / f"{number}.tf").write_text(text if text.endswith("\n") else f"{text}\n")
    # What cannot be read is named by its complaint, and left as it is.
    subprocess.run([terraform, "fmt", "-list=false", str(folder)], capture_output=True, check=False)
    found = []
    for path in sorted(folder.iterdir()):
        try:
            found.append(fix({path.name: path.read_text()}, ruleset="base+drift"))
        except HclError:
            continue
    return found


def test_most_of_them_are_changed(results: list[FixResult]) -> None:
    assert sum(bool(one.changed) for one in results) > 50
    assert {finding.rule for one in results for finding in one.applied} > {"s3_block_public", "rds_encrypted"}


def test_they_stay_as_terraform_lays_them_out(results: list[FixResult], terraform: str, tmp_path: Path) -> None:
    changed = [one for one in results if one.changed]
    for one in changed:
        for name in one.changed:
            (tmp_path / name).write_text(one.files[name])
    done = subprocess.run(
        [terraform, "fmt", "-check", "-list=true", str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.returncode) == ("", 0)


def test_they_keep_their_comments(results: list[FixResult]) -> None:
    for one in results:
        for name in one.changed:
            assert not _comments(one.originals[name]) - _comments(one.files[name]), name


def test_nothing_new_is_wrong(results: list[FixResult]) -> None:
    for one in results:
        assert _wrong(one.after) <= _wrong(one.before), one.changed
        assert len(one.after.problems) <= len(one.before.problems)


def test_a_second_run_changes_nothing(results: list[FixResult]) -> None:
    for one in results:
        if one.changed:
            assert fix(one.files, ruleset="base+drift").changed == []


def test_what_terraform_calls_valid_stays_so(
    data_dir: Path, complaints: Callable[[Mapping[str, str]], list[str]]
) -> None:
    checkov = [row["hcl"] for row in json_rows(data_dir, "checkov_tf.jsonl")]
    texts = {"iac_eval": [row["Reference output"] for row in iac_eval_rows(data_dir)], "checkov_tf": checkov}
    labels = json_rows(data_dir, "terraform_labels.jsonl")
    valid = [(one["source"], one["row"]) for one in labels if one["valid"] and one["source"] in texts]
    fixed = {}
    for source, row in valid[:: 2 * EVERY]:
        result = fix({"main.tf": texts[source][row]}, ruleset="base+drift")
        if result.changed:
            fixed[f"{source}_{row}"] = result.files["main.tf"]
    assert len(fixed) > 10
    assert complaints(fixed) == []


def _comments(text: str) -> Counter[str]:
    return Counter(match[1] for match in _COMMENT_OR_TEXT.finditer(text) if match[1])


def _wrong(report: ScanReport) -> set[tuple[str, str]]:
    return {(one.rule, one.address) for one in report.findings}
