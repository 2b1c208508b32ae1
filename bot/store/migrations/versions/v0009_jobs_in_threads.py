"""The thread in which a job's face is a reply, and the thread in which a question was asked."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """What this version adds."""
    with op.batch_alter_table("jobs") as batch_op:
        batch_op.add_column(sa.Column("thread_ts", sa.String(length=40), nullable=True))
        batch_op.create_index("ix_jobs_in_thread", ["channel", "thread_ts"], unique=False)
    with op.batch_alter_table("questions") as batch_op:
        batch_op.add_column(sa.Column("thread_ts", sa.String(length=40), nullable=True))


def downgrade() -> None:
    """Back to the version before."""
    with op.batch_alter_table("questions") as batch_op:
        batch_op.drop_column("thread_ts")
    with op.batch_alter_table("jobs") as batch_op:
        batch_op.drop_index("ix_jobs_in_thread")
        batch_op.drop_column("thread_ts")
