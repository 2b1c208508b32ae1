"""Questions about the docs."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "1005"
down_revision = "1004"


def upgrade() -> None:
    """Add the table of inquiries."""
    op.create_table(
        "inquiries",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("key", sa.String(400), nullable=False, unique=True),
        sa.Column("project", sa.String(200), nullable=False),
        sa.Column("channel", sa.String(40), nullable=False),
        sa.Column("user", sa.String(40), nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("gap_key", sa.Text, nullable=False),
        sa.Column("state", sa.String(20), nullable=False),
        sa.Column("asked_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("thread_ts", sa.String(40)),
        sa.Column("response_url", sa.Text),
        sa.Column("by_assistant", sa.Boolean, nullable=False, server_default=sa.text("false")),
        sa.Column("is_public", sa.Boolean, nullable=False, server_default=sa.text("false")),
        sa.Column("conversation", sa.String(400)),
        sa.Column("answer", sa.JSON(none_as_null=True)),
        sa.Column("job", sa.Integer),
        sa.Column("claimed_by", sa.String(80)),
        sa.Column("claimed_until", sa.DateTime(timezone=True)),
    )
    op.create_index("ix_inquiries_state", "inquiries", ["state", "due_at"])
    op.create_index("ix_inquiries_gap_key", "inquiries", ["project", "gap_key"])
    op.create_index("ix_inquiries_channel", "inquiries", ["channel", "thread_ts"])
    op.create_index("ix_inquiries_asked_at", "inquiries", ["project", "asked_at"])
