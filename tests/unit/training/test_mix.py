"""The training mix: it fits the model, it is the same for the same seed, and no anchor's episode is in it."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from rl_gym.gym.core import Environment, Episode, score_completion
from rl_gym.gym.registry import get_env
from rl_gym.iac.mined import write_mined
from rl_gym.iac.mining.mine import Mined, MinedEpisode, Options
from rl_gym.iac.tasks.names import HELD_OUT_PROJECTS
from rl_gym.iac.tasks.parametric import nano_episode
from rl_gym.infra.errors import UsageError
from rl_gym.training import mix as drawing
from rl_gym.training.config import Config, resolve
from rl_gym.training.mix import PATIENCE, Mix, draw
from rl_gym.training.stages.drift import touched

SMALL = ("episodes.sft=60", "episodes.grpo=30", "episodes.held_out=20")


def count(text: str) -> int:
    return len(text) // 4


def mixed(*changes: str, seed: int = 0) -> tuple[Environment, Config, Mix]:
    config = resolve("nano", [*SMALL, *changes], seed=seed)
    env = get_env("iac", **config.environment.options)
    return env, config, draw(env, config, count)


def test_the_same_seed_gives_the_same_mix_and_another_seed_another() -> None:
    assert mixed()[2] == mixed()[2]
    assert mixed()[2].sft != mixed(seed=1)[2].sft
    assert mixed()[2].held_out == mixed(seed=1)[2].held_out


def test_it_has_the_asked_number_of_episodes_and_all_fit() -> None:
    env, config, mix = mixed()
    assert (len(mix.sft), len(mix.grpo), len(mix.held_out)) == (60, 30, 20)
    for row in [*map(json.loads, (row["episode"] for row in mix.grpo)), *mix.held_out]:
        episode = Episode.from_dict(row)
        assert len(episode.data["required"]) <= config.episodes.max_resources
        assert count(env.oracle(episode)) < config.episodes.max_tokens
        assert count(env.prompt(episode)) <= config.episodes.max_prompt_tokens


def test_held_out_names_are_never_trained_on() -> None:
    _, _, mix = mixed()
    trained = " ".join(f"{row['prompt']} {row.get('completion', '')}" for row in [*mix.sft, *mix.grpo])
    assert not [name for name in HELD_OUT_PROJECTS if f" {name}" in trained or f'"{name}' in trained]
    assert {json.loads(row["episode"])["id"] for row in mix.grpo}.isdisjoint(row["episode_id"] for row in mix.sft)


def test_sft_mixes_the_oracle_with_what_people_write() -> None:
    env, _, mix = mixed("sft.oracle_share=0.5", "sft.secure=0.2")
    rewards = _rewards(env, mix)
    perfect = sum(reward == 1.0 for reward in rewards) / len(rewards)
    assert 0.35 < perfect < 0.8
    assert min(rewards) < 0.5


def test_the_oracle_alone_is_perfect() -> None:
    env, _, mix = mixed("sft.oracle_share=1")
    assert set(_rewards(env, mix)) == {1.0}


def test_grpo_rows_are_what_the_reward_reads() -> None:
    env, _, mix = mixed()
    row = mix.grpo[0]
    episode = Episode.from_dict(json.loads(row["episode"]))
    assert row["prompt"] == env.prompt(episode)
    assert score_completion(env, env.oracle(episode), episode).reward == 1.0


def test_another_environment_trains_on_its_own_split() -> None:
    config = resolve("nano", [*SMALL, "episodes.generated=false", "evaluate.anchor=dev"])
    env = get_env("countdown")
    mix = draw(env, config, count)
    train = {episode.id for episode in env.episodes("train")}
    assert {row["episode_id"] for row in mix.sft} <= train
    assert {row["id"] for row in mix.held_out} <= {episode.id for episode in env.episodes("dev")}


def test_too_few_episodes_say_how_many_there_are() -> None:
    with pytest.raises(UsageError, match=r"split 'synthetic' has \d+ episodes that fit this preset's bounds, 900 are"):
        mixed("episodes.held_out=900")


def test_a_generator_that_makes_nothing_new_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    made = itertools.count()
    monkeypatch.setattr(drawing, "nano_episode", lambda seed, split: nano_episode(0 * next(made), split))
    with pytest.raises(UsageError, match=r"split 'train' has 1 episodes that fit this preset's bounds, 90 are asked"):
        mixed()
    assert next(made) == PATIENCE + 2


def test_patience_begins_anew_with_each_episode_that_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawing, "PATIENCE", 100)
    config, env = resolve("nano", SMALL), get_env("iac", ruleset="seed18", profile="default@1")
    drawn = draw(env, config, count, lambda episode: int(episode.hash, 16) % 8 == 0)
    assert (len(drawn.sft), len(drawn.grpo)) == (60, 30)


def test_rules_that_touch_nothing_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawing, "PATIENCE", 200)
    changes = ["drift.before=base+drift", "environment.options.ruleset=base", "episodes.max_tokens=256"]
    config = resolve("micro", changes, mode="drift")
    env = get_env("iac", **config.environment.options)
    with pytest.raises(UsageError, match=r"has 0 episodes that fit .*, 18 are asked for: the new rules touch nothing"):
        draw(env, config, count, touched(config))


def test_a_drawing_can_be_stopped() -> None:
    asked = itertools.count()

    def check() -> None:
        if next(asked) == 50:
            raise KeyboardInterrupt

    config, env = resolve("nano"), get_env("iac", ruleset="seed18", profile="default@1")
    with pytest.raises(KeyboardInterrupt):
        draw(env, config, count, check=check)


def test_an_anchor_in_training_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    env = get_env("iac", ruleset="seed18", profile="default@1")
    anchor: Sequence[Episode] = env.episodes("synthetic")
    leaks = iter([episode for episode in anchor if len(episode.data["required"]) <= 2] * 2)
    monkeypatch.setattr("rl_gym.training.mix.nano_episode", lambda seed, split: next(leaks))
    with pytest.raises(UsageError, match="the training mix holds"):
        mixed()


def _rewards(env: Any, mix: Mix) -> list[float]:
    """The reward of each demonstration, as the answer to an episode that asks for the types in its prompt."""
    rewards = []
    for row in mix.sft:
        listed = row["prompt"].partition("Required: ")[2].partition("\n")[0]
        episode = Episode("", "", data={"required": listed.split(", ")})
        rewards.append(score_completion(env, row["completion"], episode).reward)
    return rewards


def mined_folder(tmp_path: Path, held: Sequence[MinedEpisode] = ()) -> Path:
    """Thirty mined episodes, of which every third has no reference."""
    train = [_mined(f"m{number}", None if number % 3 == 0 else _ANSWER.format(number)) for number in range(30)]
    write_mined(tmp_path / "mined", Mined(train, held, [], 30, 30), Options())
    return tmp_path / "mined"


_ANSWER = 'resource "aws_sqs_queue" "q{0}" {{\n  kms_master_key_id = "k{0}"\n}}\n'
_MINED = ("episodes.generated=false", "environment.options.sources=mined", "episodes.max_tokens=400")


def _mined(name: str, text: str | None) -> MinedEpisode:
    answer = {"training_only": True} if text is None else {"reference": text}
    data = {"required": ["aws_sqs_queue"], **answer}
    return MinedEpisode(Episode(f"ada/{name}:.", f"A queue for {name}, {name} and again {name}.", "mined", data), {})


def test_sft_learns_from_answers_alone_and_grpo_takes_the_rest(tmp_path: Path) -> None:
    where = f"environment.options.mined={mined_folder(tmp_path)}"
    _, _, mix = mixed(*_MINED, where, "episodes.sft=8", "episodes.grpo=22")
    assert len(mix.sft) == 8
    assert all("aws_sqs_queue" in row["completion"] and "kms_master_key_id" in row["completion"] for row in mix.sft)
    asked = [json.loads(row["episode"]) for row in mix.grpo]
    assert sum(bool(episode["data"].get("training_only")) for episode in asked) == 10
    assert {row["episode_id"] for row in mix.sft}.isdisjoint(episode["id"] for episode in asked)


def test_too_few_answers_to_learn_from_are_told(tmp_path: Path) -> None:
    where = f"environment.options.mined={mined_folder(tmp_path)}"
    with pytest.raises(UsageError, match=r"20 of 30 .* SFT is to draw 21"):
        mixed(*_MINED, where, "episodes.sft=21", "episodes.grpo=9")


def test_a_run_is_evaluated_on_what_was_mined_and_held_out(tmp_path: Path) -> None:
    answer = 'resource "aws_sns_topic" "t" {\n  kms_master_key_id = "k"\n}\n'
    data = {"required": ["aws_sns_topic"], "reference": answer}
    held = MinedEpisode(Episode("ada/held:.", "Please write Terraform for an SNS topic.", "mined", data), {})
    where = f"environment.options.mined={mined_folder(tmp_path, [held])}"
    small = ("episodes.sft=8", "episodes.grpo=8", "episodes.held_out=1", "evaluate.anchor=mined-holdout")
    _, _, mix = mixed(*_MINED, where, *small)
    assert [row["id"] for row in mix.held_out] == ["ada/held:."]
