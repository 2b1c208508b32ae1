"""Heartbeats: which processes run workers, and whether the clock was set back.

A clock that was ahead leaves times behind that have not come yet when it is set back: leases, due times,
back-offs, paces, and moments at which something happened. They would hold their rows until the clock comes
there, and uses of an hourly limit would count for hours.

Each process with workers writes a heartbeat, which stays when it stops. One that lies ahead was written
before the clock was set back and says by how much, to about 20 seconds. With several machines it may also be
that one's clock is ahead of another's.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from math import ceil

import structlog
from sqlalchemy import BindParameter, Column, ColumnElement, bindparam, func, or_, select, text
from sqlalchemy.engine import Connection
from sqlalchemy.exc import SQLAlchemyError

from bot.store.columns import AnyTable, Repository, UtcDateTime, insert_unless_there
from bot.store.database import Database
from bot.store.deadline import within
from bot.store.schema import (
    audit,
    back_offs,
    heartbeats,
    jobs,
    limits,
    metadata,
    paces,
    prompts,
    subscriptions,
)

TOLERATED = timedelta(minutes=2)
"""Times that lie less far ahead come by themselves. Longer than a lease, so that no lease is cut short that
was taken since the clock was set back."""
TOO_LATE: BindParameter[datetime] = bindparam("time_too_late", type_=UtcDateTime)
"""The present with what is tolerated, in a statement that is built once."""
_WEEK = timedelta(days=7)
_FIRST = (heartbeats, limits, back_offs, prompts, jobs, paces)
"""Rows are locked in this order, those of the other tables after them."""
_PLANNED = (jobs.c.remind_at, subscriptions.c.next_run_at)
"""Days ahead, so the clock is no measure of them."""
_TIMES = {
    table: [column for column in table.c if isinstance(column.type, UtcDateTime) and column not in _PLANNED]
    for table in dict.fromkeys((*_FIRST, *metadata.tables.values()))
    if table is not audit
}


def is_ahead() -> ColumnElement[bool]:
    """Return the condition that a heartbeat lies ahead of the clock."""
    return or_(heartbeats.c.beat_at > TOO_LATE, heartbeats.c.tried_at > TOO_LATE)


_AHEAD = select(heartbeats.c.beat_at, heartbeats.c.tried_at).where(is_ahead()).order_by(heartbeats.c.process)
_LOCK_AHEAD = _AHEAD.with_for_update()


def _move(
    connection: Connection,
    table: AnyTable,
    columns: list[Column[object]],
    too_late: datetime,
    ahead: timedelta,
) -> None:
    key = next(iter(table.primary_key.columns))
    wanted = select(key, *columns).where(or_(*(column > too_late for column in columns)))
    for row, *times in connection.execute(wanted.order_by(key).with_for_update()).all():
        moved = {
            column.key: at - ahead
            for column, at in zip(columns, times, strict=True)
            if at is not None and at > too_late
        }
        connection.execute(table.update().where(key == row).values(moved))


def _plan_again(connection: Connection, now: datetime) -> None:
    """Let the next run of each subscription be within a week, at the same time of the week."""
    next_run_at = subscriptions.c.next_run_at
    late = select(subscriptions.c.id, next_run_at).where(next_run_at > now + _WEEK + TOLERATED)
    for row in connection.execute(late.order_by(subscriptions.c.id).with_for_update()).all():
        weeks = ceil((row.next_run_at - now) / _WEEK) - 1
        mine = subscriptions.update().where(subscriptions.c.id == row.id)
        connection.execute(mine.values(next_run_at=row.next_run_at - weeks * _WEEK))


BEAT_SECONDS = 20.0
GONE_AFTER = timedelta(seconds=2.5 * BEAT_SECONDS)
"""A process whose last heartbeat is older was killed, or cannot write to the database."""
GONE_FOR = timedelta(minutes=10)
"""For how long a process that is gone is still told of."""


class HeartbeatRepository(Repository):
    """The heartbeats, within one transaction."""

    def beat(self, process: str, now: datetime) -> None:
        """Write that the process runs workers now. Its name is that of the owner of its leases."""
        self._write(process, "beat_at", now)

    def try_writing(self, process: str, now: datetime) -> None:
        """Write something that nobody reads, to see whether the database can be written."""
        self._write(process, "tried_at", now)

    def _write(self, process: str, name: str, at: datetime) -> None:
        # One that lies ahead tells that the clock was set back, until the times have been moved back.
        come = or_(heartbeats.c[name].is_(None), heartbeats.c[name] <= at + TOLERATED)
        known = heartbeats.update().where(heartbeats.c.process == process, come)
        if not self.connection.execute(known.values({name: at})).rowcount:
            insert_unless_there(self.connection, heartbeats, {"process": process, name: at})

    def move_back(self, now: datetime, ahead: timedelta | None = None) -> timedelta | None:
        """Move all times that lie ahead back by as much as the clock was set back; return how much that is.

        Return None when it was not. Reminders stay; the next run of a subscription comes within a week.
        ``ahead``: by how much it was, if that is known. If no heartbeat says so, as when all has been moved
        already, only times are moved that were read from the clock just before it was set back.
        """
        # The rows are locked, so that of several processes one moves the times.
        found = self.connection.execute(_LOCK_AHEAD, {TOO_LATE.key: now + TOLERATED}).all()
        if found and ahead is None:
            ahead = max(at for row in found for at in row if at is not None) - now
        if ahead is None:
            return None
        too_late = now + (TOLERATED if found else max(TOLERATED, ahead - TOLERATED))
        for table, columns in _TIMES.items():
            if columns:
                _move(self.connection, table, columns, too_late, ahead)
        _plan_again(self.connection, now)
        return ahead

    def last(self, now: datetime) -> dict[str, datetime]:
        """Return the last heartbeat of each process, of those that are gone only the latest."""
        recent = heartbeats.c.beat_at > now - GONE_AFTER - GONE_FOR
        rows = self.connection.execute(select(heartbeats.c.process, heartbeats.c.beat_at).where(recent))
        return {row.process: row.beat_at for row in rows}

    def alive(self, now: datetime) -> int:
        """Return how many processes run workers."""
        return sum(at > now - GONE_AFTER for at in self.last(now).values())

    def end(self, process: str) -> None:
        """Note that a process stops in order, so that it does not count as gone.

        The time of its last heartbeat is kept, in case the clock is set back before the next process starts.
        """
        ended = {"tried_at": func.coalesce(heartbeats.c.beat_at, heartbeats.c.tried_at), "beat_at": None}
        self.connection.execute(heartbeats.update().where(heartbeats.c.process == process).values(ended))

    def forget(self, now: datetime) -> None:
        """Remove the processes that are of no interest any more."""
        at = func.coalesce(heartbeats.c.beat_at, heartbeats.c.tried_at, type_=UtcDateTime)
        self.connection.execute(heartbeats.delete().where(at < now - timedelta(days=1)))


log = structlog.get_logger(__name__)
_CHANNEL = "docs_bot_work"
_CHECK_SECONDS = 1.0
_RETRY_SECONDS = 5.0


class Announcer:
    """Announces work to the workers of other processes, for a process without workers."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._task: asyncio.Task[None] | None = None
        self._again = False

    def wake(self) -> None:
        """Announce new work. Calls made during an announcement are combined into one further announcement."""
        if not self._database.is_postgresql:
            return
        if self._task is not None and not self._task.done():
            self._again = True
            return
        self._task = asyncio.get_running_loop().create_task(self._announce())

    async def _announce(self) -> None:
        # What is written after the end opens another connection, which nobody closes.
        while not self._database.is_closed:
            self._again = False
            try:
                with within(None):  # begun by a request, and goes on for others
                    await self._database.write(
                        lambda connection: connection.execute(text(f"NOTIFY {_CHANNEL}"))
                    )
            except SQLAlchemyError as error:
                log.info("not_announced", reason=type(error).__name__)
            if not self._again:
                return


