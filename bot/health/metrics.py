"""Metrics for Prometheus. Names follow https://prometheus.io/docs/practices/naming/."""

from __future__ import annotations

import asyncio
import platform
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache, partial

import structlog
from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    Info,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from bot import __version__, commit
from bot.docs_api import Forbidden, NotConfigured, NotFound, RateLimited, Rejected, Unauthorized, Unavailable
from bot.health.checks import LIMIT_SECONDS, Finding, free_bytes
from bot.model.ids import ProjectId
from bot.model.jobs import QueueWhy
from bot.store import DatabaseTrouble, Transaction
from bot.work.context import Context
from bot.work.jobs.service_health import is_refused, trouble_of

disable_created_metrics()  # type: ignore[no-untyped-call]
_DOCS_ERRORS = tuple(
    error.__name__.lower()
    for error in (Unavailable, RateLimited, Rejected, Unauthorized, Forbidden, NotFound, NotConfigured)
)
_COUNTED: Mapping[str, tuple[str, str, str, tuple[str, ...]]] = {
    "requests": (
        "docs_bot_requests",
        "Requests that Slack sent to this process.",
        "kind",
        ("command", "button", "form", "shortcut", "message"),
    ),
    "prompts": (
        "docs_bot_prompts",
        "What this process did with prompts.",
        "outcome",
        ("sent", "queued", "denied", "unconfirmed", *_DOCS_ERRORS),
    ),
    "polls": ("docs_bot_polls", "Polls of this process.", "outcome", ("answered", "failed")),
    "deliveries": (
        "docs_bot_deliveries",
        "Attempts of this process to deliver to Slack.",
        "outcome",
        ("sent", "dead", "refused", "throttled", "unclear", "unreachable"),
    ),
    "ends": (
        "docs_bot_job_ends",
        "Ends of iterations that this process saw.",
        "state",
        ("pull_request", "no_pull_request", "failed", "archived", "gone"),
    ),
    "analytics": (
        "docs_bot_analytics_reads",
        "Pages of the analytics API that this process read.",
        "outcome",
        ("read", *_DOCS_ERRORS),
    ),
    "signatures": (
        "docs_bot_signatures",
        "Signatures of requests that reached this process in HTTP mode and name the bot's workspace.",
        "outcome",
        ("accepted", "refused"),
    ),
}
"""What is counted: the counter's name, its help, its label, and the label's values that are there at once."""


@dataclass(frozen=True, slots=True)
class Figures:
    """What the rows say about all processes together.

    ``gauges`` and those of ``projects``, by the project's name, are named as in `GAUGES` and `OF_PROJECTS`;
    one that is missing is 0. ``processes`` counts those that run workers by state; ``heartbeats``: when each
    of them said last that it runs.
    """

    gauges: Mapping[str, float] = field(default_factory=dict)
    projects: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    processes: Mapping[str, float] = field(default_factory=lambda: {"alive": 0, "gone": 0})
    heartbeats: Mapping[str, datetime] = field(default_factory=dict)


