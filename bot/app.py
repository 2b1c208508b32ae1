"""The composition root: builds all parts from the settings, and starts and stops them in order."""

from __future__ import annotations

import os
import random
import secrets
import socket
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import structlog
from aiohttp import web
from pydantic import SecretStr

from bot import __version__, logs, read_commit
from bot.clients import Clients, Doors, connect
from bot.context import Timeouts, WorkerContext
from bot.engine import Worker, Workers, alone
from bot.feature import Feature
from bot.features import FEATURES, all_workers, beat, list_commands, list_hooks, list_own_words
from bot.health.checks import (
    HEAD_SECONDS,
    Checks,
    SignatureCheck,
    SlackCheck,
    add_health_routes,
    database_check,
    listening,
    runs_check,
    socket_check,
    workers_check,
)
from bot.health.metrics import Metrics, MetricsPage, metrics_page
from bot.health.stopping import Stopping
from bot.ids import ProjectId, UserId
from bot.jobs.catch_up import Gap
from bot.jobs.thread import update_status_messages
from bot.paces import Paces
from bot.ports import Clock
from bot.projects import Project, Projects
from bot.settings import DocsProject, Settings
from bot.slack.client import identify, until_answered
from bot.slack.http import add_slack_routes, dispatch
from bot.slack.intake import Background
from bot.slack.listeners import SlackApp, build_app
from bot.slack.socket import SocketIntake
from bot.store import Store
from bot.store.database import CONNECTIONS, Database, Pool, ServerClock
from bot.store.heartbeats import Heartbeats
from bot.store.queues import DueQueues
from bot.store.sqlite_files import holding_sqlite_file, sqlite_file
from bot.store.stamp import create_tables
from bot.ttl_cache import TtlCache

__all__ = [
    "EVERYTHING",
    "FEATURES",
    "Doors",
    "HeldBot",
    "Roles",
    "Timeouts",
    "held_bot",
    "open_store",
    "prepare_database",
    "running_bot",
]

log = structlog.get_logger(__name__)
_IDLE_SECONDS = 100.0
"""Longer than reverse proxies keep connections, so that none sends a request on one that is being closed."""


@dataclass(frozen=True, slots=True)
class Roles:
    """The roles of this process: accept requests (``intake``), carry them out (``workers``), or both."""

    intake: bool = True
    workers: bool = True


EVERYTHING = Roles()


def utc_now() -> datetime:
    return datetime.now(UTC)


@asynccontextmanager
async def running_bot(
    settings: Settings,
    *,
    roles: Roles = EVERYTHING,
    timeouts: Timeouts | None = None,
    clock: Clock | None = None,
    stopping: Stopping | None = None,
) -> AsyncIterator[None]:
    """Run the bot until the block ends; the block starts when it is ready. Intake stops before the workers.

    While Slack cannot be reached, the start waits for it.

    ``clock`` returns the present time, aware and in UTC; None for that of a PostgreSQL server, which all
    processes share, or that of this machine. ``stopping`` limits how long the end takes.

    Raises SlackRefused for a wrong token, OSError for a port in use, and SQLAlchemy's errors for a database
    that cannot be reached.
    """
    stopping = stopping or Stopping()
    logs.configure(settings.log_level, settings.log_format, settings.secrets())
    log.info("starting", version=__version__, commit=read_commit())
    for warning in settings.warnings():
        log.warning("settings", about=warning)
    async with AsyncExitStack() as stack:
        stack.enter_context(holding_sqlite_file(sqlite_file(settings.sqlalchemy_url)))
        store = open_store(settings.sqlalchemy_url, settings.database_connections)
        stack.push_async_callback(store.close)
        await create_tables(store.database)
        machine_clock, clock = clock or utc_now, clock or await _clock_of(store)
        clients = await connect(settings, stack, None, utc_now)
        metrics = Metrics()
        workers = Workers(
            observe=metrics.observe_run,
            least_seconds=min(0.5, settings.poll_min_seconds / 2),
            clock=clock,
            machine_clock=machine_clock,
        )
        context = _context(
            *(settings, store, clients, timeouts or Timeouts(), clock, metrics),
            wake=workers.wake if roles.workers else lambda: None,
            wake_after=workers.wake_after,
        )
        # A stored request is carried out later; a command that Slack cannot bring is lost.
        is_door = roles.intake and not settings.socket_mode
        checks: Checks = {
            "database": partial(database_check, store, context.owner, clock),
            "slack": SlackCheck(partial(identify, clients.slack), required=not is_door),
            "workers": partial(workers_check, store, clock, required=not is_door),
        }
        await store.write(lambda tx: Heartbeats(tx).forget(clock()))
        stack.push_async_callback(stopping.stop_part, lambda _seconds: store.release(context.owner))
        # Entered before the intake, so that the workers stop after it.
        stack.push_async_callback(stopping.stop_part, workers.stop)
        stopping.at_begin(workers.leave_off)
        jobs: list[Worker] = []
        if roles.workers:
            await beat(context)
            checks["runs"] = partial(runs_check, workers)
            jobs += all_workers(context)
            metrics.expect_runs(worker.name for worker in jobs)
        if roles.intake:
            checks |= await _take_in(stack, context, clients, metrics, stopping, jobs)
        health = web.Application()
        add_health_routes(health, checks, metrics_page(context, metrics, FEATURES))
        at = settings.health_host, settings.health_port
        health_port = await stack.enter_async_context(
            listening(health, *at, idle_seconds=HEAD_SECONDS)
        )
        # Last, because their first runs would delay the intake.
        workers.start(jobs, partial(store.find_due, clock) if roles.workers else None)
        ready = log.bind(socket_mode=settings.socket_mode, health_port=health_port)
        ready.info("ready", intake=roles.intake, workers=roles.workers)
        yield
        stopping.begin()


