"""Rows of the corpora as episodes: which are usable, what they require, and how they ask."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from rl_gym.hcl import parse
from rl_gym.iac.datasets import checkov, iac_eval, modules


def write(folder: Path, name: str, *rows: Mapping[str, object]) -> Path:
    (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


BUCKET = 'resource "aws_s3_bucket" "pass" {\n  bucket = "a"\n}\n'
KEY = 'resource "aws_kms_key" "fail" {\n  description = "k"\n}'


def test_a_configuration_asks_for_its_managed_types(tmp_path: Path) -> None:
    text = BUCKET + KEY + '\ndata "aws_ami" "a" {\n  owners = ["self"]\n}\n' + BUCKET.replace("pass", "fail")
    (episode,) = checkov(write(tmp_path, "checkov_tf.jsonl", {"id": "c1", "hcl": text})).episodes
    assert episode.data["required"] == ["aws_s3_bucket", "aws_kms_key"]
    assert episode.data["reference"] == text
    assert (episode.id, episode.source) == ("c1", "checkov")
    assert any(said in episode.request for said in ("aws_s3_bucket and aws_kms_key", "S3 bucket and KMS key"))


def test_rows_that_make_no_episode_are_named_with_the_reason(tmp_path: Path) -> None:
    rows = {
        "first": BUCKET,
        "again": BUCKET,
        "broken": 'resource "aws_s3_bucket" "a" {',
        "empty": None,
        "data only": 'data "aws_ami" "a" {\n  owners = ["self"]\n}\n',
        "another cloud": 'resource "google_storage_bucket" "a" {\n  name = "a"\n}\n',
        "invented": 'resource "aws_xyz" "a" {\n  name = "a"\n}\n',
        "huge": "".join(f'resource "aws_kind_{n}" "a" {{\n  name = "a"\n}}\n' for n in range(9)),
    }
    corpus = modules(write(tmp_path, "github_tf.jsonl", *({"id": name, "hcl": hcl} for name, hcl in rows.items())))
    assert [episode.id for episode in corpus.episodes] == ["first"]
    reasons = {row.row: row.reason for row in corpus.dropped}
    assert set(reasons) == set(rows) - {"first"}
    assert reasons["again"] == "the same types as first"
    assert reasons["broken"].startswith("not well formed: ")
    assert "does not have" in reasons["invented"]
    assert "more than 8 types" in reasons["huge"]


def test_a_request_does_not_change_from_run_to_run(tmp_path: Path) -> None:
    folder = write(tmp_path, "checkov_tf.jsonl", *({"id": f"c{n}", "hcl": t} for n, t in enumerate((BUCKET, KEY))))
    assert [e.request for e in checkov(folder).episodes] == [e.request for e in checkov(folder).episodes]


def test_iac_eval_has_455_usable_rows(data_dir: Path) -> None:
    corpus = iac_eval(data_dir)
    assert len(corpus.episodes) == 455
    assert [row.row for row in corpus.dropped] == ["iac-eval-124", "iac-eval-125", "iac-eval-187"]
    for episode in corpus.episodes:
        built = {block.labels[0] for block in parse(episode.data["reference"]).body.blocks_of("resource")}
        assert set(episode.data["required"]) <= built
        assert 1 <= episode.data["difficulty"] <= 6
        assert episode.request == episode.request.strip() != ""


def test_the_other_corpora_give_requests_that_all_differ(data_dir: Path) -> None:
    for corpus, least in ((checkov(data_dir), 200), (modules(data_dir), 100)):
        assert len(corpus.episodes) >= least
        assert len({episode.request for episode in corpus.episodes}) == len(corpus.episodes)
        for episode in corpus.episodes:
            assert 1 <= len(set(episode.data["required"])) == len(episode.data["required"]) <= 8
