"""The flags of a vLLM server, and the ladder of configurations that are tried for those that nobody chose.

A ladder begins with what is fastest and takes one knob down a rung, since what an engine can do, and what fits into its
memory, shows only when it starts. A knob that the caller set stays as it was set on every rung.
"""

from __future__ import annotations

import argparse
import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal, NoReturn

from rl_gym.infra.errors import UsageError
from services.policy.supervision.engine import FlagValue

__all__ = ["Device", "EngineFlags", "Rung", "ladder", "read_flags"]

Device = Literal["cuda", "cpu"]

NONE = "none"
"""Of a knob that is to stay down on every rung."""

_NGRAM = json.dumps(
    {"method": "ngram", "num_speculative_tokens": 4, "prompt_lookup_min": 2, "prompt_lookup_max": 4},
    separators=(",", ":"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineFlags:
    """Flags by their names on vLLM's command line; None leaves one to vLLM, or to the ladder where it is a knob.

    The knobs are dtype, quantization, speculative_config and enforce_eager. `extra` is passed on untouched.
    """

    model: str = ""
    served_model_name: str | None = None
    dtype: str | None = None
    quantization: str | None = None
    kv_cache_dtype: str | None = None
    speculative_config: str | None = None
    enforce_eager: bool | None = None
    enable_prefix_caching: bool | None = None
    enable_chunked_prefill: bool | None = None
    gpu_memory_utilization: float | None = None
    max_model_len: str | None = None
    max_num_seqs: int | None = None
    enable_lora: bool | None = None
    max_loras: int | None = None
    max_lora_rank: int | None = None
    tensor_parallel_size: int | None = None
    data_parallel_size: int | None = None
    api_server_count: int | None = None
    logprobs_mode: str | None = "processed_logprobs"
    """Log-probabilities are of the distribution that is sampled from, as everywhere here."""
    extra: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name under which the base model answers."""
        return self.served_model_name or self.model

    def arguments(self) -> list[str]:
        """The command line, without the program."""
        words: list[str] = []
        for name, value in self._given().items():
            if isinstance(value, bool):
                words.append(f"--{name}" if value else f"--no-{name}")
            else:
                words += [f"--{name}", str(value)]
        return [*words, *self.extra]

    def shown(self) -> dict[str, FlagValue]:
        """The flags by name, for people and programs that ask what runs."""
        flags = self._given()
        name = ""
        for word in self.extra:
            if word.startswith("-") and not _is_number(word):
                name, equals, value = word.lstrip("-").partition("=")
                flags[name] = value if equals else True
            elif name:
                before = flags[name]
                flags[name] = word if before is True else f"{before} {word}"
        return flags

    def _given(self) -> dict[str, FlagValue]:
        values = {name: value for name, value in asdict(self).items() if name != "extra"}
        return {
            name.replace("_", "-"): value
            for name, value in values.items()
            if value not in (None, "") and not (name in _CAN_BE_NONE and value == NONE)
        }


_CAN_BE_NONE = ("quantization", "speculative_config")
_SHORT = {"quantization": "-q", "tensor_parallel_size": "-tp", "data_parallel_size": "-dp", "api_server_count": "-asc"}

_OURS = {
    "model": "it has a setting of its own",
    "served-model-name": "the model's setting names it",
    "host": "it listens on loopback",
    "port": "it has a port of its own",
    "uds": "it has a port of its own",
    "shutdown-timeout": "a stop must not hang",
    "disable-uvicorn-access-log": "it is off already",
    "api-key": "a command line is no place for secrets",
    "hf-token": "a command line is no place for secrets",
    "trust-remote-code": "code that comes with a model is never run",
    "config": "flags are given one by one, so that they can be shown",
}
"""Flags that are not the caller's to give, and why."""


def read_flags(text: str) -> EngineFlags:
    """Flags as on vLLM's command line, such as `--dtype float32 --max-num-seqs 64`.

    Raises UsageError for a flag that has a wrong value, or is not the caller's to give.
    """
    try:
        words = [_dashed(word) for word in shlex.split(text)]
    except ValueError as error:
        raise UsageError(f"flags of vLLM: {error}") from None
    for word in words:
        name = word.removeprefix("--").partition("=")[0]
        if word.startswith("--") and name.removeprefix("no-") in _OURS:
            raise UsageError(f"flags of vLLM: --{name} cannot be given: {_OURS[name.removeprefix('no-')]}")
    known, extra = _parser().parse_known_args(words)
    return EngineFlags(**vars(known), extra=tuple(extra))


def _dashed(word: str) -> str:
    """A flag as vLLM reads it too, which takes underscores for dashes; keys behind a dot and values stay."""
    end = min((word + ".").index("."), (word + "=").index("="))
    return word[:end].replace("_", "-") + word[end:] if word.startswith("--") else word


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"flags of vLLM: {message}")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(add_help=False, allow_abbrev=False)
    for field in fields(EngineFlags):
        option = field.name.replace("_", "-")
        if field.name == "extra" or option in _OURS:
            continue
        kind: dict[str, Any] = {"type": {"int | None": int, "float | None": float}.get(str(field.type), str)}
        if field.type == "bool | None":
            kind = {"action": argparse.BooleanOptionalAction}
        short = [_SHORT[field.name]] if field.name in _SHORT else []
        parser.add_argument(*short, f"--{option}", default=field.default, **kind)
    return parser


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class Rung:
    """One configuration of a ladder; `name` says what its knobs are."""

    name: str
    flags: EngineFlags


_STEPS: Mapping[Device, Sequence[Mapping[str, Any]]] = {
    "cuda": (
        {"quantization": "fp8", "speculative_config": _NGRAM, "enforce_eager": False},
        {"quantization": "fp8", "enforce_eager": False},
        {"quantization": "fp8", "enforce_eager": True},
        {"dtype": "bfloat16", "enforce_eager": True},
    ),
    "cpu": (
        {"speculative_config": _NGRAM, "enforce_eager": False},
        {"enforce_eager": False},
        {"enforce_eager": True},
        {"dtype": "float32", "enforce_eager": True},
    ),
}


_ALWAYS: Mapping[Device, Mapping[str, Any]] = {
    "cuda": {},
    # A prompt that is read in parts winds its seed's generator back, which vLLM 0.32 can do with CUDA's alone: on the
    # CPU the engine would end, with all that it works on, as soon as seeded requests are many or long.
    "cpu": {"enable_chunked_prefill": False},
}


def ladder(flags: EngineFlags, device: Device) -> tuple[Rung, ...]:
    """The rungs for these flags, fastest first; at least one, and no two alike."""
    rungs: dict[EngineFlags, Rung] = {}
    for step in _STEPS[device]:
        chosen = {**_ALWAYS[device], **step}
        free = {knob: value for knob, value in chosen.items() if getattr(flags, knob) is None}
        tried = replace(flags, **free)
        rungs.setdefault(tried, Rung(_name(tried, device), tried))
    return tuple(rungs.values())


def _name(flags: EngineFlags, device: Device) -> str:
    weights = flags.dtype or "the model's own dtype"
    if flags.quantization not in (None, NONE):
        weights = str(flags.quantization)
    parts = [weights]
    if flags.speculative_config not in (None, NONE):
        parts.append("speculation")
    graphs = "CUDA graphs" if device == "cuda" else "compiled"
    parts.append("eager" if flags.enforce_eager else graphs)
    return ", ".join(parts)
