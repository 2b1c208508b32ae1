"""Heartbeats of the processes that run workers."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """What this version adds."""
    op.create_table(
        "heartbeats",
        sa.Column("process", sa.String(length=80), nullable=False),
        sa.Column("beat_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("tried_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("process", name=op.f("pk_heartbeats")),
    )


def downgrade() -> None:
    """Back to the version before."""
    op.drop_table("heartbeats")
