"""A model is asked in training as it is asked in serving: the same tokens, with a chat template and without."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("transformers", reason="the extra serve is not installed")

from rl_gym.serving.causal import CausalModel
from rl_gym.serving.chat import training_completion, training_prompt
from rl_gym.serving.local_model import LocalModel
from rl_gym.serving.sampling import Sampling
from rl_gym.serving.weights import find_model

PROMPT = "An encrypted bucket for the logs of zephyr."
ANSWER = 'resource "aws_kms_key" "zephyr" {\n}\n'
TEMPLATE = (
    "{% for message in messages %}<pad>{{ message.role }}\n{{ message.content }}<end>\n{% endfor %}"
    "{% if add_generation_prompt %}<pad>assistant\n{% endif %}"
)


@pytest.fixture
def with_template(tmp_path: Path) -> Path:
    for file in find_model("nano").iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    (tmp_path / "chat_template.jinja").write_text(TEMPLATE)
    return tmp_path


@pytest.fixture(params=["template", "plain"])
def model(request: pytest.FixtureRequest, with_template: Path) -> CausalModel:
    return CausalModel(with_template if request.param == "template" else find_model("nano"))


def test_sft_teaches_the_answer_to_what_serving_asks(model: CausalModel, tmp_path: Path) -> None:
    trl = pytest.importorskip("trl", reason="the extra train is not installed")
    from datasets import Dataset

    tokenizer = model.tokenizer
    row = {"prompt": training_prompt(tokenizer, PROMPT), "completion": training_completion(tokenizer, ANSWER)}
    trainer = trl.SFTTrainer(
        model=model.network,
        args=trl.SFTConfig(output_dir=str(tmp_path), use_cpu=True, bf16=False, report_to=[], max_length=None),
        train_dataset=Dataset.from_list([row]),
        processing_class=tokenizer,
    )
    [example] = trainer.train_dataset
    asked = [token for token, label in zip(example["input_ids"], example["labels"], strict=True) if label == -100]
    assert asked == model.encode(PROMPT)
    answered = tokenizer.decode(example["input_ids"][len(asked) :])
    assert answered.startswith(f"{ANSWER}<end>")


def test_grpo_asks_as_serving_does(model: CausalModel) -> None:
    trl = pytest.importorskip("trl", reason="the extra train is not installed")

    class Trainer:
        """What TRL's method reads of its trainer."""

        processing_class: Any = model.tokenizer
        _is_vlm, environment_factories, tools, chat_template, chat_template_kwargs = False, None, None, None, {}

    turns = [training_prompt(model.tokenizer, PROMPT)] * 2
    tokens, *_ = trl.GRPOTrainer._tokenize_prompts(Trainer(), turns)
    assert tokens == [model.encode(PROMPT)] * 2


def test_evaluation_asks_by_the_template(with_template: Path) -> None:
    rendered = f"<pad>user\n{PROMPT}<end>\n<pad>assistant\n"
    sampling = Sampling(max_tokens=16, greedy=True)
    [[asked]] = LocalModel(with_template).complete([PROMPT], sampling)
    [[plain]] = LocalModel(find_model("nano")).complete([rendered], sampling)
    assert asked == plain


def test_without_a_template_a_prompt_stands_as_it_is() -> None:
    model = CausalModel(find_model("nano"))
    assert training_prompt(model.tokenizer, PROMPT) == PROMPT
    assert model.encode(PROMPT) == model.tokenizer(PROMPT)["input_ids"]
