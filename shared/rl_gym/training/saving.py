"""Models as a training leaves them: the adapter as it is and written into the weights, each with its tokenizer.

What was written is looked at again before the stage may end: a model that cannot be loaded is no model.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from peft import PeftConfig
from safetensors import SafetensorError, safe_open
from transformers import AutoConfig, AutoTokenizer
from transformers.utils import logging

from rl_gym.infra.digests import tree_digest
from rl_gym.infra.errors import InfrastructureError, one_line
from rl_gym.serving.adapter_bases import name_base
from rl_gym.serving.backends.lora import Adapters
from rl_gym.serving.causal import CausalModel
from rl_gym.serving.weights import model_name
from rl_gym.training.config import Config
from rl_gym.training.files import writing

__all__ = ["base_name", "check_written", "merge", "save"]

_REASON_CHARACTERS = 300


def save(model: Any, tokenizer: Any, output: Path, *, base: tuple[str, str], merge: bool = True) -> None:
    """Write `output`/model; with LoRA `output`/adapter beside it, or, where `merge` is false, that alone.

    `base` is name and `tree_digest` of the model that an adapter is over. Raises InfrastructureError where something
    that was written does not load.
    """
    if hasattr(model, "merge_and_unload"):
        adapter = output / "adapter"
        model.save_pretrained(adapter)
        # It tells little, and where the base lay on this machine.
        (adapter / "README.md").unlink(missing_ok=True)
        name_base(adapter, *base)
        tokenizer.save_pretrained(adapter)
        check_written(adapter)
        if not merge:
            return
        model = model.merge_and_unload()
    model.save_pretrained(output / "model")
    tokenizer.save_pretrained(output / "model")
    check_written(output / "model")


def base_name(job: Mapping[str, Any], config: Config) -> tuple[str, str]:
    """What the model is called that a job trains, and its digest: a stage of the run, or the base of all.

    The digest is read off the model where the job does not tell it.
    """
    model, run = Path(job["model"]), Path(job["output"]).parent
    digest = job["inputs"]["model"] if "inputs" in job else tree_digest(model)
    if model.is_relative_to(run):
        return f"{run.name}/{model.relative_to(run).as_posix()}", digest
    return model_name(config.model.base), digest


def merge(base: Path, adapter: Path, output: Path) -> str:
    """Write the model of `base` with `adapter` in its weights to `output`, whole or not at all; gives its digest.

    Raises UsageError where one of them does not load, or the adapter does not fit the base.
    """
    logging.disable_progress_bar()
    model = CausalModel(base)
    adapters = Adapters(model.network)
    network = adapters.merge(adapters.add(adapter))
    partial = output.with_name(f".{output.name}.partial")
    with writing(output):
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        network.save_pretrained(partial)
        # Of the base as it was: what loading set on it is for generating in batches.
        AutoTokenizer.from_pretrained(base, local_files_only=True, trust_remote_code=False).save_pretrained(partial)
        check_written(partial)
        # Over an empty folder, and no other.
        partial.rename(output)
    return tree_digest(output)


def check_written(folder: Path) -> None:
    """Raise InfrastructureError where configuration, tokenizer or the head of the weights in `folder` do not load."""
    try:
        if (folder / "adapter_config.json").is_file():
            PeftConfig.from_pretrained(str(folder))
        else:
            AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
        AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
        weights = sorted(folder.glob("*.safetensors"))
        if not weights:
            raise ValueError("it has no weights in safetensors")
        for path in weights:
            with safe_open(path, "pt") as tensors:
                if not tensors.keys():
                    raise ValueError(f"{path.name} holds nothing")
    except (OSError, ValueError, KeyError, TypeError, SafetensorError) as error:
        reason = one_line(str(error).strip().partition("\n")[0], _REASON_CHARACTERS)
        raise InfrastructureError(f"what was written to {folder} does not load: {reason}") from error
