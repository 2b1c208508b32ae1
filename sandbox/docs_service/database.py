"""Run SQLite in one thread, so that the event loop never waits for the disk."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class Database:
    """Runs functions of a `sqlite3.Connection` one after the other, each in its own transaction."""

    def __init__(self, path: Path, schema: str) -> None:
        self._path = path
        self._schema = schema
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix=path.stem)
        self._connection: sqlite3.Connection | None = None

    async def run(
        self,
        work: Callable[Concatenate[sqlite3.Connection, P], T],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Run `work` in a transaction and return its result; roll back if it raises."""

        def transact() -> T:
            connection = self._open()
            with connection:
                return work(connection, *args, **kwargs)

        return await asyncio.get_running_loop().run_in_executor(self._thread, transact)

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            # Prompts are for this user alone. SQLite gives the files beside it the same rights.
            self._path.touch(0o600)
            self._connection = sqlite3.connect(self._path, check_same_thread=False)
            self._connection.row_factory = sqlite3.Row
            self._connection.execute("PRAGMA journal_mode=WAL")
            # A killed process loses nothing in WAL mode with NORMAL; only a power cut can.
            # https://www.sqlite.org/pragma.html#pragma_synchronous
            self._connection.execute("PRAGMA synchronous=NORMAL")
            self._connection.execute("PRAGMA foreign_keys=ON")
            self._connection.executescript(self._schema)
        return self._connection

    async def close(self) -> None:
        """Close the file after the current function; the next `run` opens it again."""
        await asyncio.get_running_loop().run_in_executor(self._thread, self._close)

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
