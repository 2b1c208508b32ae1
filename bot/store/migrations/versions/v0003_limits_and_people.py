"""A fair queue for the shared limit, and who may use the bot."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """What this version adds."""
    op.create_table(
        "limits",
        sa.Column("project", sa.String(length=200), nullable=False),
        sa.Column("until", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("project", name=op.f("pk_limits")),
    )
    op.create_table(
        "people",
        sa.Column("user", sa.String(length=40), nullable=False),
        sa.Column("standing", sa.String(length=20), nullable=False),
        sa.Column("rule", sa.String(length=40), nullable=False),
        sa.Column("checked_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("user", name=op.f("pk_people")),
    )
    with op.batch_alter_table("jobs", schema=None) as batch_op:
        batch_op.add_column(sa.Column("queue_place", sa.Integer(), nullable=True))
        batch_op.add_column(sa.Column("queue_why", sa.String(length=20), nullable=True))
        batch_op.add_column(sa.Column("uses_left", sa.Integer(), nullable=True))

    with op.batch_alter_table("prompts", schema=None) as batch_op:
        batch_op.add_column(sa.Column("place", sa.Integer(), nullable=True))
        batch_op.create_index("ix_prompts_asked_by", ["asked_by", "asked_at"], unique=False)


def downgrade() -> None:
    """Back to the version before."""
    with op.batch_alter_table("prompts", schema=None) as batch_op:
        batch_op.drop_index("ix_prompts_asked_by")
        batch_op.drop_column("place")

    with op.batch_alter_table("jobs", schema=None) as batch_op:
        batch_op.drop_column("uses_left")
        batch_op.drop_column("queue_why")
        batch_op.drop_column("queue_place")

    op.drop_table("people")
    op.drop_table("limits")
