"""A model's size from its configuration: that of the weights that lie beside it."""

from __future__ import annotations

import json
from math import prod
from pathlib import Path

import pytest

from rl_gym.infra.errors import UsageError
from rl_gym.serving.weights import find_model
from rl_gym.training.shape import KNOWN, read_shape


def stored_parameters(folder: Path) -> int:
    """As the header of the weights lists them."""
    with (folder / "model.safetensors").open("rb") as stream:
        header = json.loads(stream.read(int.from_bytes(stream.read(8), "little")))
    return sum(prod(tensor["shape"]) for name, tensor in header.items() if name != "__metadata__")


def test_parameters_are_those_of_the_weights() -> None:
    folder = find_model("nano")
    assert read_shape(folder).parameters == stored_parameters(folder)


@pytest.mark.parametrize(
    ("name", "millions"),
    [("smol", 134.5), ("hub:Qwen/Qwen2.5-7B-Instruct", 7615.6), ("hub:ibm-granite/granite-4.1-8b", 8380.6)],
)
def test_known_models_have_the_size_that_their_makers_tell(name: str, millions: float) -> None:
    assert KNOWN[name].parameters / 1e6 == pytest.approx(millions, abs=0.1)


def test_an_adapter_has_what_peft_gives_it() -> None:
    peft = pytest.importorskip("peft", reason="the extra train is not installed")
    from transformers import AutoModelForCausalLM

    folder = find_model("nano")
    model = AutoModelForCausalLM.from_pretrained(folder)
    config = peft.LoraConfig(r=8, target_modules="all-linear", task_type="CAUSAL_LM")
    trained, _ = peft.get_peft_model(model, config).get_nb_trainable_parameters()
    assert read_shape(folder).adapter_parameters(8) == trained


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"model_type": "mamba"}, "no estimate for models of type 'mamba'"),
        ({"hidden_size": 0}, "hidden_size must be a positive number, not 0"),
        ({"vocab_size": "many"}, "vocab_size must be a positive number, not 'many'"),
    ],
)
def test_a_configuration_without_figures_is_refused(tmp_path: Path, change: dict[str, object], said: str) -> None:
    document = json.loads((find_model("nano") / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({**document, **change}))
    with pytest.raises(UsageError, match=said):
        read_shape(tmp_path)
