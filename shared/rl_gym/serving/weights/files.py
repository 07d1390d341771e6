"""Which files a model is made of, and whether those that are there make one: weights in safetensors, and text.

Whatever could run when it is read (pickles, Python) is never taken: it is neither fetched nor loaded.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rl_gym.gym.files import read_document
from rl_gym.infra.errors import NotFoundError, TooLargeError, UsageError
from rl_gym.infra.extras import extra

__all__ = ["check_files", "check_listing", "is_wanted"]

MAX_TEXT_BYTES = 64 << 20
"""A tokenizer of 250,000 tokens has 35 MB."""
_WEIGHTS = re.compile(r"model(-\d{5}-of-\d{5})?\.safetensors")
_INDEX = "model.safetensors.index.json"
_TEXTS = frozenset(
    {
        "config.json",
        "generation_config.json",
        _INDEX,
        "tokenizer.json",
        "tokenizer_config.json",
        "special_tokens_map.json",
        "added_tokens.json",
        "vocab.json",
        "merges.txt",
        "chat_template.jinja",
        "README.md",
        "LICENSE.md",
        "LICENSE.txt",
        "NOTICE.txt",
    }
)
_UNSAFE = (".bin", ".pt", ".pth", ".pkl", ".ckpt", ".h5", ".msgpack", ".gguf")


def is_wanted(name: str) -> bool:
    """Whether a file of this name is of a model's: all others are left where they are."""
    return name in _TEXTS or bool(_WEIGHTS.fullmatch(name))


def check_listing(sizes: Mapping[str, int], source: object, most_bytes: int) -> None:
    """Raises UsageError where files of these names and sizes are no model, or none that may be taken."""
    wanted = {name: size for name, size in sizes.items() if is_wanted(name)}
    if not any(_WEIGHTS.fullmatch(name) for name in wanted):
        other = next((name for name in sorted(sizes) if name.endswith(_UNSAFE)), "")
        raise UsageError(f"{source} has no weights in safetensors{f' ({other} is not read)' if other else ''}")
    for name in ("config.json", "tokenizer.json"):
        if name not in wanted:
            raise UsageError(f"{source} has no {name}")
    for name, size in wanted.items():
        if name in _TEXTS and size > MAX_TEXT_BYTES:
            raise TooLargeError(f"{source}: {name} has {size} bytes; {MAX_TEXT_BYTES} are allowed")
    total = sum(wanted.values())
    if total > most_bytes:
        raise TooLargeError(f"{source} has {total} bytes; RL_GYM_WEIGHTS_BYTES allows {most_bytes}")


def check_files(folder: Path, source: object, most_bytes: int) -> None:
    """Raises NotFoundError where there is no model in a folder, UsageError where there is half of one, or another."""
    if not (folder / "config.json").is_file():
        raise NotFoundError(f"no model in {folder}: config.json is missing")
    check_listing({path.name: path.stat().st_size for path in folder.iterdir() if path.is_file()}, source, most_bytes)
    if (folder / "adapter_config.json").exists():
        # Loading it would load the base that it names instead, from wherever that is.
        raise UsageError(f"{source} is an adapter, or has one in it; a whole model is needed")
    if not isinstance(_document(folder, "config.json", source).get("model_type"), str):
        raise UsageError(f"{source}: config.json names no model_type")
    weights = _weights(folder, source)
    with extra("serve"):
        from safetensors import SafetensorError, safe_open
        from tokenizers import Tokenizer
    for name in sorted(weights):
        try:
            with safe_open(folder / name, framework="numpy"):
                pass
        except (SafetensorError, OSError):
            raise UsageError(f"{source}: {name} is damaged or no safetensors file") from None
    try:
        Tokenizer.from_file(str(folder / "tokenizer.json"))
    except Exception:
        # The library raises nothing narrower.
        raise UsageError(f"{source}: tokenizer.json is no tokenizer that can be loaded") from None


def _weights(folder: Path, source: object) -> set[str]:
    """The files that hold weights; those that an index names must be there, and be no others."""
    there = {path.name for path in folder.iterdir() if _WEIGHTS.fullmatch(path.name)}
    if (folder / _INDEX).exists():
        named = _document(folder, _INDEX, source).get("weight_map")
        if not isinstance(named, dict):
            raise UsageError(f"{source}: {_INDEX} has no weight_map")
        for name in map(str, named.values()):
            if name not in there:
                raise UsageError(f"{source}: {_INDEX} names {name[:80]!r}, which is no safetensors file beside it")
    elif "model.safetensors" not in there:
        raise UsageError(f"{source}: the weights are in several files, and {_INDEX} is missing")
    return there


def _document(folder: Path, name: str, source: object) -> Mapping[str, Any]:
    try:
        return read_document(folder / name)
    except UsageError:
        raise UsageError(f"{source}: {name} is no JSON object") from None
