"""SFT and GRPO by TRL, inside the training child: settings in, a model folder and metrics out.

The losses, the sampling loop and the optimiser are TRL's and PEFT's; what is ours is the data, the reward, determinism,
progress, and checkpoints that a resumed run can trust.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from datasets import Dataset
from peft import LoraConfig
from transformers import AutoModelForCausalLM, AutoTokenizer, TrainerCallback
from trl import GRPOConfig, GRPOTrainer, SFTConfig, SFTTrainer

from rl_gym.gym.files import read_document, replace_text
from rl_gym.gym.registry import get_env
from rl_gym.gym.trl import reward_function
from rl_gym.training.config import Config
from rl_gym.training.determinism import pin
from rl_gym.training.files import file_digest, file_names, read_rows

if TYPE_CHECKING:
    from rl_gym.training.child import Channel

__all__ = ["train_grpo", "train_sft"]

_MARK = "complete.json"


def train_sft(job: Mapping[str, Any], channel: Channel) -> None:
    """Fine-tune `job["model"]` on the demonstrations in `job["data"]`; the model lands in `job["output"]/model`.

    Short, so an interrupted SFT starts again from its base.
    """
    config = Config.model_validate(job["config"])
    section, output = config.sft, Path(job["output"])
    pin(config.seed, config.model.threads)
    model, tokenizer = _load(job["model"])
    rows = [{"prompt": row["prompt"], "completion": row["completion"]} for row in read_rows(Path(job["data"]))]
    trainer = SFTTrainer(
        model=model,
        args=SFTConfig(
            max_steps=section.steps,
            per_device_train_batch_size=section.batch_size,
            learning_rate=section.learning_rate,
            warmup_steps=section.warmup_steps,
            lr_scheduler_type="cosine",
            max_length=None,
            train_sampling_strategy="group_by_length",
            save_strategy="no",
            **_common(config, output),
        ),
        train_dataset=Dataset.from_list(rows),
        processing_class=tokenizer,
        callbacks=[_Reporter("sft", channel)],
        peft_config=_lora(section.lora_rank, 2 * section.lora_rank),
    )
    trainer.train()
    _save(trainer.model, tokenizer, output)


def train_grpo(job: Mapping[str, Any], channel: Channel) -> None:
    """Reinforce `job["model"]` on the prompts in `job["data"]` with the environment's reward.

    The model (adapter merged) lands in `job["output"]/model`, the adapter in `adapter` beside it. Goes on from the
    newest whole checkpoint where an earlier attempt left one.
    """
    config = Config.model_validate(job["config"])
    section, output = config.grpo, Path(job["output"])
    pin(config.seed, config.model.threads)
    env = get_env(config.environment.name, **config.environment.options)
    model, tokenizer = _load(job["model"])
    rows = [{"prompt": row["prompt"], "episode": row["episode"]} for row in read_rows(Path(job["data"]))]
    trainer = GRPOTrainer(
        model=model,
        reward_funcs=reward_function(env),
        args=GRPOConfig(
            max_steps=section.steps,
            per_device_train_batch_size=section.prompts_per_step * section.generations,
            num_generations=section.generations,
            steps_per_generation=1,
            num_iterations=section.num_iterations,
            max_completion_length=config.episodes.max_tokens,
            learning_rate=section.learning_rate,
            lr_scheduler_type="constant",
            temperature=section.temperature,
            cache_implementation="static",
            beta=section.beta,
            loss_type=section.loss,
            epsilon_high=section.epsilon_high,
            save_strategy="steps",
            save_steps=section.save_steps,
            save_total_limit=2,
            **_common(config, output),
        ),
        train_dataset=Dataset.from_list(rows),
        processing_class=tokenizer,
        callbacks=[_Reporter("grpo", channel)],
        peft_config=_lora(section.lora_rank, section.lora_alpha),
    )
    checkpoint = _newest_checkpoint(output / "checkpoints")
    channel.resumed("grpo", int(checkpoint.name.rpartition("-")[2]) if checkpoint else 0)
    trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
    _save(trainer.model, tokenizer, output)


class _Reporter(TrainerCallback):  # type: ignore[misc]
    """Tells the parent each step and what the trainer logged, and marks checkpoints that are whole."""

    def __init__(self, job: str, channel: Channel) -> None:
        self._job = job
        self._channel = channel

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self._channel.progress(self._job, state.global_step, state.max_steps)

    def on_log(self, args: Any, state: Any, control: Any, logs: Mapping[str, Any] | None = None, **_: Any) -> None:
        values = {name: float(value) for name, value in (logs or {}).items() if isinstance(value, int | float)}
        self._channel.metrics(self._job, state.global_step, values)

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        folder = Path(args.output_dir) / f"checkpoint-{state.global_step}"
        digests = {name: file_digest(folder / name) for name in file_names(folder)}
        replace_text(folder / _MARK, json.dumps(digests, indent=2))


def _newest_checkpoint(folder: Path) -> Path | None:
    """The newest checkpoint that was written to its end and still is what was written."""
    found = sorted(folder.glob("checkpoint-*"), key=lambda path: int(path.name.rpartition("-")[2]), reverse=True)
    return next((path for path in found if _whole(path)), None)


def _whole(checkpoint: Path) -> bool:
    mark = checkpoint / _MARK
    if not mark.exists():
        return False
    digests = read_document(mark)
    return all((checkpoint / name).is_file() and file_digest(checkpoint / name) == digests[name] for name in digests)


def _common(config: Config, output: Path) -> dict[str, Any]:
    return {
        "output_dir": str(output / "checkpoints"),
        "use_cpu": not torch.cuda.is_available(),
        "bf16": False,
        "gradient_checkpointing": False,
        "gradient_accumulation_steps": 1,
        "logging_steps": 1,
        "disable_tqdm": True,
        "report_to": [],
        "seed": config.seed,
        "data_seed": config.seed,
    }


def _load(folder: str) -> tuple[Any, Any]:
    model = AutoModelForCausalLM.from_pretrained(
        folder, dtype=torch.float32, local_files_only=True, use_safetensors=True, trust_remote_code=False
    )
    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    return model, tokenizer


def _lora(rank: int, alpha: int) -> LoraConfig | None:
    if not rank:
        return None
    return LoraConfig(r=rank, lora_alpha=alpha, lora_dropout=0.0, target_modules="all-linear", task_type="CAUSAL_LM")


def _save(model: Any, tokenizer: Any, output: Path) -> None:
    if hasattr(model, "merge_and_unload"):
        model.save_pretrained(output / "adapter")
        model = model.merge_and_unload()
    model.save_pretrained(output / "model")
    tokenizer.save_pretrained(output / "model")
