"""Which model an adapter is over: its name in `adapter_config.json`, where libraries look, and its digest beside.

An adapter over another model than its own loads where the shapes agree, and answers nonsense.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rl_gym.gym.files import replace_text
from rl_gym.infra.errors import UsageError
from rl_gym.infra.text_files import parsed_json, read_text

__all__ = ["base_of", "check_base", "is_adapter", "name_base"]

_CONFIG, _WEIGHTS, _DIGEST = "adapter_config.json", "adapter_model.safetensors", "base.json"
_CONFIG_BYTES = 1 << 20
_NAME = "base_model_name_or_path"


def is_adapter(folder: Path) -> bool:
    """Whether a folder holds an adapter and no model of its own."""
    return (folder / _CONFIG).is_file() and not (folder / "config.json").is_file()


def name_base(adapter: Path, name: str, digest: str) -> None:
    """Write into an adapter's folder which model it is over: what that is called, and its `tree_digest`."""
    config = {**_config(adapter), _NAME: name}
    replace_text(adapter / _CONFIG, json.dumps(config, indent=2) + "\n")
    replace_text(adapter / _DIGEST, json.dumps({"name": name, "digest": digest}, indent=2) + "\n")


def base_of(adapter: Path) -> str:
    """The base model that an adapter names, "" for none; raises UsageError for what is no LoRA in safetensors."""
    config = _config(adapter)
    if not (adapter / _WEIGHTS).is_file():
        raise UsageError(f"the adapter in {adapter} has no {_WEIGHTS}")
    return str(config.get(_NAME) or "")


def check_base(adapter: Path, digest: str, source: str, name: str = "") -> None:
    """Raise UsageError where an adapter is over another model than `source`, which has that digest.

    An adapter that tells no digest is known by what it calls its base: that must be `name`, where the base has one by
    which everybody knows it. A folder may be called anything.
    """
    named, told = base_of(adapter), _told_digest(adapter)
    if told and told != digest:
        raise UsageError(
            f"the adapter in {adapter} is over {named or 'a model'} of digest {told[:12]}, and not over {source}, "
            f"whose digest is {digest[:12]}"
        )
    if not told and named and name and named != name:
        raise UsageError(f"the adapter in {adapter} is over {named}, and not over {source}")


def _config(adapter: Path) -> dict[str, Any]:
    config = _document(adapter / _CONFIG)
    if config.get("peft_type") != "LORA":
        raise UsageError(f"the adapter in {adapter} is no LoRA adapter")
    return config


def _told_digest(adapter: Path) -> str:
    path = adapter / _DIGEST
    return str(_document(path).get("digest") or "") if path.is_file() else ""


def _document(path: Path) -> dict[str, Any]:
    document = parsed_json(read_text(str(path), _CONFIG_BYTES), str(path))
    return document if isinstance(document, dict) else {}
