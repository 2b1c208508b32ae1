"""Edits of posts, the minutes that a face shows, and the job that another one repeats."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """What this version adds."""
    with op.batch_alter_table("deliveries") as batch_op:
        batch_op.add_column(sa.Column("edits", sa.String(length=400), nullable=True))
    with op.batch_alter_table("jobs", recreate="never") as batch_op:
        batch_op.add_column(
            sa.Column("shown_minutes", sa.Integer(), server_default=sa.text("0"), nullable=False)
        )
        batch_op.add_column(sa.Column("again_of", sa.Integer(), nullable=True))


def downgrade() -> None:
    """Back to the version before."""
    with op.batch_alter_table("jobs", recreate="never") as batch_op:
        batch_op.drop_column("again_of")
        batch_op.drop_column("shown_minutes")
    with op.batch_alter_table("deliveries") as batch_op:
        batch_op.drop_column("edits")
