"""The composition root: builds every part from the settings, starts them in order, stops them in order."""

from __future__ import annotations

import os
import random
import secrets
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import structlog
from aiohttp import web
from pydantic import SecretStr

from bot import logs
from bot.commands import COMMANDS
from bot.docs_api import DocsClient
from bot.model import Admission, ChannelId, PollPace, ProjectId, UserId
from bot.ops.health import Check, add_health_routes
from bot.ops.metrics import Backlog, Metrics
from bot.settings import Settings
from bot.slack.background import Background
from bot.slack.client import Identity, SlackClient, identify, open_session, web_client
from bot.slack.http import add_slack_routes
from bot.slack.listeners import Listeners, build_app
from bot.slack.messenger import SlackMessenger
from bot.slack.socket import SocketIntake
from bot.store import Registry
from bot.store.database import open_engine
from bot.store.due import Queue
from bot.store.migrate import migrate
from bot.work.access.check import admit_or_not
from bot.work.context import Desk, FollowUps
from bot.work.digests.digest import digest_round
from bot.work.due import queues_due
from bot.work.jobs.key_health import is_refused
from bot.work.jobs.poll import poll_round
from bot.work.jobs.prepare import prepare_round
from bot.work.jobs.submit import submit_round
from bot.work.jobs.thread_events import heard_mention, heard_reply
from bot.work.outbox.deliver import deliver_round
from bot.work.visitors.fetch import read_round, sweep_round
from bot.work.visitors.question import answer_round
from bot.work.visitors.windows import Analytics
from bot.work.worker_context import Patience, Workshop
from bot.worker import Bell, Round, Rounds

__all__ = ["EVERYTHING", "Patience", "Roles", "migrate_database", "running_bot"]

log = structlog.get_logger(__name__)
_GRACE_SECONDS = 8.0
"""Within what hosts allow between SIGTERM and SIGKILL (10 s and more)."""
_ROUND_LATE_SECONDS = 120.0
_DIGEST_SECONDS = 5.0
_SWEEP_SECONDS = 3_600.0


@dataclass(frozen=True, slots=True)
class Roles:
    """What this process does: take requests in, carry them out, or both."""

    intake: bool = True
    rounds: bool = True


EVERYTHING = Roles()


def utc_now() -> datetime:
    """The time, for everything that is not a test."""
    return datetime.now(UTC)


def _owner() -> str:
    """A name for this process that no other has had."""
    return f"{socket.gethostname()[:40]}:{os.getpid()}:{secrets.token_hex(4)}"


@dataclass(frozen=True, slots=True)
class Outside:
    """The connections to Slack and to the docs service."""

    client: SlackClient
    identity: Identity
    messenger: SlackMessenger
    docs: DocsClient


@asynccontextmanager
async def running_bot(
    settings: Settings, *, roles: Roles = EVERYTHING, patience: Patience | None = None
) -> AsyncIterator[None]:
    """The bot, from when it is ready until the block ends; then the intake stops before the work does.

    Raises what makes a start impossible: SlackRefused for a wrong token, OSError for a taken port, and
    SQLAlchemy's errors for a database that cannot be reached.
    """
    logs.configure(settings.log_level, settings.log_format, settings.secrets())
    for warning in settings.warnings():
        log.warning("settings", about=warning)
    async with AsyncExitStack() as stack:
        registry = await _registry(settings, stack)
        outside = await _connect(settings, stack)
        metrics, bell = Metrics(), Bell()
        server = web.Application()
        checks: dict[str, Callable[[], Awaitable[Check]]] = {"database": _database_check(registry)}
        if roles.rounds:
            shop = _workshop(settings, registry, outside, metrics, bell, patience)
            rounds = _rounds(shop, metrics)
            bell.connect(rounds)
            checks["rounds"] = _rounds_check(rounds)
            # Entered first, left last: what is in hand ends after the intake has stopped.
            stack.push_async_callback(registry.release, shop.owner)
            stack.push_async_callback(rounds.stop, _GRACE_SECONDS)
            rounds.start()
        if roles.intake:
            desk = _desk(settings, registry, outside, bell)
            checks |= await _take_in(settings, stack, outside, desk, metrics, server)
            page = _page(
                registry, metrics, ProjectId(settings.docs_project_id), settings.analytics_calls_an_hour
            )
            add_health_routes(server, checks, page)
            await _listen(settings, stack, server)
        log.info("ready", socket_mode=settings.socket_mode, intake=roles.intake, rounds=roles.rounds)
        yield
        log.info("stopping")


