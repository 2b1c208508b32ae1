"""Inserting a row that somebody else may insert at the same moment."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Table
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection


async def insert_unless_there(connection: AsyncConnection, table: Table, values: dict[str, Any]) -> bool:
    """Insert a row; nothing happens when a unique key of it is taken. Answers whether it was inserted.

    ``ON CONFLICT DO NOTHING`` keeps the transaction usable, which an error would not on PostgreSQL.
    """
    insert = postgresql.insert if connection.dialect.name == "postgresql" else sqlite.insert
    key = next(iter(table.primary_key.columns))
    # What came back tells whether a row was written; not every driver counts rows here.
    written = insert(table).values(**values).on_conflict_do_nothing().returning(key)
    return (await connection.execute(written)).first() is not None
