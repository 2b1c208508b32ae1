"""Indexes for frequent statements, which otherwise read all the jobs that ended."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "1003"
down_revision = "1002"


def upgrade() -> None:
    """Add the indexes. With a million jobs it takes some seconds."""
    op.create_index("ix_jobs_channel", "jobs", ["channel", "number"])
    op.create_index("ix_jobs_requester", "jobs", ["requester", "number"])
    op.create_index("ix_jobs_asked_at", "jobs", ["project", "asked_at"])
    _create_partial("ix_jobs_trouble", "jobs", ["trouble"], "trouble IS NOT NULL")
    op.drop_index("ix_jobs_remind_at", "jobs")
    _create_partial("ix_jobs_remind_at", "jobs", ["state", "remind_at"], "remind_at IS NOT NULL")
    _create_partial("ix_jobs_state", "jobs", ["state", "channel"], "review IS NULL")
    _create_partial("ix_jobs_ended_at", "jobs", ["ended_at"], "requester <> ''")
    _create_partial("ix_audit_at", "audit", ["at"], "\"user\" <> ''")


def _create_partial(name: str, table: str, columns: list[str], condition: str) -> None:
    where = sa.text(condition)
    op.create_index(name, table, columns, sqlite_where=where, postgresql_where=where)
