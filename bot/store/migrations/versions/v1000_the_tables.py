"""The tables of 0.1.0."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "1000_edited_until_0.2.0"
down_revision = None

_TIME = sa.DateTime(timezone=True)
_NUMBER, _COUNT, _FLAG, _TEXT, _JSON = sa.Integer(), sa.BigInteger(), sa.Boolean(), sa.Text(), sa.JSON()
_id = sa.String


def _index_if_set(name: str, table: str, *columns: str) -> None:
    """Make an index without the rows in which its last column is not set."""
    only = sa.text(f"{columns[-1]} IS NOT NULL")
    op.create_index(name, table, list(columns), postgresql_where=only, sqlite_where=only)


def _lease() -> tuple[sa.Column[object], sa.Column[object]]:
    return sa.Column("claimed_by", _id(80)), sa.Column("claimed_until", _TIME)


def upgrade() -> None:
    """Make all tables."""
    op.create_table(
        "analytics_calls",
        sa.Column("id", _NUMBER, autoincrement=True, nullable=False),
        sa.Column("project", _id(200), nullable=False),
        sa.Column("at", _TIME, nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_analytics_calls_at", "analytics_calls", ["project", "at"])
    op.create_table(
        "audit",
        sa.Column("id", _NUMBER, autoincrement=True, nullable=False),
        sa.Column("at", _TIME, nullable=False),
        sa.Column("user", _id(40), nullable=False),
        sa.Column("act", _id(20), nullable=False),
        sa.Column("project", _id(200), nullable=False),
        sa.Column("channel", _id(40), nullable=False),
        sa.Column("job", _NUMBER),
        sa.Column("prompt", _NUMBER),
        sa.Column("subscription", _NUMBER),
        sa.Column("end", _id(20)),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_audit_job", "audit", ["job"])
    op.create_table(
        "back_offs",
        sa.Column("project", _id(200), nullable=False),
        sa.Column("until", _TIME, nullable=False),
        sa.Column("attempts", _NUMBER, nullable=False),
        sa.Column("reason", _id(200), nullable=False),
        sa.Column("since", _TIME, nullable=False),
        sa.PrimaryKeyConstraint("project"),
    )
    op.create_table(
        "channel_projects",
        sa.Column("channel", _id(40), nullable=False),
        sa.Column("project", _id(200), nullable=False),
        sa.PrimaryKeyConstraint("channel"),
    )
    op.create_table(
        "conversations",
        sa.Column("id", _NUMBER, autoincrement=True, nullable=False),
        sa.Column("channel", _id(40), nullable=False),
        sa.Column("thread", _id(40), nullable=False),
        sa.Column("newest_ts", _id(40), nullable=False),
        sa.Column("missed_since", _id(40)),
        sa.Column("due_at", _TIME),
        sa.Column("attempts", _NUMBER, server_default=sa.text("0"), nullable=False),
        *_lease(),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_conversations_due_at", "conversations", ["due_at"])
    op.create_index("ix_conversations_place", "conversations", ["channel", "thread"], unique=True)
    op.create_table(
        "heartbeats",
        sa.Column("process", _id(80), nullable=False),
        sa.Column("beat_at", _TIME),
        sa.Column("tried_at", _TIME),
        sa.PrimaryKeyConstraint("process"),
    )
    op.create_table(
        "jobs",
        sa.Column("number", _NUMBER, autoincrement=True, nullable=False),
        sa.Column("project", _id(200), nullable=False),
        sa.Column("channel", _id(40), nullable=False),
        sa.Column("requester", _id(40), nullable=False),
        sa.Column("text", _TEXT, nullable=False),
        sa.Column("asked_at", _TIME, nullable=False),
        sa.Column("state", _id(20), nullable=False),
        sa.Column("root_ts", _id(40)),
        sa.Column("thread_ts", _id(40)),
        sa.Column("service_id", _id(400)),
        sa.Column("iteration", _NUMBER, server_default=sa.text("0"), nullable=False),
        sa.Column("iteration_requester", _id(40)),
        sa.Column("iteration_started_at", _TIME),
        sa.Column("saw_active", _FLAG, server_default=sa.text("false"), nullable=False),
        sa.Column("unconfirmed_until", _TIME),
        sa.Column("pr_link", _TEXT),
        sa.Column("repository", _TEXT),
        sa.Column("ref", _TEXT),
        sa.Column("ended_at", _TIME),
        sa.Column("told_running_at", _TIME),
        sa.Column("problem", _TEXT),
        sa.Column("queue_until", _TIME),
        sa.Column("queue_why", _id(20)),
        sa.Column("uses_left", _NUMBER),
        sa.Column("also_asked", _JSON),
        sa.Column("earlier", _JSON),
        sa.Column("poll_at", _TIME),
        sa.Column("misses", _NUMBER, server_default=sa.text("0"), nullable=False),
        sa.Column("missing_since", _TIME),
        sa.Column("unread_since", _TIME),
        sa.Column("model", _TEXT),
        sa.Column("created_at", _TIME),
        sa.Column("archived_at", _TIME),
        sa.Column("shown_minutes", _NUMBER, server_default=sa.text("0"), nullable=False),
        sa.Column("again_of", _NUMBER),
        sa.Column("trouble", _id(20)),
        sa.Column("trouble_since", _TIME),
        sa.Column("review", _id(20)),
        sa.Column("reviewed_by", _id(40)),
        sa.Column("reviewed_at", _TIME),
        sa.Column("remind_at", _TIME),
        sa.Column("project_label", _TEXT),
        *_lease(),
        sa.PrimaryKeyConstraint("number"),
    )
    _index_if_set("ix_jobs_in_thread", "jobs", "channel", "thread_ts")
    _index_if_set("ix_jobs_poll_at", "jobs", "poll_at")
    _index_if_set("ix_jobs_remind_at", "jobs", "remind_at")
    _index_if_set("ix_jobs_service_id", "jobs", "service_id")
    op.create_index("ix_jobs_thread", "jobs", ["channel", "root_ts"], unique=True)
    op.create_table(
        "limits",
        sa.Column("project", _id(200), nullable=False),
        sa.Column("prompts_until", _TIME),
        sa.Column("calls_until", _TIME),
        sa.PrimaryKeyConstraint("project"),
    )
    op.create_table(
        "members",
        sa.Column("user", _id(40), nullable=False),
        sa.Column("access", _id(20), nullable=False),
        sa.Column("rule", _id(40), nullable=False),
        sa.Column("checked_at", _TIME, nullable=False),
        sa.Column("told_at", _TIME),
        sa.PrimaryKeyConstraint("user"),
    )
    op.create_table(
        "paces",
        sa.Column("subject", _id(40), nullable=False),
        sa.Column("free_at", _TIME, nullable=False),
        sa.PrimaryKeyConstraint("subject"),
    )
    op.create_table(
        "snapshots",
        sa.Column("id", _NUMBER, autoincrement=True, nullable=False),
        sa.Column("project", _id(200), nullable=False),
        sa.Column("first", sa.Date(), nullable=False),
        sa.Column("end", sa.Date(), nullable=False),
        sa.Column("generation", _id(40), nullable=False),
        sa.Column("is_final", _FLAG, nullable=False),
        sa.Column("state", _id(20), nullable=False),
        sa.Column("with_pages", _FLAG, nullable=False),
        sa.Column("human", _COUNT),
        sa.Column("ai", _COUNT),
        sa.Column("total", _COUNT),
        sa.Column("rows", _NUMBER, server_default=sa.text("0"), nullable=False),
        sa.Column("repeated", _NUMBER, server_default=sa.text("0"), nullable=False),
        sa.Column("next_offset", _NUMBER, server_default=sa.text("0"), nullable=False),
        sa.Column("calls", _NUMBER, server_default=sa.text("0"), nullable=False),
        sa.Column("attempts", _NUMBER, server_default=sa.text("0"), nullable=False),
        sa.Column("complete", _FLAG, server_default=sa.text("false"), nullable=False),
        sa.Column("problem", _TEXT),
        sa.Column("created_at", _TIME, nullable=False),
        sa.Column("taken_at", _TIME),
        sa.Column("due_at", _TIME, nullable=False),
        sa.Column("wanted_until", _TIME),
        sa.Column("planned_until", _TIME),
        *_lease(),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_snapshots_state", "snapshots", ["state", "due_at"])
    op.create_index(
        "ix_snapshots_window", "snapshots", ["project", "first", "end", "generation"], unique=True
    )
    op.create_table(
        "subscriptions",
        sa.Column("id", _NUMBER, autoincrement=True, nullable=False),
        sa.Column("place", _id(600), nullable=False),
        sa.Column("project", _id(200), nullable=False),
        sa.Column("channel", _id(40), nullable=False),
        sa.Column("section", _TEXT),
        sa.Column("weekday", _NUMBER, nullable=False),
        sa.Column("at", _id(5), nullable=False),
        sa.Column("zone", _id(80), nullable=False),
        sa.Column("owner", _id(40), nullable=False),
        sa.Column("state", _id(20), nullable=False),
        sa.Column("revision", _NUMBER, server_default=sa.text("1"), nullable=False),
        sa.Column("next_run_at", _TIME),
        sa.Column("last_run_at", _TIME),
        sa.Column("last_result", _TEXT),
        sa.Column("response_url", _TEXT),
        sa.Column("created_at", _TIME, nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("place"),
    )
    op.create_index("ix_subscriptions_state", "subscriptions", ["state", "next_run_at"])
    op.create_table(
        "deliveries",
        sa.Column("seq", _NUMBER, autoincrement=True, nullable=False),
        sa.Column("id", _id(40), nullable=False),
        sa.Column("key", _id(400), nullable=False),
        sa.Column("kind", _id(20), nullable=False),
        sa.Column("state", _id(20), nullable=False),
        sa.Column("job", _NUMBER),
        sa.Column("channel", _id(40), nullable=False),
        sa.Column("user", _id(40)),
        sa.Column("message", _JSON),
        sa.Column("message_ts", _id(40)),
        sa.Column("reaction", _id(80)),
        sa.Column("response_url", _TEXT),
        sa.Column("plain", _FLAG, server_default=sa.text("false"), nullable=False),
        sa.Column("created_at", _TIME, nullable=False),
        sa.Column("due_at", _TIME, nullable=False),
        sa.Column("attempts", _NUMBER, server_default=sa.text("0"), nullable=False),
        *_lease(),
        sa.Column("posted_ts", _id(40)),
        sa.Column("error", _TEXT),
        sa.Column("settled_at", _TIME),
        sa.Column("subscription", _NUMBER),
        sa.Column("question", _NUMBER),
        sa.Column("edits", _id(400)),
        sa.ForeignKeyConstraint(["job"], ["jobs.number"]),
        sa.PrimaryKeyConstraint("seq"),
        sa.UniqueConstraint("id"),
        sa.UniqueConstraint("key"),
    )
    op.create_index("ix_deliveries_channel", "deliveries", ["channel", "state"])
    op.create_index("ix_deliveries_job", "deliveries", ["job", "state"])
    _index_if_set("ix_deliveries_settled_at", "deliveries", "settled_at")
    op.create_index("ix_deliveries_state", "deliveries", ["state", "due_at"])
    op.create_table(
        "page_visitors",
        sa.Column("id", _NUMBER, autoincrement=True, nullable=False),
        sa.Column("snapshot", _NUMBER, nullable=False),
        sa.Column("hash", _id(32), nullable=False),
        sa.Column("path", _TEXT, nullable=False),
        sa.Column("human", _COUNT, nullable=False),
        sa.Column("ai", _COUNT, nullable=False),
        sa.Column("total", _COUNT, nullable=False),
        sa.ForeignKeyConstraint(["snapshot"], ["snapshots.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_page_visitors_page", "page_visitors", ["snapshot", "hash"], unique=True)
    op.create_table(
        "prompts",
        sa.Column("id", _NUMBER, autoincrement=True, nullable=False),
        sa.Column("key", _id(400), nullable=False),
        sa.Column("job", _NUMBER, nullable=False),
        sa.Column("project", _id(200), nullable=False),
        sa.Column("kind", _id(20), nullable=False),
        sa.Column("state", _id(20), nullable=False),
        sa.Column("asked_by", _id(40), nullable=False),
        sa.Column("raw", _TEXT, nullable=False),
        sa.Column("text", _TEXT),
        sa.Column("asked_at", _TIME, nullable=False),
        sa.Column("channel", _id(40)),
        sa.Column("message_ts", _id(40)),
        sa.Column("response_url", _TEXT),
        sa.Column("take_thread", _id(20)),
        sa.Column("attachments", _TEXT),
        sa.Column("files", _JSON),
        sa.Column("due_at", _TIME, nullable=False),
        sa.Column("sent_at", _TIME),
        sa.Column("attempts", _NUMBER, server_default=sa.text("0"), nullable=False),
        sa.Column("in_queue", _FLAG, server_default=sa.text("false"), nullable=False),
        *_lease(),
        sa.ForeignKeyConstraint(["job"], ["jobs.number"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("key"),
    )
    op.create_index("ix_prompts_asked_by", "prompts", ["asked_by", "asked_at"])
    op.create_index("ix_prompts_job", "prompts", ["job"])
    _index_if_set("ix_prompts_sent_at", "prompts", "project", "sent_at")
    op.create_index("ix_prompts_state", "prompts", ["state", "due_at"])
    op.create_index("ix_prompts_waiting", "prompts", ["asked_by", "state"])
    op.create_table(
        "questions",
        sa.Column("id", _NUMBER, autoincrement=True, nullable=False),
        sa.Column("key", _id(400), nullable=False),
        sa.Column("kind", _id(20), nullable=False),
        sa.Column("subscription", _NUMBER),
        sa.Column("project", _id(200), nullable=False),
        sa.Column("channel", _id(40), nullable=False),
        sa.Column("user", _id(40)),
        sa.Column("query", _JSON),
        sa.Column("state", _id(20), nullable=False),
        sa.Column("now", _NUMBER, nullable=False),
        sa.Column("was", _NUMBER),
        sa.Column("chart", _JSON, nullable=False),
        sa.Column("response_url", _TEXT),
        sa.Column("calls_before", _NUMBER, server_default=sa.text("0"), nullable=False),
        sa.Column("thread_ts", _id(40)),
        sa.Column("asked_at", _TIME, nullable=False),
        sa.Column("due_at", _TIME, nullable=False),
        *_lease(),
        sa.ForeignKeyConstraint(["now"], ["snapshots.id"]),
        sa.ForeignKeyConstraint(["subscription"], ["subscriptions.id"]),
        sa.ForeignKeyConstraint(["was"], ["snapshots.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("key"),
    )
    op.create_index("ix_questions_state", "questions", ["state", "due_at"])
