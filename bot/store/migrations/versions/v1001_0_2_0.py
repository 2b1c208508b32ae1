"""The tables of 0.2.0, from which migrations start."""

from __future__ import annotations

revision = "1001"
down_revision = None


def upgrade() -> None:
    """Change nothing: an older database is refused."""
