"""The anchors are what was frozen, and nothing that trains is an anchor's episode, exactly or nearly."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from rl_gym.gym.core import Episode
from rl_gym.gym.splits import contamination, verify
from rl_gym.iac import freeze
from rl_gym.iac.anchors import ANCHORS, anchor, frozen, train
from rl_gym.iac.datasets import iac_eval
from rl_gym.iac.tasks.combinations import held_out
from rl_gym.iac.tasks.names import HELD_OUT_PROJECTS
from rl_gym.iac.tasks.parametric import fits_nano, make_episode, stack_of
from rl_gym.infra.errors import UsageError


def test_the_synthetic_anchor_is_rebuilt_without_any_corpus() -> None:
    episodes = anchor("synthetic", None)
    assert len(episodes) == 240
    assert len({episode.request for episode in episodes}) == 240
    verify(frozen("synthetic"), episodes)
    for episode in episodes:
        assert held_out(part.kind for part in stack_of(episode).parts)
        assert stack_of(episode).project in HELD_OUT_PROJECTS


def test_at_least_120_of_them_are_within_the_nano_models_reach() -> None:
    small = [episode for episode in anchor("synthetic", None) if fits_nano(episode)]
    assert len(small) >= 120
    assert Counter(len(stack_of(episode).parts) for episode in small).keys() == {1, 2}


def test_the_synthetic_anchor_is_drawn_as_freeze_says() -> None:
    verify(frozen("synthetic"), freeze.draw_synthetic())


@pytest.mark.parametrize("drawn", [False, True], ids=["as frozen", "drawn anew"])
def test_dev_is_120_of_iac_eval_in_proportion_and_no_two_alike(data_dir: Path, drawn: bool) -> None:
    corpus = iac_eval(data_dir).episodes
    episodes = freeze.draw_dev(corpus) if drawn else anchor("dev", data_dir)
    assert len(episodes) == 120
    assert {e.hash for e in episodes} <= {e.hash for e in corpus}
    assert not [o for o in contamination(episodes, {"dev": episodes}) if o.train != o.episode]
    judged = [e for e in corpus if freeze.judged_types("tags").intersection(e.data["required"])]
    levels, of_all = (Counter(e.data["difficulty"] for e in some) for some in (episodes, judged))
    for level, count in of_all.items():
        # What is frozen was in proportion to what the rules of its day judged.
        assert abs(levels[level] - 120 * count / len(judged)) < (1 if drawn else 5)


def test_the_holdout_is_checkovs_alone(data_dir: Path) -> None:
    episodes = anchor("holdout", data_dir)
    assert {episode.source for episode in episodes} == {"checkov"}
    assert len(episodes) >= 100


def test_a_corpus_that_changed_is_refused(data_dir: Path, tmp_path: Path) -> None:
    text = (data_dir / "checkov_tf.jsonl").read_text()
    (tmp_path / "checkov_tf.jsonl").write_text(text.replace('resource \\"aws_s3_bucket\\"', 'resource \\"aws_vpc\\"'))
    with pytest.raises(UsageError, match="'holdout' is not what was frozen"):
        anchor("holdout", tmp_path)


@pytest.fixture(scope="module")
def everything(data_dir: Path) -> tuple[list[Episode], dict[str, list[Episode]]]:
    return train(data_dir, ("parametric", "iac_eval", "module")), {name: anchor(name, data_dir) for name in ANCHORS}


def test_training_holds_all_three_sources_and_never_checkovs(
    everything: tuple[list[Episode], dict[str, list[Episode]]],
) -> None:
    sources = Counter(episode.source for episode in everything[0])
    assert sources["parametric"] == 5000
    assert sources["iac_eval"] > 200
    assert sources["module"] > 80
    assert set(sources) == {"parametric", "iac_eval", "module"}


@pytest.mark.parametrize("text", [None, freeze.reference], ids=["requests", "references"])
def test_training_holds_no_anchors_episode_exactly_or_nearly(
    everything: tuple[list[Episode], dict[str, list[Episode]]], text: object
) -> None:
    episodes, anchors = everything
    assert contamination(episodes, anchors, text=text if callable(text) else None) == []


def test_the_proof_would_notice(everything: tuple[list[Episode], dict[str, list[Episode]]]) -> None:
    _, anchors = everything
    exact = anchors["dev"][0]
    near = Episode("near", anchors["holdout"][0].request.upper() + "!", data={})
    kinds = {overlap.kind for overlap in contamination([exact, near, make_episode(0)], anchors)}
    assert kinds == {"content", "request"}
