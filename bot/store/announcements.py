"""Announcing new work to other processes on the same PostgreSQL; one process at a time runs on a SQLite.

With ``NOTIFY`` (https://www.postgresql.org/docs/current/sql-notify.html) and a separate connection that
listens. Announcements may get lost, because workers check the database every few seconds anyway.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress

import structlog
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from bot.store.database import Database
from bot.store.deadline import within

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
        while True:
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
