"""Indexes that find what is old enough to be forgotten without reading all rows."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None

_INDEXES = (
    ("ix_jobs_ended_at", "jobs", "ended_at"),
    ("ix_deliveries_settled_at", "deliveries", "settled_at"),
)


def upgrade() -> None:
    """What this version adds."""
    for name, table, column in _INDEXES:
        only = sa.text(f"{column} IS NOT NULL")
        op.create_index(name, table, [column], sqlite_where=only, postgresql_where=only)


def downgrade() -> None:
    """Back to the version before."""
    for name, table, _column in _INDEXES:
        op.drop_index(name, table_name=table)
