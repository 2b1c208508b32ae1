"""The newest text of a message that was edited after its prompt went out."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """What this version adds."""
    with op.batch_alter_table("prompts") as batch_op:
        batch_op.add_column(sa.Column("correction", sa.Text(), nullable=True))


def downgrade() -> None:
    """Back to the version before."""
    with op.batch_alter_table("prompts") as batch_op:
        batch_op.drop_column("correction")
