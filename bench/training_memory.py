"""The most memory that each stage of a run took, beside what the plan estimates for it.

python bench/training_memory.py --preset nano --set sft.steps=4 --set grpo.steps=2 --set grpo.save_steps=2

A stage runs in a process of its own; what is measured is the peak resident set of its largest child, so evaluation runs
one model at a time. Few steps are enough: the peak is reached in the first that has a long batch.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from rl_gym.training.chain import chain
from rl_gym.training.config import resolve
from rl_gym.training.plan import make_plan

MIB = 1 << 20
STAGES = chain("pipeline")

_MEASURE = """
import resource, subprocess, sys
code = subprocess.call(sys.argv[1:], stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(code)
"""
"""A small process between: on Linux a program begins with the peak of whatever started it, which may be a large one."""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--preset", default="micro")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--until", default="evaluate", choices=STAGES)
    chosen = parser.parse_args()
    print(f"{chosen.preset} {' '.join(chosen.set)}\n\n| stage | estimate | measured |\n|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for stage, estimate, measured in measure(chosen.preset, chosen.set, Path(folder) / "run", chosen.until):
            print(f"| {stage} | {estimate / MIB:.0f} MiB | {measured / MIB:.0f} MiB |", flush=True)


def measure(preset: str, changes: Sequence[str], run: Path, until: str) -> Iterator[tuple[str, int, int]]:
    """Run the stages of a new run: each that the plan has memory for, with its estimate and its peak in bytes."""
    changes = [*changes, "evaluate.processes=1"]
    plan = make_plan(resolve(preset, changes))
    estimated = {stage.name: stage.memory.total for stage in plan.stages if stage.memory}
    made = ["--preset", preset, "--run", str(run), *(f"--set={change}" for change in changes)]
    for number, stage in enumerate(STAGES[: STAGES.index(until) + 1]):
        peak = _peak_bytes([*(["--resume", str(run)] if number else made), "--until", stage])
        if stage in estimated:
            yield stage, estimated[stage], peak


def _peak_bytes(arguments: Sequence[str]) -> int:
    command = [sys.executable, "-m", "rl_gym.cli.main", "pipeline", *arguments]
    done = subprocess.run([sys.executable, "-c", _MEASURE, *command], stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed")
    return int(done.stdout) * 1024


if __name__ == "__main__":
    main()
