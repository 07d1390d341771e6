"""The keys of the stages beside SFT and GRPO: RAFT, repair training, updates of an incumbent, and drift."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from rl_gym.training.recipe import Section, Supervised

__all__ = ["DriftSection", "RaftSection", "RepairSection", "RolloutSection", "UpdateSection"]


class RolloutSection(Supervised):
    """SFT on answers of the model's own making or to them: the keys of the stage `rollout` that samples them too."""

    samples: Annotated[int, Field(ge=1, le=256, description="answers that are sampled to each prompt")] = 4
    temperature: Annotated[float, Field(gt=0, le=10, description="of these samples")] = 1.0


class RaftSection(RolloutSection):
    """Sample each of GRPO's prompts, and learn the best answer to it where that is good enough (RAFT, Dong 2023)."""

    _name = "raft"

    threshold: Annotated[
        float, Field(ge=0, le=1, description="reward from which on the best answer is kept, and a sample has passed")
    ] = 1.0


class RepairSection(RolloutSection):
    """Learn to mend: answers of one's own that failed, with what the verifier says of them, and the oracle's answer."""

    _name = "repair"

    max_prompt_tokens: Annotated[
        int, Field(ge=8, le=65_536, description="tokens of a repair prompt, at most; a longer one is dropped")
    ] = 2048


class UpdateSection(Section):
    """The incumbent trained on. How is said by the section of the method, and by `episodes.rehearsal`."""

    method: Annotated[
        Literal["sft", "grpo", "sft-grpo"],
        Field(description="demonstrations of the oracle, the reward, or both in turn; their sections say how"),
    ] = "grpo"

    @property
    def first(self) -> Literal["sft", "grpo"]:
        """What the stage `update` does, by the section of that name; with both, `grpo` is a stage of its own."""
        return "grpo" if self.method == "grpo" else "sft"


class DriftSection(Section):
    """The rules change: `environment.options.ruleset` has the new ones, that the update learns and the gate asks."""

    before: Annotated[str, Field(description="the ruleset that was in force before")] = "base"
    tolerance: Annotated[
        float, Field(gt=0, le=1, description="loss of reward under the rules before that is not yet forgetting")
    ] = 0.02
