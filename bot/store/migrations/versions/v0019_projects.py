"""The project that a channel has chosen, and how people read the project of a job."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """What this version adds."""
    op.create_table(
        "channel_projects",
        sa.Column("channel", sa.String(length=40), nullable=False),
        sa.Column("project", sa.String(length=200), nullable=False),
        sa.PrimaryKeyConstraint("channel", name=op.f("pk_channel_projects")),
    )
    with op.batch_alter_table("jobs") as batch_op:
        batch_op.add_column(sa.Column("project_label", sa.Text(), nullable=True))


def downgrade() -> None:
    """Back to the version before."""
    with op.batch_alter_table("jobs") as batch_op:
        batch_op.drop_column("project_label")
    op.drop_table("channel_projects")
