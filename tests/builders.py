"""Builders for the rows and values that tests start with."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from pydantic import SecretStr
from sqlalchemy import Connection, RowMapping, update
from sqlalchemy.sql import Executable

from bot.access.admit import _MAKER, Allowed
from bot.ids import ChannelId, JobNumber, MessageTs, ProjectId, PromptId, RequestKey, UserId
from bot.jobs.model.jobs import TrackedJob
from bot.jobs.model.prompts import Prompt, PromptKind, PromptRequest
from bot.jobs.store.jobs import Jobs
from bot.jobs.store.prompts import Prompts
from bot.jobs.store.tables import jobs, prompts
from bot.outbox.model import Delivery
from bot.outbox.store import Outbox
from bot.ports import Origin
from bot.store import Claimer, Store, Transaction
from bot.store.database import Database
from bot.store.schema import metadata
from bot.store.upgrade import insert_installation

NOW = datetime(2026, 11, 2, 9, 0, tzinfo=UTC)
PROJECT = ProjectId("acme-docs")
CHANNEL = ChannelId("C0DOCS")
ANA = UserId("U0ANA")
BEN = UserId("U0BEN")


class HeldClock:
    """A clock that changes only when a test moves it."""

    def __init__(self, at: datetime = NOW) -> None:
        self.at = at

    def __call__(self) -> datetime:
        return self.at

    def pass_seconds(self, seconds: float) -> None:
        """Move the clock forward, or back if negative."""
        self.at += timedelta(seconds=seconds)


def claimer(owner: str = "one", at: datetime = NOW, lease_seconds: float = 60.0) -> Claimer:
    """Return a claimer: an owner of leases, with the time of its claim."""
    return Claimer(owner, at, lease_seconds)


class _MemoryDatabase(Database):
    """A database in memory. It is empty after ``close``, but its statements stay compiled."""

    async def close(self) -> None:
        await super().close()
        if self not in _SPARE:
            _SPARE.append(self)


_SPARE: list[_MemoryDatabase] = []
_SCHEMA: list[str] = []
"""The statements that create all tables in SQLite: compiling them takes longer than running them."""


async def new_store(database: Database | None = None) -> Store:
    """Open a store with all tables, in memory unless a database is given. Faster than ``upgrade_tables``."""
    if database is None:
        database = _SPARE.pop() if _SPARE else _MemoryDatabase.open("sqlite:///:memory:")
        await database.write(_create_in_memory)
    else:
        await database.write(_create)
    return Store(database)


def _create(connection: Connection) -> None:
    metadata.create_all(connection)
    insert_installation(connection, NOW - timedelta(days=365))


def _create_in_memory(connection: Connection) -> None:
    for statement in _SCHEMA:
        connection.exec_driver_sql(statement)
    if _SCHEMA:
        insert_installation(connection, NOW - timedelta(days=365))
    else:
        metadata.create_all(connection)
        # SQLite makes its own tables, such as that of the last numbers, by itself.
        rows = connection.exec_driver_sql(
            "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'"
        )
        _SCHEMA.extend(rows.scalars())
        insert_installation(connection, NOW - timedelta(days=365))


async def rows_of(store: Store, statement: Executable) -> Sequence[RowMapping]:
    """Return the rows of a query."""
    return await store.read(lambda tx: tx.connection.execute(statement).mappings().all())


async def execute(store: Store, statement: Executable) -> None:
    """Execute a statement in a transaction of its own."""
    await store.write(lambda tx: tx.connection.execute(statement).close())


def set_job(tx: Transaction, number: JobNumber, **values: Any) -> None:
    """Change columns of a job, without the checks of its lifecycle."""
    tx.connection.execute(update(jobs).where(jobs.c.number == number).values(values))


async def add_job(
    store: Store,
    *,
    channel: ChannelId = CHANNEL,
    requester: UserId = ANA,
    text: str = "Add a quickstart",
    asked_at: datetime = NOW,
    status_ts: str | None = None,
    **values: Any,
) -> JobNumber:
    """Store a job. ``values`` are written to its columns without the checks of its lifecycle."""

    def add(tx: Transaction) -> JobNumber:
        wanted = TrackedJob(JobNumber(0), PROJECT, channel, requester, text, asked_at)
        number = Jobs(tx).add(wanted)
        if status_ts or values:
            set_job(tx, number, status_ts=MessageTs(status_ts) if status_ts else None, **values)
        return number

    return await store.write(add)


def let_in(sent: Origin) -> Allowed:
    """Return a request of somebody who may, of whom nobody was asked."""
    return Allowed(sent, maker=_MAKER)


def origin(
    key: str = "k1", user: UserId = ANA, channel: ChannelId = CHANNEL, url: SecretStr | None = None
) -> Origin:
    """Where a request came from: typed by somebody in a channel."""
    return Origin(RequestKey(key), user, channel, response_url=url)


async def add_prompt(
    store: Store,
    job: JobNumber,
    *,
    key: str = "k1",
    kind: PromptKind = PromptKind.START,
    asked_by: UserId = ANA,
    raw: str = "Add a quickstart",
    asked_at: datetime = NOW,
    **values: Any,
) -> PromptId:
    """A prompt in the registry, changed as wanted."""
    new = Prompt.new(origin(key, asked_by), PromptRequest(raw), job, PROJECT, kind, asked_at)

    def add(tx: Transaction) -> PromptId:
        prompt = Prompts(tx).add(new)
        if values:
            tx.connection.execute(update(prompts).where(prompts.c.id == prompt).values(values))
        return prompt

    return await store.write(add)


def claim_waiting(tx: Transaction, who: Claimer, limit: int) -> Sequence[Prompt]:
    """Claim the first ``limit`` waiting prompts in the order of their arrival, as submitting does."""
    queue = Prompts(tx).quota_queue(PROJECT, who.now)
    return Prompts(tx).begin_sending(who, [waiting.id for waiting in queue[:limit]])


def claim_deliveries(tx: Transaction, who: Claimer, limit: int = 10) -> Sequence[Delivery]:
    """Claim the first ``limit`` deliveries that may go out, without Slack's paces."""
    ready = Outbox(tx).ready(who.now, ())
    return Outbox(tx).claim(who, [each.seq for each in ready[:limit]])
