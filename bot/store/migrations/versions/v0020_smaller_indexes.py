"""Indexes leave out the rows in which their column is not set: a new job has none of these entries."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None

_INDEXES = (
    ("ix_jobs_in_thread", "jobs", ["channel", "thread_ts"]),
    ("ix_jobs_service_id", "jobs", ["service_id"]),
    ("ix_jobs_poll_at", "jobs", ["poll_at"]),
    ("ix_jobs_remind_at", "jobs", ["remind_at"]),
    ("ix_jobs_compare_at", "jobs", ["compare_at"]),
    ("ix_prompts_sent_at", "prompts", ["project", "sent_at"]),
)


def upgrade() -> None:
    """What this version changes."""
    for name, table, columns in _INDEXES:
        only = sa.text(f"{columns[-1]} IS NOT NULL")
        op.drop_index(name, table_name=table)
        op.create_index(name, table, columns, sqlite_where=only, postgresql_where=only)


def downgrade() -> None:
    """Back to the version before."""
    for name, table, columns in _INDEXES:
        op.drop_index(name, table_name=table)
        op.create_index(name, table, columns)
