"""Since when the docs service fails or refuses the bot, and what the faces of jobs say about it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """What this version adds."""
    with op.batch_alter_table("holds") as batch_op:
        batch_op.add_column(sa.Column("since", sa.DateTime(timezone=True), nullable=True))
    with op.batch_alter_table("jobs") as batch_op:
        batch_op.add_column(sa.Column("trouble", sa.String(length=20), nullable=True))
        batch_op.add_column(sa.Column("trouble_since", sa.DateTime(timezone=True), nullable=True))


def downgrade() -> None:
    """Back to the version before."""
    with op.batch_alter_table("jobs") as batch_op:
        batch_op.drop_column("trouble_since")
        batch_op.drop_column("trouble")
    with op.batch_alter_table("holds") as batch_op:
        batch_op.drop_column("since")
