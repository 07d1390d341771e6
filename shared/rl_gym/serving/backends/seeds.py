"""The random numbers of a sample: they follow from the seed, the prompt and the sample's number, and nothing else."""

from __future__ import annotations

from hashlib import blake2b

__all__ = ["sample_seed"]


def sample_seed(seed: int, prompt: str, sample: int = 0, *, bits: int = 63) -> int:
    """The seed of one sample of a prompt, in 0..2^bits - 1.

    Prompts of one call differ in it, so that their samples are independent; the same prompt has the same samples
    wherever it stands.
    """
    digest = blake2b(f"{seed}:{sample}:{prompt}".encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> (64 - bits)
