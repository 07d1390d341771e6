"""Where memory ran out: however it is told, and which keys the line names."""

from __future__ import annotations

import re

import pytest

from rl_gym.training import chain
from rl_gym.training.config import keys
from rl_gym.training.out_of_memory import knob, ran_out


@pytest.mark.parametrize("stage", [*chain.trainers(chain.chain("pipeline", raft=True)), "repair", "update", "rollout"])
def test_each_stage_with_a_child_has_keys_that_exist(stage: str) -> None:
    named = re.findall(r"[a-z]+\.[a-z_]+", knob(stage))
    assert named
    assert set(named) <= set(keys())


def test_a_job_is_known_by_its_first_word() -> None:
    assert knob("evaluate base") == knob("evaluate") != knob("something else")


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB"),
        RuntimeError("[enforce fail at alloc_cpu.cpp:118] err == 0. DefaultCPUAllocator: can't allocate memory"),
        OSError(12, "Cannot allocate memory"),
        "terminate called after throwing an instance of 'std::bad_alloc'",
    ],
)
def test_memory_is_known_in_each_shape(error: BaseException | str) -> None:
    assert ran_out(error)


def test_other_errors_are_not_about_memory() -> None:
    assert not ran_out(RuntimeError("the loss is nan"))
