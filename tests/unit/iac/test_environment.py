"""The environment as others use it: splits, prompts, answers, rewards, repairs."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from rl_gym.gym.conformance import check
from rl_gym.gym.core import Environment, Episode, score_completion
from rl_gym.gym.registry import get_env
from rl_gym.iac.environment import IacEnvironment, make
from rl_gym.iac.tasks.parametric import make_episode, nano_episode, render
from rl_gym.infra.errors import NotFoundError, UsageError

SEEDS = 2000


@pytest.fixture(scope="module")
def env() -> IacEnvironment:
    return make()


def test_it_is_found_by_name_and_is_an_environment() -> None:
    found = get_env("iac", ruleset="seed18", profile="seed@1")
    assert isinstance(found, Environment)
    assert found.name == "iac"
    assert set(found.reward.score(None, make_episode(1)).gates) == {"builds_required", "no_critical"}


def test_ruleset_and_profile_are_in_the_digest_and_unknown_ones_are_named() -> None:
    digests = {
        make(ruleset, profile).reward.digest for ruleset in ("seed18", "base") for profile in ("seed", "default")
    }
    assert len(digests) == 4
    assert make("base", "default").reward.digest == make("base", "default@2").reward.digest
    with pytest.raises(NotFoundError, match="choose one of"):
        make("strict")
    with pytest.raises(NotFoundError, match="choose one of"):
        make(profile="lenient")


def _failing(env: IacEnvironment, episode: Episode) -> list[str]:
    """What the best answer does not pass, with the types whose builders are to be taught."""
    action = env.parse(env.oracle(episode), episode)
    assert action is not None
    return [f"{one.rule} on {one.address}: {one.reason}" for one in env.findings(action, episode)]


@pytest.mark.parametrize("ruleset", ["base", "seed18", "base+drift"])
def test_the_oracle_scores_one_and_the_floor_between(ruleset: str) -> None:
    env = make(ruleset)
    seeds = SEEDS if ruleset == "base" else SEEDS // 10
    for seed in range(seeds):
        episode = make_episode(seed, ("train", "synthetic")[seed % 2])
        best, worst = (score_completion(env, text, episode) for text in (env.oracle(episode), env.random(episode)))
        assert best.reward == 1.0, f"the best answer to {episode.id} fails {_failing(env, episode)}"
        assert 0 < worst.reward < 1.0, episode.id
        assert all(worst.gates.values())


def test_the_nano_models_episodes_have_the_same_ends(env: IacEnvironment) -> None:
    seeds = make("seed18")
    for seed in range(300):
        episode = nano_episode(seed)
        assert score_completion(seeds, seeds.oracle(episode), episode).reward == 1.0
        assert 0 < score_completion(seeds, seeds.random(episode), episode).reward < 1.0


def test_more_protection_earns_more_on_average() -> None:
    env = make("seed18")
    means = []
    for secure in (0.1, 0.5, 0.9):
        rng = Random(7)
        episodes = [make_episode(seed) for seed in range(150)]
        rewards = [score_completion(env, render(e, secure, rng), e).reward for e in episodes]
        means.append(sum(rewards) / len(rewards))
    assert means[0] + 0.1 < means[1] < means[2] - 0.1


def test_every_single_lapse_of_the_oracle_costs(env: IacEnvironment) -> None:
    rules = {rule.id for rule in make("seed18").ruleset.rules}
    costly: set[str] = set()
    for seed in range(200):
        episode = make_episode(seed)
        for rule in rules - costly:
            if score_completion(env, render(episode, {rule: 0.0}, Random(seed)), episode).reward < 1.0:
                costly.add(rule)
    assert costly == rules


def test_oracle_and_floor_do_not_change_from_call_to_call(env: IacEnvironment) -> None:
    episode = make_episode(3)
    assert env.oracle(episode) == env.oracle(episode)
    assert env.random(episode) == env.random(episode)


def test_nothing_is_none_and_something_broken_is_an_invalid_action(env: IacEnvironment) -> None:
    episode = make_episode(3)
    assert env.parse("I cannot do that.", episode) is None
    assert env.parse("", episode) is None
    broken = env.parse(env.oracle(episode)[:-3], episode)
    assert broken is not None
    assert broken.valid is False
    assert score_completion(env, env.oracle(episode)[:-3], episode).reward == 0


def test_checks_name_every_rule_of_the_ruleset(env: IacEnvironment) -> None:
    episode = next(e for e in map(make_episode, range(50)) if e.data["required"] == ["aws_s3_bucket"])
    action = env.parse(env.random(episode), episode)
    assert action is not None
    checks = env.checks(action, episode)
    assert set(checks) == {rule.id for rule in env.ruleset.rules}
    assert checks["s3_encryption"] == "fail"
    assert checks["rds_encrypted"] == "na"


def test_the_canonical_form_forgets_names_and_order(env: IacEnvironment) -> None:
    episode = make_episode(0)

    def form(text: str) -> str:
        action = env.parse(text, episode)
        assert action is not None
        return env.canonical(action)

    one = (
        'resource "aws_s3_bucket" "heron" {\n  bucket = "heron-media"\n  tags   = { Project = "heron" }\n}\n\n'
        'resource "aws_s3_bucket_versioning" "heron" {\n  bucket = aws_s3_bucket.heron.id\n\n'
        '  versioning_configuration {\n    status = "Enabled"\n  }\n}\n'
    )
    first, second = one.split("\n\nresource")
    moved = f"resource{second}\n{first}\n".replace("heron", "tapir").replace("media", "backups")
    assert moved != one
    assert form(moved) == form(one)
    assert form(one.replace("Enabled", "Suspended")) != form(one)
    assert form(first + "\n") != form(one)
    assert form('resource "x" "y" {') == 'resource "x" "y" {'


def test_a_repair_prompt_names_findings_with_their_fixes(env: IacEnvironment) -> None:
    episode = next(e for e in map(make_episode, range(50)) if e.data["required"] == ["aws_s3_bucket"])
    floor = env.random(episode)
    found = env.problems(env.parse(f"```hcl\n{floor}```", episode), episode)
    text = env.repair_prompt(episode, floor, found)
    assert text.startswith(f"{env.prompt(episode)}{floor}")
    assert "Fix: " in text
    assert "aws_s3_bucket" in text
    assert "and 1 more" in env.repair_prompt(episode, floor, found[:2], most_characters=len(found[0]))
    assert env.problems(env.parse(env.oracle(episode), episode), episode) == []


def test_problems_are_what_is_missing_or_cannot_be_read(env: IacEnvironment) -> None:
    episode = Episode("e", "a bucket and a key", data={"required": ["aws_s3_bucket", "aws_kms_key"]})

    def problems(completion: str) -> str:
        return "\n".join(env.problems(env.parse(completion, episode), episode))

    half = problems('resource "aws_s3_bucket" "b" {\n  bucket = "b"\n}\n')
    assert "no Terraform" in problems("I would rather not.")
    assert "line 2" in problems('resource "aws_s3_bucket" "b" {\n  bucket = \n}\n')
    assert "aws_kms_key was required" in half
    assert "aws_s3_bucket was required" not in half


def test_a_type_that_no_provider_has_is_refused(env: IacEnvironment) -> None:
    env.validate(Episode("e", "a bucket", data={"required": ["aws_s3_bucket", "random_pet"]}))
    for wrong, said in (("aws_s3_bukcet", "did you mean 'aws_s3_bucket'"), ("unicorn_horn", "has none like it")):
        with pytest.raises(UsageError, match=said):
            env.validate(Episode("e", "a bucket", data={"required": ["aws_s3_bucket", wrong]}))


def test_what_is_mechanical_is_fixed(env: IacEnvironment) -> None:
    episode = Episode("e", "a volume", data={"required": ["aws_ebs_volume"]})

    def fixed(completion: str) -> str | None:
        action = env.parse(completion, episode)
        assert action is not None
        return env.fix(action, episode)

    text = fixed('resource "aws_ebs_volume" "v" {\n  availability_zone = "eu-west-1a"\n  size = 1\n}\n')
    assert text is not None
    assert "encrypted" in text
    assert fixed(text) is None
    assert fixed('resource "aws_ebs_volume" "v" {') is None


def test_an_unknown_split_or_source_is_named(env: IacEnvironment) -> None:
    with pytest.raises(NotFoundError, match="train, dev, holdout, synthetic"):
        env.episodes("test")
    with pytest.raises(UsageError, match="parametric, iac_eval, module"):
        make(sources=("parametric", "github")).episodes("train")


def test_a_missing_corpus_is_an_error_where_it_was_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for split in ("dev", "holdout"):
        with pytest.raises(NotFoundError, match="RL_GYM_DATA"):
            make(data=tmp_path).episodes(split)
    with pytest.raises(NotFoundError, match="RL_GYM_DATA"):
        make(data=tmp_path, sources=("iac_eval",)).episodes("train")
    episodes = make(data=tmp_path, parametric_episodes=50).episodes("train")
    assert {episode.source for episode in episodes} == {"parametric"}
    assert "goes without iac_eval" in caplog.text
    assert "goes without module" in caplog.text


def test_only_splits_that_need_no_network_are_listed(
    tmp_path: Path, data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert make(data=data_dir).splits == ("train", "dev", "holdout", "synthetic")
    assert make(data=tmp_path).splits == ("train", "synthetic")
    assert set(make(data=tmp_path).frozen()) == {"synthetic"}


def test_people_are_the_oracle_of_the_public_corpora(data_dir: Path) -> None:
    env = make(data=data_dir)
    for episode in env.episodes("dev"):
        assert env.oracle(episode) == episode.data["reference"]
        action = env.parse(env.random(episode), episode)
        assert action is not None
        assert action.valid


def test_it_keeps_what_every_environment_must_also_with_the_public_corpora(data_dir: Path) -> None:
    results = check(make(data=data_dir))
    assert [f"{result.name}: {result.detail}" for result in results if not result.passed] == []
