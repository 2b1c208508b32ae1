"""Inserting rows that another transaction may insert at the same moment, and rewriting single rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from sqlalchemy import ColumnElement, delete, insert, update
from sqlalchemy.dialects.sqlite import Insert as SqliteInsert
from sqlalchemy.dialects.sqlite import insert as sqlite_insert
from sqlalchemy.engine import Connection

from bot.store.schema import AnyTable

if TYPE_CHECKING:
    from sqlalchemy.dialects.postgresql import Insert as PostgresqlInsert


def insert_unless_there(connection: Connection, table: AnyTable, *rows: Mapping[str, object]) -> bool:
    """Insert rows, skipping those whose unique key is taken. Return whether any row was inserted.

    Uses ``ON CONFLICT DO NOTHING``, because on PostgreSQL an error would abort the transaction.
    """
    if connection.dialect.name == "postgresql":
        # Imported here to save 2 MB in processes on SQLite.
        from sqlalchemy.dialects.postgresql import insert as postgresql_insert

        with_conflict: Callable[[AnyTable], SqliteInsert | PostgresqlInsert] = postgresql_insert
    else:
        with_conflict = sqlite_insert
    key = next(iter(table.primary_key.columns))
    # Returned rows tell whether one was written; not every driver counts rows here.
    written = with_conflict(table).values(rows).on_conflict_do_nothing().returning(key)
    return (connection.execute(written)).first() is not None


def update_one(
    connection: Connection, table: AnyTable, mine: ColumnElement[bool], values: Mapping[str, object]
) -> bool:
    """Write columns of the row that matches. Return whether there was one."""
    return connection.execute(update(table).where(mine).values(values)).rowcount == 1


def update_shrinking(
    connection: Connection, table: AnyTable, mine: ColumnElement[bool], values: Mapping[str, object]
) -> bool:
    """Write columns of the row that matches, which becomes much smaller. Return whether there was one.

    SQLite joins pages with room in them when rows are deleted, but not when rows become smaller.
    """
    if connection.dialect.name != "sqlite":
        return update_one(connection, table, mine, values)
    found = connection.execute(delete(table).where(mine).returning(*table.c)).first()
    if found is None:
        return False
    row = dict(zip(table.c.keys(), found, strict=True))
    connection.execute(insert(table).values({**row, **values}))
    return True
