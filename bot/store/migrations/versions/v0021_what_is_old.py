"""An index that finds the deliveries that are old enough to be deleted without reading all of them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """What this version adds."""
    only = sa.text("settled_at IS NOT NULL")
    op.create_index(
        "ix_deliveries_settled_at", "deliveries", ["settled_at"], sqlite_where=only, postgresql_where=only
    )


def downgrade() -> None:
    """Back to the version before."""
    op.drop_index("ix_deliveries_settled_at", table_name="deliveries")
