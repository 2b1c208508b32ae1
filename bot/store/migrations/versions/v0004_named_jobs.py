"""How a job was named by somebody who may not be allowed to see it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """What this version adds."""
    with op.batch_alter_table("prompts", schema=None) as batch_op:
        batch_op.add_column(sa.Column("named", sa.Text(), nullable=True))


def downgrade() -> None:
    """Back to the version before."""
    with op.batch_alter_table("prompts", schema=None) as batch_op:
        batch_op.drop_column("named")