async def migrate_database(settings: Settings) -> None:
    """Bring the database to this version's schema, and nothing else."""
    logs.configure(settings.log_level, settings.log_format, settings.secrets())
    engine = open_engine(settings.sqlalchemy_url)
    try:
        await migrate(engine)
    finally:
        await engine.dispose()


async def _registry(settings: Settings, stack: AsyncExitStack) -> Registry:
    engine = open_engine(settings.sqlalchemy_url)
    stack.push_async_callback(engine.dispose)
    await migrate(engine)
    return Registry(engine)


async def _connect(settings: Settings, stack: AsyncExitStack) -> Outside:
    session = await stack.enter_async_context(open_session())
    client = web_client(settings.slack_bot_token, settings.slack_api_url, session)
    docs = DocsClient.open(base_url=settings.docs_api_url, api_key=settings.docs_api_key)
    stack.push_async_callback(docs.aclose)
    identity = await identify(client)
    messenger = SlackMessenger(client, session, settings.slack_api_url, identity)
    return Outside(client, identity, messenger, docs)


def _desk(settings: Settings, registry: Registry, outside: Outside, bell: Bell) -> Desk:
    return Desk(
        registry=registry,
        clock=utc_now,
        wake=bell.ring,
        project=ProjectId(settings.docs_project_id),
        bot_user=outside.identity.bot_user,
        bot_name=outside.identity.bot_name,
        workspace_url=outside.identity.workspace_url,
        follow_ups=FollowUps(settings.follow_ups.value),
        analytics=_analytics(settings),
        admission=_admission(settings),
        uses_an_hour=settings.uses_an_hour,
    )


def _admission(settings: Settings) -> Admission:
    return Admission(
        channels=frozenset(map(ChannelId, settings.allowed_channels)),
        users=frozenset(map(UserId, settings.allowed_users)),
        groups=settings.allowed_user_groups,
        admins=frozenset(map(UserId, settings.admins)),
    )


def _analytics(settings: Settings) -> Analytics:
    return Analytics(settings.analytics_calls_an_hour, ZoneInfo(settings.analytics_zone))


def _workshop(
    settings: Settings,
    registry: Registry,
    outside: Outside,
    metrics: Metrics,
    bell: Bell,
    patience: Patience | None,
) -> Workshop:
    return Workshop(
        registry=registry,
        docs=outside.docs,
        messenger=outside.messenger,
        clock=utc_now,
        chance=random.random,
        owner=_owner(),
        bot_name=outside.identity.bot_name,
        project=ProjectId(settings.docs_project_id),
        wake=bell.ring,
        wake_after=bell.ring_after,
        pace=PollPace(settings.poll_min_seconds, settings.poll_max_seconds),
        patience=patience or Patience(),
        uses_an_hour=settings.uses_an_hour,
        analytics=_analytics(settings),
        admission=_admission(settings),
        count=metrics.count,
    )


