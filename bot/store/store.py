"""The registry: what survives a restart, behind one door.

Work is written in transactions. What belongs together (a job's new state and the delivery that tells
it) is written in one, so that a crash leaves either both or neither. The rules of claiming stand in
``claims.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

import structlog
from sqlalchemy import text
from sqlalchemy.engine import Connection
from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from bot.store.access import MemberRepository
from bot.store.budgets import BudgetRepository
from bot.store.database import CONNECTIONS, Database
from bot.store.digests import DigestRepository, SubscriptionRepository
from bot.store.due import Due, find_due
from bot.store.jobs import JobRepository
from bot.store.leases import release
from bot.store.outbox import OutboxRepository
from bot.store.pages import PageRepository
from bot.store.prompts import PromptRepository
from bot.store.questions import QuestionRepository
from bot.store.quota import BackOffRepository, QuotaRepository
from bot.store.schema import digests, jobs, prompts, questions, snapshots
from bot.store.snapshots import SnapshotRepository

log = structlog.get_logger(__name__)
Result = TypeVar("Result")
DatabaseTrouble = SQLAlchemyError
"""What every transaction may raise: the database is away, locked or full, or ended a deadlock."""


class AlreadyStored(Exception):
    """Two deliveries of one request arrived at the same moment; the other one has been stored."""


@dataclass(frozen=True, slots=True)
class Transaction:
    """The rows of every table, seen through one connection."""

    connection: Connection

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

    def __init__(self, database: Database) -> None:
        self.database = database

    @classmethod
    def open(cls, url: str, connections: int = CONNECTIONS) -> Store:
        """Open the store at a SQLAlchemy URL; the schema must be there (``migrate``)."""
        return cls(Database.open(url, connections))

    async def write(self, change: Callable[[Transaction], Result]) -> Result:
        """Run a function whose writes are kept all together, or not at all when it raises.

        It runs in a thread of the database's own, so it must touch nothing else that other threads use.
        Raises AlreadyStored when a unique key was taken by somebody else at the same moment, and
        DatabaseTrouble.
        """
        try:
            return await self.database.write(lambda connection: change(Transaction(connection)))
        except IntegrityError as error:
            # The driver's message quotes the row; it must not travel further.
            raise AlreadyStored(type(error.orig).__name__) from None

    async def read(self, look: Callable[[Transaction], Result]) -> Result:
        """Run a function that only reads; writers do not wait for it. Raises DatabaseTrouble."""
        return await self.database.read(lambda connection: look(Transaction(connection)))

    async def find_due(self, clock: Callable[[], datetime]) -> Due:
        """Return which queues have something due, and when the next row comes due."""
        return await self.database.read(lambda connection: find_due(connection, clock()))

    async def release(self, owner: str) -> None:
        """Give back what this owner holds and has not begun, so that others need not wait for the lease.

        A database that is away at that moment is no error: the leases run out by themselves.
        """
        try:
            await self.database.write(lambda connection: _release_all(connection, owner))
        except DatabaseTrouble as error:
            log.warning("not_released", reason=type(error).__name__)

    async def check(self) -> None:
        """Raise DatabaseTrouble unless the database answers."""
        await self.database.read(lambda connection: connection.execute(text("SELECT 1")).close())

    async def close(self) -> None:
        """Close the database."""
        await self.database.close()


def _release_all(connection: Connection, owner: str) -> None:
    for table in (jobs, prompts, snapshots, questions, digests):
        release(connection, table, owner)
