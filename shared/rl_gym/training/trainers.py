"""SFT and GRPO by TRL, inside the training child: settings in, a model folder and metrics out.

The losses, the sampling loop and the optimiser are TRL's and PEFT's; what is ours is the data, the reward, determinism,
progress, a watch over both, and checkpoints that a resumed run can trust.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from datasets import Dataset
from peft import LoraConfig
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import GRPOConfig, SFTConfig

from rl_gym.gym.registry import get_env
from rl_gym.gym.trl import RewardFunction
from rl_gym.serving.chat import training_completion, training_prompt
from rl_gym.training.callbacks import Collapse, LossGuard, Reporter
from rl_gym.training.collapse import UNIQUE
from rl_gym.training.config import Config
from rl_gym.training.determinism import pin
from rl_gym.training.files import read_rows
from rl_gym.training.recipe import GrpoSection, Supervised
from rl_gym.training.resuming import ResumableGrpo, ResumableSft, train
from rl_gym.training.rewards import rewards
from rl_gym.training.saving import base_name, save

if TYPE_CHECKING:
    from rl_gym.training.child import Channel

__all__ = ["train_grpo", "train_sft"]


def train_sft(job: Mapping[str, Any], channel: Channel) -> None:
    """Fine-tune `job["model"]` on the demonstrations in `job["data"]`; the model lands in `job["output"]/model`.

    `job["section"]` names the part of the configuration that it goes by, `job["name"]` the stage. Goes on from the
    newest whole checkpoint where an earlier attempt left one. Raises UsageError where the loss is no number any more.
    """
    config = Config.model_validate(job["config"])
    keys, output = job.get("section", "sft"), Path(job["output"])
    name = job.get("name", keys)
    section: Supervised = getattr(config, keys)
    pin(config.seed, config.model.threads)
    model, tokenizer = _load(job["model"])
    rows = [
        {
            "prompt": training_prompt(tokenizer, row["prompt"]),
            "completion": training_completion(tokenizer, row["completion"]),
        }
        for row in read_rows(Path(job["data"]))
    ]
    trainer = ResumableSft(
        model=model,
        args=SFTConfig(
            per_device_train_batch_size=section.batch_size // section.gradient_accumulation,
            max_length=None,
            train_sampling_strategy="group_by_length",
            **_common(config, section, output),
        ),
        train_dataset=Dataset.from_list(rows),
        processing_class=tokenizer,
        callbacks=[LossGuard(keys, section), Reporter(name, channel)],
        peft_config=_lora(section.lora_rank, 2 * section.lora_rank),
    )
    train(trainer, name, output / "checkpoints", channel)
    _save(trainer, tokenizer, job, merge=section.merge)


def train_grpo(job: Mapping[str, Any], channel: Channel) -> None:
    """Reinforce `job["model"]` on the prompts in `job["data"]` with the environment's reward, which is computed here,
    or by the verifier service where the job names one in `job["verifier"]`.

    The model (adapter merged) lands in `job["output"]/model`, the adapter in `adapter` beside it, and alarms of the
    collapse watch in `alarms.json`. Goes on from the newest whole checkpoint where an earlier attempt left one. Raises
    as `rewards` and the reward do.
    """
    config = Config.model_validate(job["config"])
    name, section, output = job.get("name", "grpo"), config.grpo, Path(job["output"])
    pin(config.seed, config.model.threads)
    env = get_env(config.environment.name, **config.environment.options)
    rows = read_rows(Path(job["data"]))

    def tell(text: str) -> None:
        channel.note(name, text)

    with rewards(env, config.environment, rows, job.get("verifier"), tell) as reward:
        model, tokenizer = _load(job["model"])
        data = [{"prompt": training_prompt(tokenizer, row["prompt"]), "episode": row["episode"]} for row in rows]
        trainer = ResumableGrpo(
            steps_an_epoch=_steps_an_epoch(config, len(data)),
            model=model,
            reward_funcs=_counting_distinct(reward),
            args=_grpo_config(config, output),
            train_dataset=Dataset.from_list(data),
            processing_class=tokenizer,
            callbacks=[
                LossGuard("grpo", section),
                Reporter(name, channel, groups=config.grpo.prompts(config.machine.world)),
                Collapse(config.collapse, output, name, channel),
            ],
            peft_config=_lora(section.lora_rank, section.lora_alpha),
        )
        train(trainer, name, output / "checkpoints", channel)
    _save(trainer, tokenizer, job, merge=section.merge)


def _steps_an_epoch(config: Config, prompts: int) -> int:
    """TRL leaves out the prompts at the end of an epoch that fill no generation."""
    return prompts // config.grpo.prompts(config.machine.world) * config.grpo.window


def _grpo_config(config: Config, output: Path) -> GRPOConfig:
    section = config.grpo
    return GRPOConfig(
        per_device_train_batch_size=section.prompts_per_step * section.generations // section.gradient_accumulation,
        num_generations=section.generations,
        # Ours are steps of the optimiser, TRL's are parts of them.
        steps_per_generation=section.steps_per_generation * section.gradient_accumulation,
        num_iterations=section.num_iterations,
        max_completion_length=config.episodes.max_tokens,
        max_grad_norm=section.max_grad_norm,
        temperature=section.temperature,
        top_p=section.top_p,
        beta=section.beta,
        loss_type=section.loss,
        importance_sampling_level=section.importance_sampling_level,
        epsilon=section.epsilon,
        epsilon_high=section.epsilon_high,
        scale_rewards=section.scale_rewards,
        mask_truncated_completions=section.mask_truncated_completions,
        # The template's own tokens come on top of the prompt's.
        **config.machine.generation(config.episodes.context),
        **_common(config, section, output),
    )


def _counting_distinct(reward: RewardFunction) -> Callable[..., list[float | None]]:
    """The same reward, which also logs the share of distinct completions: the collapse watch reads it."""

    @wraps(reward)
    def counted(prompts: Sequence[Any], completions: Sequence[Any], **columns: Any) -> list[float | None]:
        columns["log_metric"](UNIQUE, len(set(map(str, completions))) / len(completions))
        return reward(prompts=prompts, completions=completions, **columns)

    return counted


def _common(config: Config, section: Supervised | GrpoSection, output: Path) -> dict[str, Any]:
    """What both trainers are told alike."""
    warms_up = section.warmup_steps > 0 and section.lr_schedule == "constant"
    return {
        "output_dir": str(output / "checkpoints"),
        "save_strategy": "steps" if section.save_steps else "no",
        "save_steps": section.save_steps or 1,
        "save_total_limit": 2,
        "max_steps": section.steps,
        "gradient_accumulation_steps": section.gradient_accumulation,
        "learning_rate": section.learning_rate,
        "lr_scheduler_type": "constant_with_warmup" if warms_up else section.lr_schedule,
        "warmup_steps": section.warmup_steps,
        "use_cpu": not torch.cuda.is_available(),
        "bf16": section.precision == "bf16",
        "gradient_checkpointing": config.machine.activation_checkpointing,
        "logging_steps": 1,
        # Else a loss that is no number is replaced by the mean before it, and nobody learns of it.
        "logging_nan_inf_filter": False,
        "disable_tqdm": True,
        # Else a pass more over each step, for models that leave weights unused. Ours do not.
        "ddp_find_unused_parameters": False,
        "report_to": [] if config.report_to == "none" else [config.report_to],
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


def _save(trainer: Any, tokenizer: Any, job: Mapping[str, Any], *, merge: bool) -> None:
    """Leave the model in the job's folder, by the first process alone: all hold the same."""
    if trainer.is_world_process_zero():
        base = base_name(job, Config.model_validate(job["config"]))
        save(trainer.model, tokenizer, Path(job["output"]), base=base, merge=merge)
