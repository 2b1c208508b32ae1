"""The registry: what survives a restart, behind one door.

Work is written in transactions. What belongs together (a job's new state and the delivery that tells
it) is written in one, so that a crash leaves either both or neither. The rules of claiming stand in
``claims.py``.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import structlog
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError, SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from bot.store.access import MemberRepository
from bot.store.back_offs import BackOffRepository
from bot.store.budgets import BudgetRepository
from bot.store.database import open_engine, reading
from bot.store.digests import DigestRepository, SubscriptionRepository
from bot.store.jobs import JobRepository
from bot.store.leases import release
from bot.store.outbox import OutboxRepository
from bot.store.pages import PageRepository
from bot.store.prompts import PromptRepository
from bot.store.questions import QuestionRepository
from bot.store.quota import QuotaRepository
from bot.store.schema import digests, jobs, prompts, questions, snapshots
from bot.store.snapshots import SnapshotRepository

log = structlog.get_logger(__name__)
DatabaseTrouble = SQLAlchemyError
"""What every transaction may raise: the database is away, locked or full, or ended a deadlock."""


class AlreadyStored(Exception):
    """Two deliveries of one request arrived at the same moment; the other one has been stored."""


@dataclass(frozen=True, slots=True)
class Transaction:
    """The rows of every table, seen through one connection."""

    connection: AsyncConnection

    @property
    def jobs(self) -> JobRepository:
        """Tracked jobs."""
        return JobRepository(self.connection)

    @property
    def prompts(self) -> PromptRepository:
        """What people asked."""
        return PromptRepository(self.connection)

    @property
    def outbox(self) -> OutboxRepository:
        """The outbox."""
        return OutboxRepository(self.connection)

    @property
    def back_offs(self) -> BackOffRepository:
        """Projects to be left alone for a while."""
        return BackOffRepository(self.connection)

    @property
    def quota(self) -> QuotaRepository:
        """The shared limit of each project."""
        return QuotaRepository(self.connection)

    @property
    def members(self) -> MemberRepository:
        """What has been found out about people."""
        return MemberRepository(self.connection)

    @property
    def snapshots(self) -> SnapshotRepository:
        """Stored answers of the analytics API."""
        return SnapshotRepository(self.connection)

    @property
    def pages(self) -> PageRepository:
        """The pages in those answers, ranked and compared."""
        return PageRepository(self.connection)

    @property
    def budget(self) -> BudgetRepository:
        """The hourly budget of analytics calls."""
        return BudgetRepository(self.connection)

    @property
    def questions(self) -> QuestionRepository:
        """What people want to know about visitors."""
        return QuestionRepository(self.connection)

    @property
    def subscriptions(self) -> SubscriptionRepository:
        """Which channels get a weekly digest."""
        return SubscriptionRepository(self.connection)

    @property
    def digests(self) -> DigestRepository:
        """The digests to be made."""
        return DigestRepository(self.connection)


class Store:
    """What survives a restart. One for each process; several processes may share a database."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine

    @classmethod
    def open(cls, url: str) -> Store:
        """A registry on the database at a SQLAlchemy URL; the schema must be there (``migrate``)."""
        return cls(open_engine(url))

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Transaction]:
        """Everything written inside is written together, or not at all.

        Raises AlreadyStored when a unique key was taken by somebody else at the same moment.
        Nothing slow may be awaited inside: on SQLite all other writers wait.
        """
        try:
            async with self._engine.begin() as connection:
                yield Transaction(connection)
        except IntegrityError as error:
            # The driver's message quotes the row; it must not travel further.
            raise AlreadyStored(type(error.orig).__name__) from None

    @asynccontextmanager
    async def look(self) -> AsyncIterator[Transaction]:
        """For reading only."""
        async with reading(self._engine) as connection:
            yield Transaction(connection)

    async def release(self, owner: str) -> None:
        """Give back what this owner holds and has not begun, so that others need not wait for the lease.

        A database that is away at that moment is no error: the leases run out by themselves.
        """
        try:
            async with self._engine.begin() as connection:
                for table in (jobs, prompts, snapshots, questions, digests):
                    await release(connection, table, owner)
        except DatabaseTrouble as error:
            log.warning("not_released", reason=type(error).__name__)

    async def answers(self) -> None:
        """Raise unless the database answers."""
        async with reading(self._engine) as connection:
            await connection.execute(text("SELECT 1"))

    async def close(self) -> None:
        """Let go of the database."""
        await self._engine.dispose()
