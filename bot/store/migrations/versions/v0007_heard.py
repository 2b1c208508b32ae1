"""The newest message heard in each conversation, so that missed ones are found after an outage."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """What this version adds."""
    op.create_table(
        "heard",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("channel", sa.String(length=40), nullable=False),
        sa.Column("thread", sa.String(length=40), nullable=False),
        sa.Column("ts", sa.String(length=40), nullable=False),
        sa.Column("missed_since", sa.String(length=40), nullable=True),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("attempts", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("claimed_by", sa.String(length=80), nullable=True),
        sa.Column("claimed_until", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_heard")),
    )
    op.create_index("ix_heard_conversation", "heard", ["channel", "thread"], unique=True)
    op.create_index("ix_heard_due_at", "heard", ["due_at"], unique=False)


def downgrade() -> None:
    """Back to the version before."""
    op.drop_table("heard")
