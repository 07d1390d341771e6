"""The keys of the stages that train: SFT, GRPO, and the watch over GRPO. Defaults are the plainest form of each."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

__all__ = ["CollapseSection", "Count", "GrpoSection", "Rate", "Section", "SftSection", "Share", "Supervised"]

Count = Annotated[int, Field(ge=1, le=1_000_000)]
Rate = Annotated[float, Field(gt=0, le=1)]
Share = Annotated[float, Field(ge=0, le=1)]

Schedule = Literal["constant", "linear", "cosine"]
Precision = Literal["fp32", "bf16"]
_WARMUP = "steps over which the learning rate rises; below 1: a share of all steps"
_PRECISION = "bf16 computes in bfloat16 where that is safe; weights and optimiser stay in fp32"

_MERGE = "with LoRA, write the merged model beside the adapter; false keeps the adapter alone"

_SUM_OVER_TOKENS = ("bnpo", "dr_grpo", "dapo", "cispo")
_WITHOUT_CLIPPING = ("sapo", "vespo")


class Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Supervised(Section):
    """Supervised fine-tuning (TRL's SFTTrainer) on whatever rows a stage has; `_name` is what errors call it by."""

    _name: ClassVar[str]

    steps: Count
    batch_size: Annotated[Count, Field(description="demonstrations that one step learns from")]
    gradient_accumulation: Annotated[Count, Field(description="parts that a step's batch is computed in")] = 1
    learning_rate: Rate
    lr_schedule: Annotated[Schedule, Field(description="how the learning rate goes on after the warm-up")] = "cosine"
    warmup_steps: Annotated[float, Field(ge=0, description=_WARMUP)] = 0
    precision: Annotated[Precision, Field(description=_PRECISION)] = "fp32"
    lora_rank: Annotated[int, Field(ge=0, le=512, description="0 trains every weight")] = 0
    merge: Annotated[bool, Field(description=_MERGE)] = True
    save_steps: Annotated[int, Field(ge=0, description="a checkpoint every so many steps; 0 for none")] = 0

    @model_validator(mode="after")
    def _every_key_acts(self) -> Self:
        _check_merge(self._name, self.merge, self.lora_rank)
        return self

    @model_validator(mode="after")
    def _whole_parts(self) -> Self:
        if self.batch_size % self.gradient_accumulation:
            raise ValueError(
                f"{self._name}.batch_size ({self.batch_size}) must be a multiple of "
                f"{self._name}.gradient_accumulation ({self.gradient_accumulation})"
            )
        return self


class SftSection(Supervised):
    """Supervised fine-tuning on the oracle mix."""

    _name = "sft"

    oracle_share: Annotated[Share, Field(description="demonstrations that are the oracle's own")] = 1.0
    secure: Annotated[Share, Field(description="in the other demonstrations: chance of each security attribute")] = 0.5


class GrpoSection(Section):
    """Reinforcement learning with the verifier as the reward (TRL's GRPOTrainer).

    A window is what one generation serves: `steps_per_generation` steps, passed over `num_iterations` times.
    """

    steps: Count
    prompts_per_step: Annotated[Count, Field(description="groups that one step learns from")]
    generations: Annotated[int, Field(ge=2, le=256, description="completions in a group, G")]
    gradient_accumulation: Annotated[Count, Field(description="parts that a step's batch is computed in")] = 1
    learning_rate: Rate
    lr_schedule: Annotated[Schedule, Field(description="how the learning rate goes on after the warm-up")] = "constant"
    warmup_steps: Annotated[float, Field(ge=0, description=_WARMUP)] = 0
    max_grad_norm: Annotated[float, Field(gt=0, le=1000, description="gradients longer than this are cut to it")] = 1.0
    precision: Annotated[Precision, Field(description=_PRECISION)] = "fp32"

    temperature: Annotated[float, Field(gt=0, le=10, description="of the samples that are learnt from")] = 1.0
    top_p: Annotated[Rate, Field(description="samples keep to the likeliest tokens of this probability")] = 1.0
    beta: Annotated[float, Field(ge=0, le=10, description="weight of the KL term to the SFT model")] = 0.0
    loss: Annotated[
        Literal["dapo", "dr_grpo", "grpo", "bnpo", "cispo", "sapo", "luspo", "vespo"],
        Field(description="how the losses of tokens add up; GSPO is grpo at importance_sampling_level sequence"),
    ] = "dapo"
    importance_sampling_level: Annotated[
        Literal["token", "sequence"], Field(description="what has a ratio of new to old probability")
    ] = "token"
    epsilon: Annotated[float, Field(gt=0, lt=1, description="how far a ratio may fall below 1 before it is cut")] = 0.2
    epsilon_high: Annotated[
        float | None,
        Field(gt=0, le=10, description="how far it may rise above 1 (DAPO: 0.28); epsilon where not given"),
    ] = None
    num_iterations: Annotated[int, Field(ge=1, le=16, description="passes over each window of completions")] = 1
    steps_per_generation: Annotated[int, Field(ge=1, le=64, description="steps that one generation serves")] = 1
    scale_rewards: Annotated[
        Literal["group", "batch", "none"],
        Field(description="whose standard deviation divides advantages (Dr. GRPO: none)"),
    ] = "group"
    mask_truncated_completions: Annotated[
        bool, Field(description="leave completions that met the token limit out of the loss (DAPO)")
    ] = False

    difficulty_map: Annotated[
        str | None, Field(description="file with the base's pass rate of each prompt (JSON: episode hash to share)")
    ] = None
    difficulty_low: Annotated[Share, Field(description="prompts with a lower pass rate are dropped")] = 0.0
    difficulty_high: Annotated[Share, Field(description="prompts with a higher pass rate are dropped")] = 1.0

    lora_rank: Annotated[int, Field(ge=0, le=512, description="0 trains every weight")] = 0
    lora_alpha: Annotated[int, Field(ge=1, le=1024)] = 32
    merge: Annotated[bool, Field(description=_MERGE)] = True
    save_steps: Annotated[int, Field(ge=1, description="a checkpoint every so many steps")] = 10

    @property
    def window(self) -> int:
        """Steps from one generation to the next."""
        return self.steps_per_generation * self.num_iterations

    def prompts(self, world: int) -> int:
        """How many one generation takes, where `world` processes train together."""
        return self.prompts_per_step * self.steps_per_generation * world

    @model_validator(mode="after")
    def _save_at_the_end_of_a_window(self) -> GrpoSection:
        """Between, completions of the window would be lost, and a resumed run would not be the same run."""
        if self.save_steps % self.window:
            raise ValueError(
                "grpo.save_steps must be a multiple of grpo.num_iterations x grpo.steps_per_generation "
                f"({self.window}), not {self.save_steps}"
            )
        return self

    @model_validator(mode="after")
    def _whole_parts(self) -> GrpoSection:
        batch = self.prompts_per_step * self.generations
        if batch % self.gradient_accumulation:
            raise ValueError(
                f"grpo.prompts_per_step x grpo.generations ({batch}) must be a multiple of "
                f"grpo.gradient_accumulation ({self.gradient_accumulation})"
            )
        return self

    @model_validator(mode="after")
    def _every_key_acts(self) -> GrpoSection:
        _check_merge("grpo", self.merge, self.lora_rank)
        if self.epsilon_high is not None and self.window == 1:
            raise ValueError(
                "grpo.epsilon_high does nothing with grpo.num_iterations and grpo.steps_per_generation at 1: "
                "nothing is ever clipped"
            )
        if self.epsilon_high is not None and self.loss in _WITHOUT_CLIPPING:
            raise ValueError(f"grpo.epsilon_high does nothing with grpo.loss {self.loss}: it clips nothing")
        if self.difficulty_low > self.difficulty_high:
            raise ValueError(
                f"grpo.difficulty_low ({self.difficulty_low}) lies above grpo.difficulty_high ({self.difficulty_high})"
            )
        return self

    @model_validator(mode="after")
    def _levels_that_a_loss_takes(self) -> GrpoSection:
        level = self.importance_sampling_level
        if level == "sequence" and self.loss in _SUM_OVER_TOKENS:
            raise ValueError(
                f"grpo.loss {self.loss} sums over tokens, which grpo.importance_sampling_level sequence turns into a "
                "weight by length: take grpo.loss grpo (GSPO) or luspo"
            )
        wanted = {"luspo": "sequence", "vespo": "token"}.get(self.loss, level)
        if level != wanted:
            raise ValueError(f"grpo.loss {self.loss} needs grpo.importance_sampling_level {wanted}")
        return self


class CollapseSection(Section):
    """The watch over GRPO: an alarm where a mean over the last `window` generations falls below its threshold.

    An alarm is written beside the model, and no model with one is promoted. 0 turns a threshold off.
    """

    window: Annotated[int, Field(ge=1, le=1000, description="generations that a mean is taken over")] = 8
    reward_std: Annotated[
        float, Field(ge=0, le=1, description="spread of the reward below which there is nothing to learn from")
    ] = 0.01
    entropy: Annotated[float, Field(ge=0, le=10, description="nats a token below which nothing new is tried")] = 0.002
    unique: Annotated[Share, Field(description="share of distinct completions below which one answer serves all")] = (
        0.05
    )
    ceiling: Annotated[
        Share, Field(description="mean reward from which on little spread and entropy are success, and no alarm")
    ] = 0.95
    stop: Annotated[bool, Field(description="stop the training at an alarm, and keep the model as it is then")] = False


def _check_merge(section: str, merge: bool, rank: int) -> None:
    if not merge and not rank:
        raise ValueError(f"{section}.merge false needs {section}.lora_rank: without LoRA there is no adapter to keep")
