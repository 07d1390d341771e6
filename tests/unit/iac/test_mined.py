"""The folder of mined episodes: whole or as it was, and refused where it is not what was written."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import pytest

from rl_gym.gym.core import Episode
from rl_gym.iac.mined import HOLDOUT, read_mined, write_mined
from rl_gym.iac.mining.checkout import Skipped
from rl_gym.iac.mining.mine import Mined, MinedEpisode, Options
from rl_gym.infra.errors import InfrastructureError, NotFoundError, UsageError


def episode(number: int) -> MinedEpisode:
    data = {"required": ["aws_vpc"], "reference": f"# {number}\n"}
    return MinedEpisode(Episode(f"ada/m{number}:.", f"request {number}", "mined", data), {"licence": "MIT"})


MINED = Mined([episode(1), episode(2)], [episode(3)], [Skipped("ada/m4", ".", "no licence")], 4, 4)


def test_what_was_written_is_read(tmp_path: Path) -> None:
    write_mined(tmp_path / "out", MINED, Options())
    found = read_mined(tmp_path / "out")
    assert found.train == [one.episode for one in MINED.train]
    assert found.holdout == [one.episode for one in MINED.holdout]
    assert found.frozen is not None
    assert list(found.frozen.episodes) == [MINED.holdout[0].episode.hash]
    rows = [json.loads(line) for line in (tmp_path / "out" / "train.jsonl").read_text().splitlines()]
    assert rows[0]["attribution"] == {"licence": "MIT"}
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert report["counts"]["train"] == 2
    assert report["reasons"] == {"no licence": 1}


def test_without_a_held_out_episode_there_is_no_split(tmp_path: Path) -> None:
    write_mined(tmp_path / "out", replace(MINED, holdout=[]), Options())
    assert read_mined(tmp_path / "out").frozen is None


def test_an_earlier_mining_is_replaced_and_nothing_else_is(tmp_path: Path) -> None:
    write_mined(tmp_path / "out", MINED, Options())
    write_mined(tmp_path / "out", replace(MINED, train=[episode(9)], holdout=[]), Options())
    assert [one.id for one in read_mined(tmp_path / "out").train] == ["ada/m9:."]
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    (tmp_path / "out" / "thesis.txt").write_text("mine")
    with pytest.raises(UsageError, match=r"thesis\.txt"):
        write_mined(tmp_path / "out", MINED, Options())
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="no folder"):
        write_mined(tmp_path / "file", MINED, Options())


def test_on_a_failure_the_old_one_stays_and_no_part_of_the_new(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_mined(tmp_path / "out", MINED, Options())

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("rl_gym.iac.mined.write_frozen", full)
    with pytest.raises(InfrastructureError, match="No space left"):
        write_mined(tmp_path / "out", replace(MINED, train=[]), Options())
    assert len(read_mined(tmp_path / "out").train) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_where_nothing_is_it_says_how_to_make_it(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="rl-gym data mine"):
        read_mined(tmp_path)


@pytest.mark.parametrize("name", ["train.jsonl", f"{HOLDOUT}.jsonl"])
def test_a_file_that_was_changed_is_refused(tmp_path: Path, name: str) -> None:
    write_mined(tmp_path, MINED, Options())
    with (tmp_path / name).open("a") as file:
        file.write(json.dumps(episode(5).episode.to_dict()) + "\n")
    with pytest.raises(UsageError, match=f"{name} is not what its report says"):
        read_mined(tmp_path)
    (tmp_path / name).unlink()
    with pytest.raises(UsageError, match=name):
        read_mined(tmp_path)


def test_another_report_and_a_damaged_one_are_refused(tmp_path: Path) -> None:
    (tmp_path / "report.json").write_text("{}")
    with pytest.raises(UsageError, match="not the report"):
        read_mined(tmp_path)
    (tmp_path / "report.json").write_text("{")
    with pytest.raises(UsageError, match="no JSON"):
        read_mined(tmp_path)


def test_a_held_out_episode_that_trains_is_refused(tmp_path: Path) -> None:
    write_mined(tmp_path, replace(MINED, train=[*MINED.train, episode(3)]), Options())
    with pytest.raises(UsageError, match=r"ada/m3:\. is among what trains and in mined-holdout"):
        read_mined(tmp_path)


@pytest.mark.parametrize(
    "row", ["[]", "1", '{"id": "x"}', '{"id": 1, "request": "x"}', "{", '{"id": "x", "request": []}']
)
def test_a_row_that_is_no_episode_is_named(tmp_path: Path, row: str) -> None:
    write_mined(tmp_path, MINED, Options())
    (tmp_path / "train.jsonl").write_text(f"{row}\n")
    report = json.loads((tmp_path / "report.json").read_text())
    report["files"]["train.jsonl"]["sha256"] = hashlib.sha256(f"{row}\n".encode()).hexdigest()
    (tmp_path / "report.json").write_text(json.dumps(report))
    with pytest.raises(UsageError, match=r"train\.jsonl:1: no episode"):
        read_mined(tmp_path)
