"""Inserting a row that somebody else may insert at the same moment."""

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
    """Insert rows; nothing happens to one of which a unique key is taken. Answers whether any was inserted.

    ``ON CONFLICT DO NOTHING`` keeps the transaction usable, which an error would not on PostgreSQL.
    """
    if connection.dialect.name == "postgresql":
        # Only where it is used: a process on SQLite is spared 2 MB.
        from sqlalchemy.dialects.postgresql import insert as postgresql_insert

        insert: Callable[[AnyTable], SqliteInsert | PostgresqlInsert] = postgresql_insert
    else:
        insert = sqlite_insert
    key = next(iter(table.primary_key.columns))
    # What came back tells whether a row was written; not every driver counts rows here.
    written = insert(table).values(rows).on_conflict_do_nothing().returning(key)
    return (connection.execute(written)).first() is not None