GAUGES = {
    "oldest_prompt_seconds": "Age of the oldest prompt that is neither sent nor given up.",
    "stuck_prompt_seconds": (
        "For how long the prompt is due that should have been taken up first. "
        "Prompts that wait for the limit, Slack, the docs service or a person do not count."
    ),
    "oldest_delivery_seconds": "Age of the oldest message that Slack has neither accepted nor refused.",
    "oldest_edit_seconds": "Age of the oldest edit of a message, or reaction, that Slack has not taken.",
    "oldest_question_seconds": "Age of the oldest question about visitors without an answer.",
    "most_overdue_poll_seconds": "How late the poll is that should have been made first.",
    "open_jobs": "Jobs that are polled.",
    "unconfirmed_prompts": "Prompts of which nobody knows whether the docs service has them.",
    "dead_letters": "Deliveries that can never be said.",
    "held_projects": "Projects with a back-off, because the docs service fails or refuses the key.",
}
"""The figures that are gauges of the same name."""
OF_PROJECTS = {
    "queued_prompts": "Prompts that wait for the hourly limit on jobs.",
    "quota_used": "Uses of the hourly limit on jobs in the last hour.",
    "quota_limit": "The hourly limit on jobs.",
    "quota_exhausted": "1 while the docs service says that its limit on jobs is used up.",
    "analytics_calls_used": "Calls of the analytics API in the last hour.",
    "analytics_calls_limit": "The hourly limit on calls of the analytics API.",
    "key_refused": "1 while the docs service refuses the key.",
    "service_failing_seconds": (
        "Time over which the docs service was seen to fail; 0 once it answers, so it stays while nobody asks."
    ),
}
"""The figures of projects that are gauges of the same name."""
_IF_THERE = {
    "disk_free_bytes": "Room on the disk of the SQLite file.",
    "socket_connected": "1 while Slack's socket is connected.",
    "sockets": (
        "Sockets of the app in all processes, as Slack said when it opened this one; it allows ten. "
        "More than you run: another installation has the same SLACK_APP_TOKEN and takes requests away."
    ),
}
"""The gauges that only some processes have."""


class Metrics(Collector):
    """The metrics of one process, in a Prometheus registry of their own, so that a test can have several."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        counters = {what: self._counter(*about) for what, about in _COUNTED.items()}
        # The client would look each of them up, and check its label, for every event.
        self._counted = cache(lambda what, how: counters[what].labels(how))
        self._runs = Histogram(
            "docs_bot_run_seconds",
            "How long a worker's run took.",
            ["worker"],
            buckets=(0.005, 0.02, 0.1, 0.5, 2, 10, 60),
            registry=self._registry,
        )
        self._failures = Counter(
            "docs_bot_run_failures", "Runs of workers that failed.", ["worker"], registry=self._registry
        )
        self._checks = Gauge(
            "docs_bot_check_ok",
            "1 while this part works, as /readyz says it.",
            ["check"],
            registry=self._registry,
        )
        self._figures: Figures | None = None
        # A 0 would look like a broken socket in HTTP mode, and like a full disk on PostgreSQL.
        self._if_there: dict[str, float] = {}
        self._registry.register(self)
        ProcessCollector(registry=self._registry)
        Info("docs_bot_build", "The version that runs.", registry=self._registry).info(
            {"version": __version__, "commit": commit(), "python": platform.python_version()}
        )

    def _counter(self, name: str, about: str, label: str, values: tuple[str, ...]) -> Counter:
        counter = Counter(name, about, [label], registry=self._registry)
        for value in values:
            counter.labels(value)
        return counter

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Yield what is asked for on each page. Without figures, those of the rows are missing."""
        for name, value in self._if_there.items():
            yield GaugeMetricFamily(f"docs_bot_{name}", _IF_THERE[name], value=value)
        help_text = "1 if the rows of the database could be read for this page; 0: what they say is missing."
        yield GaugeMetricFamily("docs_bot_rows_read", help_text, value=self._figures is not None)
        if self._figures is None:
            return
        for name, help_text in GAUGES.items():
            value = self._figures.gauges.get(name, 0)
            yield GaugeMetricFamily(f"docs_bot_{name}", help_text, value=value)
        for name, help_text in OF_PROJECTS.items():
            of_projects = {each: values.get(name, 0) for each, values in self._figures.projects.items()}
            yield _family(name, help_text, "project", of_projects)
        help_text = "Processes that run workers: alive, or killed in the last ten minutes."
        yield _family("worker_processes", help_text, "state", self._figures.processes)
        beats = {process: at.timestamp() for process, at in sorted(self._figures.heartbeats.items())}
        help_text = "When each of these processes said last that it runs."
        yield _family("worker_heartbeat_timestamp_seconds", help_text, "process", beats)

    def count(self, what: str, how: str) -> None:
        """Count an event, for example a poll, by how it went."""
        self._counted(what, how).inc()

    def expect_runs(self, names: Iterable[str]) -> None:
        """Show the runs of these workers from the start, with zeros."""
        for name in names:
            self._runs.labels(name)
            self._failures.labels(name)

    def observe_run(self, name: str, seconds: float, failed: bool) -> None:
        """Record one run of the worker ``name``."""
        self._runs.labels(name).observe(seconds)
        if failed:
            self._failures.labels(name).inc()

    def set_figures(self, figures: Figures | None) -> None:
        """Set what the rows say; None when they could not be read."""
        self._figures = figures

    def set_check(self, name: str, ok: bool) -> None:
        """Set whether a part works."""
        self._checks.labels(name).set(ok)

    def set_free_bytes(self, free: int | None) -> None:
        """Set how much room the disk of the SQLite file has; None where there is no such file."""
        if free is not None:
            self._if_there["disk_free_bytes"] = free

    def set_socket(self, connected: bool, connections: int) -> None:
        """Set the gauges of Socket Mode."""
        self._if_there |= {"socket_connected": connected, "sockets": connections}

    def page(self) -> tuple[bytes, str]:
        """Return the body of ``/metrics`` and its content type."""
        return generate_latest(self._registry), CONTENT_TYPE_LATEST


