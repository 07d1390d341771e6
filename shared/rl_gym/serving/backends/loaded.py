"""Models of the embedded engine: full ones, and LoRA adapters over them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import torch
from transformers import GenerationConfig

from rl_gym.infra.errors import NotFoundError, UsageError
from rl_gym.serving.adapter_bases import base_of
from rl_gym.serving.backends.lora import Adapters
from rl_gym.serving.causal import CausalModel

__all__ = ["LoadedModel", "load_adapter", "load_model"]

_SMALL_PARAMETERS = 20_000_000
"""Below this, more than one thread is slower: they wait for each other longer than they work, beside others most."""
_THREADS = torch.get_num_threads()


@dataclass(frozen=True, slots=True, eq=False)
class LoadedModel:
    """A network, the tokens that end a completion of it, and the adapter to run it with; "" runs it as it is."""

    model: CausalModel
    ends: frozenset[int]
    adapters: Adapters
    adapter: str = ""

    def use(self) -> None:
        """Make the calling thread ready to run this model."""
        self.adapters.use(self.adapter)
        parameters = sum(parameter.numel() for parameter in self.model.network.parameters())
        torch.set_num_threads(1 if parameters < _SMALL_PARAMETERS else _THREADS)


def load_model(folder: Path) -> LoadedModel:
    """A full model; raises as CausalModel does."""
    model = CausalModel(folder)
    told = model.network.generation_config.eos_token_id
    ends = {model.tokenizer.eos_token_id, *(told if isinstance(told, list) else [told])}
    # What a model's folder says of sampling (top_k, repetition penalties) would change what a caller asked for.
    model.network.generation_config = GenerationConfig()
    return LoadedModel(model, frozenset(end for end in ends if end is not None), Adapters(model.network))


def load_adapter(folder: Path, loaded: Mapping[str, LoadedModel]) -> LoadedModel:
    """An adapter over one of the models; raises UsageError for what is none, or fits none."""
    base = _base(folder, base_of(folder), loaded)
    return LoadedModel(base.model, base.ends, base.adapters, base.adapters.add(folder))


def _base(folder: Path, named: str, loaded: Mapping[str, LoadedModel]) -> LoadedModel:
    full = {name: model for name, model in loaded.items() if not model.adapter}
    meant = [model for name, model in full.items() if named in (name, str(model.model.folder))]
    if meant or len(full) == 1:
        return next(iter(meant or full.values()))
    if not full:
        raise NotFoundError(f"the adapter in {folder} needs its base model: load that first")
    raise UsageError(f"the adapter in {folder} is for {named or 'a model that it does not name'}, which is not loaded")
