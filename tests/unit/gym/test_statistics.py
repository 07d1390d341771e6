from __future__ import annotations

import json
import math

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar as reference_mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import TTestPower
from statsmodels.stats.proportion import proportion_confint

from rl_gym.gym.statistics import (
    Interval,
    bootstrap_mean,
    distinct_share,
    holm,
    mcnemar,
    mean_interval,
    minimum_detectable_effect,
    n_needed,
    p_below,
    paired_difference,
    spread,
    wilson,
)
from rl_gym.infra.errors import UsageError


def test_bootstrap_agrees_with_student_where_student_is_right() -> None:
    data = np.random.default_rng(0).normal(0.4, 0.2, 200)
    interval = bootstrap_mean(data)
    low, high = stats.t.interval(0.95, 199, loc=data.mean(), scale=stats.sem(data))
    assert interval.estimate == pytest.approx(data.mean())
    assert interval.low == pytest.approx(low, abs=0.004)
    assert interval.high == pytest.approx(high, abs=0.004)


def test_bootstrap_covers_the_mean_of_a_few_skewed_values() -> None:
    rng = np.random.default_rng(1)
    missed = sum(
        not (interval.low <= 1.0 <= interval.high)
        for interval in (bootstrap_mean(rng.exponential(1.0, 25), resamples=1_000) for _ in range(300))
    )
    # Nominal 5%, over 2,000 draws 5.8%; the plain percentile interval misses 8.9% of them.
    assert missed <= 22


def test_the_same_values_give_the_same_interval_in_any_order() -> None:
    clusters = {f"e{number}": [number / 10, 1.0] for number in range(10)}
    assert mean_interval(clusters) == mean_interval(dict(reversed(clusters.items())))
    assert mean_interval(clusters) != mean_interval(clusters, seed=1)


def test_samples_of_one_episode_are_one_observation() -> None:
    values = {f"e{number}": [float(number % 2)] for number in range(40)}
    repeated = {name: own * 100 for name, own in values.items()}
    assert mean_interval(repeated) == mean_interval(values)
    assert mean_interval({"a": [0.0], "b": [1.0, 1.0, 1.0], "c": [1.0]}).estimate == pytest.approx(2 / 3)


def test_pairing_removes_what_is_common() -> None:
    rng = np.random.default_rng(2)
    level = rng.uniform(0, 1, 50)
    before = {str(n): [x] for n, x in enumerate(level)}
    after = {str(n): [x + 0.1 + e] for n, (x, e) in enumerate(zip(level, rng.normal(0, 0.01, 50), strict=True))}
    difference = paired_difference(before, after)
    assert difference.estimate == pytest.approx(0.1, abs=0.005)
    assert difference.high - difference.low < 0.01


def test_pairing_refuses_other_episodes() -> None:
    with pytest.raises(UsageError, match="the first is b"):
        paired_difference({"a": [1.0]}, {"a": [1.0], "b": [1.0]})


def test_none_one_two_and_equal_values() -> None:
    with pytest.raises(UsageError, match="no observations"):
        bootstrap_mean([])
    for few in ([0.5], [0.0, 1.0], [0.5, 0.5]):
        assert bootstrap_mean(few) == Interval(0.5, -math.inf, math.inf, len(few))
    assert bootstrap_mean([0.25] * 10) == Interval(0.25, 0.25, 0.25, 10)
    assert json.loads(json.dumps(bootstrap_mean([0.5]).to_dict())) == {
        "estimate": 0.5,
        "low": None,
        "high": None,
        "n": 1,
    }


def test_one_odd_value_among_equals_has_finite_ends() -> None:
    interval = bootstrap_mean([0.0] * 119 + [1.0])
    assert interval.low == 0.0
    assert 1 / 120 < interval.high < 0.1


@pytest.mark.parametrize(("successes", "n"), [(0, 10), (3, 10), (10, 10), (1, 1)])
def test_wilson_agrees_with_statsmodels(successes: int, n: int) -> None:
    interval = wilson(successes, n)
    assert (interval.low, interval.high) == pytest.approx(proportion_confint(successes, n, method="wilson"))


@pytest.mark.parametrize(("successes", "n"), [(0, 0), (2, 1), (-1, 1)])
def test_wilson_refuses_what_is_no_proportion(successes: int, n: int) -> None:
    with pytest.raises(UsageError, match="no proportion"):
        wilson(successes, n)


def test_mcnemar_agrees_with_statsmodels_on_single_samples() -> None:
    rng = np.random.default_rng(3)
    first, second = rng.integers(0, 2, 60), rng.integers(0, 2, 60)
    test = mcnemar(*({str(n): [float(x)] for n, x in enumerate(side)} for side in (first, second)))
    table = [[np.sum((first == a) & (second == b)) for b in (1, 0)] for a in (1, 0)]
    assert (test.better, test.worse) == (table[1][0], table[0][1])
    assert test.p == pytest.approx(reference_mcnemar(table, exact=True).pvalue)


def test_mcnemar_counts_an_episode_once_however_many_samples() -> None:
    before = {str(n): [1.0] * 8 for n in range(3)}
    after = {str(n): [0.0] * 8 for n in range(3)}
    assert mcnemar(before, after).p == pytest.approx(0.25)
    assert mcnemar(before, before).p == 1.0


def test_holm_agrees_with_statsmodels() -> None:
    p_values = {"a": 0.04, "b": 0.001, "c": 0.03, "d": 0.03, "e": 0.9}
    assert list(holm(p_values)) == list(p_values)
    assert list(holm(p_values).values()) == pytest.approx(multipletests(list(p_values.values()), method="holm")[1])
    assert holm({}) == {}


def test_p_below_is_students_one_sided_and_defined_everywhere() -> None:
    data = np.random.default_rng(4).normal(-0.1, 0.1, 30)
    assert p_below(data, -0.05) == pytest.approx(stats.ttest_1samp(data, -0.05, alternative="less").pvalue)
    assert p_below([-1.0], 0.0) == p_below([], 0.0) == 1.0
    assert p_below([-1.0] * 10, -0.5) == pytest.approx(0.5**10)
    assert p_below([0.0] * 10, -0.5) == 1.0


def test_power_agrees_with_statsmodels_and_with_itself() -> None:
    exact = TTestPower().solve_power(effect_size=None, nobs=200, alpha=0.05, power=0.8)
    assert minimum_detectable_effect(0.3, 200) == pytest.approx(0.3 * exact, rel=0.01)
    needed = n_needed(0.3, 0.02)
    assert minimum_detectable_effect(0.3, needed) <= 0.02 < minimum_detectable_effect(0.3, needed - 1)
    assert minimum_detectable_effect(0.3, 0) == math.inf
    with pytest.raises(UsageError, match="positive"):
        n_needed(0.3, 0.0)


def test_distinct_share_covers_what_it_estimates() -> None:
    assert distinct_share(list("abcd")) == Interval(1.0, 1.0, 1.0, 4)
    rng = np.random.default_rng(5)
    draws = [distinct_share(list(rng.integers(0, 50, 60))) for _ in range(200)]
    truth = 50 * (1 - (49 / 50) ** 60) / 60
    assert np.mean([d.estimate for d in draws]) == pytest.approx(truth, abs=0.01)
    assert np.mean([d.low <= truth <= d.high for d in draws]) > 0.9
    with pytest.raises(UsageError, match="no observations"):
        distinct_share([])


def test_spread_of_few() -> None:
    assert spread([]) == spread([1.0]) == 0.0
    assert spread([0.0, 1.0]) == pytest.approx(math.sqrt(0.5))
