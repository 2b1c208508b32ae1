"""Inserting rows that another transaction may insert at the same moment."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

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

        insert: Callable[[AnyTable], SqliteInsert | PostgresqlInsert] = postgresql_insert
    else:
        insert = sqlite_insert
    key = next(iter(table.primary_key.columns))
    # Returned rows tell whether one was written; not every driver counts rows here.
    written = insert(table).values(rows).on_conflict_do_nothing().returning(key)
    return (connection.execute(written)).first() is not None