class Listener:
    """Calls ``announced`` in the event loop when another process may have written work."""

    def __init__(self, database: Database, announced: Callable[[], None]) -> None:
        self._database = database
        self._announced = announced
        self._loop = asyncio.get_running_loop()
        self._stopped = threading.Event()

    def start(self) -> None:
        """Start listening. Does nothing for SQLite, on which no other process runs."""
        if self._database.is_postgresql:
            threading.Thread(target=self._listen, name="database listen", daemon=True).start()

    def stop(self) -> None:
        """Stop listening; the listening thread ends about a second later."""
        self._stopped.set()

    def _listen(self) -> None:
        while not self._stopped.is_set():
            try:
                self._listen_once()
            except Exception as error:  # logged; meanwhile the regular check finds new work
                log.info("not_listening", reason=type(error).__name__)
                self._stopped.wait(_RETRY_SECONDS)

    def _listen_once(self) -> None:
        with self._database.postgres_connection() as connection:
            connection.execute(f"LISTEN {_CHANNEL}")
            while not self._stopped.is_set():
                for _ in connection.notifies(timeout=_CHECK_SECONDS, stop_after=1):
                    # The loop may have been closed in the meantime.
                    with suppress(RuntimeError):
                        self._loop.call_soon_threadsafe(self._announced)
