"""Why a vLLM server ended, in one line, from the last lines that it printed, and whether another rung may help."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from rl_gym.infra.errors import one_line

__all__ = ["Cause", "Trouble", "diagnose"]

Cause = Literal["memory", "setup", "other"]
"""`memory`: less of it helps; `setup`: no other configuration does."""

_LONGEST = 300

_FEWER = "lower max-num-seqs or max-model-len"
_SIGNS: tuple[tuple[str, Cause, str], ...] = (
    ("No module named 'vllm'", "setup", "there is no vLLM in this Python"),
    ("No module named vllm", "setup", "there is no vLLM in this Python"),
    ("LocalEntryNotFoundError", "setup", "the model is not on this machine: fetch it first, or give its folder"),
    ("HFValidationError", "setup", "the model is neither a folder nor the name of a model"),
    ("is not a valid model identifier", "setup", "the model is neither a folder nor the name of a model"),
    ("less than desired GPU memory", "memory", "lower gpu-memory-utilization, or end what else uses the GPU"),
    ("No available memory for the cache blocks", "memory", f"raise gpu-memory-utilization, or {_FEWER}"),
    ("larger than the available KV cache", "memory", "lower max-model-len, or raise gpu-memory-utilization"),
    ("less than requested memory for kv", "memory", "lower VLLM_CPU_KVCACHE_SPACE"),
    ("out of memory", "memory", f"lower gpu-memory-utilization, or {_FEWER}"),
    ("OutOfMemoryError", "memory", f"lower gpu-memory-utilization, or {_FEWER}"),
    ("Cannot allocate memory", "memory", _FEWER),
    ("MemoryError", "memory", _FEWER),
    ("std::bad_alloc", "memory", _FEWER),
)

_PREFIX = re.compile(r"^(\(\w[^)]*\)\s*)?((ERROR|CRITICAL)\s+[\d-]+\s+[\d:]+\s+(\[[^\]]*\]\s*)?)?")
_ERROR = re.compile(r"^([\w.]*(Error|Exception|Interrupt)\b.*|\S+: error: .+|Value error, .+)$")
_CONSEQUENCES = ("Engine core initialization failed", "EngineDeadError", "EngineCore encountered", "KeyboardInterrupt")
_HEADLINE = re.compile(r"^[\w.]*ValidationError: \d+ validation error")


@dataclass(frozen=True, slots=True)
class Trouble:
    """What went wrong: a cause for programs, and a line for people."""

    cause: Cause
    text: str


def diagnose(ending: str, lines: Sequence[str]) -> Trouble:
    """What was wrong with a server that ended so and printed these lines last."""
    if "SIGKILL" in ending:
        # Nobody has words for that: what was printed before is of something else.
        return Trouble("other", f"{ending}, by somebody or by the kernel for want of memory")
    said = [_PREFIX.sub("", line.strip()) for line in lines]
    errors = [line for line in said if _ERROR.match(line) and not _HEADLINE.match(line)]
    roots = [line for line in errors if not any(one in line for one in _CONSEQUENCES)]
    root = one_line((roots or errors or [""])[0].partition(" [type=")[0], _LONGEST)
    for sign, cause, advice in _SIGNS:
        if any(sign.lower() in line.lower() for line in said):
            return Trouble(cause, f"{ending}: {root or sign}; {advice}")
    return Trouble("other", f"{ending}: {root}" if root else f"{ending}, without a word")
