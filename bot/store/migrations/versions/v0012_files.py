"""The files of the message that brought a prompt."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """What this version adds."""
    with op.batch_alter_table("prompts") as batch_op:
        batch_op.add_column(sa.Column("files", sa.JSON(), nullable=True))


def downgrade() -> None:
    """Back to the version before."""
    with op.batch_alter_table("prompts") as batch_op:
        batch_op.drop_column("files")
