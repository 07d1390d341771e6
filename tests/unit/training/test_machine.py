"""What a preset wants of the machine: keys that contradict each other are refused, and what TRL is told of them."""

from __future__ import annotations

import pytest

from rl_gym.infra.errors import UsageError
from rl_gym.training.config import resolve
from rl_gym.training.machine import MachineSection


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (["machine.vllm=colocate"], "machine.vllm colocate needs machine.device gpu"),
        (["machine.device=gpu", "machine.vllm=server"], "machine.vllm server and machine.vllm_server belong together"),
        (["machine.device=gpu", "machine.vllm_server=http://a:1"], "belong together"),
        (["machine.sharding=fsdp"], "machine.sharding fsdp needs several processes"),
        (["machine.processes=0"], "key 'machine.processes'"),
        (["machine.address=a"], "machine.address is for several machines"),
        (["machine.machines=2", "machine.address=a b"], "key 'machine.address'"),
        (["machine.port=80"], "key 'machine.port'"),
        (["machine.memory_gib=0"], "key 'machine.memory_gib'"),
        (["machine.job_seconds=-1"], "key 'machine.job_seconds'"),
        (["machine.processes=2", "episodes.grpo=15"], r"machine.machines x machine.processes \(16\)"),
    ],
)
def test_keys_that_contradict_each_other_are_refused(changes: list[str], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        resolve("nano", changes)


def test_nano_generates_as_it_always_did() -> None:
    assert resolve("nano").machine.generation(384) == {"cache_implementation": "static"}


@pytest.mark.parametrize(
    "section",
    [
        MachineSection(device="gpu", vllm="colocate", vllm_share=0.4),
        MachineSection(device="gpu", vllm="server", vllm_server="http://vllm:8000"),
    ],
)
def test_trl_knows_what_it_is_told(section: MachineSection) -> None:
    trl = pytest.importorskip("trl", reason="the extra train is not installed")
    told = section.generation(2048)
    assert told["vllm_mode"] == section.vllm
    assert told.keys() <= {field.name for field in trl.GRPOConfig.__dataclass_fields__.values()}


def test_presets_with_the_published_clip_make_it_act() -> None:
    for name in ("granite-8b", "qwen2.5-7b", "multi-node"):
        grpo = resolve(name).grpo
        assert (grpo.epsilon_high, grpo.loss, grpo.temperature, grpo.generations) == (0.28, "dapo", 0.9, 4)
        assert grpo.window > 1


def test_the_recipe_of_one_gpu_is_the_published_one() -> None:
    config = resolve("granite-8b")
    assert (config.sft.lora_rank, config.sft.precision, config.sft.learning_rate) == (16, "fp32", 1e-5)
    assert config.sft.steps * config.sft.batch_size == 2 * config.episodes.sft
    assert (config.grpo.lora_rank, config.grpo.lora_alpha, config.grpo.beta) == (16, 32, 0.04)
    assert (config.sft.warmup_steps, config.episodes.max_tokens) == (0.1, 1024)
    assert resolve("qwen2.5-7b").grpo == config.grpo