@dataclass
class HeldBot:
    """A bot without timers and sockets, for tests: it works when it is asked to, at the time of its clock.

    ``take`` and ``run_due`` return when all that they began has ended, also in the background. Both
    may be called while an earlier call has not returned, because a remote side hangs.
    """

    _context: WorkerContext
    _workers: Sequence[Worker]
    _app: SlackApp
    _background: Background
    _gap: Gap
    _metrics: MetricsPage
    _ran_at: dict[str, datetime] = field(default_factory=dict)
    _due: DueQueues = field(default=DueQueues(frozenset(), None))

    async def take(self, payload: dict[str, Any]) -> tuple[int, str]:
        """Handle one of Slack's payloads; return the status and the body of the acknowledgement."""
        acknowledged = await dispatch(self._app, payload, self._context.timeouts.intake_seconds)
        await self._background.ended()
        return acknowledged

    async def run_due(self) -> None:
        """Work on rows until none is due.

        Work at intervals is done too when its interval has passed since its last run.
        """
        await self._gap.end()
        while workers := await self._due_workers():
            if not sum([await self._run(worker) for worker in workers]):
                await self._find_due()
                return

    async def metrics(self) -> str:
        """Return the body of ``/metrics``."""
        return (await self._metrics(()))[0].decode()

    def next_due_at(self) -> datetime | None:
        """Return when the next row comes due, as `run_due` has left them; None without any.

        That is half a second from now at the earliest.
        """
        due, soon = self._due, self._context.clock() + timedelta(seconds=0.5)
        return soon if due.queues else due.next_at and max(due.next_at, soon)

    async def _due_workers(self) -> list[Worker]:
        await self._find_due()
        due, now = self._due.queues, self._context.clock()
        return [
            worker
            for worker in self._workers
            if worker.queue in due or self._is_time_for(worker, now)
        ]

    async def _find_due(self) -> None:
        self._due = await self._context.store.find_due(self._context.clock)

    def _is_time_for(self, worker: Worker, now: datetime) -> bool:
        ran_at = self._ran_at.get(worker.name, datetime.min.replace(tzinfo=UTC))
        return bool(worker.every_seconds) and abs(now - ran_at) >= timedelta(
            seconds=worker.every_seconds
        )

    async def _run(self, worker: Worker) -> int:
        self._ran_at[worker.name] = self._context.clock()
        return await worker.run()


@asynccontextmanager
async def held_bot(
    settings: Settings,
    doors: Doors,
    *,
    clock: Clock,
    store: Store | None = None,
    timeouts: Timeouts | None = None,
    features: Sequence[Feature] = FEATURES,
) -> AsyncIterator[HeldBot]:
    """Yield a bot for tests until the block ends. ``store`` is used in place of a new one, and closed."""
    logs.configure(settings.log_level, settings.log_format, settings.secrets())
    async with AsyncExitStack() as stack:
        store = store or open_store(settings.sqlalchemy_url, settings.database_connections)
        stack.push_async_callback(store.close)
        await create_tables(store.database)
        metrics = Metrics()
        clients = await connect(settings, stack, doors, clock)
        context = _context(
            *(settings, store, clients, timeouts or Timeouts(), clock, metrics),
            wake=lambda: None,
            wake_after=lambda _seconds: None,
            chance=doors.chance,
            features=features,
        )
        member_cache = TtlCache[UserId, bool](10_000, lambda: clock().timestamp())
        context = replace(context, member_cache=member_cache)
        stack.push_async_callback(store.release, context.owner)
        background, gap = Background(), Gap(context)
        stack.push_async_callback(background.drain, 0.0)
        app = _listeners(context, clients, background, gap, metrics, features)
        workers = all_workers(context, features)
        yield HeldBot(
            context, workers, app, background, gap, metrics_page(context, metrics, features)
        )


