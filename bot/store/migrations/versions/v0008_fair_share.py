"""Who else waits for an end, when somebody was told that they have no access, and whose prompts wait."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """What this version adds."""
    with op.batch_alter_table("jobs", schema=None) as batch_op:
        batch_op.add_column(sa.Column("also_asked", sa.JSON(), nullable=True))
    with op.batch_alter_table("people", schema=None) as batch_op:
        batch_op.add_column(sa.Column("told_at", sa.DateTime(timezone=True), nullable=True))
    with op.batch_alter_table("prompts", schema=None) as batch_op:
        batch_op.create_index("ix_prompts_waiting", ["asked_by", "state"], unique=False)


def downgrade() -> None:
    """Back to the version before."""
    with op.batch_alter_table("prompts", schema=None) as batch_op:
        batch_op.drop_index("ix_prompts_waiting")
    with op.batch_alter_table("people", schema=None) as batch_op:
        batch_op.drop_column("told_at")
    with op.batch_alter_table("jobs", schema=None) as batch_op:
        batch_op.drop_column("also_asked")
