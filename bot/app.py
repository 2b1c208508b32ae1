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
from bot.commands.feature import Feature
from bot.context import Limits, Timeouts, WorkerContext
from bot.engine import Worker, Workers, single_worker
from bot.features import OPTIONAL_FEATURES, all_workers, list_commands, list_hooks, list_vocabulary
from bot.health.checks import (
    Checks,
    Health,
    MetricsPage,
    SignatureCheck,
    SlackCheck,
    add_health_routes,
    database_check,
    runs_check,
    socket_check,
    start_check,
)
from bot.health.listening import HEAD_SECONDS, listening
from bot.health.metrics import checks_page, metrics_page
from bot.health.stopping import Stopping
from bot.ids import ProjectId, UserId
from bot.inbox.outage import Outage
from bot.jobs.thread import update_status_messages
from bot.paces import Paces
from bot.ports import Clock
from bot.projects import Project, Projects
from bot.settings import DocsProject, Settings
from bot.slack.client import identify, retry_until_answered
from bot.slack.http import add_slack_routes, dispatch
from bot.slack.intake import Background
from bot.slack.listeners import SlackApp, build_app
from bot.slack.socket import SocketIntake
from bot.store import Store
from bot.store.database import Pool, ServerClock
from bot.store.queues import DueQueues
from bot.store.sqlite_files import holding_sqlite_file, sqlite_file
from bot.store.upgrade import upgrade_tables
from bot.ttl_cache import TtlCache

__all__ = [
    "OPTIONAL_FEATURES",
    "Doors",
    "Limits",
    "SteppedBot",
    "Timeouts",
    "open_store",
    "prepared",
    "running_bot",
    "stepped_bot",
]

log = structlog.get_logger(__name__)
_CLOCK_SECONDS = 20.0
"""Between two readings of the database server's clock."""
_IDLE_SECONDS = 100.0
"""Longer than reverse proxies keep connections, so that no proxy uses a closing connection."""
ListWorkers = Callable[[WorkerContext], Sequence[Worker]]


def utc_now() -> datetime:
    """Return the present time of this machine."""
    return datetime.now(UTC)


@asynccontextmanager
async def running_bot(
    settings: Settings,
    *,
    timeouts: Timeouts | None = None,
    clock: Clock | None = None,
    stopping: Stopping | None = None,
    list_workers: ListWorkers = all_workers,
) -> AsyncIterator[None]:
    """Run the bot until the block ends; the block starts when the bot is ready.

    The start waits for Slack while it cannot be reached. At the end the intake stops before the
    workers.

    Raises SlackRefused for a wrong token, OSError for a port in use, and SQLAlchemy's errors for a
    database that cannot be used.

    Args:
        settings: the settings.
        timeouts: other waiting times and age limits than the usual ones.
        clock: returns the present time, aware and in UTC; None for that of a PostgreSQL server,
            which all processes share, or that of this machine.
        stopping: limits how long the end takes.
        list_workers: returns the workers to run: none where only the intake is measured.
    """
    stopping = stopping or Stopping()
    logs.configure(settings.log_level, settings.secrets())
    log.info("starting", version=__version__, commit=read_commit())
    for warning in settings.warnings():
        log.warning("settings", about=warning)
    async with AsyncExitStack() as stack:
        stack.enter_context(holding_sqlite_file(sqlite_file(settings.sqlalchemy_url)))
        store = open_store(settings.sqlalchemy_url)
        await stack.enter_async_context(prepared(store, clock or utc_now))
        rows_clock = clock or await _make_shared_clock(store)
        check_database = partial(database_check, store, rows_clock)
        health = Health({"database": check_database, "slack": start_check}, checks_page)
        # Probes get an answer while a start waits for Slack. It ends before the parts that it asks.
        health_stack = await stack.enter_async_context(AsyncExitStack())
        health_port = await _serve_health(health_stack, settings, health)
        clients = await connect(settings, stack, None, utc_now)
        scheduler = Workers(
            least_seconds=min(0.5, settings.poll_min_seconds / 2),
            clock=rows_clock,
            machine_clock=clock or utc_now,
        )
        context = _make_context(
            settings,
            store,
            clients,
            rows_clock,
            timeouts=timeouts or Timeouts(),
            wake=scheduler.wake,
            wake_after=scheduler.wake_after,
        )
        stack.push_async_callback(stopping.stop_part, lambda _seconds: store.release(context.owner))
        # Entered before the intake, so that the workers stop after it.
        stack.push_async_callback(stopping.stop_part, scheduler.stop)
        stopping.call_at_begin(scheduler.stop_starting_runs)
        workers = [*list_workers(context)]
        if isinstance(rows_clock, ServerClock):
            reading = single_worker("read the clock", rows_clock.read, every_seconds=_CLOCK_SECONDS)
            workers.append(reading)
        intake = await _start_intake(stack, context, clients, stopping)
        health.checks = {
            "database": check_database,
            # In HTTP mode a process that cannot reach Slack still stores requests, for later.
            "slack": SlackCheck(partial(identify, clients.slack), required=settings.socket_mode),
            "runs": partial(runs_check, scheduler),
            **intake.checks,
        }
        health.metrics = metrics_page(context)
        stack.push_async_callback(health_stack.aclose)
        # Last, because their first runs would delay the intake.
        scheduler.start([*workers, *intake.workers], partial(store.find_due, rows_clock))
        log.info("ready", socket_mode=settings.socket_mode, health_port=health_port)
        yield
        stopping.begin()


