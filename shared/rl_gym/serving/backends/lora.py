"""LoRA adapters of one network in this process: they share its weights, and one of them at a time is in use."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from safetensors import SafetensorError

from rl_gym.infra.errors import UsageError, one_line

__all__ = ["Adapters"]

_REASON_CHARACTERS = 300


class Adapters:
    """The adapters of a network. Not for several threads at a time, nor while the network runs."""

    def __init__(self, network: Any) -> None:
        self._network = network
        self._host: Any = None
        self._numbers = itertools.count(1)

    def add(self, folder: Path) -> str:
        """Load an adapter; gives the name to `use` it by. Raises UsageError for what does not fit the network."""
        try:
            from peft import LoraConfig, PeftModel
        except ImportError:
            raise UsageError("adapters need the package peft: install rl-gym[train]") from None
        name = f"adapter_{next(self._numbers)}"
        try:
            config = LoraConfig.from_pretrained(str(folder), local_files_only=True)
            config.inference_mode = True
            with _quiet():
                if self._host is None:
                    self._host = PeftModel(self._network, config, name)
                else:
                    self._host.add_adapter(name, config)
                report = self._host.load_adapter(str(folder), name, torch_device="cpu", local_files_only=True)
            if report.missing_keys or report.unexpected_keys:
                raise ValueError("its weights are not those of an adapter of this model")
        except (OSError, ValueError, KeyError, RuntimeError, SafetensorError) as error:
            self.remove(name)
            reason = one_line(str(error).strip().partition("\n")[0], _REASON_CHARACTERS)
            raise UsageError(f"the adapter in {folder} cannot be loaded: {reason}") from error
        return name

    def use(self, name: str) -> None:
        """Run the network with this adapter; "" runs it as it is."""
        if self._host is None:
            return
        if name:
            self._host.base_model.enable_adapter_layers()
            self._host.set_adapter(name)
        else:
            self._host.base_model.disable_adapter_layers()

    def merge(self, name: str) -> Any:
        """Write an adapter into the weights for good, and give the network, which has no adapters any more."""
        self.use(name)
        network = self._host.merge_and_unload(adapter_names=[name])
        self._host = None
        return network

    def remove(self, name: str) -> None:
        """Forget an adapter; one that is not there is no error."""
        if self._host is not None and name in self._host.peft_config:
            with _quiet():
                self._host.delete_adapter(name)


@contextmanager
def _quiet() -> Iterator[None]:
    """Without the warnings of a library that takes several adapters for a mistake."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
