"""How a job is started: by plain Python, or, where several processes train together, by `accelerate launch`.

The launcher finds them, ties them into one group (gloo on CPUs, NCCL on GPUs) and ends all where one ends.
"""

from __future__ import annotations

import re
import signal
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from rl_gym.training.machine import MachineSection

__all__ = ["command", "environment", "fallen_rank", "machine_of", "own_lines", "world_of"]

_TRAINS = ("sft", "grpo")
_LAUNCHER = ("-m", "accelerate.commands.launch")
_RANK = re.compile(r"\s*rank\s*: (\d+) \(local_rank")
_EXIT_CODE = re.compile(r"\s*exitcode\s*: (-?\d+) \(pid")
_LAUNCHERS_OWN = re.compile(r"torch/distributed/|torch\.distributed|accelerate/commands|^Traceback ")


def machine_of(job: Mapping[str, Any]) -> MachineSection:
    """What a job's configuration says of the machine; the defaults where it has none."""
    return MachineSection.model_validate(job.get("config", {}).get("machine", {}))


def world_of(job: Mapping[str, Any]) -> int:
    """Processes that do the job together, on all machines; all but training is one process's work."""
    return machine_of(job).world if job.get("kind") in _TRAINS else 1


def command(job: Mapping[str, Any], program: Sequence[str], arguments: Sequence[str]) -> list[str]:
    """The command that has `program`, as Python takes it, do a job.

    One process is started without the launcher: that would import torch once more, and change nothing.
    """
    if world_of(job) == 1:
        return [sys.executable, *program, *arguments]
    machine = machine_of(job)
    # Of accelerate's launchers --multi_gpu is the one that starts processes by itself, on CPUs as well.
    options = ["--multi_gpu", "--num_processes", str(machine.world), "--num_machines", str(machine.machines)]
    options += ["--mixed_precision", "no", "--dynamo_backend", "no"]
    if machine.machines == 1:
        # Any free port.
        options += ["--main_process_port", "0"]
    else:
        options += ["--machine_rank", str(job.get("machine_rank", 0)), "--same_network"]
        options += ["--main_process_ip", machine.address, "--main_process_port", str(machine.port)]
    return [sys.executable, *_LAUNCHER, *options, *program, *arguments]


def environment(job: Mapping[str, Any]) -> dict[str, str]:
    """What the processes of a job are told beside."""
    if world_of(job) > 1 and machine_of(job).machines == 1 and sys.platform == "linux":
        # Else gloo asks for this machine's name, which not every machine can resolve, and listens to the network.
        return {"GLOO_SOCKET_IFNAME": "lo"}
    return {}


def fallen_rank(lines: Sequence[str]) -> tuple[int, int] | None:
    """Rank and exit code of the process that was killed, or else ended first, as the launcher's last lines tell it.

    The others follow it: by an error about the connection to it, or by the launcher's own SIGTERM.
    """
    found: list[tuple[int, int]] = []
    rank: int | None = None
    for line in lines:
        if match := _RANK.match(line):
            rank = int(match[1])
        elif rank is not None and (match := _EXIT_CODE.match(line)):
            found.append((rank, int(match[1])))
            rank = None
    killed = [(rank, code) for rank, code in found if code < 0 and code != -signal.SIGTERM]
    # The first that failed stands last, as the root cause.
    return next(iter(killed or reversed(found)), None)


def own_lines(lines: Sequence[str]) -> list[str]:
    """What the processes printed themselves, up to where the launcher tells of their end."""
    told = next((number for number, line in enumerate(lines) if _LAUNCHERS_OWN.search(line)), len(lines))
    return list(lines[:told])
