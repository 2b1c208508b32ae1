"""Heartbeats: which processes run workers, so that one that was killed is seen to be gone."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

from sqlalchemy import delete, func, or_, select, update

from bot.store.columns import Repository, UtcDateTime
from bot.store.schema import heartbeats
from bot.store.set_back import TOLERATED
from bot.store.upsert import insert_unless_there

BEAT_SECONDS = 20.0
GONE_AFTER = timedelta(seconds=2.5 * BEAT_SECONDS)
"""A process whose last heartbeat is older was killed, or cannot write to the database."""
GONE_FOR = timedelta(minutes=10)
"""For how long a process that is gone is still told of."""


class HeartbeatRepository(Repository):
    """The heartbeats, within one transaction."""

    def beat(self, process: str, now: datetime) -> None:
        """Write that the process runs workers now. Its name is that of the owner of its leases."""
        self._write(process, {"beat_at": now})

    def try_writing(self, process: str, now: datetime) -> None:
        """Write something that nobody reads, to see whether the database can be written."""
        self._write(process, {"tried_at": now})

    def _write(self, process: str, values: Mapping[str, datetime]) -> None:
        # One that lies ahead tells that the clock was set back, until the times have been moved back.
        come = (
            or_(heartbeats.c[name].is_(None), heartbeats.c[name] <= at + TOLERATED)
            for name, at in values.items()
        )
        known = update(heartbeats).where(heartbeats.c.process == process, *come)
        if not self.connection.execute(known.values(**values)).rowcount:
            insert_unless_there(self.connection, heartbeats, {"process": process, **values})

    def last(self, now: datetime) -> dict[str, datetime]:
        """Return the last heartbeat of each process, of those that are gone only the latest."""
        recent = heartbeats.c.beat_at > now - GONE_AFTER - GONE_FOR
        rows = self.connection.execute(select(heartbeats.c.process, heartbeats.c.beat_at).where(recent))
        return {row.process: row.beat_at for row in rows}

    def end(self, process: str) -> None:
        """Note that a process stops in order, so that it does not count as gone.

        The time of its last heartbeat is kept, in case the clock is set back before the next process starts.
        """
        ended = {"tried_at": func.coalesce(heartbeats.c.beat_at, heartbeats.c.tried_at), "beat_at": None}
        self.connection.execute(update(heartbeats).where(heartbeats.c.process == process).values(ended))

    def forget(self, now: datetime) -> None:
        """Remove the processes that are of no interest any more."""
        at = func.coalesce(heartbeats.c.beat_at, heartbeats.c.tried_at, type_=UtcDateTime)
        self.connection.execute(delete(heartbeats).where(at < now - timedelta(days=1)))
