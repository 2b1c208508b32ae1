"""What people said of a pull request, and when its thread is reminded of it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """What this version adds."""
    with op.batch_alter_table("jobs") as batch_op:
        batch_op.add_column(sa.Column("review", sa.String(length=20), nullable=True))
        batch_op.add_column(sa.Column("reviewed_by", sa.String(length=40), nullable=True))
        batch_op.add_column(sa.Column("reviewed_at", sa.DateTime(timezone=True), nullable=True))
        batch_op.add_column(sa.Column("remind_at", sa.DateTime(timezone=True), nullable=True))
        batch_op.create_index("ix_jobs_remind_at", ["remind_at"], unique=False)


def downgrade() -> None:
    """Back to the version before."""
    with op.batch_alter_table("jobs") as batch_op:
        batch_op.drop_index("ix_jobs_remind_at")
        batch_op.drop_column("remind_at")
        batch_op.drop_column("reviewed_at")
        batch_op.drop_column("reviewed_by")
        batch_op.drop_column("review")
