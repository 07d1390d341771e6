"""Same seed, same numbers: pins what would make two runs on one machine differ."""

from __future__ import annotations

import random

import torch

__all__ = ["pin"]


def pin(seed: int, threads: int) -> None:
    """Fix the thread count (sums depend on it), the seeds, and deterministic kernels for this process."""
    torch.set_num_threads(threads)
    torch.use_deterministic_algorithms(True)
    torch.manual_seed(seed)
    random.seed(seed)
