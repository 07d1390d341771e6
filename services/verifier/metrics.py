"""What the verifier measures beside its HTTP."""

from __future__ import annotations

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge

__all__ = ["VerifierMetrics"]


class VerifierMetrics:
    """Items by outcome, hits of the cache, and workers that were lost."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._registry = registry
        self.items = Counter("rl_gym_verifier_items", "Items by outcome", ("outcome",), registry=registry)
        self.cache_hits = Counter("rl_gym_verifier_cache_hits", "Items found in the cache", registry=registry)
        self.cache_misses = Counter("rl_gym_verifier_cache_misses", "Items not in the cache", registry=registry)
        self.workers_lost = Counter(
            "rl_gym_verifier_workers_lost", "Workers that died or were stopped", ("cause",), registry=registry
        )

    def gauge(self, name: str, text: str, read: Callable[[], float]) -> None:
        """A figure that is read when it is asked for."""
        Gauge(f"rl_gym_verifier_{name}", text, registry=self._registry).set_function(read)
