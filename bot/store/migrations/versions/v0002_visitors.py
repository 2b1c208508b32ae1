"""Visitors: stored answers of the analytics API, questions, subscriptions, digests."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """What this version adds."""
    op.create_table(
        "analytics_budgets",
        sa.Column("project", sa.String(length=200), nullable=False),
        sa.Column("until", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("project", name=op.f("pk_analytics_budgets")),
    )
    op.create_table(
        "analytics_calls",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("project", sa.String(length=200), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_analytics_calls")),
    )
    with op.batch_alter_table("analytics_calls", schema=None) as batch_op:
        batch_op.create_index("ix_analytics_calls_at", ["project", "at"], unique=False)

    op.create_table(
        "snapshots",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("project", sa.String(length=200), nullable=False),
        sa.Column("first", sa.Date(), nullable=False),
        sa.Column("end", sa.Date(), nullable=False),
        sa.Column("generation", sa.String(length=40), nullable=False),
        sa.Column("is_final", sa.Boolean(), nullable=False),
        sa.Column("state", sa.String(length=20), nullable=False),
        sa.Column("need", sa.Integer(), nullable=False),
        sa.Column("with_pages", sa.Boolean(), nullable=False),
        sa.Column("human", sa.BigInteger(), nullable=True),
        sa.Column("ai", sa.BigInteger(), nullable=True),
        sa.Column("total", sa.BigInteger(), nullable=True),
        sa.Column("rows", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("repeated", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("next_offset", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("calls", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("attempts", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("complete", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("problem", sa.Text(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("taken_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("claimed_by", sa.String(length=80), nullable=True),
        sa.Column("claimed_until", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_snapshots")),
    )
    with op.batch_alter_table("snapshots", schema=None) as batch_op:
        batch_op.create_index("ix_snapshots_state", ["state", "due_at"], unique=False)
        batch_op.create_index("ix_snapshots_window", ["project", "first", "end", "generation"], unique=True)

    op.create_table(
        "subscriptions",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("place", sa.String(length=600), nullable=False),
        sa.Column("project", sa.String(length=200), nullable=False),
        sa.Column("channel", sa.String(length=40), nullable=False),
        sa.Column("section", sa.String(length=300), nullable=True),
        sa.Column("weekday", sa.Integer(), nullable=False),
        sa.Column("at", sa.String(length=5), nullable=False),
        sa.Column("zone", sa.String(length=80), nullable=False),
        sa.Column("owner", sa.String(length=40), nullable=False),
        sa.Column("state", sa.String(length=20), nullable=False),
        sa.Column("round", sa.Integer(), server_default=sa.text("1"), nullable=False),
        sa.Column("next_run_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_run_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_result", sa.Text(), nullable=True),
        sa.Column("response_url", sa.Text(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_subscriptions")),
        sa.UniqueConstraint("place", name=op.f("uq_subscriptions_place")),
    )
    with op.batch_alter_table("subscriptions", schema=None) as batch_op:
        batch_op.create_index("ix_subscriptions_state", ["state", "next_run_at"], unique=False)

    op.create_table(
        "digests",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("key", sa.String(length=400), nullable=False),
        sa.Column("subscription", sa.Integer(), nullable=True),
        sa.Column("project", sa.String(length=200), nullable=False),
        sa.Column("channel", sa.String(length=40), nullable=False),
        sa.Column("section", sa.String(length=300), nullable=True),
        sa.Column("first", sa.Date(), nullable=False),
        sa.Column("end", sa.Date(), nullable=False),
        sa.Column("state", sa.String(length=20), nullable=False),
        sa.Column("asked_by", sa.String(length=40), nullable=True),
        sa.Column("response_url", sa.Text(), nullable=True),
        sa.Column("attempts", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("begun_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("claimed_by", sa.String(length=80), nullable=True),
        sa.Column("claimed_until", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["subscription"], ["subscriptions.id"], name=op.f("fk_digests_subscription")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_digests")),
        sa.UniqueConstraint("key", name=op.f("uq_digests_key")),
    )
    with op.batch_alter_table("digests", schema=None) as batch_op:
        batch_op.create_index("ix_digests_state", ["state", "due_at"], unique=False)

    op.create_table(
        "page_visitors",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("snapshot", sa.Integer(), nullable=False),
        sa.Column("hash", sa.String(length=32), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("human", sa.BigInteger(), nullable=False),
        sa.Column("ai", sa.BigInteger(), nullable=False),
        sa.Column("total", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["snapshot"], ["snapshots.id"], name=op.f("fk_page_visitors_snapshot")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_page_visitors")),
    )
    with op.batch_alter_table("page_visitors", schema=None) as batch_op:
        batch_op.create_index("ix_page_visitors_page", ["snapshot", "hash"], unique=True)

    op.create_table(
        "questions",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("key", sa.String(length=400), nullable=False),
        sa.Column("project", sa.String(length=200), nullable=False),
        sa.Column("channel", sa.String(length=40), nullable=False),
        sa.Column("user", sa.String(length=40), nullable=False),
        sa.Column("wish", sa.JSON(), nullable=False),
        sa.Column("state", sa.String(length=20), nullable=False),
        sa.Column("now", sa.Integer(), nullable=False),
        sa.Column("was", sa.Integer(), nullable=True),
        sa.Column("chart", sa.JSON(), nullable=True),
        sa.Column("response_url", sa.Text(), nullable=True),
        sa.Column("progress_url", sa.Text(), nullable=True),
        sa.Column("shown", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("asked_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("claimed_by", sa.String(length=80), nullable=True),
        sa.Column("claimed_until", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["now"], ["snapshots.id"], name=op.f("fk_questions_now")),
        sa.ForeignKeyConstraint(["was"], ["snapshots.id"], name=op.f("fk_questions_was")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_questions")),
        sa.UniqueConstraint("key", name=op.f("uq_questions_key")),
    )
    with op.batch_alter_table("questions", schema=None) as batch_op:
        batch_op.create_index("ix_questions_state", ["state", "due_at"], unique=False)

    with op.batch_alter_table("deliveries", schema=None) as batch_op:
        batch_op.add_column(
            sa.Column("replaces", sa.Boolean(), server_default=sa.text("false"), nullable=False)
        )
        batch_op.add_column(sa.Column("subscription", sa.Integer(), nullable=True))
        batch_op.add_column(sa.Column("digest", sa.Integer(), nullable=True))
        batch_op.add_column(sa.Column("question", sa.Integer(), nullable=True))


def downgrade() -> None:
    """Back to the version before."""
    with op.batch_alter_table("deliveries", schema=None) as batch_op:
        batch_op.drop_column("question")
        batch_op.drop_column("digest")
        batch_op.drop_column("subscription")
        batch_op.drop_column("replaces")

    with op.batch_alter_table("questions", schema=None) as batch_op:
        batch_op.drop_index("ix_questions_state")

    op.drop_table("questions")
    with op.batch_alter_table("page_visitors", schema=None) as batch_op:
        batch_op.drop_index("ix_page_visitors_page")

    op.drop_table("page_visitors")
    with op.batch_alter_table("digests", schema=None) as batch_op:
        batch_op.drop_index("ix_digests_state")

    op.drop_table("digests")
    with op.batch_alter_table("subscriptions", schema=None) as batch_op:
        batch_op.drop_index("ix_subscriptions_state")

    op.drop_table("subscriptions")
    with op.batch_alter_table("snapshots", schema=None) as batch_op:
        batch_op.drop_index("ix_snapshots_window")
        batch_op.drop_index("ix_snapshots_state")

    op.drop_table("snapshots")
    with op.batch_alter_table("analytics_calls", schema=None) as batch_op:
        batch_op.drop_index("ix_analytics_calls_at")

    op.drop_table("analytics_calls")
    op.drop_table("analytics_budgets")
