"""Who did what, for an operator's audit."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """What this version adds."""
    op.create_table(
        "audit",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("user", sa.String(length=40), nullable=False),
        sa.Column("act", sa.String(length=20), nullable=False),
        sa.Column("project", sa.String(length=200), nullable=False),
        sa.Column("channel", sa.String(length=40), nullable=False),
        sa.Column("job", sa.Integer(), nullable=True),
        sa.Column("prompt", sa.Integer(), nullable=True),
        sa.Column("subscription", sa.Integer(), nullable=True),
        sa.Column("end", sa.String(length=20), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_audit"),
    )
    op.create_index("ix_audit_job", "audit", ["job"], unique=False)


def downgrade() -> None:
    """Back to the version before."""
    op.drop_index("ix_audit_job", table_name="audit")
    op.drop_table("audit")
