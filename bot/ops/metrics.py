"""Counts for Prometheus. https://prometheus.io/docs/practices/naming/"""

from __future__ import annotations

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    generate_latest,
)


class Metrics:
    """One process's counts, in a registry of their own so that several can live in one test."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._events = Counter(
            "docs_bot_events_total",
            "What happened: requests, prompts, polls, deliveries, ends, analytics calls; how it went.",
            ["what", "how"],
            registry=self._registry,
        )
        self._rounds = Histogram(
            "docs_bot_round_seconds",
            "How long a round took.",
            ["round"],
            buckets=(0.005, 0.02, 0.1, 0.5, 2, 10, 60),
            registry=self._registry,
        )
        self._failures = Counter(
            "docs_bot_round_failures_total", "Rounds that failed.", ["round"], registry=self._registry
        )
        self._open_jobs = Gauge("docs_bot_open_jobs", "Jobs being followed.", registry=self._registry)
        self._late = Gauge(
            "docs_bot_oldest_delivery_seconds",
            "How late the oldest pending delivery is; 0 when none is.",
            registry=self._registry,
        )

        self._analytics = Gauge(
            "docs_bot_analytics_calls_last_hour",
            "Calls of the analytics API in the last hour, of all processes.",
            registry=self._registry,
        )

    def count(self, what: str, how: str) -> None:
        """Something happened."""
        self._events.labels(what, how).inc()

    def observe_round(self, name: str, seconds: float, failed: bool) -> None:
        """A round came to its end."""
        self._rounds.labels(name).observe(seconds)
        if failed:
            self._failures.labels(name).inc()

    def set_backlog(self, open_jobs: int, oldest_delivery_seconds: float, analytics_calls: int) -> None:
        """How much there is to do, and how much of the analytics API's hour is used."""
        self._analytics.set(analytics_calls)
        self._open_jobs.set(open_jobs)
        self._late.set(max(oldest_delivery_seconds, 0.0))

    def page(self) -> tuple[bytes, str]:
        """The page that Prometheus reads, and its content type."""
        return generate_latest(self._registry), CONTENT_TYPE_LATEST
