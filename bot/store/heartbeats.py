"""Heartbeats: which processes run workers."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import Column, Table, func, select

from bot.store.schema import Id, Repository, UtcDateTime, insert_unless_there, metadata

heartbeats = Table(
    "heartbeats",
    metadata,
    Column("process", Id(80), primary_key=True),
    # Empty for a process without workers.
    Column("beat_at", UtcDateTime),
    Column("tried_at", UtcDateTime),
)
BEAT_SECONDS = 20.0
GONE_AFTER = timedelta(seconds=2.5 * BEAT_SECONDS)
"""A process whose last heartbeat is older was killed, or cannot write to the database."""
GONE_FOR = timedelta(minutes=10)
"""How long a process that is gone is still counted."""
_AHEAD = timedelta(minutes=1)
"""A heartbeat that lies further ahead was written by a clock that was ahead."""


class Heartbeats(Repository):
    """The heartbeats, within one transaction."""

    def record_beat(self, process: str, now: datetime) -> None:
        """Write that the process runs workers now. Its name is that of the owner of its leases."""
        self._write(process, "beat_at", now)

    def try_writing(self, process: str, now: datetime) -> None:
        """Write the time of a test that the database can be written."""
        self._write(process, "tried_at", now)

    def _write(self, process: str, name: str, at: datetime) -> None:
        mine = heartbeats.update().where(heartbeats.c.process == process)
        if not self.connection.execute(mine.values({name: at})).rowcount:
            insert_unless_there(self.connection, heartbeats, {"process": process, name: at})

    def last(self, now: datetime) -> dict[str, datetime]:
        """Return the last heartbeat of each process, of those that are gone only the latest."""
        recent = heartbeats.c.beat_at.between(now - GONE_AFTER - GONE_FOR, now + _AHEAD)
        rows = self.connection.execute(
            select(heartbeats.c.process, heartbeats.c.beat_at).where(recent)
        )
        return {row.process: row.beat_at for row in rows}

    def alive(self, now: datetime) -> int:
        """Return how many processes run workers."""
        return sum(at > now - GONE_AFTER for at in self.last(now).values())

    def end(self, process: str) -> None:
        """Note that a process stops in order, so that it does not count as gone."""
        mine = heartbeats.update().where(heartbeats.c.process == process)
        self.connection.execute(mine.values(beat_at=None))

    def forget(self, now: datetime) -> None:
        """Delete processes whose last heartbeat is more than a day old."""
        at = func.coalesce(heartbeats.c.beat_at, heartbeats.c.tried_at, type_=UtcDateTime)
        self.connection.execute(heartbeats.delete().where(at < now - timedelta(days=1)))
