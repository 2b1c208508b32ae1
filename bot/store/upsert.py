"""Inserting rows that another transaction may insert at the same moment, and rewriting single rows.

Each statement is built once and executed with values, because building takes longer than running it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from sqlalchemy import ColumnElement, Update, delete, insert, update
from sqlalchemy.dialects.sqlite import insert as sqlite_insert
from sqlalchemy.engine import Connection
from sqlalchemy.sql.dml import ReturningDelete, ReturningInsert

from bot.store.columns import AnyTable


def insert_unless_there(connection: Connection, table: AnyTable, *rows: Mapping[str, object]) -> bool:
    """Insert rows, skipping those whose unique key is taken. Return whether any row was inserted.

    Uses ``ON CONFLICT DO NOTHING``, because on PostgreSQL an error would abort the transaction.
    """
    statement = _insert_unless_there(table, connection.dialect.name)
    # Returned rows tell whether one was written; not every driver counts rows here.
    return connection.execute(statement, rows if len(rows) > 1 else rows[0]).first() is not None


def update_one(
    connection: Connection,
    table: AnyTable,
    mine: ColumnElement[bool],
    which: Mapping[str, object],
    values: Mapping[str, object],
) -> bool:
    """Write columns of the row that matches. Return whether there was one.

    ``mine`` is a condition that is built once; ``which`` has the values of its parameters.
    """
    return connection.execute(_update(table, mine), {**values, **which}).rowcount == 1


def update_shrinking(
    connection: Connection,
    table: AnyTable,
    mine: ColumnElement[bool],
    which: Mapping[str, object],
    values: Mapping[str, object],
) -> bool:
    """Write columns of the row that matches, which becomes much smaller. Return whether there was one.

    SQLite joins pages with room in them when rows are deleted, but not when rows become smaller.
    """
    if connection.dialect.name != "sqlite":
        return update_one(connection, table, mine, which, values)
    found = connection.execute(_take_out(table, mine), which).first()
    if found is None:
        return False
    row = dict(zip(table.c.keys(), found, strict=True))
    connection.execute(insert(table), {**row, **values})
    return True


@cache
def _insert_unless_there(table: AnyTable, dialect: str) -> ReturningInsert[tuple[object]]:
    key = next(iter(table.primary_key.columns))
    if dialect == "postgresql":
        # Imported here to save 2 MB in processes on SQLite.
        from sqlalchemy.dialects.postgresql import insert as postgresql_insert

        return postgresql_insert(table).on_conflict_do_nothing().returning(key)
    return sqlite_insert(table).on_conflict_do_nothing().returning(key)


@cache
def _update(table: AnyTable, mine: ColumnElement[bool]) -> Update:
    return update(table).where(mine)


@cache
def _take_out(table: AnyTable, mine: ColumnElement[bool]) -> ReturningDelete[tuple[object, ...]]:
    return delete(table).where(mine).returning(*table.c)
