"""The generator: reproducible, varied, disjoint between splits, and rebuilt from an episode's data alone."""

from __future__ import annotations

import json
from random import Random
from typing import TypeVar

import pytest

from rl_gym.gym.core import Episode
from rl_gym.iac.rules import get_ruleset
from rl_gym.iac.rules.registry import SEED18
from rl_gym.iac.tasks.builders import BUILDERS
from rl_gym.iac.tasks.combinations import held_out
from rl_gym.iac.tasks.names import HELD_OUT_PROJECTS, TRAIN_PROJECTS
from rl_gym.iac.tasks.parametric import (
    NANO_CHARACTERS,
    fits_nano,
    floor,
    make_episode,
    nano_episode,
    oracle,
    render,
    stack_of,
)
from rl_gym.iac.tasks.parts import CRITICAL, Careful

T = TypeVar("T")


@pytest.fixture(scope="module")
def train() -> list[Episode]:
    return [make_episode(seed) for seed in range(5200)]


@pytest.fixture(scope="module")
def synthetic() -> list[Episode]:
    return [make_episode(seed, "synthetic") for seed in range(1000)]


def test_at_least_five_thousand_prompts_differ(train: list[Episode]) -> None:
    assert len({episode.request for episode in train}) >= 5000


def test_a_seed_gives_the_same_episode_each_time_and_seeds_differ() -> None:
    assert make_episode(7) == make_episode(7)
    assert make_episode(7) != make_episode(8)
    assert make_episode(7).hash != make_episode(7, "synthetic").hash


def test_an_episode_survives_json(train: list[Episode]) -> None:
    for episode in train[:200]:
        travelled = Episode.from_dict(json.loads(json.dumps(episode.to_dict())))
        assert travelled.hash == episode.hash
        assert oracle(travelled) == oracle(episode)
        assert floor(travelled) == floor(episode)


def test_names_and_combinations_of_the_held_out_split_are_never_trained_on(
    train: list[Episode], synthetic: list[Episode]
) -> None:
    assert not set(TRAIN_PROJECTS) & set(HELD_OUT_PROJECTS)
    for episodes, held in ((train, False), (synthetic, True)):
        for episode in episodes:
            stack = stack_of(episode)
            assert held_out(part.kind for part in stack.parts) == held
            assert stack.project in (HELD_OUT_PROJECTS if held else TRAIN_PROJECTS)


def test_projects_are_words_that_can_be_labels() -> None:
    projects = [*TRAIN_PROJECTS, *HELD_OUT_PROJECTS]
    assert len(projects) == len(set(projects))
    assert all(word.isidentifier() and word.islower() for word in projects)


def test_the_request_names_every_part_and_the_oracle_repeats_the_names(train: list[Episode]) -> None:
    for episode in train[:1000]:
        answer = oracle(episode)
        for part in stack_of(episode).parts:
            assert part.name in episode.request
            assert part.name in answer or part.kind in {"network", "server"}, part.kind


def test_required_types_are_built_by_every_rendering(train: list[Episode]) -> None:
    for episode in train[:300]:
        rng = Random(episode.id)
        for answer in (oracle(episode), floor(episode), render(episode, 0.4, rng)):
            for name in episode.data["required"]:
                assert f'resource "{name}" "{episode.data["project"]}" {{\n' in answer


def test_every_kind_and_size_occurs(train: list[Episode]) -> None:
    assert {part.kind for episode in train for part in stack_of(episode).parts} == set(BUILDERS)
    assert {len(stack_of(episode).parts) for episode in train} == {1, 2, 3, 4}
    assert len(BUILDERS) >= 10


def test_a_third_of_the_iam_requests_invite_a_wildcard_that_the_oracle_refuses(train: list[Episode]) -> None:
    parts = [(episode, p) for episode in train for p in stack_of(episode).parts if p.kind in {"policy", "role_policy"}]
    inviting = [(episode, p) for episode, p in parts if p.params["invitation"]]
    assert abs(len(inviting) / len(parts) - 1 / 3) < 0.05
    for episode, part in inviting:
        title = part.params["invitation"].split("{}")[0]
        assert title in episode.request
        assert ':*"' not in oracle(episode)
        assert '"*"' not in oracle(episode)


