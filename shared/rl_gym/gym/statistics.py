"""Uncertainty: intervals, tests and sample sizes, always with the episode as the unit that was drawn at random.

Samples of one episode are not independent, so each episode counts once, by the mean over its samples (Miller 2024,
"Adding error bars to evals", section 2.2: clustered standard errors). Two policies are compared on the same episodes,
by the differences within an episode, which removes the spread between easy and hard ones. Everything is seeded.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rl_gym.infra.errors import UsageError
from rl_gym.infra.extras import extra

with extra("audit"):
    import numpy as np
    from numpy.typing import NDArray
    from scipy import stats

__all__ = [
    "CONFIDENCE",
    "Clusters",
    "Interval",
    "McNemar",
    "bootstrap_mean",
    "differences",
    "distinct_share",
    "holm",
    "mcnemar",
    "mean_interval",
    "minimum_detectable_effect",
    "n_needed",
    "p_below",
    "paired_difference",
    "spread",
    "wilson",
]

CONFIDENCE = 0.95
RESAMPLES = 5_000
SEED = 20_240_501

Clusters = Mapping[str, Sequence[float]]
"""Values by episode."""

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with its 95% interval. `n` is how many independent units it rests on: episodes, or trials.

    Fewer than three units say nothing about spread: the interval is (-inf, inf), written as null.
    """

    estimate: float
    low: float
    high: float
    n: int

    def to_dict(self) -> dict[str, Any]:
        low, high = (end if math.isfinite(end) else None for end in (self.low, self.high))
        return {"estimate": self.estimate, "low": low, "high": high, "n": self.n}


def mean_interval(clusters: Clusters, *, seed: int = SEED, resamples: int = RESAMPLES) -> Interval:
    """Mean over episodes of the mean over an episode's samples, with a bootstrap interval over episodes.

    Raises UsageError where there is no episode.
    """
    return bootstrap_mean(_cluster_means(clusters), seed=seed, resamples=resamples)


def paired_difference(before: Clusters, after: Clusters, *, seed: int = SEED, resamples: int = RESAMPLES) -> Interval:
    """Mean over episodes of (after - before), with a bootstrap interval over episodes.

    Raises UsageError where the two do not hold the same episodes, or none.
    """
    return bootstrap_mean(differences(before, after), seed=seed, resamples=resamples)


def differences(before: Clusters, after: Clusters) -> Array:
    """Mean(after) - mean(before) of each episode, in the order of the episodes' names; shape (episodes,)."""
    if before.keys() != after.keys():
        odd = sorted(before.keys() ^ after.keys())
        raise UsageError(f"not the same episodes: {len(odd)} stand on one side alone, the first is {odd[0]}")
    return _cluster_means(after) - _cluster_means(before)


def _cluster_means(clusters: Clusters) -> Array:
    # Sorted, so that a seeded resample does not depend on the order of a file.
    return np.array([math.fsum(clusters[name]) / len(clusters[name]) for name in sorted(clusters)])