async def _serve_health(stack: AsyncExitStack, settings: Settings, health: Health) -> int:
    """Serve the pages for probes and for Prometheus; return the port."""
    server = web.Application()
    add_health_routes(server, health)
    opened = listening(
        server, settings.health_host, settings.health_port, idle_seconds=HEAD_SECONDS
    )
    return await stack.enter_async_context(opened)


# ---- the intake


@dataclass(frozen=True, slots=True)
class _Intake:
    """The readiness checks of the intake, and its regular work."""

    checks: Checks
    workers: Sequence[Worker]


async def _start_intake(
    stack: AsyncExitStack, context: WorkerContext, clients: Clients, stopping: Stopping
) -> _Intake:
    """Start the intake, through a socket or over HTTP."""
    background = Background()
    stack.push_async_callback(stopping.stop_part, background.drain)
    outage = Outage(context)
    await outage.end()
    check_seconds = context.timeouts.deaf_seconds / 12
    end_outage = single_worker("end an outage", outage.end, every_seconds=check_seconds)
    app = _make_slack_app(context, clients, background, outage)
    app_token = context.settings.slack_app_token
    if app_token is None:
        checks = await _listen_over_http(stack, context, clients, app)
        return _Intake(checks, [end_outage])
    deaf_seconds = context.timeouts.deaf_seconds
    intake = SocketIntake(
        app,
        clients.slack,
        app_token,
        on_gap=outage.begin,
        deaf_seconds=deaf_seconds,
        ping_seconds=deaf_seconds / 6,
        intake_seconds=context.timeouts.intake_seconds,
    )
    stack.push_async_callback(stopping.stop_part, intake.close)
    await retry_until_answered(intake.open)
    await intake.check()
    check_socket = single_worker("check the socket", intake.check, every_seconds=check_seconds)
    return _Intake({"socket": partial(socket_check, intake)}, [end_outage, check_socket])


async def _listen_over_http(
    stack: AsyncExitStack, context: WorkerContext, clients: Clients, app: SlackApp
) -> Checks:
    """Listen for Slack's requests; return the readiness check of their signatures."""
    settings = context.settings
    signatures = SignatureCheck()
    server = web.Application()
    add_slack_routes(
        server,
        app,
        settings.slack_signing_secret or SecretStr(""),
        workspace=clients.identity.team_id,
        on_signature=signatures.record,
        intake_seconds=context.timeouts.intake_seconds,
    )
    opened = listening(server, settings.host, settings.port, idle_seconds=_IDLE_SECONDS)
    await stack.enter_async_context(opened)
    return {"signatures": signatures}


def _make_slack_app(
    context: WorkerContext,
    clients: Clients,
    background: Background,
    outage: Outage,
    features: Sequence[Feature] = OPTIONAL_FEATURES,
) -> SlackApp:
    return build_app(
        context=context,
        client=clients.slack,
        messenger=clients.messenger,
        background=background,
        outage=outage,
        commands=list_commands(features),
    )


# ---- a bot for tests


