"""The plan of a run on the terminal: `rl-gym pipeline --dry-run`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from rl_gym.training.memory import Memory
    from rl_gym.training.plan import Plan

__all__ = ["print_plan"]

_GIB = 1 << 30


def print_plan(console: Console, plan: Plan) -> None:
    """What would run, what it would take, and what is wanting here."""
    config = plan.config
    size = f"{plan.shape.parameters / 1e6:,.1f} M parameters" if plan.shape else "of unknown size"
    where = f"{plan.gpu.name}" if plan.gpu else plan.device.upper()
    _say(console, f"Plan of preset {config.preset}, seed {config.seed}: {config.model.base}, {size}, on {where}")
    table = Table(box=box.SIMPLE, pad_edge=False)
    for name in ("stage", "what"):
        table.add_column(name, overflow="fold")
    for name in ("steps", "tokens at most", "memory"):
        table.add_column(name, justify="right")
    for stage in plan.stages:
        memory = f"{stage.memory.total / _GIB:.2f} GiB" if stage.memory else ""
        tokens = f"{stage.tokens:,}" if stage.tokens else ""
        table.add_row(stage.name, stage.work, str(stage.steps or ""), tokens, memory)
    console.print(table)
    for stage in plan.stages:
        if stage.memory:
            _say(console, f"Memory of {stage.name}, estimated for one process:")
            for line in _terms(stage.memory):
                _say(console, f"  {line}")
    if plan.shape:
        _say(console, f"  P = {plan.shape.parameters / 1e6:,.1f} M, in float32 whatever the precision of the compute")
    _say(console, f"\n{plan.estimate.told}")
    for check in plan.checks:
        found = "ok" if check.ok else "short" if check.estimated else "absent"
        _say(console, f"{found:<6}  {check.name}: {check.detail}")
    _say(console, "\nEvery key, resolved:")
    for line in _keys(config.model_dump(mode="json"), ""):
        _say(console, f"  {line}")


def _say(console: Console, text: str) -> None:
    console.print(text, highlight=False, markup=False, soft_wrap=True)


def _terms(memory: Memory) -> Iterator[str]:
    for term in memory.held:
        yield f"{term.bytes / _GIB:8.2f} GiB  {term.name}: {term.formula}"
    larger = max(memory.turns, key=lambda term: term.bytes)
    for term in memory.turns:
        note = "" if term is larger else " (in turns with the larger: not added)"
        yield f"{term.bytes / _GIB:8.2f} GiB  {term.name}: {term.formula}{note}"


def _keys(document: dict[str, object], prefix: str) -> Iterator[str]:
    for name, value in document.items():
        if isinstance(value, dict):
            yield from _keys(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name} = {json.dumps(value)}"