async def prepare_database(settings: Settings) -> None:
    """Create the tables in an empty database. Raises UnusableDatabase for one with other tables."""
    logs.configure(settings.log_level, settings.log_format, settings.secrets())
    database = Database.open(settings.sqlalchemy_url)
    try:
        await create_tables(database)
    finally:
        await database.close()


def open_store(url: str, connections: int = CONNECTIONS, pool: Pool = ThreadPoolExecutor) -> Store:
    """Open the store at a SQLAlchemy URL, with the tables, queues and retention rules of every subject.

    A closed store opens again when it is used.
    """
    return Store.open(url, connections, pool)


async def _clock_of(store: Store) -> Clock:
    """Return the clock that all processes on the database share."""
    if not store.database.is_postgresql:
        return utc_now
    clock = ServerClock(store.database)
    await clock.read()
    return clock


def find_budget_project(project: DocsProject, served: Sequence[DocsProject]) -> ProjectId:
    """Return the id under which a project's calls of the analytics API are counted.

    The service seems to count the calls of an organisation together: those with one key.
    """
    same_key = (
        other.id for other in served if (other.address, other.key) == (project.address, project.key)
    )
    return ProjectId(min(same_key))


def _context(
    settings: Settings,
    store: Store,
    clients: Clients,
    timeouts: Timeouts,
    clock: Clock,
    metrics: Metrics,
    wake: Callable[[], None],
    wake_after: Callable[[float], None],
    chance: Callable[[], float] = random.random,
    features: Sequence[Feature] = FEATURES,
) -> WorkerContext:
    store.before_commit = partial(update_status_messages, clock)
    served = settings.projects
    projects = tuple(
        Project(
            ProjectId(project.id), project.name, project.label, find_budget_project(project, served)
        )
        for project in served
    )
    return WorkerContext(
        settings=settings,
        store=store,
        messenger=clients.messenger,
        docs=clients.docs,
        github=clients.github,
        discovery=clients.discovery,
        clock=clock,
        chance=chance,
        owner=f"{socket.gethostname()[:40]}:{os.getpid()}:{secrets.token_hex(4)}",
        wake=wake,
        wake_after=wake_after,
        count=metrics.count,
        timeouts=timeouts,
        bot_user=clients.identity.bot_user,
        bot_name=clients.identity.bot_name,
        workspace_url=clients.identity.workspace_url,
        projects=Projects(projects, serves_former=not settings.docs_projects),
        paces=Paces(timeouts.channel_pace_seconds, timeouts.minute_seconds),
        hooks=list_hooks(features),
        own_words=list_own_words(features),
    )


def _listeners(
    context: WorkerContext,
    clients: Clients,
    background: Background,
    gap: Gap,
    metrics: Metrics,
    features: Sequence[Feature] = FEATURES,
) -> SlackApp:
    return build_app(
        context=context,
        client=clients.slack,
        messenger=clients.messenger,
        background=background,
        gap=gap,
        count=metrics.count,
        commands=list_commands(features),
    )


async def _take_in(
    stack: AsyncExitStack,
    context: WorkerContext,
    clients: Clients,
    metrics: Metrics,
    stopping: Stopping,
    jobs: list[Worker],
) -> Checks:
    """Start the intake, through a socket or over HTTP; return its readiness checks.

    Its regular work is added to ``jobs``.
    """
    settings, timeouts = context.settings, context.timeouts
    background, check_seconds = Background(), timeouts.deaf_seconds / 12
    stack.push_async_callback(stopping.stop_part, background.drain)
    gap = Gap(context)
    await gap.end()
    jobs.append(alone("end a gap", gap.end, every_seconds=check_seconds))
    app = _listeners(context, clients, background, gap, metrics)
    if settings.slack_app_token is None:
        server = web.Application()
        signatures = SignatureCheck(metrics.count)
        add_slack_routes(
            server,
            app,
            settings.slack_signing_secret or SecretStr(""),
            workspace=clients.identity.team_id,
            on_signature=signatures.record,
            intake_seconds=timeouts.intake_seconds,
        )
        at = (settings.host, settings.port)
        await stack.enter_async_context(listening(server, *at, idle_seconds=_IDLE_SECONDS))
        return {"signatures": signatures}
    intake = SocketIntake(
        app,
        clients.slack,
        settings.slack_app_token,
        on_gap=gap.begin,
        observe=partial(metrics.set_gauge, "sockets"),
        deaf_seconds=timeouts.deaf_seconds,
        ping_seconds=timeouts.deaf_seconds / 6,
        intake_seconds=timeouts.intake_seconds,
    )
    stack.push_async_callback(stopping.stop_part, intake.close)
    await until_answered(intake.open)
    await intake.check()
    jobs.append(alone("check the socket", intake.check, every_seconds=check_seconds))
    return {"socket": partial(socket_check, intake)}
