"""Presets and their overrides."""

from __future__ import annotations

import pytest

from rl_gym.infra.errors import NotFoundError, UsageError
from rl_gym.training.config import Config, keys, parse, preset_names, resolve


@pytest.mark.parametrize("name", preset_names())
def test_every_preset_resolves_and_survives_json(name: str) -> None:
    config = resolve(name, seed=7)
    assert (config.preset, config.seed) == (name, 7)
    assert Config.model_validate_json(config.model_dump_json()) == config


def test_nano_pins_what_judges_it() -> None:
    environment = resolve("nano").environment
    assert (environment.name, environment.options) == ("iac", {"ruleset": "seed18", "profile": "default@1"})


def test_an_override_replaces_one_key() -> None:
    plain, changed = resolve("nano"), resolve("nano", ["grpo.steps=3", "grpo.loss=dr_grpo", "environment.options.x=y"])
    assert (changed.grpo.steps, changed.grpo.loss) == (3, "dr_grpo")
    assert changed.environment.options == {**plain.environment.options, "x": "y"}
    assert changed.sft == plain.sft


@pytest.mark.parametrize(
    ("override", "said"),
    [
        ("grpo.stepz=3", "unknown key 'grpo.stepz'; did you mean 'grpo.steps'?"),
        ("zzz=3", "unknown key 'zzz'"),
        ("preset=nano", "unknown key 'preset'"),
        ("environment=3", "unknown key 'environment'"),
        ("grpo.steps", "--set takes key=value, not 'grpo.steps'"),
        ("grpo.steps=0", "key 'grpo.steps': input should be greater than or equal to 1, not 0"),
        ("sft.learning_rate=fast", "key 'sft.learning_rate'"),
        ("grpo.save_steps=3", "grpo.save_steps"),
        ("sft.warmup_steps=inf", "key 'sft.warmup_steps': input should be a finite number, not inf"),
        ("sft.warmup_steps=nan", "key 'sft.warmup_steps': input should be a finite number, not nan"),
        ("grpo.steps=" + 700 * "[", "key 'grpo.steps': the value is nested too deep"),
        ("grpo.steps=" + 5_000 * "9", "key 'grpo.steps': a whole number in the value is too long"),
        ("evaluate.policies=['sft','grpo','sft']", "evaluate.policies names 'sft' more than once: name each once"),
    ],
)
def test_a_bad_override_names_the_key(override: str, said: str) -> None:
    with pytest.raises(UsageError) as raised:
        resolve("nano", ["grpo.num_iterations=2", override])
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        (
            "environment.options=5",
            "environment.options.x=y",
            "environment.options.x: 'options' is set to 5",
        ),
        (
            "environment.options.x=5",
            "environment.options.x.y=6",
            "environment.options.x.y: 'x' is set to 5",
        ),
    ],
)
def test_a_key_below_a_value_is_refused_in_one_line(first: str, second: str, said: str) -> None:
    with pytest.raises(UsageError) as raised:
        resolve("nano", [first, second])
    assert str(raised.value).startswith(said)


def test_an_unknown_preset_names_the_nearest() -> None:
    with pytest.raises(NotFoundError, match="did you mean 'nano'"):
        resolve("nanno")


def test_a_key_that_no_section_knows_is_refused_in_a_stored_configuration() -> None:
    document = resolve("nano").model_dump()
    document["sft"]["stepz"] = 1
    with pytest.raises(UsageError, match=r"run\.json: unknown key 'sft\.stepz'; did you mean 'sft\.steps'"):
        parse(document, "run.json")


def test_keys_are_leaves() -> None:
    assert "grpo.steps" in keys()
    assert "grpo" not in keys()
