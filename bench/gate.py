"""What the promotion gate does when the truth is known: simulated policies, drawn again and again.

Prints how often a candidate that is worse by exactly the tolerance is promoted (at most 2.5% is promised), how often an
equal one is, each with its 95% interval over the draws, and the change that is promoted in 80% of the draws.

    python bench/gate.py [--episodes 240] [--draws 400]
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from rl_gym.gym.core import RewardBreakdown
from rl_gym.gym.gate import decide
from rl_gym.gym.records import RecordedCompletion
from rl_gym.gym.statistics import wilson

Array = NDArray[np.float64]
Draw = Callable[[np.random.Generator, int, int, float], tuple[Array, Array]]

SAMPLES = 4
TOLERANCE = 0.02
GATES = {"gate": True}


def noisy(rng: np.random.Generator, episodes: int, samples: int, change: float) -> tuple[Array, Array]:
    """Two policies alike in kind: a sample fails its gate, or earns what its episode's difficulty allows.

    The chance of a failure and the reward behind the gate vary by episode; the candidate passes the gate more or less
    often, by as much as moves its mean reward by `change`.
    """
    passes = rng.beta(18, 2, size=(episodes, 1))
    level = rng.beta(40, 4, size=(episodes, 1))
    mean = (18 / 20) * (40 / 44)
    incumbent = _samples(rng, passes, level, samples)
    candidate = _samples(rng, passes * (1 + change / mean), level, samples)
    return incumbent, candidate


def _samples(rng: np.random.Generator, passes: Array, level: Array, samples: int) -> Array:
    shape = len(passes), samples
    return np.where(rng.random(shape) < passes, np.clip(rng.normal(level, 0.02, shape), 0, 1), 0.0)


def shifted(rng: np.random.Generator, episodes: int, samples: int, change: float) -> tuple[Array, Array]:
    """Rewards without failures: every sample of the candidate is moved by about `change`."""
    level = rng.uniform(0.3, 0.7, size=(episodes, 1))
    noise = rng.normal(0, 0.1, size=(2, episodes, samples))
    return level + noise[0], level + noise[1] + change


def rare_failures(rng: np.random.Generator, episodes: int, samples: int, change: float) -> tuple[Array, Array]:
    """A perfect incumbent, and a candidate that loses a sample now and then: what a bootstrap sees worst."""
    fails = rng.random((episodes, samples)) < max(0.0, -change)
    return np.ones((episodes, samples)), np.where(fails, 0.0, 1.0)


WORLDS: Mapping[str, Draw] = {"noisy": noisy, "shifted": shifted, "rare failures": rare_failures}


def records(policy: str, rewards: Array) -> list[RecordedCompletion]:
    """Records with these rewards, shape (episodes, samples); a reward of 0 failed its gate."""
    breakdowns = [
        [RewardBreakdown(float(r), {"score": float(r)}, {"gate": bool(r > 0)}, True, "", "simulated") for r in row]
        for row in rewards
    ]
    return [
        RecordedCompletion.model_construct(
            environment="simulated",
            split="anchor",
            episode_id=str(episode),
            episode_hash=f"{episode:06d}",
            request="",
            policy=policy,
            model="",
            sample=sample,
            greedy=False,
            completion="",
            completion_tokens=None,
            finish_reason="stop",
            breakdown=breakdown,
            checks={},
            canonical="",
        )
        for episode, row in enumerate(breakdowns)
        for sample, breakdown in enumerate(row)
    ]


def decisions(
    world: Draw, change: float, *, episodes: int, draws: int, samples: int = SAMPLES, seed: int = 0
) -> Counter[str]:
    """How the gate decides over seeded draws of a world in which the candidate differs by `change`."""
    outcomes: Counter[str] = Counter()
    for draw in range(draws):
        incumbent, candidate = world(np.random.default_rng([seed, draw]), episodes, samples, change)
        verdict = decide(records("incumbent", incumbent), records("candidate", candidate), tolerance=TOLERANCE)
        outcomes[verdict.decision] += 1
    return outcomes


def promoted(world: Draw, change: float, *, episodes: int, draws: int) -> float:
    return decisions(world, change, episodes=episodes, draws=draws)["PROMOTE"] / draws


def detected(world: Draw, *, episodes: int, draws: int) -> float:
    """The smallest change that is promoted in 80% of the draws, by bisection to 0.001."""
    low, high = -TOLERANCE, 0.1
    while high - low > 0.001:
        middle = (low + high) / 2
        low, high = (low, middle) if promoted(world, middle, episodes=episodes, draws=draws) >= 0.8 else (middle, high)
    return high


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--episodes", type=int, default=240)
    parser.add_argument("--draws", type=int, default=400)
    arguments = parser.parse_args()
    n, draws = arguments.episodes, arguments.draws
    print(f"{n} episodes x {SAMPLES} samples, tolerance {TOLERANCE}, {draws} draws each")
    print(f"{'promoted where the candidate is':31} {'worse by the tolerance':>24} {'equal':>24} {'80% at':>8}")
    for name, world in WORLDS.items():
        worse, equal = (_share(world, change, n, draws) for change in (-TOLERANCE, 0.0))
        # Nothing is better than perfect: in that world there is no gain to look for.
        power = "-" if world is rare_failures else f"{detected(world, episodes=n, draws=draws // 4):+.3f}"
        print(f"{name:31} {worse:>24} {equal:>24} {power:>8}", flush=True)


def _share(world: Draw, change: float, episodes: int, draws: int) -> str:
    share = wilson(decisions(world, change, episodes=episodes, draws=draws)["PROMOTE"], draws)
    return f"{share.estimate:.1%} ({share.low:.1%} .. {share.high:.1%})"


if __name__ == "__main__":
    main()
