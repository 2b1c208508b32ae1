"""How many prompts go before one in the queue for the hourly limit."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "1002"
down_revision = "1001"


def upgrade() -> None:
    """Add the column, which is empty for jobs that do not wait for the limit."""
    op.add_column("jobs", sa.Column("queue_before", sa.Integer))
