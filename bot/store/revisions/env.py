"""Run revisions on the caller's connection, within its transaction.

https://alembic.sqlalchemy.org/en/latest/cookbook.html#connection-sharing
"""

from __future__ import annotations

from typing import Literal

from alembic import context
from alembic.autogenerate.api import AutogenContext
from sqlalchemy import DateTime, String
from sqlalchemy.types import TypeDecorator

from bot.store.upgrade import VERSION_TABLE


def render_item(kind: str, item: object, autogen_context: AutogenContext) -> str | Literal[False]:
    """Return a column's type as SQLAlchemy's own type, so that a revision stays fixed."""
    del autogen_context
    if kind != "type":
        return False
    if isinstance(item, TypeDecorator):
        item = item.impl_instance
    if isinstance(item, DateTime):
        return "sa.DateTime(timezone=True)"
    if isinstance(item, String) and item.length is not None:
        return f"sa.String({item.length})"
    return f"sa.{type(item).__name__}()"


context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=context.config.attributes.get("metadata"),
    version_table=VERSION_TABLE,
    render_item=render_item,
)
context.run_migrations()
