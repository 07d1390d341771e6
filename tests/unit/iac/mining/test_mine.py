"""Mining: one episode of each kind of module, what is held out shares nothing with what trains, the rest says why."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from pathlib import Path

import pytest

from rl_gym.iac.anchors import anchor
from rl_gym.iac.environment import make
from rl_gym.iac.mined import read_mined, write_mined
from rl_gym.iac.mining import mine as mining
from rl_gym.iac.mining.mine import Mined, MinedEpisode, Options, mine
from rl_gym.iac.mining.modules import CandidateModule
from rl_gym.infra.errors import UsageError
from tests.unit.iac.mining.clones import COMMIT, MIT, clone, resource, wording

TYPES = (
    *("aws_glue_catalog_database", "aws_ssm_activation", "aws_cloudwatch_log_stream", "aws_sfn_activity"),
    *("aws_codecommit_repository", "aws_dynamodb_tag", "aws_budgets_budget", "aws_xray_group", "aws_athena_workgroup"),
    *("aws_ses_template", "aws_shield_protection", "aws_signer_signing_profile", "aws_swf_domain"),
)
DATABASE = resource("aws_glue_catalog_database", name='"db"')
STREAM = resource("aws_sfn_activity", name='"s"')
ALL = Options(holdout_share=0)


def github(name: str) -> str:
    return f"https://github.com/{name}.git"


def reasons(mined: Mined) -> dict[str, str]:
    return {f"{one.repository}:{one.path}": one.reason for one in mined.skipped}


def ids(episodes: Sequence[MinedEpisode]) -> list[str]:
    return [one.episode.id for one in episodes]


@pytest.fixture
def many(tmp_path: Path) -> Path:
    """Forty repositories with two modules each, of types and contents of their own."""
    pairs = list(combinations(TYPES, 2))
    for number in range(40):
        first, second = pairs[number], TYPES[number % len(TYPES)]
        text = "".join(resource(kind, "it", comment=f'"{number} {kind} {number * 7}"') for kind in first)
        inner = resource(second, "it", comment=f'"inner {number} {number * 11} {number * 13}"')
        clone(tmp_path / f"ada{number}", github(f"ada/m{number}"), {"main.tf": text, "modules/a/main.tf": inner})
    return tmp_path


def test_an_episode_asks_for_the_types_and_says_where_it_comes_from(tmp_path: Path) -> None:
    clone(tmp_path / "x", github("ada/engine"), {"modules/db/main.tf": DATABASE, "modules/db/outputs.tf": "\n"})
    (one,) = mine([tmp_path], ALL).train
    assert one.episode.data == {"required": ["aws_glue_catalog_database"], "reference": DATABASE}
    assert one.episode.source == "mined"
    assert one.episode.id == "github.com/ada/engine:modules/db"
    assert one.attribution == {
        "repository": "github.com/ada/engine",
        "commit": COMMIT,
        "path": "modules/db",
        "files": ["main.tf", "outputs.tf"],
        "licence": "MIT",
        "licence_told_by": "LICENSE",
        "holder": "Ada Lovelace",
        "whole": True,
    }


def test_without_a_copyright_line_the_authors_hold_it(tmp_path: Path) -> None:
    clone(tmp_path, github("ada/engine"), {"main.tf": DATABASE}, MIT.replace("Copyright (c) 2021 Ada Lovelace", ""))
    assert mine([tmp_path], ALL).train[0].attribution["holder"] == "the authors of github.com/ada/engine"


def test_licences_are_refused_unless_they_are_allowed(tmp_path: Path) -> None:
    gpl = "GNU GENERAL PUBLIC LICENSE\nVersion 3, 29 June 2007\n" + "You may copy. " * 50
    for name, licence in (("gpl", gpl), ("own", "You may look, not touch."), ("none", None), ("isc", wording("ISC"))):
        clone(tmp_path / name, github(f"ada/{name}"), {"main.tf": DATABASE.replace("db", name)}, licence)
    mined = mine([tmp_path], ALL)
    assert ids(mined.train) == ["github.com/ada/isc:."]
    assert reasons(mined) == {
        "github.com/ada/gpl:.": "licence GPL-3.0",
        "github.com/ada/own:.": "licence whose wording is not known",
        "github.com/ada/none:.": "no licence",
    }
    allowed = mine([tmp_path], Options(("GPL-3.0-or-later",), 0))
    assert [one.attribution["licence"] for one in allowed.train] == ["GPL-3.0"]


def test_a_repository_makes_one_episode_of_a_set_of_types(tmp_path: Path) -> None:
    long = STREAM + "".join(resource("aws_sfn_activity", f"s{number}") for number in range(30))
    sources = {
        "main.tf": DATABASE,
        "a/main.tf": long,
        "b/main.tf": STREAM,
        "examples/one/main.tf": resource("aws_glue_catalog_database", name='"other"', description='"quite another"'),
    }
    clone(tmp_path, github("ada/engine"), sources)
    mined = mine([tmp_path], Options(holdout_share=0, longest=1000))
    assert ids(mined.train) == ["github.com/ada/engine:.", "github.com/ada/engine:b"]
    again = "the same types as another module of the repository"
    assert reasons(mined) == {"github.com/ada/engine:a": again, "github.com/ada/engine:examples/one": again}


def test_a_long_module_trains_without_a_reference(tmp_path: Path) -> None:
    text = "".join(resource("aws_sfn_activity", f"s{number}") for number in range(30))
    clone(tmp_path, github("ada/engine"), {"main.tf": text})
    (one,) = mine([tmp_path], Options(holdout_share=0, longest=1000)).train
    assert one.episode.data == {"required": ["aws_sfn_activity"], "training_only": True}
    assert one.attribution["no_reference"] == "too long"


def test_copies_are_taken_once(tmp_path: Path) -> None:
    body = "".join(resource("aws_sfn_activity", f"stream{n}", tags=f"{{ Number = {n + 24} }}") for n in range(12))
    renamed = body.replace("stream1", "flow1").replace("stream2", "flow2")
    for name, text in (("a", body), ("b", body), ("c", renamed), ("d", f"{body[:-2]}  region = 1\n}}\n")):
        clone(tmp_path / name, github(f"ada/{name}"), {"main.tf": text})
    mined = mine([tmp_path], ALL)
    assert ids(mined.train) == ["github.com/ada/a:."]
    assert reasons(mined) == {
        "github.com/ada/b:.": "the same content as another module",
        "github.com/ada/c:.": "the same content as another module",
        "github.com/ada/d:.": "nearly the content of another module",
    }


def test_a_repository_that_was_cloned_twice_is_mined_once(tmp_path: Path) -> None:
    for name in ("one", "two"):
        clone(tmp_path / name, github("Ada/Engine" if name == "one" else "ada/engine"), {"main.tf": DATABASE})
    mined = mine([tmp_path], ALL)
    assert len(mined.train) == 1
    assert list(reasons(mined).values()) == ["the same repository again"]


def test_what_the_anchors_come_from_is_not_mined(tmp_path: Path) -> None:
    clone(tmp_path, github("bridgecrewio/checkov"), {"tests/a/main.tf": DATABASE})
    assert reasons(mine([tmp_path], ALL)) == {"github.com/bridgecrewio/checkov:.": "an anchor was drawn from it"}


def test_an_anchors_answer_never_trains_nor_is_held_out(tmp_path: Path, data_dir: Path) -> None:
    rng = random.Random(0)
    copies = {
        f"{name}{number}": episode.data["reference"]
        for name in ("dev", "holdout")
        for number, episode in enumerate(rng.sample(anchor(name, data_dir), 20))
    }
    for name, text in copies.items():
        clone(tmp_path / name, github(f"ada/{name}"), {"main.tf": f"# Copyright\n\n{text}", "outputs.tf": "# none\n"})
    mined = mine([tmp_path], Options(holdout_share=0.5))
    assert ids([*mined.train, *mined.holdout]) == []
    assert "an anchor's, or nearly" in mined.reasons


def test_nor_does_a_module_with_an_anchors_answer_in_one_of_its_files(tmp_path: Path, data_dir: Path) -> None:
    answer = next(e for e in anchor("dev", data_dir) if len(e.data["required"]) <= 3).data["reference"]
    clone(tmp_path, github("ada/engine"), {"main.tf": answer, "more.tf": "".join(map(resource, TYPES[:2]))})
    assert list(mine([tmp_path], ALL).reasons) == ["an anchor's, or nearly"]


def test_a_generated_anchors_answers_are_known_too(tmp_path: Path) -> None:
    episode = anchor("synthetic", None)[0]
    clone(tmp_path, github("ada/engine"), {"main.tf": make().oracle(episode)})
    assert list(mine([tmp_path], ALL).reasons) == ["an anchor's, or nearly"]


def test_a_module_of_the_holdouts_types_does_not_train(tmp_path: Path, data_dir: Path) -> None:
    kind = next(e.data["required"][0] for e in anchor("holdout", data_dir) if len(e.data["required"]) == 1)
    clone(tmp_path, github("ada/engine"), {"main.tf": resource(kind, "quite_of_its_own", tags="{ Own = var.own }")})
    assert list(mine([tmp_path], ALL).reasons) == ["the types of an episode of holdout"]


def test_what_is_held_out_shares_nothing_with_what_trains(many: Path) -> None:
    mined = mine([many], Options(holdout_share=0.3))
    assert len(mined.train) > 10
    assert len(mined.holdout) > 5
    train, held = ([one.attribution["repository"] for one in some] for some in (mined.train, mined.holdout))
    assert set(train) & set(held) == set()
    types = [{frozenset(one.episode.data["required"]) for one in some} for some in (mined.train, mined.holdout)]
    assert types[0] & types[1] == set()
    hashes = [{one.episode.hash for one in some} for some in (mined.train, mined.holdout)]
    assert hashes[0] & hashes[1] == set()


def test_a_repository_stays_held_out_whatever_else_is_mined(many: Path) -> None:
    held = {one.attribution["repository"] for one in mine([many], Options(holdout_share=0.3)).holdout}
    for name in sorted(many.iterdir())[::2]:
        (repository,) = {one.attribution["repository"] for one in mine([name], ALL).train}
        alone = mine([name], Options(holdout_share=0.3))
        assert {one.attribution["repository"] for one in alone.train} & held == set()
        assert bool(alone.holdout) >= (repository in held)


def test_the_same_in_is_the_same_out_in_any_order(many: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    options = Options(holdout_share=0.2)
    out = tmp_path_factory.mktemp("out")
    folders = sorted(many.iterdir())
    write_mined(out / "one", mine([many], options), options)
    write_mined(out / "two", mine(folders[::-1], options), options)
    one, two = ({path.name: path.read_bytes() for path in (out / name).iterdir()} for name in ("one", "two"))
    assert one == two


def test_nothing_of_this_machine_and_no_secret_gets_out(tmp_path: Path) -> None:
    clone(tmp_path / "a", "https://ada:s3cret@github.com/ada/engine", {"main.tf": DATABASE})
    clone(tmp_path / "b", str(tmp_path / "elsewhere.git"), {"main.tf": STREAM, "bad.tf": "{{"})
    mined = mine([tmp_path / "a", tmp_path / "b"], ALL)
    write_mined(tmp_path / "out", mined, ALL)
    said = b"".join(path.read_bytes() for path in (tmp_path / "out").iterdir()).decode()
    assert "s3cret" not in said
    assert str(tmp_path) not in said


def test_a_module_that_we_fail_on_costs_that_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clone(tmp_path, github("ada/engine"), {"main.tf": DATABASE, "a/main.tf": STREAM})
    real = mining.module_of

    def failing(files: Mapping[str, str], longest: int) -> CandidateModule:
        return real(files, longest) if DATABASE in files.values() else [][1]

    monkeypatch.setattr(mining, "module_of", failing)
    mined = mine([tmp_path], ALL)
    assert ids(mined.train) == ["github.com/ada/engine:."]
    assert [(one.reason, one.detail) for one in mined.skipped] == [
        ("could not be judged", "IndexError: list index out of range")
    ]


def test_progress_is_told_and_time_is_bounded(tmp_path: Path, ticking: Callable[[], float]) -> None:
    for name in "abc":
        clone(tmp_path / name, github(f"ada/{name}"), {"main.tf": DATABASE})
    heard: list[tuple[int, int]] = []
    mine([tmp_path], ALL, progress=lambda done, total: heard.append((done, total)))
    assert heard == [(0, 3), (1, 3), (2, 3), (3, 3)]
    with pytest.raises(UsageError, match="mine the folders in parts"):
        mine([tmp_path], ALL, hours=0.5, clock=ticking)


@pytest.fixture
def ticking() -> Callable[[], float]:
    now = iter(range(0, 100_000, 1000))
    return lambda: float(next(now))


@pytest.mark.parametrize("wrong", [{"holdout_share": 1.0}, {"holdout_share": -0.1}, {"longest": 10}])
def test_options_beyond_reason_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(UsageError):
        Options(**wrong)  # type: ignore[arg-type]


def test_public_module_files_as_if_they_were_cloned(data_dir: Path, tmp_path: Path) -> None:
    """The sample of the corpora, laid out as clones: whole, attributed, and apart from every anchor."""
    rows = [json.loads(line) for line in (data_dir / "github_tf.jsonl").read_text().splitlines()]
    for row in rows:
        if row["hcl"]:
            root = tmp_path / "clones" / row["repo"]
            path = row["path"].partition("/")[2]
            if not root.exists():
                clone(root, github(row["repo"]), {}, wording("Apache-2.0"))
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(row["hcl"])
    options = Options()
    mined = mine([tmp_path / "clones"], options)
    assert mined.modules == len(mined.train) + len(mined.holdout) + len(mined.skipped)
    assert len(mined.train) > 60
    assert len(mined.holdout) > 5
    assert {one.attribution["licence"] for one in (*mined.train, *mined.holdout)} == {"Apache-2.0", "MIT-0"}
    write_mined(tmp_path / "out", mined, options)
    assert len(read_mined(tmp_path / "out").train) == len(mined.train)