def test_parts_of_a_stack_refer_to_each_other() -> None:
    linked = {
        frozenset({"key", "database"}): "kms_key_id",
        frozenset({"key", "bucket"}): "kms_master_key_id",
        frozenset({"network", "logs"}): "aws_cloudwatch_log_group",
        frozenset({"network", "security_group"}): "vpc_id",
        frozenset({"server", "security_group"}): "vpc_security_group_ids",
    }
    seen = set()
    for split in ("train", "synthetic"):
        for seed in range(1500):
            episode = make_episode(seed, split, max_resources=2)
            kinds = frozenset(part.kind for part in stack_of(episode).parts)
            if kinds in linked:
                seen.add(kinds)
                assert linked[kinds] in oracle(episode)
    assert len(seen) >= 5


def test_a_mixture_reaches_from_the_floor_to_the_oracle() -> None:
    for seed in range(200):
        episode = make_episode(seed)
        assert render(episode, 1.0, Random(seed)) == oracle(episode)
    assert render(make_episode(1), 0.4, Random(1)) == render(make_episode(1), 0.4, Random(1))
    assert len({render(make_episode(1), 0.4, Random(seed)) for seed in range(30)}) > 3


def test_builders_name_every_seed_rule_and_only_rules_that_exist() -> None:
    named: set[str] = set()

    class Listening(Careful):
        def protect(self, rule: str, secure: T, *lapses: T) -> T | None:
            named.add(rule)
            return secure

        def limit(self, rule: str, secure: T, *lapses: T) -> T:
            named.add(rule)
            return secure

    for seed in range(300):
        stack = stack_of(make_episode(seed))
        for part in stack.parts:
            list(BUILDERS[part.kind].build(part, stack, Listening(())))
    known = {rule.id: rule.severity for rule in get_ruleset("base+drift").rules}
    assert set(SEED18) <= named <= set(known)
    assert {rule for rule, severity in known.items() if severity == "critical"} <= CRITICAL


def test_a_probability_can_be_given_rule_by_rule() -> None:
    episode = next(e for e in map(make_episode, range(100)) if "aws_kms_key" in e.data["required"])
    always = render(episode, {"tags": 0.0}, Random(0))
    assert "enable_key_rotation" in always
    assert "tags" not in always
    never = [render(episode, {"kms_rotation": 0.0}, Random(seed)) for seed in range(40)]
    assert not any("enable_key_rotation     = true" in answer for answer in never)
    assert any("enable_key_rotation     = false" in answer for answer in never)


def test_critical_lapses_are_rare_and_happen() -> None:
    episode = next(e for e in map(make_episode, range(200)) if e.data["required"] == ["aws_db_instance"])
    answers = [render(episode, 0.5, Random(seed)) for seed in range(1000)]
    public = sum("publicly_accessible" in answer for answer in answers) / len(answers)
    assert 0.02 < public < 0.09
    assert any("password  " in answer or "password =" in answer for answer in answers)


def test_episodes_for_the_nano_model_are_short_and_as_many_as_asked_for() -> None:
    for split in ("train", "synthetic"):
        episodes = [nano_episode(seed, split) for seed in range(300)]
        assert len({episode.id for episode in episodes}) == 300
        for episode in episodes:
            assert fits_nano(episode)
            assert len(episode.data["required"]) <= 2
            assert len(oracle(episode)) <= NANO_CHARACTERS


@pytest.mark.parametrize("bad", [0, 5])
def test_a_size_out_of_bounds_is_refused(bad: int) -> None:
    with pytest.raises(ValueError, match="max_resources"):
        make_episode(1, max_resources=bad)


def test_a_split_that_is_not_generated_is_refused() -> None:
    with pytest.raises(ValueError, match="choose one of train, synthetic"):
        make_episode(1, "dev")
