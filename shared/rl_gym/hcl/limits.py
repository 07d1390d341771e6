"""How large a configuration may be, and how much work reading it may take, before it is refused with HclLimitError."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on reading and evaluating; the defaults are those of a model's completion.

    They keep the answer to any text of `max_bytes` within about 50 ms, so that a hostile completion cannot slow down
    the scoring of honest ones.
    """

    # Parsing.
    max_bytes: int = 64 * 1024
    """Size of one file, in bytes of UTF-8."""
    max_depth: int = 128
    """How deep blocks, brackets and templates may nest; chains of operators may make an expression twice as tall."""
    max_nodes: int = 6_000
    """Expressions, arguments and blocks in one file; in files that people write there is one in 23 bytes on average."""

    # Evaluating.
    max_steps: int = 50_000
    """Loops, copies and expansions in one configuration, counted in elements and in nodes of loop bodies."""
    max_text: int = 256 * 1024
    """Characters in one string that is computed."""
    max_items: int = 10_000
    """Elements in one list, set or map that is computed."""
    max_value_depth: int = 64
    """How deep lists and maps may lie in one another in a value that is computed."""
    max_instances: int = 1_000
    """Instances of one resource, module or dynamic block, by `count` or `for_each`."""
    max_module_depth: int = 8
    """How deep modules may call modules."""


COMPLETION = Limits()
"""For text that a model wrote."""

FILES = Limits(max_bytes=4 * 1024 * 1024, max_nodes=1_000_000, max_steps=2_000_000, max_instances=10_000)
"""For files that somebody keeps on disk."""

DEFAULT = COMPLETION
