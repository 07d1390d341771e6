"""Training that ran out of memory: how it shows, and which key to turn."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["knob", "ran_out"]

_TOLD = (
    "out of memory",
    "OutOfMemoryError",
    "CUBLAS_STATUS_ALLOC_FAILED",
    "can't allocate memory",
    "Cannot allocate memory",
    "std::bad_alloc",
    "MemoryError",
)
"""By CUDA, by torch on the CPU, by the operating system, by C++ and Python."""

_KNOBS: Mapping[str, str] = {
    "sft": "raise sft.gradient_accumulation or lower episodes.max_tokens",
    "raft": "raise raft.gradient_accumulation or lower episodes.max_tokens",
    "repair": "raise repair.gradient_accumulation, or lower repair.max_prompt_tokens or episodes.max_tokens",
    "update": "raise sft.gradient_accumulation or grpo.gradient_accumulation, as update.method says, or lower "
    "episodes.max_tokens",
    "rollout": "lower evaluate.batch_size",
    "grpo": "raise grpo.gradient_accumulation, or lower grpo.prompts_per_step, grpo.generations or episodes.max_tokens",
    "evaluate": "lower evaluate.batch_size or evaluate.processes",
}


def ran_out(error: BaseException | str) -> bool:
    """Whether an error, or what a process printed before its end, is about memory, in whichever shape it is told."""
    return isinstance(error, MemoryError) or any(words in str(error) for words in _TOLD)


def knob(job: str) -> str:
    """The keys that a job of this name ("grpo", "evaluate base") takes less memory by."""
    return _KNOBS.get(job.partition(" ")[0], "give it more, or a smaller batch")
