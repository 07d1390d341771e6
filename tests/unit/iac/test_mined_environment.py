"""Mined episodes in the environment: they train, what was held out is a split, and no anchor's episode ever trains."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from rl_gym.gym.conformance import check
from rl_gym.gym.core import Episode, score_completion
from rl_gym.gym.registry import get_env
from rl_gym.gym.splits import contamination, verify
from rl_gym.iac import datasets
from rl_gym.iac.anchors import anchor
from rl_gym.iac.mined import HOLDOUT, write_mined
from rl_gym.iac.mining.mine import Mined, MinedEpisode, Options
from rl_gym.infra.errors import NotFoundError, UsageError

VOLUME = 'resource "aws_ebs_volume" "data" {\n  availability_zone = "eu-west-1a"\n  size = 1\n  encrypted = true\n}\n'


def mined(name: str, text: str | None, *types: str) -> MinedEpisode:
    answer = {"training_only": True} if text is None else {"reference": text}
    return MinedEpisode(Episode(f"ada/{name}:.", f"Make {name}.", "mined", {"required": list(types), **answer}), {})


TRAIN = [mined("volume", VOLUME, "aws_ebs_volume"), mined("topic", None, "aws_sns_topic")]
HELD = [mined("queue", 'resource "aws_sqs_queue" "q" {\n  kms_master_key_id = "k"\n}\n', "aws_sqs_queue")]
MINED = Mined(TRAIN, HELD, [], 3, 3)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_mined(tmp_path / "mined", MINED, Options())
    return tmp_path / "mined"


def test_they_join_what_trains_and_can_be_all_of_it(folder: Path, tmp_path: Path) -> None:
    every = get_env("iac", data=str(tmp_path), mined=str(folder), parametric_episodes="50")
    assert Counter(e.source for e in every.episodes("train")) == {"parametric": 50, "mined": 2}
    alone = get_env("iac", mined=str(folder), sources="mined")
    assert list(alone.episodes("train")) == [one.episode for one in TRAIN]
    both = get_env("iac", mined=str(folder), sources="parametric, mined", parametric_episodes="3")
    assert len(both.episodes("train")) == 5


def test_what_was_held_out_is_a_split_frozen_where_it_was_mined(folder: Path, tmp_path: Path) -> None:
    env = get_env("iac", data=str(tmp_path), mined=str(folder))
    assert env.splits == ("train", "synthetic", HOLDOUT)
    assert list(env.episodes(HOLDOUT)) == [one.episode for one in HELD]
    verify(env.frozen()[HOLDOUT], env.episodes(HOLDOUT))
    assert env.oracle(env.episodes(HOLDOUT)[0]) == HELD[0].episode.data["reference"]


def test_a_folder_that_was_mined_again_is_read_again(folder: Path) -> None:
    assert len(get_env("iac", mined=str(folder), sources="mined").episodes("train")) == 2
    write_mined(folder, replace(MINED, train=TRAIN[:1]), Options())
    assert len(get_env("iac", mined=str(folder), sources="mined").episodes("train")) == 1


def test_without_a_folder_or_without_a_share_there_is_none(tmp_path: Path) -> None:
    env = get_env("iac", data=str(tmp_path))
    assert HOLDOUT not in env.splits
    with pytest.raises(NotFoundError, match=r"environment\.options\.mined"):
        env.episodes(HOLDOUT)
    write_mined(tmp_path / "mined", replace(MINED, holdout=[]), Options())
    env = get_env("iac", data=str(tmp_path), mined=str(tmp_path / "mined"))
    assert HOLDOUT not in env.splits
    with pytest.raises(NotFoundError, match="holdout-share"):
        env.episodes(HOLDOUT)


def test_a_folder_that_is_none_is_refused_however_it_is_asked_for(tmp_path: Path) -> None:
    for sources in (None, "mined"):
        with pytest.raises(NotFoundError, match="no mined episodes there"):
            get_env("iac", data=str(tmp_path), mined=str(tmp_path), sources=sources).episodes("train")
    with pytest.raises(UsageError, match=r"environment\.options\.mined"):
        get_env("iac", sources="mined").episodes("train")
    with pytest.raises(UsageError, match="whole number"):
        get_env("iac", parametric_episodes="many")


def test_an_anchors_episode_among_what_was_mined_is_refused_by_name(tmp_path: Path) -> None:
    stolen = replace(anchor("synthetic", None)[0], id="ada/stolen:.", source="mined")
    write_mined(tmp_path / "mined", replace(MINED, train=[*TRAIN, MinedEpisode(stolen, {})]), Options())
    env = get_env("iac", mined=str(tmp_path / "mined"), sources="mined")
    with pytest.raises(UsageError, match=r"ada/stolen:\. is an episode of the anchor synthetic"):
        env.episodes("train")


def test_nothing_trains_beside_them_that_comes_near_what_was_held_out(tmp_path: Path, data_dir: Path) -> None:
    corpus = [e for e in datasets.modules(data_dir).episodes if len(e.data["required"]) == 1]
    plain = get_env("iac", data=str(data_dir), sources="module").episodes("train")
    held = [e for e in corpus if e.hash in {one.hash for one in plain}][:5]
    holdout = [MinedEpisode(replace(e, id=f"ada/{e.id}:.", source="mined"), {}) for e in held]
    write_mined(tmp_path / "mined", replace(MINED, holdout=holdout), Options())
    env = get_env("iac", data=str(data_dir), mined=str(tmp_path / "mined"), sources="module,mined")
    train = env.episodes("train")
    assert {e.hash for e in held} & {e.hash for e in train} == set()
    assert len(train) > len(plain) / 2
    for text in (None, lambda e: str(e.data.get("reference", e.request))):
        assert contamination(train, {HOLDOUT: env.episodes(HOLDOUT)}, text=text) == []


def test_without_a_reference_the_best_known_answer_is_well_formed(folder: Path) -> None:
    env = get_env("iac", mined=str(folder), sources="mined")
    episode = env.episodes("train")[1]
    earned = score_completion(env, env.oracle(episode), episode)
    assert earned.gates == {"well_formed": True, "builds_required": True, "no_critical": True}
    assert earned.reward > score_completion(env, env.random(episode), episode).reward
    assert not env.is_ceiling(episode)


def test_it_keeps_what_every_environment_must_with_them(folder: Path, tmp_path: Path) -> None:
    found = check(get_env("iac", data=str(tmp_path), mined=str(folder), parametric_episodes="20"))
    assert [one for one in found if not one.passed] == []
