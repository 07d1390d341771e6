"""The keys of the training stages: what cannot work, or would do nothing, is refused before anything runs."""

from __future__ import annotations

import pytest
from pydantic import BaseModel

from rl_gym.infra.errors import UsageError
from rl_gym.training.config import resolve
from rl_gym.training.recipe import CollapseSection, GrpoSection, SftSection

OFTEN = "grpo.num_iterations=2"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (["grpo.generations=1"], "key 'grpo.generations': input should be greater than or equal to 2, not 1"),
        (["grpo.gradient_accumulation=3"], "grpo.prompts_per_step x grpo.generations (8) must be a multiple of"),
        (["sft.gradient_accumulation=3"], "sft.batch_size (8) must be a multiple of sft.gradient_accumulation (3)"),
        (["episodes.grpo=1"], "episodes.grpo (1) must be at least grpo.prompts_per_step x"),
        (["grpo.steps_per_generation=8", "grpo.save_steps=8"], "grpo.steps_per_generation (16)"),
        (["grpo.steps_per_generation=2"], "grpo.save_steps must be a multiple of"),
        (["grpo.epsilon_high=0.28"], "grpo.epsilon_high does nothing with grpo.num_iterations and"),
        ([OFTEN, "grpo.save_steps=2", "grpo.epsilon_high=0.28", "grpo.loss=sapo"], "it clips nothing"),
        (["grpo.importance_sampling_level=sequence"], "take grpo.loss grpo (GSPO) or luspo"),
        (["grpo.loss=luspo"], "grpo.loss luspo needs grpo.importance_sampling_level sequence"),
        (["grpo.loss=ppo"], "key 'grpo.loss'"),
        (["grpo.difficulty_low=0.1"], "need grpo.difficulty_map"),
        (["grpo.difficulty_map=x", "grpo.difficulty_low=0.9", "grpo.difficulty_high=0.1"], "lies above"),
        (["grpo.lora_rank=0", "grpo.merge=false"], "grpo.merge false needs grpo.lora_rank"),
        (["sft.merge=false"], "sft.merge false needs sft.lora_rank"),
        (["sft.lora_rank=4", "sft.merge=false"], "sft.merge false leaves no model that the next stage could train"),
        (["grpo.top_p=0"], "key 'grpo.top_p'"),
        (["grpo.scale_rewards=std"], "key 'grpo.scale_rewards'"),
        (["sft.precision=fp16"], "key 'sft.precision'"),
        (["report_to=stdout"], "key 'report_to'"),
        (["collapse.entropi=1"], "unknown key 'collapse.entropi'; did you mean 'collapse.entropy'?"),
    ],
)
def test_what_cannot_work_is_one_line_that_names_the_key(changes: list[str], said: str) -> None:
    with pytest.raises(UsageError) as raised:
        resolve("micro", changes)
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("how", ["grpo.num_iterations=2", "grpo.steps_per_generation=2"])
def test_epsilon_high_is_taken_where_it_acts(how: str) -> None:
    section = resolve("micro", [how, "grpo.save_steps=2", "grpo.epsilon_high=0.28"]).grpo
    assert (section.epsilon_high, section.window) == (0.28, 2)


@pytest.mark.parametrize("loss", ["grpo", "luspo", "sapo"])
def test_sequences_have_ratios_in_the_losses_that_take_them(loss: str) -> None:
    section = resolve("micro", [f"grpo.loss={loss}", "grpo.importance_sampling_level=sequence"]).grpo
    assert section.loss == loss


@pytest.mark.parametrize("section", [GrpoSection, CollapseSection, SftSection])
def test_keys_that_are_not_plain_counts_have_a_sentence(section: type[BaseModel]) -> None:
    plain = {"steps", "learning_rate", "lora_alpha"}
    assert {name for name, field in section.model_fields.items() if not field.description} <= plain
