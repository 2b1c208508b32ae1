"""The tables of the first release. Until 0.2.0 is released, this migration is edited with the schema."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "1000_edited_until_0.2.0"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make all tables."""
    op.create_table(
        "jobs",
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("project", sa.String(200), nullable=False),
        sa.Column("channel", sa.String(40), nullable=False),
        sa.Column("requester", sa.String(40), nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("asked_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("state", sa.String(20), nullable=False),
        sa.Column("root_ts", sa.String(40)),
        sa.Column("thread_ts", sa.String(40)),
        sa.Column("service_id", sa.String(400)),
        sa.Column("iteration", sa.Integer, nullable=False, server_default=sa.text("0")),
        sa.Column("iteration_requester", sa.String(40)),
        sa.Column("iteration_started_at", sa.DateTime(timezone=True)),
        sa.Column("saw_active", sa.Boolean, nullable=False, server_default=sa.text("false")),
        sa.Column("unconfirmed_until", sa.DateTime(timezone=True)),
        sa.Column("pr_link", sa.Text),
        sa.Column("repository", sa.Text),
        sa.Column("ref", sa.Text),
        sa.Column("ended_at", sa.DateTime(timezone=True)),
        sa.Column("told_running_at", sa.DateTime(timezone=True)),
        sa.Column("problem", sa.Text),
        sa.Column("queue_until", sa.DateTime(timezone=True)),
        sa.Column("queue_why", sa.String(20)),
        sa.Column("uses_left", sa.Integer),
        sa.Column("also_asked", sa.JSON),
        sa.Column("earlier", sa.JSON),
        sa.Column("poll_at", sa.DateTime(timezone=True)),
        sa.Column("misses", sa.Integer, nullable=False, server_default=sa.text("0")),
        sa.Column("missing_since", sa.DateTime(timezone=True)),
        sa.Column("unread_since", sa.DateTime(timezone=True)),
        sa.Column("model", sa.Text),
        sa.Column("created_at", sa.DateTime(timezone=True)),
        sa.Column("archived_at", sa.DateTime(timezone=True)),
        sa.Column("shown_minutes", sa.Integer, nullable=False, server_default=sa.text("0")),
        sa.Column("again_of", sa.Integer),
        sa.Column("trouble", sa.String(20)),
        sa.Column("trouble_since", sa.DateTime(timezone=True)),
        sa.Column("review", sa.String(20)),
        sa.Column("reviewed_by", sa.String(40)),
        sa.Column("reviewed_at", sa.DateTime(timezone=True)),
        sa.Column("remind_at", sa.DateTime(timezone=True)),
        sa.Column("project_label", sa.Text),
        sa.Column("claimed_by", sa.String(80)),
        sa.Column("claimed_until", sa.DateTime(timezone=True)),
    )
    op.create_index("ix_jobs_thread", "jobs", ["channel", "root_ts"], unique=True)
    _index_if_set("ix_jobs_in_thread", "jobs", ["channel", "thread_ts"])
    _index_if_set("ix_jobs_service_id", "jobs", ["service_id"])
    _index_if_set("ix_jobs_poll_at", "jobs", ["poll_at"])
    _index_if_set("ix_jobs_remind_at", "jobs", ["remind_at"])
    op.create_table(
        "prompts",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("key", sa.String(400), nullable=False, unique=True),
        sa.Column("job", sa.Integer, sa.ForeignKey("jobs.number"), nullable=False),
        sa.Column("project", sa.String(200), nullable=False),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("state", sa.String(20), nullable=False),
        sa.Column("asked_by", sa.String(40), nullable=False),
        sa.Column("raw", sa.Text, nullable=False),
        sa.Column("text", sa.Text),
        sa.Column("asked_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("channel", sa.String(40)),
        sa.Column("message_ts", sa.String(40)),
        sa.Column("response_url", sa.Text),
        sa.Column("named", sa.Text),
        sa.Column("take_thread", sa.String(20)),
        sa.Column("along", sa.Text),
        sa.Column("files", sa.JSON),
        sa.Column("correction", sa.Text),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("sent_at", sa.DateTime(timezone=True)),
        sa.Column("attempts", sa.Integer, nullable=False, server_default=sa.text("0")),
        sa.Column("in_queue", sa.Boolean, nullable=False, server_default=sa.text("false")),
        sa.Column("claimed_by", sa.String(80)),
        sa.Column("claimed_until", sa.DateTime(timezone=True)),
    )
    op.create_index("ix_prompts_state", "prompts", ["state", "due_at"])
    op.create_index("ix_prompts_job", "prompts", ["job"])
    _index_if_set("ix_prompts_sent_at", "prompts", ["project", "sent_at"])
    op.create_index("ix_prompts_asked_by", "prompts", ["asked_by", "asked_at"])
    op.create_index("ix_prompts_waiting", "prompts", ["asked_by", "state"])
    op.create_table(
        "deliveries",
        sa.Column("seq", sa.Integer, primary_key=True),
        sa.Column("id", sa.String(40), nullable=False, unique=True),
        sa.Column("key", sa.String(400), nullable=False, unique=True),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("state", sa.String(20), nullable=False),
        sa.Column("job", sa.Integer, sa.ForeignKey("jobs.number")),
        sa.Column("channel", sa.String(40), nullable=False),
        sa.Column("user", sa.String(40)),
        sa.Column("message", sa.JSON),
        sa.Column("message_ts", sa.String(40)),
        sa.Column("reaction", sa.String(80)),
        sa.Column("response_url", sa.Text),
        sa.Column("plain", sa.Boolean, nullable=False, server_default=sa.text("false")),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False, server_default=sa.text("0")),
        sa.Column("claimed_by", sa.String(80)),
        sa.Column("claimed_until", sa.DateTime(timezone=True)),
        sa.Column("posted_ts", sa.String(40)),
        sa.Column("error", sa.Text),
        sa.Column("settled_at", sa.DateTime(timezone=True)),
        sa.Column("subscription", sa.Integer),
        sa.Column("digest", sa.Integer),
        sa.Column("question", sa.Integer),
        sa.Column("edits", sa.String(400)),
    )
    op.create_index("ix_deliveries_state", "deliveries", ["state", "due_at"])
    op.create_index("ix_deliveries_job", "deliveries", ["job", "state"])
    op.create_index("ix_deliveries_channel", "deliveries", ["channel", "state"])
    _index_if_set("ix_deliveries_settled_at", "deliveries", ["settled_at"])
    op.create_table(
        "paces",
        sa.Column("subject", sa.String(40), primary_key=True),
        sa.Column("free_at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_table(
        "back_offs",
        sa.Column("project", sa.String(200), primary_key=True),
        sa.Column("until", sa.DateTime(timezone=True), nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("reason", sa.String(200), nullable=False),
        sa.Column("since", sa.DateTime(timezone=True)),
    )
    op.create_table(
        "snapshots",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("project", sa.String(200), nullable=False),
        sa.Column("first", sa.Date, nullable=False),
        sa.Column("end", sa.Date, nullable=False),
        sa.Column("generation", sa.String(40), nullable=False),
        sa.Column("is_final", sa.Boolean, nullable=False),
        sa.Column("state", sa.String(20), nullable=False),
        sa.Column("priority", sa.Integer, nullable=False),
        sa.Column("with_pages", sa.Boolean, nullable=False),
        sa.Column("human", sa.BigInteger),
        sa.Column("ai", sa.BigInteger),
        sa.Column("total", sa.BigInteger),
        sa.Column("rows", sa.Integer, nullable=False, server_default=sa.text("0")),
        sa.Column("repeated", sa.Integer, nullable=False, server_default=sa.text("0")),
        sa.Column("next_offset", sa.Integer, nullable=False, server_default=sa.text("0")),
        sa.Column("calls", sa.Integer, nullable=False, server_default=sa.text("0")),
        sa.Column("attempts", sa.Integer, nullable=False, server_default=sa.text("0")),
        sa.Column("complete", sa.Boolean, nullable=False, server_default=sa.text("false")),
        sa.Column("problem", sa.Text),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("taken_at", sa.DateTime(timezone=True)),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("claimed_by", sa.String(80)),
        sa.Column("claimed_until", sa.DateTime(timezone=True)),
    )
    op.create_index(
        "ix_snapshots_window", "snapshots", ["project", "first", "end", "generation"], unique=True
    )
    op.create_index("ix_snapshots_state", "snapshots", ["state", "due_at"])
    op.create_table(
        "page_visitors",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("snapshot", sa.Integer, sa.ForeignKey("snapshots.id"), nullable=False),
        sa.Column("hash", sa.String(32), nullable=False),
        sa.Column("path", sa.Text, nullable=False),
        sa.Column("human", sa.BigInteger, nullable=False),
        sa.Column("ai", sa.BigInteger, nullable=False),
        sa.Column("total", sa.BigInteger, nullable=False),
    )
    op.create_index("ix_page_visitors_page", "page_visitors", ["snapshot", "hash"], unique=True)
    op.create_table(
        "analytics_calls",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("project", sa.String(200), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_index("ix_analytics_calls_at", "analytics_calls", ["project", "at"])
    op.create_table(
        "analytics_budgets",
        sa.Column("project", sa.String(200), primary_key=True),
        sa.Column("until", sa.DateTime(timezone=True)),
    )
    op.create_table(
        "questions",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("key", sa.String(400), nullable=False, unique=True),
        sa.Column("project", sa.String(200), nullable=False),
        sa.Column("channel", sa.String(40), nullable=False),
        sa.Column("user", sa.String(40), nullable=False),
        sa.Column("query", sa.JSON, nullable=False),
        sa.Column("state", sa.String(20), nullable=False),
        sa.Column("now", sa.Integer, sa.ForeignKey("snapshots.id"), nullable=False),
        sa.Column("was", sa.Integer, sa.ForeignKey("snapshots.id")),
        sa.Column("chart", sa.JSON),
        sa.Column("response_url", sa.Text),
        sa.Column("calls_before", sa.Integer, nullable=False, server_default=sa.text("0")),
        sa.Column("thread_ts", sa.String(40)),
        sa.Column("asked_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("claimed_by", sa.String(80)),
        sa.Column("claimed_until", sa.DateTime(timezone=True)),
    )
    op.create_index("ix_questions_state", "questions", ["state", "due_at"])
    op.create_table(
        "subscriptions",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("place", sa.String(600), nullable=False, unique=True),
        sa.Column("project", sa.String(200), nullable=False),
        sa.Column("channel", sa.String(40), nullable=False),
        sa.Column("section", sa.String(300)),
        sa.Column("weekday", sa.Integer, nullable=False),
        sa.Column("at", sa.String(5), nullable=False),
        sa.Column("zone", sa.String(80), nullable=False),
        sa.Column("owner", sa.String(40), nullable=False),
        sa.Column("state", sa.String(20), nullable=False),
        sa.Column("revision", sa.Integer, nullable=False, server_default=sa.text("1")),
        sa.Column("next_run_at", sa.DateTime(timezone=True)),
        sa.Column("last_run_at", sa.DateTime(timezone=True)),
        sa.Column("last_result", sa.Text),
        sa.Column("response_url", sa.Text),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_index("ix_subscriptions_state", "subscriptions", ["state", "next_run_at"])
    op.create_table(
        "digests",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("key", sa.String(400), nullable=False, unique=True),
        sa.Column("subscription", sa.Integer, sa.ForeignKey("subscriptions.id")),
        sa.Column("project", sa.String(200), nullable=False),
        sa.Column("channel", sa.String(40), nullable=False),
        sa.Column("section", sa.String(300)),
        sa.Column("first", sa.Date, nullable=False),
        sa.Column("end", sa.Date, nullable=False),
        sa.Column("state", sa.String(20), nullable=False),
        sa.Column("asked_by", sa.String(40)),
        sa.Column("response_url", sa.Text),
        sa.Column("attempts", sa.Integer, nullable=False, server_default=sa.text("0")),
        sa.Column("begun_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("claimed_by", sa.String(80)),
        sa.Column("claimed_until", sa.DateTime(timezone=True)),
    )
    op.create_index("ix_digests_state", "digests", ["state", "due_at"])
    op.create_table(
        "quotas",
        sa.Column("project", sa.String(200), primary_key=True),
        sa.Column("until", sa.DateTime(timezone=True)),
    )
    op.create_table(
        "channel_projects",
        sa.Column("channel", sa.String(40), primary_key=True),
        sa.Column("project", sa.String(200), nullable=False),
    )
    op.create_table(
        "members",
        sa.Column("user", sa.String(40), primary_key=True),
        sa.Column("access", sa.String(20), nullable=False),
        sa.Column("rule", sa.String(40), nullable=False),
        sa.Column("checked_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("told_at", sa.DateTime(timezone=True)),
    )
    op.create_table(
        "heard",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("channel", sa.String(40), nullable=False),
        sa.Column("thread", sa.String(40), nullable=False),
        sa.Column("ts", sa.String(40), nullable=False),
        sa.Column("missed_since", sa.String(40)),
        sa.Column("due_at", sa.DateTime(timezone=True)),
        sa.Column("attempts", sa.Integer, nullable=False, server_default=sa.text("0")),
        sa.Column("claimed_by", sa.String(80)),
        sa.Column("claimed_until", sa.DateTime(timezone=True)),
    )
    op.create_index("ix_heard_conversation", "heard", ["channel", "thread"], unique=True)
    op.create_index("ix_heard_due_at", "heard", ["due_at"])
    op.create_table(
        "heartbeats",
        sa.Column("process", sa.String(80), primary_key=True),
        sa.Column("beat_at", sa.DateTime(timezone=True)),
        sa.Column("tried_at", sa.DateTime(timezone=True)),
    )
    op.create_table(
        "audit",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("user", sa.String(40), nullable=False),
        sa.Column("act", sa.String(20), nullable=False),
        sa.Column("project", sa.String(200), nullable=False),
        sa.Column("channel", sa.String(40), nullable=False),
        sa.Column("job", sa.Integer),
        sa.Column("prompt", sa.Integer),
        sa.Column("subscription", sa.Integer),
        sa.Column("end", sa.String(20)),
    )
    op.create_index("ix_audit_job", "audit", ["job"])


def _index_if_set(name: str, table: str, columns: list[str]) -> None:
    """Make an index without the rows in which its last column is not set."""
    only = sa.text(f"{columns[-1]} IS NOT NULL")
    op.create_index(name, table, columns, sqlite_where=only, postgresql_where=only)
