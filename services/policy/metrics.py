"""What the policy service measures beside its HTTP."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.metrics_core import GaugeMetricFamily
from prometheus_client.registry import Collector

from rl_gym.serving.columns import Column
from rl_gym.serving.cost import Prices, total
from rl_gym.serving.loop import FULL_REWARD
from rl_gym.wire import ColumnAnswer, Usage

__all__ = ["PolicyMetrics"]

_REWARDS = (0.0, 0.25, 0.5, 0.75, 0.9, 0.99, FULL_REWARD)
_SECONDS = (0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 80, 160)


class PolicyMetrics:
    """Answers by column and outcome, tokens, dollars, rewards, and what repair turns came to."""

    def __init__(self, registry: CollectorRegistry) -> None:
        def counter(name: str, text: str, *labels: str) -> Counter:
            return Counter(f"rl_gym_policy_{name}", text, labels, registry=registry)

        self._registry = registry
        self._answers = counter(
            "answers", "Answers by column, mode and error, `none` where it came", "column", "mode", "error"
        )
        self._tokens = counter("tokens", "Tokens by column and kind", "column", "kind")
        self._usd = counter("usd", "US dollars of the engine's work, answered or not", "column")
        self._repairs = counter("repairs", "Repair turns by what came of them", "column", "outcome")
        self._conversions = counter("repair_conversions", "Repair turns that made a full reward of less", "column")
        self.reloads = counter("reloads", "Looks at the promoted model by outcome", "outcome")
        self._rewards = Histogram(
            "rl_gym_policy_reward",
            "Rewards of answers: of the model's best pass, and of the pass that was served, which may be a fix",
            ("column", "by"),
            registry=registry,
            buckets=_REWARDS,
        )
        self._seconds = Histogram(
            "rl_gym_policy_engine_seconds",
            "Time of the engine for a pass, or for a call of complete",
            ("column",),
            registry=registry,
            buckets=_SECONDS,
        )

    def gauge(self, name: str, text: str, read: Callable[[], float]) -> None:
        """A figure that is read when it is asked for."""
        Gauge(f"rl_gym_policy_{name}", text, registry=self._registry).set_function(read)

    def word(self, name: str, text: str, read: Callable[[], str]) -> None:
        """A word that is read when it is asked for: 1 under itself as the label `is`; nothing where it is empty."""
        self._registry.register(_Word(f"rl_gym_policy_{name}", text, read))

    def answered(self, mode: str, answer: ColumnAnswer) -> None:
        """Count an answer, or why there is none."""
        column = answer.column
        self._answers.labels(column, mode, answer.error.error if answer.error else "none").inc()
        if answer.chosen is None:
            return
        by_model = [one for one in answer.passes if one.kind != "fix"]
        self._rewards.labels(column, "model").observe(max(one.scorecard.breakdown.reward for one in by_model))
        self._rewards.labels(column, "served").observe(answer.passes[answer.chosen].scorecard.breakdown.reward)
        if answer.repair != "not_asked":
            self._repairs.labels(column, answer.repair).inc()
        repaired = [one for one in by_model if one.kind == "repair"]
        if repaired and repaired[0].scorecard.breakdown.reward >= FULL_REWARD:
            self._conversions.labels(column).inc()

    def metered(self, column: Column) -> Column:
        """The column, whose work is counted when it was done, whatever becomes of the answer."""
        return replace(column, on_spent=partial(self._spent, column.name, column.prices))

    def _spent(self, column: str, prices: Prices, usage: Usage | None, seconds: float) -> None:
        if usage is not None:
            self._tokens.labels(column, "prompt").inc(usage.prompt_tokens)
            self._tokens.labels(column, "completion").inc(usage.completion_tokens)
            self._seconds.labels(column).observe(usage.seconds)
        cost = prices.cost(usage or total([]), seconds)
        if cost is not None:
            self._usd.labels(column).inc(cost.usd)


class _Word(Collector):
    def __init__(self, name: str, text: str, read: Callable[[], str]) -> None:
        self._name, self._text, self._read = name, text, read

    def collect(self) -> Iterator[GaugeMetricFamily]:
        family = GaugeMetricFamily(self._name, self._text, labels=["is"])
        if word := self._read():
            family.add_metric([word], 1)
        yield family