@dataclass
class SteppedBot:
    """A bot without timers and sockets, for tests: it works when it is asked to, by its own clock.

    ``take`` and ``run_due`` return when all that they began has ended, also in the background. Both
    may be called while an earlier call has not returned, because a remote side hangs.
    """

    _context: WorkerContext
    _workers: Sequence[Worker]
    _app: SlackApp
    _background: Background
    _outage: Outage
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
        await self._outage.end()
        while workers := await self._list_due_workers():
            due = self._due.queues
            rows = [await self._run(worker) for worker in workers]
            if any(rows):
                continue
            await self._find_due()
            # A claim that takes no rows may make rows of another queue due.
            if self._due.queues <= due:
                return

    async def metrics(self) -> str:
        """Return the body of ``/metrics``."""
        body, _ = await self._metrics(())
        return body.decode()

    def next_due_at(self) -> datetime | None:
        """Return when the next row comes due, as `run_due` has left them; None without any.

        That is half a second from now at the earliest.
        """
        soon = self._context.clock() + timedelta(seconds=0.5)
        if self._due.queues:
            return soon
        if self._due.next_at is None:
            return None
        return max(self._due.next_at, soon)

    async def _list_due_workers(self) -> list[Worker]:
        await self._find_due()
        now = self._context.clock()
        return [
            worker
            for worker in self._workers
            if worker.queue in self._due.queues or self._is_time_for(worker, now)
        ]

    async def _find_due(self) -> None:
        self._due = await self._context.store.find_due(self._context.clock)

    def _is_time_for(self, worker: Worker, now: datetime) -> bool:
        if not worker.every_seconds:
            return False
        ran_at = self._ran_at.get(worker.name, datetime.min.replace(tzinfo=UTC))
        return abs(now - ran_at) >= timedelta(seconds=worker.every_seconds)

    async def _run(self, worker: Worker) -> int:
        self._ran_at[worker.name] = self._context.clock()
        return await worker.run()


@asynccontextmanager
async def stepped_bot(
    settings: Settings,
    doors: Doors,
    *,
    clock: Clock,
    store: Store | None = None,
    timeouts: Timeouts | None = None,
    limits: Limits | None = None,
    features: Sequence[Feature] = OPTIONAL_FEATURES,
) -> AsyncIterator[SteppedBot]:
    """Yield a bot for tests until the block ends.

    Args:
        settings: the settings.
        doors: the connections, in place of the network.
        clock: returns the present time, aware and in UTC.
        store: a store to use, and to close, in place of a new one.
        timeouts: other waiting times and age limits than the usual ones.
        limits: other limits than the usual ones.
        features: the features besides jobs.
    """
    logs.configure(settings.log_level, settings.secrets())
    async with AsyncExitStack() as stack:
        store = store or open_store(settings.sqlalchemy_url)
        await stack.enter_async_context(prepared(store, clock))
        clients = await connect(settings, stack, doors, clock)
        context = _make_context(
            settings,
            store,
            clients,
            clock,
            timeouts=timeouts or Timeouts(),
            chance=doors.chance,
            features=features,
        )
        member_cache = TtlCache[UserId, bool](10_000, lambda: clock().timestamp())
        context = replace(context, limits=limits or Limits(), member_cache=member_cache)
        stack.push_async_callback(store.release, context.owner)
        background = Background()
        stack.push_async_callback(background.drain, 0.0)
        outage = Outage(context)
        yield SteppedBot(
            context,
            all_workers(context, features),
            _make_slack_app(context, clients, background, outage, features),
            background,
            outage,
            metrics_page(context),
        )


# ---- the parts of both


def open_store(url: str, pool: Pool = ThreadPoolExecutor) -> Store:
    """Open the store at a SQLAlchemy URL, with the tables and queues of every feature.

    A closed store opens again when it is used.
    """
    return Store.open(url, pool=pool)


@asynccontextmanager
async def prepared(store: Store, clock: Clock = utc_now) -> AsyncIterator[None]:
    """Create the tables in an empty database, and close the store when the block ends.

    Raises UnusableDatabase for a database of another version. ``clock``: returns the time of its
    beginning.
    """
    try:
        await upgrade_tables(store.database, clock)
        yield
    finally:
        await store.close()


async def _make_shared_clock(store: Store) -> Clock:
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
    same_key = [
        other.id
        for other in served
        if other.address == project.address and other.key == project.key
    ]
    return ProjectId(min(same_key))


def _make_context(
    settings: Settings,
    store: Store,
    clients: Clients,
    clock: Clock,
    *,
    timeouts: Timeouts,
    wake: Callable[[], None] = lambda: None,
    wake_after: Callable[[float], None] = lambda _seconds: None,
    chance: Callable[[], float] = random.random,
    features: Sequence[Feature] = OPTIONAL_FEATURES,
) -> WorkerContext:
    store.before_commit = partial(update_status_messages, clock)
    served = settings.projects
    known = tuple(
        Project(
            ProjectId(project.id), project.name, project.label, find_budget_project(project, served)
        )
        for project in served
    )
    identity = clients.identity
    projects = Projects(known, serves_former=not settings.docs_projects)
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
        timeouts=timeouts,
        bot_user=identity.bot_user,
        bot_name=identity.bot_name,
        workspace_url=identity.workspace_url,
        projects=projects,
        vocabulary=list_vocabulary(features, projects),
        paces=Paces(timeouts.channel_pace_seconds, timeouts.minute_seconds),
        hooks=list_hooks(features),
    )
