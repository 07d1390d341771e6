"""How much memory a stage takes at most, estimated from the model's shape and the preset: terms with their formulas.

A sum of what must be held at once, where every sequence is as long as it may be. Kernels take more for a moment, most
sequences are shorter: it is an estimate, and `docs/training.md` has it beside measurements.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rl_gym.training.config import Config
from rl_gym.training.recipe import GrpoSection, Supervised
from rl_gym.training.shape import Shape

__all__ = ["Memory", "Term", "evaluation_memory", "grpo_memory", "sft_memory"]

_MIB = 1 << 20
_FLOAT32 = 4
_ADAMW = 2 * _FLOAT32
_TRAINING = {"cpu": 660 * _MIB, "gpu": 600 * _MIB}
"""On the CPU the child's resident set around a model of nothing, measured; on a GPU the context of CUDA, assumed."""
_READING = {"cpu": 420 * _MIB, "gpu": 600 * _MIB}
"""The same without TRL."""
_REWARD = {"cpu": 130 * _MIB, "gpu": 0}
"""The environment that judges, in the trainer's process, and the checkpoint on its way to the disk; measured."""
_KEPT = {"cpu": 2, "gpu": 1}
"""How much of what a step frees stays with the process: the child's malloc gives nothing back, as measured on nano."""
_HEAD_TOKENS = 256
"""TRL makes logits of so many tokens at a time, never of the whole batch."""


@dataclass(frozen=True, slots=True)
class Term:
    """Bytes of one thing, and how they were counted."""

    name: str
    bytes: int
    formula: str


@dataclass(frozen=True, slots=True)
class Memory:
    """What one process of a stage holds: `held` all the time, and the larger of the two `turns` on top."""

    held: tuple[Term, ...]
    turns: tuple[Term, ...]

    @property
    def total(self) -> int:
        """Bytes at the peak."""
        return sum(term.bytes for term in self.held) + max((term.bytes for term in self.turns), default=0)


def sft_memory(shape: Shape, config: Config, device: str, section: Supervised | None = None) -> Memory:
    """Of each process of a stage of SFT that goes by `section`, else of the stage `sft`; `device` is cpu or gpu."""
    section = section or config.sft
    return Memory(
        (_libraries(device), *_trained(shape, config, section.lora_rank)),
        (_activations(shape, config, section, section.batch_size, device),),
    )


def grpo_memory(shape: Shape, config: Config, device: str) -> Memory:
    """Of each process of the stage `grpo`; generation and the backward pass take turns. Without vLLM's own share."""
    section = config.grpo
    batch = section.prompts_per_step * section.generations
    held = [_libraries(device), *_trained(shape, config, section.lora_rank)]
    if _REWARD[device]:
        held.append(Term("reward", _REWARD[device], "measured"))
    if section.beta and not section.lora_rank:
        held.append(Term("reference model", _FLOAT32 * shape.parameters, "4 B x P: beta is above 0, and no adapter"))
    turns = [_activations(shape, config, section, batch, device)]
    if config.machine.vllm == "off":
        turns.append(_cache(shape, config, batch * section.steps_per_generation, device))
    return Memory(tuple(held), tuple(turns))


def evaluation_memory(shape: Shape, config: Config, device: str) -> Memory:
    """Of one process of the stage `evaluate`."""
    rows = min(config.evaluate.batch_size, config.episodes.held_out * config.evaluate.samples)
    weights = Term("weights", _FLOAT32 * shape.parameters, "4 B x P")
    return Memory((_libraries(device, _READING), weights), (_cache(shape, config, rows, device),))


def _libraries(device: str, sizes: Mapping[str, int] = _TRAINING) -> Term:
    return Term("libraries", sizes[device], "measured on the CPU" if device == "cpu" else "CUDA context, assumed")


def _trained(shape: Shape, config: Config, rank: int) -> Iterator[Term]:
    machine = config.machine
    parts = machine.world if machine.sharding != "none" else 1
    shared = f" / {parts} processes ({machine.sharding})" if parts > 1 else ""
    adapter = shape.adapter_parameters(rank) if rank else 0
    trained, name = (adapter, "T") if rank else (shape.parameters, "P")
    yield Term("weights", _FLOAT32 * shape.parameters // parts, f"4 B x P{shared}")
    if adapter:
        yield Term("adapter", _FLOAT32 * adapter // parts, f"4 B x T, T = {adapter / 1e6:.1f} M at rank {rank}{shared}")
    yield Term("gradients", _FLOAT32 * trained // parts, f"4 B x {name}{shared}")
    yield Term("optimiser", _ADAMW * trained // parts, f"8 B x {name}, AdamW's two moments{shared}")


def _activations(shape: Shape, config: Config, section: Supervised | GrpoSection, batch: int, device: str) -> Term:
    """What the backward pass reads again, of one part of the batch.

    Of each layer and token, counted on nano: 8 x hidden around the norms and projections, queries with the keys and
    values that are repeated for them, and 4 x the feed-forward's width. Logits come in pieces.
    """
    size = 2 if section.precision == "bf16" else _FLOAT32
    context = config.context if isinstance(section, Supervised) else config.episodes.context
    tokens = batch // section.gradient_accumulation * context
    layer = 8 * shape.hidden + 3 * shape.queries + 4 * shape.feed_forward
    kept, how = shape.layers * layer, "layers x (8 hidden + 3 queries + 4 feed-forward)"
    if config.machine.activation_checkpointing:
        kept, how = shape.layers * shape.hidden + layer, "(layers x hidden + one layer in full)"
    logits = 3 * _FLOAT32 * min(tokens, _HEAD_TOKENS) * shape.vocabulary
    formula = f"{_twice(device)}({size} B x {tokens} tokens x {how} + logits in pieces)"
    return Term("activations", _KEPT[device] * (size * tokens * kept + logits), formula)


def _cache(shape: Shape, config: Config, rows: int, device: str) -> Term:
    """Keys and values of a generation by transformers, in float32, and the logits of its last tokens."""
    tokens = rows * config.episodes.context
    kept = 2 * _FLOAT32 * tokens * shape.layers * shape.keys
    logits = 2 * _FLOAT32 * rows * shape.vocabulary
    formula = f"{_twice(device)}(8 B x {tokens} tokens x layers x keys + logits of {rows} rows)"
    return Term("key-value cache", _KEPT[device] * (kept + logits), formula)


def _twice(device: str) -> str:
    return f"{_KEPT[device]} x " if _KEPT[device] > 1 else ""
