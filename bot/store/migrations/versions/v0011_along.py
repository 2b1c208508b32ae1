"""What goes along with a prompt: the earlier messages of its thread."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """What this version adds."""
    with op.batch_alter_table("jobs") as batch_op:
        batch_op.add_column(sa.Column("earlier", sa.JSON(), nullable=True))
    with op.batch_alter_table("prompts") as batch_op:
        batch_op.add_column(sa.Column("take_thread", sa.String(length=20), nullable=True))
        batch_op.add_column(sa.Column("along", sa.Text(), nullable=True))


def downgrade() -> None:
    """Back to the version before."""
    with op.batch_alter_table("prompts") as batch_op:
        batch_op.drop_column("along")
        batch_op.drop_column("take_thread")
    with op.batch_alter_table("jobs") as batch_op:
        batch_op.drop_column("earlier")
