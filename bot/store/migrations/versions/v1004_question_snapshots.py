"""The snapshots of a question, in the order of reading."""

from __future__ import annotations

import json

import sqlalchemy as sa
from alembic import op

revision = "1004"
down_revision = "1003"


def upgrade() -> None:
    """Add the table with the snapshots of all questions, and activate subscriptions without a first post."""
    links = op.create_table(
        "question_snapshots",
        sa.Column(
            "question", sa.Integer, sa.ForeignKey("questions.id"), primary_key=True, autoincrement=False
        ),
        sa.Column("position", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("snapshot", sa.Integer, sa.ForeignKey("snapshots.id"), nullable=False),
    )
    op.create_index("ix_question_snapshots_snapshot", "question_snapshots", ["snapshot"])
    columns = ("id", "now", "older", "was", "chart", "missed")
    questions = sa.table("questions", *map(sa.column, columns))
    rows = [
        {"question": question, "position": position, "snapshot": snapshot}
        for question, now, older, was, *others in op.get_bind().execute(sa.select(questions)).all()
        for position, snapshot in enumerate(_in_order(now, older, was, *others))
    ]
    if rows:
        op.bulk_insert(links, rows)
    # They are due at once: their first digest takes the place of the first post.
    op.execute(
        "UPDATE subscriptions SET state = 'active', next_run_at = created_at, "
        "zone = CASE zone WHEN '' THEN 'UTC' ELSE zone END WHERE state IN ('new', 'proving')"
    )


def _in_order(*parts: object) -> list[object]:
    """Return the snapshots of a question: ids, None for none, and lists of ids, perhaps as JSON."""
    snapshots: list[object] = []
    for part in parts:
        ids = json.loads(part) if isinstance(part, str) else part
        snapshots += ids if isinstance(ids, list) else [ids] if ids is not None else []
    return list(dict.fromkeys(snapshots))
