"""The tables of the first release, as ``schema.py`` has them.

When 0.2.0 is released, the tables are written out here, because this migration must not change after that.
"""

from __future__ import annotations

from alembic import op
from sqlalchemy import text

from bot.store.schema import metadata

revision = "1000_edited_until_0.2.0"
down_revision = None


def upgrade() -> None:
    """Make all tables."""
    connection = op.get_bind()
    for table in metadata.tables.values():
        for index in table.indexes:
            if index.info:
                index.dialect_kwargs[f"{connection.dialect.name}_where"] = text(index.info["where"])
    metadata.create_all(connection, checkfirst=False)
