"""Since when a job is missing or cannot be read, and what the docs service tells about it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """What this version adds."""
    with op.batch_alter_table("jobs", schema=None) as batch_op:
        batch_op.add_column(sa.Column("missing_since", sa.DateTime(timezone=True), nullable=True))
        batch_op.add_column(sa.Column("unread_since", sa.DateTime(timezone=True), nullable=True))
        batch_op.add_column(sa.Column("model", sa.Text(), nullable=True))
        batch_op.add_column(sa.Column("created_at", sa.DateTime(timezone=True), nullable=True))
        batch_op.add_column(sa.Column("archived_at", sa.DateTime(timezone=True), nullable=True))


def downgrade() -> None:
    """Back to the version before."""
    with op.batch_alter_table("jobs", schema=None) as batch_op:
        batch_op.drop_column("archived_at")
        batch_op.drop_column("created_at")
        batch_op.drop_column("model")
        batch_op.drop_column("unread_since")
        batch_op.drop_column("missing_since")