def _rounds(shop: Workshop, metrics: Metrics) -> Rounds:
    """One look finds what comes due and what other processes write; a bell makes it look at once."""
    return Rounds(
        [
            Round("prepare", lambda: prepare_round(shop), 1.0, queue=Queue.REQUESTS),
            Round("submit", lambda: submit_round(shop), 1.0, queue=Queue.PROMPTS),
            Round("poll", lambda: poll_round(shop), 1.0, queue=Queue.POLLS),
            Round("deliver", lambda: deliver_round(shop), 1.0, queue=Queue.DELIVERIES),
            Round("read", lambda: read_round(shop), 1.0, queue=Queue.SNAPSHOTS),
            Round("answer", lambda: answer_round(shop), 1.0, queue=Queue.QUESTIONS),
            Round("digest", lambda: digest_round(shop), _DIGEST_SECONDS),
            Round("sweep", lambda: sweep_round(shop), _SWEEP_SECONDS, hears_bell=False),
        ],
        observe=metrics.observe_round,
        due=lambda: queues_due(shop),
        look_seconds=min(0.5, shop.pace.min_seconds / 2),
    )


async def _take_in(
    settings: Settings,
    stack: AsyncExitStack,
    outside: Outside,
    desk: Desk,
    metrics: Metrics,
    server: web.Application,
) -> dict[str, Callable[[], Awaitable[Check]]]:
    """Let requests in, through a socket or over HTTP; answers how to see that they can come."""
    background = Background()
    stack.push_async_callback(background.drain, _GRACE_SECONDS)
    listeners = Listeners(
        desk=desk,
        client=outside.client,
        messenger=outside.messenger,
        background=background,
        on_reply=heard_reply,
        on_mention=heard_mention,
        admit=lambda user: admit_or_not(desk.registry, outside.messenger, desk.admission, desk.clock, user),
        count=metrics.count,
    )
    app = build_app(
        client=outside.client,
        identity=outside.identity,
        token=settings.slack_bot_token,
        signing_secret=settings.slack_signing_secret,
        listeners=listeners,
        commands=COMMANDS,
    )
    if settings.slack_app_token is None:
        add_slack_routes(server, app, settings.slack_signing_secret or SecretStr(""))
        return {}
    intake = SocketIntake(app, outside.client, settings.slack_app_token)
    stack.push_async_callback(intake.close, _GRACE_SECONDS)
    await intake.open()
    return {"socket": _socket_check(intake)}


async def _listen(settings: Settings, stack: AsyncExitStack, server: web.Application) -> None:
    runner = web.AppRunner(server, access_log=None, shutdown_timeout=_GRACE_SECONDS)
    await runner.setup()
    stack.push_async_callback(runner.cleanup)
    await web.TCPSite(runner, port=settings.port).start()


def _page(
    registry: Registry, metrics: Metrics, project: ProjectId, calls_an_hour: int
) -> Callable[[], Awaitable[tuple[bytes, str]]]:
    async def page() -> tuple[bytes, str]:
        now = utc_now()
        async with registry.look() as tables:
            due_at = await tables.deliveries.next_due_at()
            backlog = Backlog(
                open_jobs=await tables.jobs.count_open(),
                oldest_delivery_seconds=(now - due_at).total_seconds() if due_at else 0.0,
                waiting_prompts=await tables.prompts.waiting_for_limit(project),
                uses=len(await tables.prompts.uses(project, now)),
                analytics_calls=(await tables.budget.look(project, calls_an_hour, now)).used,
                key_is_refused=await is_refused(tables, project),
            )
        metrics.set_backlog(backlog)
        return metrics.page()

    return page


def _database_check(registry: Registry) -> Callable[[], Awaitable[Check]]:
    async def check() -> Check:
        await registry.answers()
        return Check(True, "answers")

    return check


def _rounds_check(rounds: Rounds) -> Callable[[], Awaitable[Check]]:
    async def check() -> Check:
        late = rounds.late(_ROUND_LATE_SECONDS)
        return Check(not late, f"late: {', '.join(late)}" if late else "on time")

    return check


def _socket_check(intake: SocketIntake) -> Callable[[], Awaitable[Check]]:
    async def check() -> Check:
        connected = await intake.is_connected()
        about = f"last request {intake.silent_seconds():.0f} s ago"
        return Check(connected, about if connected else "not connected")

    return check
