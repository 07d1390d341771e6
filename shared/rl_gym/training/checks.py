"""What can be told before any compute: whether this machine and this model can do what a preset asks for."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from rl_gym.infra.errors import RlGymError
from rl_gym.infra.settings import Settings
from rl_gym.serving.weights import Terms, find_model, parse_source
from rl_gym.serving.weights.packaged import SMOL, smol_file
from rl_gym.training.config import Config
from rl_gym.training.machine import MachineSection
from rl_gym.training.shape import KNOWN, Shape, read_shape

__all__ = ["Check", "Gpu", "check_machine", "check_model", "find_gpu"]

_GIB = 1 << 30
_TRAINS_WITH = ("torch", "transformers", "trl", "peft", "accelerate", "datasets")


@dataclass(frozen=True, slots=True)
class Check:
    """Something that a run needs, whether it is so here, and in a line what was found or what to do.

    Where `estimated`, need and not presence is uncertain.
    """

    name: str
    ok: bool
    detail: str
    estimated: bool = False


@dataclass(frozen=True, slots=True)
class Gpu:
    """A card that this machine's torch can use, the first of `count`."""

    name: str
    bytes: int
    count: int = 1


def check_model(config: Config, settings: Settings) -> tuple[Shape | None, Check]:
    """The shape of the base where it is known without fetching it, and whether the base may be used."""
    name = config.model.base
    try:
        source = parse_source(name)
        if source.kind == "folder" or (source.kind == "packaged" and source.place != SMOL):
            folder = find_model(name, settings)
            return read_shape(folder), Check("model", True, f"{name} is here")
        Terms.of(settings).check(source)
        if source.kind == "packaged":
            smol_file()
        elif source.kind == "gguf" and not Path(source.place).expanduser().is_file():
            return None, Check("model", False, f"{name}: there is no such file")
    except RlGymError as error:
        return KNOWN.get(name), Check("model", False, str(error))
    shape = KNOWN.get(source.address)
    unknown = "" if shape else "; its size is not known before, so nothing is estimated"
    return shape, Check("model", True, f"{name} may be used, and is made ready or fetched at the start{unknown}")


def find_gpu() -> Gpu | None:
    """The first card, as the driver tells it; None where there is none, or torch was built without CUDA."""
    driver = shutil.which("nvidia-smi")
    if driver is None or not _torch_has_cuda():
        return None
    query = [driver, "--query-gpu=name,memory.total", "--format=csv,noheader,nounits"]
    try:
        told = subprocess.run(query, capture_output=True, text=True, timeout=10, check=True).stdout
        cards = told.splitlines()
        name, _, mebibytes = cards[0].rpartition(",")
        return Gpu(name.strip(), int(mebibytes) << 20, len(cards))
    except (OSError, subprocess.SubprocessError, IndexError, ValueError):
        return None


def check_machine(
    config: Config, shape: Shape | None, gpu: Gpu | None, settings: Settings, *, memory: int, disk: int
) -> Iterator[Check]:
    """What is there beside the model; `memory` of the hungriest training stage and `disk` of the run are in bytes."""
    yield _packages(config)
    if config.machine.device == "gpu":
        absent = "no GPU that this machine's torch can use: the preset is for one"
        yield Check("gpu", gpu is not None, f"{gpu.name}, {_gib(gpu.bytes)}" if gpu else absent)
    if config.machine.world > 1:
        yield _processes(config.machine, gpu)
    if shape is not None:
        wanted = config.context
        told = f"{wanted} tokens of prompt, template and answer in a context of {shape.context}"
        fits = wanted <= shape.context
        yield Check("context", fits, told if fits else f"{told}: lower episodes.max_tokens or max_prompt_tokens")
        yield _memory(config, gpu, memory)
        yield _disk(settings.runs, disk)


def _packages(config: Config) -> Check:
    wanted = [*_TRAINS_WITH]
    if config.machine.vllm != "off":
        wanted.append("vllm")
    if config.report_to != "none":
        wanted.append(config.report_to)
    missing = [name for name in wanted if find_spec(name) is None]
    detail = f"not installed: {', '.join(missing)}" if missing else ", ".join(wanted)
    return Check("packages", not missing, detail)


def _processes(machine: MachineSection, gpu: Gpu | None) -> Check:
    """Several processes train where each has a whole copy of the model, and they can find each other."""
    wrong = ""
    if machine.sharding != "none":
        wrong = f"machine.sharding {machine.sharding} can be planned and not run: each process takes the whole model"
    elif gpu is not None and machine.processes > gpu.count:
        wrong = f"{machine.processes} processes for {gpu.count} GPUs: lower machine.processes"
    elif machine.machines > 1 and not machine.address:
        wrong = f"{machine.machines} machines, and no machine.address: name machine 0 as the others reach it"
    elif sys.platform != "linux":
        wrong = "several processes are tied to each other on Linux alone"
    told = f"{machine.processes} here" if machine.machines == 1 else _machines(machine)
    return Check("processes", not wrong, wrong or told)


def _machines(machine: MachineSection) -> str:
    last = machine.machines - 1
    return (
        f"{machine.world} on {machine.machines} machines, which meet at {machine.address}:{machine.port}; "
        f"on each other one: `rl-gym join RUN --rank {'1' if last == 1 else f'1 to {last}'}`"
    )


def _memory(config: Config, gpu: Gpu | None, wanted: int) -> Check:
    if gpu is None:
        if config.machine.device == "gpu":
            return Check("memory", True, f"about {_gib(wanted)} of a GPU{_vllm(config)}", estimated=True)
        wanted *= config.machine.processes
        there, where = _free_memory(), "free"
        if (allowed := config.machine.memory_gib) is not None and allowed * _GIB < there:
            there, where = int(allowed * _GIB), "that machine.memory_gib allows"
    else:
        share = config.machine.vllm_share if config.machine.vllm == "colocate" else 0.0
        there, where = int(gpu.bytes * (1 - share)), "on the GPU"
    fits = wanted <= there
    advice = "" if fits else ": raise gradient_accumulation, or lower the batch or episodes.max_tokens"
    return Check("memory", fits, f"about {_gib(wanted)} of {_gib(there)} {where}{advice}", estimated=True)


def _vllm(config: Config) -> str:
    share = config.machine.vllm_share
    return f", beside the {share:.0%} of it that vLLM takes" if config.machine.vllm == "colocate" else ""


def _disk(runs: Path, wanted: int) -> Check:
    folder = runs.absolute()
    while not folder.exists():
        folder = folder.parent
    free = shutil.disk_usage(folder).free
    return Check("disk", wanted <= free, f"about {_gib(wanted)} of {_gib(free)} free for {runs}", estimated=True)


def _free_memory() -> int:
    return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") + _reclaimable()


def _reclaimable() -> int:
    """What the kernel holds of files and would give up."""
    try:
        lines = Path("/proc/meminfo").read_text("utf-8").splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) << 10 for line in lines if line.startswith(("Cached:", "Buffers:")))


def _torch_has_cuda() -> bool:
    try:
        return not metadata.version("torch").endswith("+cpu")
    except metadata.PackageNotFoundError:
        return False


def _gib(size: int) -> str:
    return f"{size / _GIB:.1f} GiB"
