from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from statistics import mean
from typing import Any

import pytest

from rl_gym.gym.core import Component, Episode, Reward
from rl_gym.gym.examples.countdown import Countdown, Expression
from rl_gym.gym.trl import dataset_rows, reward_function
from rl_gym.infra.errors import InfrastructureError, UsageError


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.sleep", lambda seconds: None)


class Broken(Countdown):
    """Crashes on the completion `crash`."""

    def parse(self, completion: str, episode: Episode) -> Any:
        return 1 / 0 if completion == "crash" else super().parse(completion, episode)


class Digits(Countdown):
    """Pays for digits: a policy that knows nothing earns something, so that there is a difference to learn from."""

    reward = Reward([Component("digits", lambda action, episode: mean(map(str.isdigit, action.text)))])

    def parse(self, completion: str, episode: Episode) -> Any:
        return Expression(completion or " ", value=Fraction(1))


def ask(env: Countdown, completions: list[Any], **columns: Any) -> tuple[list[float | None], Mapping[str, float]]:
    row = dataset_rows(env, "dev")[0]
    logged: dict[str, float] = {}
    rewards = reward_function(env)(
        prompts=[row["prompt"]] * len(completions),
        completions=completions,
        completion_ids=[[1]] * len(completions),
        episode=[row["episode"]] * len(completions),
        log_metric=logged.__setitem__,
        trainer_state=object(),
        **columns,
    )
    return rewards, logged


def test_rows_carry_the_prompt_and_the_whole_episode(countdown: Countdown) -> None:
    rows = dataset_rows(countdown, "dev")
    assert len(rows) == len(countdown.episodes("dev"))
    for row, episode in zip(rows, countdown.episodes("dev"), strict=True):
        assert row["prompt"] == countdown.prompt(episode)
        assert Episode.from_dict(json.loads(row["episode"])) == episode


def test_text_and_chat_messages_earn_the_same(countdown: Countdown) -> None:
    oracle = countdown.oracle(countdown.episodes("dev")[0])
    chat = [{"role": "assistant", "content": oracle}]
    tool = [{"role": "assistant", "content": None}]
    rewards, logged = ask(countdown, [oracle, chat, "nonsense", tool, []])
    assert rewards == [1.0, 1.0, 0.0, 0.0, 0.0]
    assert logged == pytest.approx(
        {"component/exact": 0.4, "component/close": 0.4, "gate_rate": 0.4, "valid_rate": 0.4, "unscored": 0.0}
    )


def test_a_fault_is_none_and_not_zero() -> None:
    rewards, logged = ask(Broken(), ["crash", "nonsense"])
    assert rewards == [None, 0.0]
    assert logged["unscored"] == 0.5
    assert logged["gate_rate"] == 0.0


def test_a_verifier_that_is_down_stops_the_training() -> None:
    with pytest.raises(InfrastructureError, match=r"no completion of this batch could be scored: .*ZeroDivisionError"):
        ask(Broken(), ["crash"] * 3)


def test_a_dataset_without_episodes_is_a_clear_mistake(countdown: Countdown) -> None:
    reward = reward_function(countdown)
    with pytest.raises(UsageError, match=r"no column 'episode': make its rows with dataset_rows"):
        reward(prompts=["p"], completions=["c"])  # type: ignore[call-arg]
    with pytest.raises(UsageError, match="holds no episode"):
        reward(prompts=["p"], completions=["c"], episode=["dev-000"])


def test_it_is_named_after_the_environment(countdown: Countdown) -> None:
    assert reward_function(countdown).__name__ == "countdown_reward"


def test_the_real_trainer_takes_it_as_it_is(tmp_path: Path) -> None:
    """Two GRPO steps of a tiny random Llama: the reward is asked, logged, and moves the weights."""
    pytest.importorskip("trl", reason="extra `train` is not installed")
    import torch
    from datasets import Dataset
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Split
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
    from trl import GRPOConfig, GRPOTrainer

    rows = dataset_rows(Digits(), "train")[:4]
    signs = sorted({*"0123456789+-*/() ", *"".join(row["prompt"] for row in rows)})
    words = Tokenizer(WordLevel({sign: number for number, sign in enumerate(["<pad>", "<eos>", *signs])}, "<pad>"))
    words.pre_tokenizer = Split("", "isolated")
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=words, pad_token="<pad>", eos_token="<eos>")
    torch.manual_seed(0)
    model = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(tokenizer),
            hidden_size=16,
            intermediate_size=16,
            num_hidden_layers=1,
            num_attention_heads=2,
            pad_token_id=0,
            eos_token_id=1,
        )
    )
    before = model.lm_head.weight.detach().clone()
    trainer = GRPOTrainer(
        model=model,
        reward_funcs=reward_function(Digits()),
        train_dataset=Dataset.from_list(rows),
        processing_class=tokenizer,
        args=GRPOConfig(
            output_dir=str(tmp_path),
            max_steps=2,
            per_device_train_batch_size=8,
            num_generations=4,
            max_completion_length=6,
            learning_rate=1e-2,
            use_cpu=True,
            bf16=False,
            logging_steps=1,
            save_strategy="no",
            report_to=[],
            disable_tqdm=True,
            seed=0,
        ),
    )
    trainer.train()
    logs = [row for row in trainer.state.log_history if "reward" in row]
    assert len(logs) == 2
    for row in logs:
        assert row["reward"] == pytest.approx(row["rewards/countdown_reward/mean"])
        assert row["reward"] == pytest.approx(row["component/digits"])
        assert 0 < row["reward"] < 1
        assert row["gate_rate"] == row["valid_rate"] == 1.0
        assert row["unscored"] == 0.0
    assert not torch.equal(model.lm_head.weight, before)
