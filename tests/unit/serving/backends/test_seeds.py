"""Seeds of samples."""

from __future__ import annotations

from rl_gym.serving.backends.seeds import sample_seed


def test_seed_prompt_and_number_decide_and_nothing_else() -> None:
    seeds = {
        sample_seed(seed, prompt, sample) for seed in (0, 1) for prompt in ("p", "q", "\ud800") for sample in (0, 1)
    }
    assert len(seeds) == 12
    assert sample_seed(7, "p", 3) == sample_seed(7, "p", 3)


def test_seeds_are_of_so_many_bits() -> None:
    assert all(0 <= sample_seed(seed, "p", bits=31) < 2**31 for seed in range(200))
    assert max(sample_seed(seed, "p", bits=31) for seed in range(200)) >= 2**30
