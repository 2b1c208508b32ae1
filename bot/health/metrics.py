"""Metrics for Prometheus. Names follow https://prometheus.io/docs/practices/naming/."""

from __future__ import annotations

import asyncio
import platform
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
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

from bot import __version__, read_commit
from bot.context import Context
from bot.docs_api import (
    Forbidden,
    NotConfigured,
    NotFound,
    RateLimited,
    Rejected,
    Unauthorized,
    Unavailable,
)
from bot.feature import Feature
from bot.health.checks import LIMIT_SECONDS, Finding, free_bytes
from bot.ids import ProjectId
from bot.jobs.model.jobs import QueueWhy
from bot.jobs.service_health import analytics_budget, is_refused, trouble_of
from bot.jobs.store.limits import BackOffs, Quota
from bot.jobs.store.prompts import Prompts
from bot.jobs.store.waits import Waits
from bot.store import DatabaseTrouble, Transaction

disable_created_metrics()  # type: ignore[no-untyped-call]
_DOCS_ERRORS = tuple(
    error.__name__.lower()
    for error in (
        Unavailable,
        RateLimited,
        Rejected,
        Unauthorized,
        Forbidden,
        NotFound,
        NotConfigured,
    )
)
_COUNTED: Mapping[str, tuple[str, str, str, tuple[str, ...]]] = {
    "requests": (
        "docs_bot_requests",
        "Requests that Slack sent to this process.",
        "kind",
        ("command", "button", "form", "shortcut", "message", "home"),
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
    "signatures": (
        "docs_bot_signatures",
        "Signatures of requests that reached this process in HTTP mode and name the bot's workspace.",
        "outcome",
        ("accepted", "refused"),
    ),
}
"""A counter: its name, its help, its label, and the label's values that exist from the start."""


GAUGES: Mapping[str, tuple[str, str]] = {
    "rows_read": (
        "1 if the rows of the database could be read for this page; 0: their gauges are missing.",
        "",
    ),
    "oldest_prompt_seconds": ("Age of the oldest prompt that is neither sent nor given up.", ""),
    "stuck_prompt_seconds": (
        "Delay of the prompt that should have been taken up first and waits for nothing else.",
        "",
    ),
    "oldest_delivery_seconds": (
        "Age of the oldest message that Slack has neither accepted nor refused.",
        "",
    ),
    "oldest_question_seconds": ("Age of the oldest question about visitors without an answer.", ""),
    "most_overdue_poll_seconds": ("Delay of the poll that should have been made first.", ""),
    "open_jobs": ("Jobs that are polled.", ""),
    "unconfirmed_prompts": ("Prompts of which nobody knows whether the docs service has them.", ""),
    "dead_letters": ("Deliveries that Slack refused for good.", ""),
    "queued_prompts": ("Prompts that wait for the hourly limit on jobs.", "project"),
    "quota_used": ("Uses of the hourly limit on jobs in the last hour.", "project"),
    "quota_limit": ("The hourly limit on jobs.", "project"),
    "quota_exhausted": (
        "1 while the docs service reports that its limit on jobs is used up.",
        "project",
    ),
    "analytics_calls_used": ("Calls of the analytics API in the last hour.", "project"),
    "analytics_calls_limit": ("The hourly limit on calls of the analytics API.", "project"),
    "key_refused": ("1 while the docs service refuses the key.", "project"),
    "service_failing_seconds": (
        "Time over which the docs service was seen to fail; it stays until the service answers.",
        "project",
    ),
    "disk_free_bytes": ("Room on the disk of the SQLite file; missing on PostgreSQL.", ""),
    "sockets": (
        "Sockets of the app; Slack allows ten. More than you run: another bot has the same SLACK_APP_TOKEN.",
        "",
    ),
}
"""The help of each gauge, and the name of its label if it has one."""
Values = Mapping[str, Mapping[str, float]]
"""The values of gauges: by the gauge's name and the label's value, which is empty without a label."""
MetricsPage = Callable[[Sequence[Finding]], Awaitable[tuple[bytes, str]]]
"""Returns the body of ``/metrics`` and its content type."""


class Metrics(Collector):
    """The metrics of one process, in a Prometheus registry of their own, so that a test can have several."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        counters = {name: self._counter(*declaration) for name, declaration in _COUNTED.items()}
        # The client would look each of them up, and check its label, for every event.
        self._counted = cache(lambda name, value: counters[name].labels(value))
        self._runs = Histogram(
            "docs_bot_run_seconds",
            "How long a worker's run took.",
            ["worker"],
            buckets=(0.005, 0.02, 0.1, 0.5, 2, 10, 60),
            registry=self._registry,
        )
        self._failures = Counter(
            "docs_bot_run_failures",
            "Runs of workers that failed.",
            ["worker"],
            registry=self._registry,
        )
        self._checks = Gauge(
            "docs_bot_check_ok",
            "1 while this part works, as /readyz says it.",
            ["check"],
            registry=self._registry,
        )
        self._of_rows: Values | None = None
        self._of_process: dict[str, Mapping[str, float]] = {}
        self._registry.register(self)
        ProcessCollector(registry=self._registry)
        Info("docs_bot_build", "The version that runs.", registry=self._registry).info(
            {"version": __version__, "commit": read_commit(), "python": platform.python_version()}
        )

    def _counter(self, name: str, help_text: str, label: str, values: tuple[str, ...]) -> Counter:
        counter = Counter(name, help_text, [label], registry=self._registry)
        for value in values:
            counter.labels(value)
        return counter

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Yield the gauges that have values; those of the rows are missing if the rows could not be read."""
        read = {"rows_read": {"": float(self._of_rows is not None)}}
        for name, values in {**read, **self._of_process, **(self._of_rows or {})}.items():
            help_text, label = GAUGES[name]
            family = GaugeMetricFamily(
                f"docs_bot_{name}", help_text, labels=[label] if label else []
            )
            for labelled, value in values.items():
                family.add_metric([labelled] if label else [], value)
            yield family

    def count(self, counter: str, value: str) -> None:
        """Count an event, for example a poll, by how it went."""
        self._counted(counter, value).inc()

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

    def set_rows(self, values: Values | None) -> None:
        """Set the gauges of the rows; None if the rows could not be read."""
        self._of_rows = values

    def set_gauge(self, name: str, value: float) -> None:
        """Set a gauge of this process that has no label."""
        self._of_process[name] = {"": value}

    def set_check(self, name: str, ok: bool) -> None:
        """Set whether a part works."""
        self._checks.labels(name).set(ok)

    def page(self) -> tuple[bytes, str]:
        """Return the body of ``/metrics`` and its content type."""
        return generate_latest(self._registry), CONTENT_TYPE_LATEST


log = structlog.get_logger(__name__)


def metrics_page(
    context: Context, metrics: Metrics, features: Sequence[Feature] = ()
) -> MetricsPage:
    """Return the metrics page. It never fails: unreadable values are missing."""

    async def page(findings: Sequence[Finding]) -> tuple[bytes, str]:
        for finding in findings:
            metrics.set_check(finding.name, finding.ok)
        if (free := free_bytes(context.store)) is not None:
            metrics.set_gauge("disk_free_bytes", free)
        try:
            async with asyncio.timeout(LIMIT_SECONDS):
                metrics.set_rows(await context.store.read(partial(read_gauges, context, features)))
        except (DatabaseTrouble, TimeoutError):
            log.warning("gauges_not_read", exc_info=True)
            metrics.set_rows(None)
        return metrics.page()

    return page


def read_gauges(context: Context, features: Sequence[Feature], tx: Transaction) -> Values:
    """Return the gauges of all processes together, from the rows as they are now."""
    now = context.clock()
    stuck_since = [wait.stuck_since for wait in Waits(tx).all_prompts(now) if wait.stuck_since]
    stuck_seconds = (now - min(stuck_since, default=now)).total_seconds()
    whole = {**Waits(tx).backlog(now), "stuck_prompt_seconds": stuck_seconds}
    for feature in features:
        whole |= feature.gauges(tx, now)
    projects = {
        project.name: _of_project(context, tx, project.id) for project in context.projects.known
    }
    return {
        **{name: {"": value} for name, value in whole.items()},
        **{
            name: {project: values[name] for project, values in projects.items()}
            for name in next(iter(projects.values()))
        },
    }


def _of_project(context: Context, tx: Transaction, project: ProjectId) -> Mapping[str, float]:
    now = context.clock()
    return {
        "queued_prompts": Prompts(tx).waiting_for_quota(project),
        "quota_used": len(Prompts(tx).uses(project, now)),
        "quota_limit": context.settings.uses_an_hour,
        "quota_exhausted": Quota(tx).exhausted_until(project, now) is not None,
        "analytics_calls_used": analytics_budget(context, tx, project).used,
        "analytics_calls_limit": context.limits.analytics_calls_an_hour,
        "key_refused": is_refused(tx, project),
        "service_failing_seconds": _failing_seconds(tx, project, now),
    }


def _failing_seconds(tx: Transaction, project: ProjectId, now: datetime) -> float:
    """Return the time from the begin of a project's back-off to its end, which may be long ago.

    The back-off stays in the rows until the service answers. While nobody asks, nothing more is known: one
    failed call in the evening is no failing night.
    """
    back_off = BackOffs(tx).of(project)
    if back_off is None or trouble_of(back_off) is not QueueWhy.SERVICE:
        return 0.0
    return max((min(back_off.until, now) - back_off.since).total_seconds(), 0.0)
