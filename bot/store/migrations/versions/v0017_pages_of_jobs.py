"""The page at which a job began, and when the page's visitors are compared."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """What this version adds."""
    with op.batch_alter_table("jobs") as batch_op:
        batch_op.add_column(sa.Column("page", sa.Text(), nullable=True))
        batch_op.add_column(sa.Column("compare_at", sa.DateTime(timezone=True), nullable=True))
        batch_op.create_index("ix_jobs_compare_at", ["compare_at"], unique=False)


def downgrade() -> None:
    """Back to the version before."""
    with op.batch_alter_table("jobs") as batch_op:
        batch_op.drop_index("ix_jobs_compare_at")
        batch_op.drop_column("compare_at")
        batch_op.drop_column("page")
