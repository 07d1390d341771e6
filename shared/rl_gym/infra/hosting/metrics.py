"""What every service measures of its HTTP, in the Prometheus format."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Histogram

__all__ = ["HttpMetrics"]

_BUCKETS = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)


class HttpMetrics:
    """Requests by route and status, and how long they took."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._requests = Counter(
            "rl_gym_http_requests", "Requests that were answered", ("route", "status"), registry=registry
        )
        self._seconds = Histogram(
            "rl_gym_http_request_seconds", "Time to answer", ("route",), registry=registry, buckets=_BUCKETS
        )

    def served(self, route: str, status: int, seconds: float) -> None:
        """Count a request; `route` is the pattern of its path, so that no caller can make up names."""
        self._requests.labels(route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)
