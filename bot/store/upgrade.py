"""The upgrade of a database's tables to this version, or the refusal of an unknown database.

An empty database gets all revisions, one of an earlier version those that it lacks, in one
transaction. A later database is used as it is, since revisions only add: so one can go back to the
version before. Everything else is refused with its remedy.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from enum import StrEnum
from functools import partial
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, cast

import structlog
from sqlalchemy import Column, Integer, Table, inspect, select
from sqlalchemy.engine import Connection
from sqlalchemy.exc import DataError, IntegrityError, ProgrammingError

from bot.store.database import Database, explain_error
from bot.store.schema import Id, Transaction, UtcDateTime, metadata
from bot.store.sqlite_files import UnusableDatabase

if TYPE_CHECKING:
    from alembic.config import Config

log = structlog.get_logger(__name__)
INSTALLATION = Table(
    "installation",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    # Earlier messages are not read again after an outage.
    Column("installed_at", UtcDateTime, nullable=False),
    # The key of hashes of people's words, which nobody has to keep or to change.
    Column("hash_key", Id(64), nullable=False),
    # When a process last checked that the database can be written.
    Column("checked_at", UtcDateTime),
)
"""The table with the one row about a database itself."""
VERSION_TABLE = "revision"
"""Alembic's own table, with the revision of a database."""
REVISIONS = Path(__file__).parent / "revisions"
"""The folder of Alembic's files."""
_IDLE_SECONDS = 20
"""The longest silence of an upgrade within its transaction, also on a busy machine.

It imports Alembic and the revisions meanwhile. It is less than the 30 s for which others wait.
"""
_FILE_PATTERN = re.compile(r"r([0-9]{4})\.py")
_REVISION_PATTERN = re.compile(r"[0-9]{4}")
"""A released revision is a number. Those before 1.0.0 had also a hash of their tables."""


class Tables(StrEnum):
    """The state of a database's tables, compared with this version."""

    NONE = "none"
    EARLIER = "earlier"
    CURRENT = "current"
    LATER = "later"

    @property
    def are_usable(self) -> bool:
        return self in (Tables.CURRENT, Tables.LATER)


def _utc_now() -> datetime:
    return datetime.now(UTC)


def list_revisions(folder: Path = REVISIONS) -> list[str]:
    """Return the revisions of this version, the oldest first."""
    names = (_FILE_PATTERN.fullmatch(path.name) for path in (folder / "versions").iterdir())
    return sorted(name[1] for name in names if name)


def find_tables(connection: Connection, folder: Path = REVISIONS) -> Tables:
    """Return the state of a database's tables.

    Raises UnusableDatabase for tables of an unreleased version or of another program, and for an
    encoding other than UTF-8.
    """
    _check_encoding(connection)
    known = list_revisions(folder)
    names = set(inspect(connection).get_table_names())
    if VERSION_TABLE in names:
        rows = connection.exec_driver_sql(f"SELECT version_num FROM {VERSION_TABLE}").scalars()  # noqa: S608
        found = [str(row) for row in rows]
        tables = _compare(found[0], known) if len(found) == 1 else None
        if tables is not None:
            return tables
    elif names.isdisjoint(metadata.tables):
        return Tables.NONE
    raise _make_refusal(connection)


def _check_encoding(connection: Connection) -> None:
    if connection.dialect.name != "postgresql":
        return
    encoding = connection.exec_driver_sql("SHOW server_encoding").scalar_one()
    if encoding != "UTF8":
        raise UnusableDatabase(
            f"The database has the encoding {encoding}, in which not every text can be stored: "
            "make one with CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0, and name it "
            "in DATABASE_URL."
        )


def _compare(found: str, known: list[str]) -> Tables | None:
    """Return whether a revision is earlier, current or later; None for an unreleased one."""
    if found == known[-1]:
        return Tables.CURRENT
    if found in known:
        return Tables.EARLIER
    if _REVISION_PATTERN.fullmatch(found) and int(found) > int(known[-1]):
        return Tables.LATER
    return None


def _make_refusal(connection: Connection) -> UnusableDatabase:
    remedy = "name an empty database in DATABASE_URL"
    if connection.dialect.name == "sqlite":
        remedy = "move its file and those beside it to another folder"
    return UnusableDatabase(
        "The database was made by a version of the bot that was never released, whose tables "
        f"differ: go on with that version, or {remedy}, and this one starts anew."
    )


def installed_at(tx: Transaction) -> datetime:
    """Return when the database was made."""
    return cast("datetime", tx.connection.execute(select(INSTALLATION.c.installed_at)).scalar_one())


def hash_key(tx: Transaction) -> bytes:
    """Return the random key of the database's hashes of people's words."""
    key = tx.connection.execute(select(INSTALLATION.c.hash_key)).scalar_one()
    return bytes.fromhex(cast("str", key))


async def upgrade_tables(
    database: Database, clock: Callable[[], datetime] = _utc_now, folder: Path = REVISIONS
) -> None:
    """Give a database the tables of this version. Several processes may do it at once.

    All missing revisions are one transaction, under the writer's lock: a process that is killed
    leaves the tables as they were.

    Args:
        database: the database.
        clock: returns the time of its beginning.
        folder: where the revisions are.

    Raises UnusableDatabase as ``find_tables``, and where the tables cannot be created or changed.
    """
    try:
        tables = await database.read(lambda connection: find_tables(connection, folder))
    except UnusableDatabase as error:
        log.error("database_unusable", advice=str(error))
        raise
    if tables is Tables.LATER:
        log.warning(
            "database_of_later_version",
            advice="This version goes on with it; what only the later version stores stays empty.",
        )
    if tables.are_usable:
        return
    try:
        await database.write(partial(upgrade, now=clock(), folder=folder))
    except (ProgrammingError, IntegrityError, DataError) as error:
        raise UnusableDatabase(
            f"The bot's tables cannot be created ({explain_error(error).cause}): "
            "let the user of DATABASE_URL create and change tables."
        ) from None
    log.info("database_upgraded", before=tables.value, revision=list_revisions(folder)[-1])


def upgrade(connection: Connection, *, now: datetime, folder: Path = REVISIONS) -> None:
    """Run the missing revisions of a database, within the caller's transaction.

    Raises UnusableDatabase as ``find_tables``.
    """
    tables = find_tables(connection, folder)
    if tables.are_usable:
        return  # another process has upgraded it
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(
            f"SET LOCAL idle_in_transaction_session_timeout = '{_IDLE_SECONDS}s'"
        )
    # Imported here, as only the first start of a version needs it.
    from alembic import command

    command.upgrade(revision_config(connection, folder), "head")
    if tables is Tables.NONE:
        insert_installation(connection, now)


def revision_config(connection: Connection, folder: Path = REVISIONS) -> Config:
    """Return Alembic's configuration for a connection."""
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(folder).replace("%", "%%"))
    config.attributes["connection"] = connection
    return config


def insert_installation(connection: Connection, now: datetime) -> None:
    """Insert the row about a new database, with its time and key."""
    row = {"id": 1, "installed_at": now, "hash_key": token_hex(32)}
    connection.execute(INSTALLATION.insert(), row)
