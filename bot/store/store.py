"""The store: the one entry point to everything that survives a restart.

All writes happen in transactions. Changes that belong together (a job's new state and the delivery
that announces it) share one transaction, so that a crash leaves both or neither. ``leases.py`` has
the rules for claiming rows.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import TypeVar

import structlog
from sqlalchemy import and_
from sqlalchemy.engine import Connection
from sqlalchemy.exc import DBAPIError, IntegrityError, SQLAlchemyError

from bot.store.database import MAX_CONNECTIONS, Database, Pool
from bot.store.leases import FREE_LEASE
from bot.store.queues import QUEUE_TABLES, DueQueues, find_due
from bot.store.schema import Transaction
from bot.store.upgrade import INSTALLATION

log = structlog.get_logger(__name__)
Result = TypeVar("Result")
_RELEASE_SECONDS = 1.0
DatabaseTrouble = SQLAlchemyError
"""The error that any transaction may raise: database unreachable, locked or full."""


_MISTAKE_CODES = ("22", "42")
"""Classes of errors that a wrong statement or value causes.

https://www.postgresql.org/docs/current/errcodes-appendix.html
"""
_MISSING_CODES = ("42501", "42P01")
"""Errors of these classes that an operator causes: a missing right, and a missing table."""


class WrongStatement(Exception):
    """The database refused a statement or a value, which no retry mends.

    It is a mistake of the bot.

    So is a second row with a unique key, since no other transaction writes between a look and its
    insert.
    """


def _check_statement(error: DBAPIError) -> None:
    """Raise WrongStatement if an error is a mistake of the bot."""
    state = getattr(error.orig, "sqlstate", None) or ""
    is_mistake = isinstance(error, IntegrityError) or state.startswith(_MISTAKE_CODES)
    if is_mistake and state not in _MISSING_CODES:
        # The driver's message may quote a value, which must not reach a log.
        raise WrongStatement(f"{type(error.orig).__name__}: {error.statement}") from None


def _add_nothing(_tx: Transaction) -> None:
    """Add nothing to a transaction: the default."""


class Store:
    """The transactions of one process.

    Several processes may share a database.
    """

    def __init__(self, database: Database) -> None:
        self.database = database
        self.before_commit: Callable[[Transaction], None] = _add_nothing
        """Adds the consequences of changed rows to their transaction."""

    @classmethod
    def open(
        cls, url: str, connections: int = MAX_CONNECTIONS, pool: Pool = ThreadPoolExecutor
    ) -> Store:
        """Open the store at a SQLAlchemy URL.

        The tables must exist already (``upgrade_tables``).
        """
        return cls(Database.open(url, connections, pool))

    async def write(self, change: Callable[[Transaction], Result]) -> Result:
        """Run ``change`` in a transaction, and return its result.

        The transaction is rolled back if ``change`` raises.

        ``change`` runs in a database thread, so it must not touch anything that other threads use.
        It may run twice: of those only the last is committed. Raises DatabaseTrouble.
        """

        def run(connection: Connection) -> Result:
            tx = Transaction(connection)
            result = change(tx)
            if tx.changed:
                self.before_commit(tx)
            return result

        try:
            return await self.database.write(run)
        except DBAPIError as error:
            _check_statement(error)
            raise

    async def read(self, query: Callable[[Transaction], Result]) -> Result:
        """Run ``query``, which only reads; it does not block writers. Raises DatabaseTrouble."""
        try:
            return await self.database.read(lambda connection: query(Transaction(connection)))
        except DBAPIError as error:
            _check_statement(error)
            raise

    async def find_due(self, clock: Callable[[], datetime]) -> DueQueues:
        """Return the queues with due rows, and the next due time."""
        return await self.database.read(lambda connection: find_due(connection, clock()))

    async def release(self, owner: str) -> list[str]:
        """Free this owner's leases for others.

        Leases on rows that are being sent are not freed.

        Return the names of failed steps. A database that fails is only logged, since the leases
        expire by themselves.
        """
        try:
            async with asyncio.timeout(_RELEASE_SECONDS):
                await self.database.try_writing(lambda connection: _release_all(connection, owner))
        except (DatabaseTrouble, TimeoutError) as error:
            log.warning("leases_not_freed", reason=type(error).__name__)
            return ["leases"]
        return []

    async def forget(self, change: Callable[[Transaction], Result]) -> Result:
        """Write, and remove copies of erased values from SQLite's log."""
        result = await self.write(change)
        await self.database.empty_log()
        return result

    async def try_writing(self, now: datetime) -> None:
        """Write the time into the row about the database.

        Raises DatabaseTrouble if the database cannot be written.

        A cancelled caller returns at once, also while the database hangs.
        """

        def run(connection: Connection) -> None:
            connection.execute(INSTALLATION.update().values(checked_at=now)).close()

        await self.database.try_writing(run)

    async def close(self) -> None:
        await self.database.close()


def _release_all(connection: Connection, owner: str) -> None:
    """Free this owner's leases, except on rows in state *sending*. These may have been sent
    already; the next claimer recognises them by their expired
    lease.
    """
    for queue in QUEUE_TABLES:
        is_leased = "claimed_by" in queue.table.c and not queue.table.info.get("is_long")
        if is_leased and queue.due is not None:
            # Only rows that are in the queue, since the others are many.
            is_held = and_(
                queue.table.c.claimed_by == owner, queue.is_queued, queue.due.is_not(None)
            )
            connection.execute(queue.table.update().where(is_held).values(FREE_LEASE))
