"""The floor for requests that no builder drew: each required type once, protected by nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from random import Random

from rl_gym.iac.tasks.builders import BUILDERS
from rl_gym.iac.tasks.hcl_writer import Attr, Block, quote, write
from rl_gym.iac.tasks.parts import Hurried, Stack

__all__ = ["bare"]

_PROJECT = "main"


def bare(required: Iterable[str]) -> str:
    """A configuration with a resource of every required type, as little of each as its builder (if any) needs."""
    return write(block for kind in dict.fromkeys(required) for block in _blocks(kind))


def _blocks(resource_type: str) -> Iterator[Block]:
    builder = next((b for b in BUILDERS.values() if resource_type in b.types), None)
    if builder is None:
        yield Block("resource", (resource_type, _PROJECT), [Attr("name", quote(_PROJECT))])
        return
    part = builder.draw(_PROJECT, Random(resource_type))
    yield from builder.build(part, Stack(_PROJECT, [part]), Hurried(builder.floor_tagged))
