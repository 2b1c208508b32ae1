"""The first tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """What this version adds."""
    op.create_table(
        "holds",
        sa.Column("project", sa.String(length=200), nullable=False),
        sa.Column("until", sa.DateTime(timezone=True), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("reason", sa.String(length=200), nullable=False),
        sa.PrimaryKeyConstraint("project", name=op.f("pk_holds")),
    )
    op.create_table(
        "jobs",
        sa.Column("number", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("project", sa.String(length=200), nullable=False),
        sa.Column("channel", sa.String(length=40), nullable=False),
        sa.Column("requester", sa.String(length=40), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("asked_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("state", sa.String(length=20), nullable=False),
        sa.Column("root_ts", sa.String(length=40), nullable=True),
        sa.Column("service_id", sa.String(length=400), nullable=True),
        sa.Column("round", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("round_requester", sa.String(length=40), nullable=True),
        sa.Column("round_started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("saw_active", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("quiet_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("pr_link", sa.Text(), nullable=True),
        sa.Column("repository", sa.Text(), nullable=True),
        sa.Column("ref", sa.Text(), nullable=True),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("told_running_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("problem", sa.Text(), nullable=True),
        sa.Column("queue_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("poll_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("misses", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("claimed_by", sa.String(length=80), nullable=True),
        sa.Column("claimed_until", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_jobs")),
    )
    with op.batch_alter_table("jobs") as batch_op:
        batch_op.create_index("ix_jobs_poll_at", ["poll_at"], unique=False)
        batch_op.create_index("ix_jobs_service_id", ["service_id"], unique=False)
        batch_op.create_index("ix_jobs_thread", ["channel", "root_ts"], unique=True)

    op.create_table(
        "paces",
        sa.Column("channel", sa.String(length=40), nullable=False),
        sa.Column("free_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("channel", name=op.f("pk_paces")),
    )
    op.create_table(
        "deliveries",
        sa.Column("seq", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("key", sa.String(length=400), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("state", sa.String(length=20), nullable=False),
        sa.Column("job", sa.Integer(), nullable=True),
        sa.Column("channel", sa.String(length=40), nullable=False),
        sa.Column("user", sa.String(length=40), nullable=True),
        sa.Column("message", sa.JSON(), nullable=True),
        sa.Column("message_ts", sa.String(length=40), nullable=True),
        sa.Column("reaction", sa.String(length=80), nullable=True),
        sa.Column("response_url", sa.Text(), nullable=True),
        sa.Column("plain", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("attempts", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("claimed_by", sa.String(length=80), nullable=True),
        sa.Column("claimed_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("posted_ts", sa.String(length=40), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("settled_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["job"], ["jobs.number"], name=op.f("fk_deliveries_job")),
        sa.PrimaryKeyConstraint("seq", name=op.f("pk_deliveries")),
        sa.UniqueConstraint("id", name=op.f("uq_deliveries_id")),
        sa.UniqueConstraint("key", name=op.f("uq_deliveries_key")),
    )
    with op.batch_alter_table("deliveries") as batch_op:
        batch_op.create_index("ix_deliveries_channel", ["channel", "state"], unique=False)
        batch_op.create_index("ix_deliveries_job", ["job", "state"], unique=False)
        batch_op.create_index("ix_deliveries_state", ["state", "due_at"], unique=False)

    op.create_table(
        "prompts",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("key", sa.String(length=400), nullable=False),
        sa.Column("job", sa.Integer(), nullable=False),
        sa.Column("project", sa.String(length=200), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("state", sa.String(length=20), nullable=False),
        sa.Column("asked_by", sa.String(length=40), nullable=False),
        sa.Column("raw", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=True),
        sa.Column("asked_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("channel", sa.String(length=40), nullable=True),
        sa.Column("message_ts", sa.String(length=40), nullable=True),
        sa.Column("response_url", sa.Text(), nullable=True),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("sent_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("attempts", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("claimed_by", sa.String(length=80), nullable=True),
        sa.Column("claimed_until", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["job"], ["jobs.number"], name=op.f("fk_prompts_job")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_prompts")),
        sa.UniqueConstraint("key", name=op.f("uq_prompts_key")),
    )
    with op.batch_alter_table("prompts") as batch_op:
        batch_op.create_index("ix_prompts_job", ["job"], unique=False)
        batch_op.create_index("ix_prompts_sent_at", ["project", "sent_at"], unique=False)
        batch_op.create_index("ix_prompts_state", ["state", "due_at"], unique=False)


def downgrade() -> None:
    """Back to the version before."""
    with op.batch_alter_table("prompts") as batch_op:
        batch_op.drop_index("ix_prompts_state")
        batch_op.drop_index("ix_prompts_sent_at")
        batch_op.drop_index("ix_prompts_job")

    op.drop_table("prompts")
    with op.batch_alter_table("deliveries") as batch_op:
        batch_op.drop_index("ix_deliveries_state")
        batch_op.drop_index("ix_deliveries_job")
        batch_op.drop_index("ix_deliveries_channel")

    op.drop_table("deliveries")
    op.drop_table("paces")
    with op.batch_alter_table("jobs") as batch_op:
        batch_op.drop_index("ix_jobs_thread")
        batch_op.drop_index("ix_jobs_service_id")
        batch_op.drop_index("ix_jobs_poll_at")

    op.drop_table("jobs")
    op.drop_table("holds")