def bootstrap_mean(values: Array | Sequence[float], *, seed: int = SEED, resamples: int = RESAMPLES) -> Interval:
    """The mean of independent values, with a 95% bootstrap interval.

    The interval is BCa (Efron 1987, "Better bootstrap confidence intervals"), with the tail expanded for small n to
    Phi(-sqrt(n / (n - 1)) t[alpha/2, n - 1]) (Hesterberg 2015, "What teachers should know about the bootstrap",
    section 3.4): without it the bootstrap of a mean is too narrow by about sqrt((n - 1) / n). Values that are all equal
    give an interval of no width: the bootstrap sees no spread, however few they are.

    Raises UsageError where there are no values.
    """
    data = np.asarray(values, dtype=np.float64)
    n = len(data)
    if n == 0:
        raise UsageError("no observations: an interval needs at least one episode")
    mean = float(data.mean())
    if n < 3:
        return Interval(mean, -math.inf, math.inf, n)
    if np.ptp(data) == 0.0:
        return Interval(mean, mean, mean, n)
    tail = stats.norm.cdf(math.sqrt(n / (n - 1)) * stats.t.ppf((1 - CONFIDENCE) / 2, n - 1))
    result = stats.bootstrap(
        (data,),
        np.mean,
        n_resamples=resamples,
        batch=max(1, 2_000_000 // n),
        confidence_level=1 - 2 * tail,
        method="BCa",
        rng=np.random.default_rng(seed),
    )
    low, high = result.confidence_interval
    return Interval(mean, float(low), float(high), n)


def spread(values: Array | Sequence[float]) -> float:
    """Sample standard deviation; 0 for fewer than two values."""
    return float(np.std(values, ddof=1)) if len(values) > 1 else 0.0


def wilson(successes: int, n: int) -> Interval:
    """A proportion of independent trials with Wilson's 95% score interval (Wilson 1927).

    Raises UsageError for n = 0 and for successes outside [0, n].
    """
    if not 0 <= successes <= n or n == 0:
        raise UsageError(f"no proportion: {successes} successes in {n} trials")
    low, high = stats.binomtest(successes, n).proportion_ci(CONFIDENCE, method="wilson")
    return Interval(successes / n, float(low), float(high), n)


@dataclass(frozen=True, slots=True)
class McNemar:
    """Discordant pairs and the two-sided exact p-value."""

    better: int
    worse: int
    p: float


def mcnemar(before: Clusters, after: Clusters) -> McNemar:
    """McNemar's exact test (McNemar 1947) of whether a rate changed, with the episode as the pair.

    An episode is discordant where its two rates differ; the direction is tested against a fair coin. With one sample
    an episode that is McNemar's test as written; with several it stays exact, where pairing sample by sample would
    count the samples of an episode as independent.
    """
    change = differences(before, after)
    better, worse = int((change > 0).sum()), int((change < 0).sum())
    discordant = better + worse
    return McNemar(better, worse, float(stats.binomtest(worse, discordant).pvalue) if discordant else 1.0)


def p_below(values: Array | Sequence[float], margin: float) -> float:
    """One-sided p-value that the mean of the values lies below `margin` (Student's t).

    Equal values leave t undefined; they are tested by their sign, p = 0.5^n. Fewer than two values decide nothing: 1.
    """
    data = np.asarray(values, dtype=np.float64)
    if len(data) < 2:
        return 1.0
    if np.ptp(data) == 0.0:
        return float(0.5 ** len(data)) if data[0] < margin else 1.0
    return float(stats.ttest_1samp(data, margin, alternative="less").pvalue)


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """Holm's adjusted p-values (Holm 1979), which keep the chance of any false alarm among them at the level."""
    adjusted: dict[str, float] = {}
    largest = 0.0
    for rank, name in enumerate(sorted(p_values, key=lambda name: p_values[name])):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[name]))
        adjusted[name] = largest
    return {name: adjusted[name] for name in p_values}


def minimum_detectable_effect(sd: float, n: int, *, power: float = 0.8) -> float:
    """The smallest mean difference that n pairs with standard deviation `sd` show with the given power, two-sided 5%.

    (z[1 - alpha/2] + z[power]) sd / sqrt(n): the normal approximation (Chow, Shao and Wang 2008, section 3.1).
    """
    if n < 1:
        return math.inf
    return _z(power) * sd / math.sqrt(n)


def n_needed(sd: float, effect: float, *, power: float = 0.8) -> int:
    """How many pairs show a mean difference of `effect` with the given power: the inverse of the function above.

    It is also the number with which an equal model is shown to be no worse than by `effect` (non-inferiority).
    """
    if effect <= 0:
        raise UsageError(f"an effect to detect must be positive, not {effect}")
    return max(2, math.ceil((_z(power) * sd / effect) ** 2))


def _z(power: float) -> float:
    return float(stats.norm.ppf(1 - (1 - CONFIDENCE) / 2) + stats.norm.ppf(power))


def distinct_share(items: Sequence[Hashable]) -> Interval:
    """The share of items that are distinct, with a jackknife interval (Efron and Tibshirani 1993, chapter 11).

    The bootstrap does not serve here: a resample repeats items, and so is less distinct than what it resamples.

    Raises UsageError where there are no items.
    """
    n = len(items)
    if n == 0:
        raise UsageError("no observations: a share needs at least one item")
    counts = Counter(items)
    share = len(counts) / n
    if n < 3:
        return Interval(share, -math.inf, math.inf, n)
    left_out = np.array([(len(counts) - (counts[item] == 1)) / (n - 1) for item in items])
    error = math.sqrt((n - 1) / n * float(((left_out - left_out.mean()) ** 2).sum()))
    reach = float(stats.t.ppf(1 - (1 - CONFIDENCE) / 2, n - 1)) * error
    return Interval(share, max(0.0, share - reach), min(1.0, share + reach), n)
