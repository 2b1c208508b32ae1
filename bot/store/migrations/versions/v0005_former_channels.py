"""The former ids of channels whose id Slack has changed."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """What this version adds."""
    op.create_table(
        "former_channels",
        sa.Column("former", sa.String(length=40), nullable=False),
        sa.Column("channel", sa.String(length=40), nullable=False),
        sa.PrimaryKeyConstraint("former", name=op.f("pk_former_channels")),
    )


def downgrade() -> None:
    """Back to the version before."""
    op.drop_table("former_channels")
