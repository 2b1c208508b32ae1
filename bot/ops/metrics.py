"""Metrics for Prometheus. Names follow https://prometheus.io/docs/practices/naming/."""

from __future__ import annotations

from dataclasses import dataclass

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    generate_latest,
)


@dataclass(frozen=True, slots=True)
class Backlog:
    """Pending work and the use of both hourly limits, counted over all processes."""

    open_jobs: int
    oldest_delivery_seconds: float
    waiting_prompts: int
    uses: int
    analytics_calls: int
    key_is_refused: bool


class Metrics:
    """The metrics of one process, in a Prometheus registry of their own, so that a test can have several."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._events = Counter(
            "docs_bot_events_total",
            "What happened: requests, prompts, polls, deliveries, ends, analytics calls; how it went.",
            ["what", "how"],
            registry=self._registry,
        )
        self._runs = Histogram(
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
        self._waiting = Gauge(
            "docs_bot_waiting_prompts",
            "Prompts that wait for a use of the shared limit.",
            registry=self._registry,
        )
        self._uses = Gauge(
            "docs_bot_uses_last_hour",
            "Uses of the shared limit in the last hour, of all processes.",
            registry=self._registry,
        )
        self._key = Gauge(
            "docs_bot_key_refused", "1 while the docs service refuses the key.", registry=self._registry
        )
        self._analytics = Gauge(
            "docs_bot_analytics_calls_last_hour",
            "Calls of the analytics API in the last hour, of all processes.",
            registry=self._registry,
        )

        # Not registered in HTTP mode, where a 0 would look like a broken socket.
        self._has_socket = False
        self._socket = Gauge(
            "docs_bot_socket_connected", "1 while Slack's socket is connected.", registry=None
        )
        self._sockets = Gauge(
            "docs_bot_sockets",
            "Sockets of the app in all processes, as Slack said when this one was opened; Slack allows ten.",
            registry=None,
        )

    def count(self, what: str, how: str) -> None:
        """Count an event, for example a poll, by how it went."""
        self._events.labels(what, how).inc()

    def observe_run(self, name: str, seconds: float, failed: bool) -> None:
        """Record one run of the worker ``name``."""
        self._runs.labels(name).observe(seconds)
        if failed:
            self._failures.labels(name).inc()

    def set_backlog(self, backlog: Backlog) -> None:
        """Set the gauges to the backlog read from the store."""
        self._open_jobs.set(backlog.open_jobs)
        self._late.set(max(backlog.oldest_delivery_seconds, 0.0))
        self._waiting.set(backlog.waiting_prompts)
        self._uses.set(backlog.uses)
        self._key.set(backlog.key_is_refused)
        self._analytics.set(backlog.analytics_calls)

    def set_socket(self, connected: bool, connections: int) -> None:
        """Set the gauges of Socket Mode, which are on the page from the first call on."""
        if not self._has_socket:
            self._registry.register(self._socket)
            self._registry.register(self._sockets)
            self._has_socket = True
        self._socket.set(connected)
        self._sockets.set(connections)

    def page(self) -> tuple[bytes, str]:
        """Return the body of ``/metrics`` and its content type."""
        return generate_latest(self._registry), CONTENT_TYPE_LATEST
