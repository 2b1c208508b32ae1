"""The metrics for Prometheus that the alerts of ``deploy/alerts.yml`` read.

Names follow https://prometheus.io/docs/practices/naming/.
"""

from __future__ import annotations

import asyncio
import platform
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial

import structlog
from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Info,
    ProcessCollector,
    generate_latest,
)
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from bot import __version__, read_commit
from bot.context import Context
from bot.health.checks import LIMIT_SECONDS, Finding, MetricsPage, free_bytes
from bot.ids import ProjectId
from bot.jobs.model.jobs import WaitReason
from bot.jobs.service_health import find_trouble, is_refused
from bot.jobs.service_keys import list_used_keys
from bot.jobs.store.limits import BackOffs
from bot.jobs.store.service_keys import ServiceKeys
from bot.jobs.store.waits import Waits
from bot.store import DatabaseTrouble, Transaction

log = structlog.get_logger(__name__)
GAUGES: Mapping[str, tuple[str, str]] = {
    "check_ok": (
        "1 while this part works, as /readyz reports it; rows: while this page can read the rows.",
        "check",
    ),
    "waiting_seconds": ("For how long the oldest work of this kind has waited.", "what"),
    "needs_person": ("Unconfirmed prompts, and messages that Slack refused for good.", "what"),
    "service_failing_seconds": (
        "Time over which the docs service was seen to fail; it stays until the service answers.",
        "project",
    ),
    "key_refused": (
        "1 while the docs service refuses this key: docs or assistant, and the project.",
        "key",
    ),
    "disk_free_bytes": ("Room on the disk of the SQLite file; missing on PostgreSQL.", ""),
}
"""The help of each gauge, and the name of its label if it has one."""
Values = Mapping[str, Mapping[str, float]]
"""Values by the gauge's name and the label's value, which is empty for a gauge without a label."""


class Metrics(Collector):
    """The metrics of one process, in a Prometheus registry of their own, for tests with several."""

    def __init__(self) -> None:
        self._values: dict[str, Mapping[str, float]] = {}
        self._registry = CollectorRegistry()
        self._registry.register(self)
        ProcessCollector(registry=self._registry)
        Info("docs_bot_build", "The version that runs.", registry=self._registry).info(
            {"version": __version__, "commit": read_commit(), "python": platform.python_version()}
        )

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Yield the gauges that have values."""
        for name, values in self._values.items():
            help_text, label = GAUGES[name]
            labels = [label] if label else []
            family = GaugeMetricFamily(f"docs_bot_{name}", help_text, labels=labels)
            for labelled, value in values.items():
                family.add_metric([labelled] if label else [], value)
            yield family

    def replace(self, values: Values) -> None:
        """Replace the values of all gauges."""
        self._values = dict(values)

    def page(self) -> tuple[bytes, str]:
        """Return the body of ``/metrics`` and its content type."""
        return generate_latest(self._registry), CONTENT_TYPE_LATEST


async def checks_page(findings: Sequence[Finding]) -> tuple[bytes, str]:
    """Return the metrics page of a process that still starts: its checks alone."""
    metrics = Metrics()
    metrics.replace({"check_ok": {finding.name: float(finding.ok) for finding in findings}})
    return metrics.page()


def metrics_page(context: Context) -> MetricsPage:
    """Return the metrics page. It never fails: unreadable values are missing."""
    metrics = Metrics()

    async def page(findings: Sequence[Finding]) -> tuple[bytes, str]:
        values: dict[str, Mapping[str, float]] = {}
        checks = {finding.name: float(finding.ok) for finding in findings}
        try:
            async with asyncio.timeout(LIMIT_SECONDS):
                values.update(await context.store.read(partial(read_gauges, context)))
            checks["rows"] = 1.0
        except (DatabaseTrouble, TimeoutError):
            log.warning("gauges_not_read", exc_info=True)
            checks["rows"] = 0.0
        values["check_ok"] = checks
        if (free := free_bytes(context.store)) is not None:
            values["disk_free_bytes"] = {"": free}
        metrics.replace(values)
        return metrics.page()

    return page


def read_gauges(context: Context, tx: Transaction) -> Values:
    """Return the gauges of all processes together, from the rows as they are now."""
    now = context.clock()
    projects = context.projects.known
    return {
        "waiting_seconds": Waits(tx).waiting_seconds(now),
        "needs_person": Waits(tx).needs_person(),
        "service_failing_seconds": {
            project.name: _count_failing_seconds(tx, project.id, now) for project in projects
        },
        "key_refused": _read_key_refusals(context, tx),
    }


def _read_key_refusals(context: Context, tx: Transaction) -> Mapping[str, float]:
    """Return 1 for each refused key of a project or of an assistant, 0 for each other, by name."""
    refused = {
        f"docs:{project.name}": float(is_refused(tx, project.id))
        for project in context.projects.known
    }
    names = {project.id: project.name for project in context.projects.known}
    for used in list_used_keys(context.settings).values():
        if used.is_assistants:
            known = ServiceKeys(tx).of(used.name)
            is_bad = known is not None and known.refused_at is not None
            refused[f"assistant:{names.get(used.project, used.project)}"] = float(is_bad)
    return refused


def _count_failing_seconds(tx: Transaction, project: ProjectId, now: datetime) -> float:
    """Return for how long the docs service was seen to fail: from the back-off's begin to its end.

    The back-off stays in the rows until the service answers, and its end may be long ago. While
    nobody asks, nothing more is known: one failed call in the evening is no failing night.
    """
    back_off = BackOffs(tx).of(project)
    if back_off is None or find_trouble(back_off) is not WaitReason.SERVICE:
        return 0.0
    last_seen_at = min(back_off.retry_at, now)
    return max((last_seen_at - back_off.began_at).total_seconds(), 0.0)
