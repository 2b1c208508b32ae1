"""The creation of the tables, and their stamp: a hash of themselves.

While the tables still change from version to version, none is altered: a database with other tables
is refused, and its owner chooses between the version that made it and an empty one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import cache, partial
from hashlib import sha256
from secrets import token_hex
from typing import cast

import structlog
from sqlalchemy import Column, MetaData, String, Table, UniqueConstraint, inspect, select, text
from sqlalchemy.dialects import sqlite
from sqlalchemy.engine import Connection
from sqlalchemy.exc import DataError, IntegrityError, ProgrammingError

from bot.store.database import Database, explain_error
from bot.store.schema import AnyTable, Transaction, UtcDateTime, metadata
from bot.store.sqlite_files import UnusableDatabase

log = structlog.get_logger(__name__)
STAMPS = Table(
    "stamp",
    MetaData(),
    Column("hash", String(64), primary_key=True),
    # The bot has missed nothing that was written before.
    Column("begun_at", UtcDateTime, nullable=False),
    # The key of hashes of people's words, which nobody has to keep or to change.
    Column("words_key", String(64), nullable=False),
    # When a process last checked that the database can be written.
    Column("checked_at", UtcDateTime),
)
"""The table with the one stamp of a database, and the time of its beginning."""


def _utc_now() -> datetime:
    return datetime.now(UTC)


_TYPES = sqlite.dialect().type_compiler_instance
"""Describes the types of columns in SQLite's words, whichever database has them."""


@cache
def stamp() -> str:
    """Return the hash of this version's tables, the same on both databases.

    Every subject must have declared its tables (`bot.app` imports them all).
    """
    return sha256(describe(metadata).encode()).hexdigest()


def describe(tables: MetaData) -> str:
    """Return the tables as a text.

    It is the same for two versions that can share a database.
    """
    lines = list[str]()
    for name in sorted(tables.tables):
        table = tables.tables[name]
        lines += [f"table {name}", *_column_lines(table), *sorted(_constraint_lines(table))]
    return "\n".join(lines)


def _column_lines(table: AnyTable) -> Iterator[str]:
    for column in table.columns:
        words = [
            column.name,
            _TYPES.process(column.type),
            "null" if column.nullable else "not null",
        ]
        if column.primary_key:
            words.append("key")
        if column.server_default is not None:
            words.append(f"default {column.server_default.arg}")  # type: ignore[attr-defined]
        words += [f"references {key.target_fullname}" for key in column.foreign_keys]
        yield f"  {' '.join(words)}"


def _constraint_lines(table: AnyTable) -> Iterator[str]:
    for index in table.indexes:
        kind = "unique index" if index.unique else "index"
        columns = ", ".join(str(column) for column in index.expressions)
        condition = f" where {index.info['where']}" if index.info else ""
        yield f"  {kind} {index.name} on {columns}{condition}"
    for constraint in table.constraints:
        if isinstance(constraint, UniqueConstraint):
            yield f"  unique {', '.join(constraint.columns.keys())}"


def has_tables(connection: Connection) -> bool:
    """Return whether a database has this version's tables.

    Returns False for an empty database.

    Raises UnusableDatabase for tables of another version, and for an encoding but UTF-8.
    """
    if connection.dialect.name == "postgresql":
        encoding = connection.exec_driver_sql("SHOW server_encoding").scalar_one()
        if encoding != "UTF8":
            raise UnusableDatabase(
                f"The database has the encoding {encoding}, in which not every text can be stored: "
                "make one with CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0, and name it "
                "in DATABASE_URL."
            )
    names = set(inspect(connection).get_table_names())
    if STAMPS.name in names:
        if connection.execute(select(STAMPS.c.hash)).scalars().all() == [stamp()]:
            return True
    elif names.isdisjoint(metadata.tables):
        return False
    remedy = "name an empty database in DATABASE_URL"
    if connection.dialect.name == "sqlite":
        remedy = "move its file and those beside it to another folder"
    raise UnusableDatabase(
        "The database was made by another version of the bot, whose tables differ: "
        f"go on with that version, or {remedy}, and this one starts anew."
    )


def begun_at(tx: Transaction) -> datetime:
    """Return when the database was made."""
    return cast("datetime", tx.connection.execute(select(STAMPS.c.begun_at)).scalar_one())


def words_key(tx: Transaction) -> bytes:
    """Return the random key of the database's hashes of people's words."""
    key = tx.connection.execute(select(STAMPS.c.words_key)).scalar_one()
    return bytes.fromhex(cast("str", key))


async def create_tables(database: Database, clock: Callable[[], datetime] = _utc_now) -> None:
    """Create the tables in an empty database. Several processes may do it at once.

    Raises UnusableDatabase as ``has_tables``, and where the tables cannot be created.
    """
    try:
        is_complete = await database.read(has_tables)
    except UnusableDatabase as error:
        log.error("database_unusable", advice=str(error))
        raise
    if is_complete:
        return
    try:
        await database.write(partial(_create_tables, clock()))
    except (ProgrammingError, IntegrityError, DataError) as error:
        raise UnusableDatabase(
            f"The bot's tables cannot be created ({explain_error(error).cause}): "
            "let the user of DATABASE_URL create tables."
        ) from None


def _create_tables(now: datetime, connection: Connection) -> None:
    if has_tables(connection):
        return  # another process has created them meanwhile
    dialect = connection.dialect.name
    for table in metadata.tables.values():
        for index in table.indexes:
            if index.info:
                index.dialect_options[dialect]["where"] = text(index.info["where"])
    metadata.create_all(connection)
    mark(connection, now)


def mark(connection: Connection, now: datetime) -> None:
    """Write the stamp into a database that has just got its tables."""
    STAMPS.create(connection)
    row = {"hash": stamp(), "begun_at": now, "words_key": token_hex(32)}
    connection.execute(STAMPS.insert(), row)