def _family(name: str, help_text: str, label: str, values: Mapping[str, float]) -> GaugeMetricFamily:
    family = GaugeMetricFamily(f"docs_bot_{name}", help_text, labels=[label])
    for labelled, value in values.items():
        family.add_metric([labelled], value)
    return family


log = structlog.get_logger(__name__)


def metrics_page(
    context: Context, metrics: Metrics
) -> Callable[[Sequence[Finding]], Awaitable[tuple[bytes, str]]]:
    """Return the page of metrics, which never fails: what cannot be read is missing."""

    async def page(found: Sequence[Finding]) -> tuple[bytes, str]:
        for each in found:
            metrics.set_check(each.name, each.ok)
        metrics.set_free_bytes(free_bytes(context.store))
        try:
            async with asyncio.timeout(LIMIT_SECONDS):
                metrics.set_figures(await context.store.read(partial(read_figures, context)))
        except (DatabaseTrouble, TimeoutError):
            log.warning("figures_not_read", exc_info=True)
            metrics.set_figures(None)
        return metrics.page()

    return page


def read_figures(context: Context, tx: Transaction) -> Figures:
    """Return the figures as they are now."""
    now = context.clock()
    heartbeats = tx.heartbeats.last(now)
    alive = tx.heartbeats.alive(now)
    stuck_since = [each.stuck_since for each in tx.waits.all_prompts(now) if each.stuck_since]
    stuck_seconds = (now - min(stuck_since, default=now)).total_seconds()
    return Figures(
        gauges={**tx.waits.backlog(now), "stuck_prompt_seconds": stuck_seconds},
        projects={each.name: _of_project(context, tx, each.id) for each in context.projects.known},
        processes={"alive": alive, "gone": len(heartbeats) - alive},
        heartbeats=heartbeats,
    )


def _of_project(context: Context, tx: Transaction, project: ProjectId) -> Mapping[str, float]:
    now = context.clock()
    return {
        "queued_prompts": tx.prompts.waiting_for_quota(project),
        "quota_used": len(tx.prompts.uses(project, now)),
        "quota_limit": context.uses_an_hour,
        "quota_exhausted": tx.quota.exhausted_until(project, now) is not None,
        "analytics_calls_used": context.budget(tx, project).used,
        "analytics_calls_limit": context.analytics.calls_an_hour,
        "key_refused": is_refused(tx, project),
        "service_failing_seconds": _failing_seconds(tx, project, now),
    }


def _failing_seconds(tx: Transaction, project: ProjectId, now: datetime) -> float:
    """Return the time from the begin of a project's back-off to its end, which may be long ago.

    The back-off stays in the rows until the service answers. While nobody asks, nothing more is known: one
    failed call in the evening is no failing night.
    """
    back_off = tx.back_offs.of(project)
    if back_off is None or trouble_of(back_off) is not QueueWhy.SERVICE:
        return 0.0
    return max((min(back_off.until, now) - back_off.since).total_seconds(), 0.0)
