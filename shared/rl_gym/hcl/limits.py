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
    """How deep the syntax tree may be: blocks, brackets, templates and chains of operators all count."""
    max_nodes: int = 20_000
    """Expressions, attributes and blocks in one file; people's files have one in ten bytes or more."""

    # Evaluating.


COMPLETION = Limits()
"""For text that a model wrote."""

FILES = Limits(max_bytes=4 * 1024 * 1024, max_nodes=1_000_000)
"""For files that somebody keeps on disk."""

DEFAULT = COMPLETION
