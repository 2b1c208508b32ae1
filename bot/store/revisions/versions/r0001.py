"""Create the tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Change the tables of the revision before into those of this one."""
    op.create_table(
        "analytics_calls",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("project", sa.String(200), nullable=False),
        sa.Column("called_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_analytics_calls")),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "ix_analytics_calls_called_at", "analytics_calls", ["project", "called_at"], unique=False
    )
    op.create_table(
        "audit",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("acted_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("user", sa.String(40), nullable=False),
        sa.Column("act", sa.String(20), nullable=False),
        sa.Column("project", sa.String(200), nullable=False),
        sa.Column("channel", sa.String(40), nullable=False),
        sa.Column("job", sa.Integer(), nullable=True),
        sa.Column("prompt", sa.Integer(), nullable=True),
        sa.Column("subscription", sa.Integer(), nullable=True),
        sa.Column("outcome", sa.String(20), nullable=True),
        sa.Column("app", sa.String(40), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit")),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "ix_audit_acted_at",
        "audit",
        ["acted_at"],
        unique=False,
        sqlite_where=sa.text("\"user\" <> ''"),
        postgresql_where=sa.text("\"user\" <> ''"),
    )
    op.create_index("ix_audit_job", "audit", ["job"], unique=False)
    op.create_table(
        "back_offs",
        sa.Column("project", sa.String(200), nullable=False),
        sa.Column("retry_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("reason", sa.String(200), nullable=False),
        sa.Column("began_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("project", name=op.f("pk_back_offs")),
    )
    op.create_table(
        "channels",
        sa.Column("id", sa.String(40), nullable=False),
        sa.Column("project", sa.String(200), nullable=True),
        sa.Column(
            "is_mention_only", sa.Boolean(), server_default=sa.text("(false)"), nullable=False
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_channels")),
    )
    op.create_table(
        "inbox",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("channel", sa.String(40), nullable=False),
        sa.Column("ts", sa.String(40), nullable=False),
        sa.Column("conversation_ts", sa.String(40), nullable=False),
        sa.Column("user", sa.String(40), nullable=False),
        sa.Column("state", sa.String(20), nullable=False),
        sa.Column("said_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("parent_user", sa.String(40), nullable=True),
        sa.Column("text", sa.Text(), nullable=True),
        sa.Column("files", sa.JSON(), nullable=True),
        sa.Column("omitted_parts", sa.JSON(), nullable=True),
        sa.Column("app", sa.String(40), nullable=True),
        sa.Column("version", sa.String(40), server_default=sa.text("('')"), nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("request", sa.String(400), nullable=True),
        sa.Column("claimed_by", sa.String(80), nullable=True),
        sa.Column("claimed_until", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_inbox")),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "ix_inbox_conversation_ts", "inbox", ["channel", "conversation_ts", "user"], unique=False
    )
    op.create_index(
        "ix_inbox_due_at",
        "inbox",
        ["due_at"],
        unique=False,
        sqlite_where=sa.text("due_at IS NOT NULL"),
        postgresql_where=sa.text("due_at IS NOT NULL"),
    )
    op.create_index(
        "ix_inbox_request",
        "inbox",
        ["request"],
        unique=False,
        sqlite_where=sa.text("request IS NOT NULL"),
        postgresql_where=sa.text("request IS NOT NULL"),
    )
    op.create_index("ix_inbox_ts", "inbox", ["channel", "ts"], unique=True)
    op.create_table(
        "inquiries",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("key", sa.String(400), nullable=False),
        sa.Column("project", sa.String(200), nullable=False),
        sa.Column("channel", sa.String(40), nullable=False),
        sa.Column("user", sa.String(40), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("gap_key", sa.Text(), nullable=False),
        sa.Column("state", sa.String(20), nullable=False),
        sa.Column("asked_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("thread_ts", sa.String(40), nullable=True),
        sa.Column("response_url", sa.Text(), nullable=True),
        sa.Column(
            "is_by_assistant", sa.Boolean(), server_default=sa.text("(false)"), nullable=False
        ),
        sa.Column("audience", sa.String(20), nullable=False),
        sa.Column("conversation", sa.String(400), nullable=True),
        sa.Column("answer", sa.JSON(), nullable=True),
        sa.Column("job", sa.Integer(), nullable=True),
        sa.Column("is_topic", sa.Boolean(), server_default=sa.text("(false)"), nullable=False),
        sa.Column("thread_job", sa.Integer(), nullable=True),
        sa.Column("shared_ts", sa.String(40), nullable=True),
        sa.Column("has_reply", sa.Boolean(), server_default=sa.text("(false)"), nullable=False),
        sa.Column("claimed_by", sa.String(80), nullable=True),
        sa.Column("claimed_until", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_inquiries")),
        sa.UniqueConstraint("key", name=op.f("uq_inquiries_key")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_inquiries_asked_at", "inquiries", ["project", "asked_at"], unique=False)
    op.create_index("ix_inquiries_channel", "inquiries", ["channel", "thread_ts"], unique=False)
    op.create_index("ix_inquiries_gap_key", "inquiries", ["project", "gap_key"], unique=False)
    op.create_index(
        "ix_inquiries_shared_ts",
        "inquiries",
        ["shared_ts"],
        unique=False,
        sqlite_where=sa.text("shared_ts IS NOT NULL"),
        postgresql_where=sa.text("shared_ts IS NOT NULL"),
    )
    op.create_index("ix_inquiries_state", "inquiries", ["state", "due_at"], unique=False)
    op.create_table(
        "installation",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("installed_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("hash_key", sa.String(64), nullable=False),
        sa.Column("checked_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_installation")),
    )
    op.create_table(
        "jobs",
        sa.Column("number", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("project", sa.String(200), nullable=False),
        sa.Column("project_label", sa.Text(), nullable=True),
        sa.Column("channel", sa.String(40), nullable=False),
        sa.Column("requester", sa.String(40), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("asked_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("rerun_of", sa.Integer(), nullable=True),
        sa.Column("predecessor", sa.Integer(), nullable=True),
        sa.Column("gap", sa.JSON(), nullable=True),
        sa.Column("status_ts", sa.String(40), nullable=True),
        sa.Column("thread_ts", sa.String(40), nullable=True),
        sa.Column("thread_context", sa.JSON(), nullable=True),
        sa.Column("state", sa.String(20), nullable=False),
        sa.Column("problem", sa.Text(), nullable=True),
        sa.Column("iteration", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("result_number", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("iteration_requester", sa.String(40), nullable=True),
        sa.Column("iteration_started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("other_recipients", sa.JSON(), nullable=True),
        sa.Column(
            "has_been_active", sa.Boolean(), server_default=sa.text("(false)"), nullable=False
        ),
        sa.Column("is_slow", sa.Boolean(), server_default=sa.text("(false)"), nullable=False),
        sa.Column("long_run_notice_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("uses_left", sa.Integer(), nullable=True),
        sa.Column("wait_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("wait_reason", sa.String(20), nullable=True),
        sa.Column("unconfirmed_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("poll_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("not_found_count", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("not_found_since", sa.DateTime(timezone=True), nullable=True),
        sa.Column("poll_failing_since", sa.DateTime(timezone=True), nullable=True),
        sa.Column("service_id", sa.String(400), nullable=True),
        sa.Column("model", sa.Text(), nullable=True),
        sa.Column("pr_link", sa.Text(), nullable=True),
        sa.Column("repository", sa.Text(), nullable=True),
        sa.Column("ref", sa.Text(), nullable=True),
        sa.Column("service_created_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("service_archived_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("pull_request", sa.JSON(), nullable=True),
        sa.Column("review", sa.String(20), nullable=True),
        sa.Column("reviewed_by", sa.String(40), nullable=True),
        sa.Column("reviewed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("remind_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("claimed_by", sa.String(80), nullable=True),
        sa.Column("claimed_until", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_jobs")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_jobs_asked_at", "jobs", ["project", "asked_at"], unique=False)
    op.create_index("ix_jobs_channel", "jobs", ["channel", "number"], unique=False)
    op.create_index(
        "ix_jobs_ended_at",
        "jobs",
        ["ended_at"],
        unique=False,
        sqlite_where=sa.text("requester <> ''"),
        postgresql_where=sa.text("requester <> ''"),
    )
    op.create_index(
        "ix_jobs_in_thread",
        "jobs",
        ["channel", "thread_ts"],
        unique=False,
        sqlite_where=sa.text("thread_ts IS NOT NULL"),
        postgresql_where=sa.text("thread_ts IS NOT NULL"),
    )
    op.create_index(
        "ix_jobs_poll_at",
        "jobs",
        ["poll_at"],
        unique=False,
        sqlite_where=sa.text("poll_at IS NOT NULL"),
        postgresql_where=sa.text("poll_at IS NOT NULL"),
    )
    op.create_index(
        "ix_jobs_remind_at",
        "jobs",
        ["state", "remind_at"],
        unique=False,
        sqlite_where=sa.text("remind_at IS NOT NULL"),
        postgresql_where=sa.text("remind_at IS NOT NULL"),
    )
    op.create_index("ix_jobs_requester", "jobs", ["requester", "number"], unique=False)
    op.create_index(
        "ix_jobs_requester_state",
        "jobs",
        ["requester", "state"],
        unique=False,
        sqlite_where=sa.text("review IS NULL"),
        postgresql_where=sa.text("review IS NULL"),
    )
    op.create_index(
        "ix_jobs_rerun_of",
        "jobs",
        ["rerun_of"],
        unique=False,
        sqlite_where=sa.text("rerun_of IS NOT NULL"),
        postgresql_where=sa.text("rerun_of IS NOT NULL"),
    )
    op.create_index(
        "ix_jobs_service_id",
        "jobs",
        ["service_id"],
        unique=False,
        sqlite_where=sa.text("service_id IS NOT NULL"),
        postgresql_where=sa.text("service_id IS NOT NULL"),
    )
    op.create_index(
        "ix_jobs_state",
        "jobs",
        ["state", "channel"],
        unique=False,
        sqlite_where=sa.text("review IS NULL"),
        postgresql_where=sa.text("review IS NULL"),
    )
    op.create_index("ix_jobs_thread", "jobs", ["channel", "status_ts"], unique=True)
    op.create_index(
        "ix_jobs_unreviewed",
        "jobs",
        ["project", "number"],
        unique=False,
        sqlite_where=sa.text(
            "review IS NULL AND state IN ('waiting', 'working', 'unconfirmed', 'pull_request')"
        ),
        postgresql_where=sa.text(
            "review IS NULL AND state IN ('waiting', 'working', 'unconfirmed', 'pull_request')"
        ),
    )
    op.create_table(
        "limits",
        sa.Column("project", sa.String(200), nullable=False),
        sa.Column("prompts_limited_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("analytics_limited_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("previews_unavailable_until", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("project", name=op.f("pk_limits")),
    )
    op.create_table(
        "members",
        sa.Column("user", sa.String(40), nullable=False),
        sa.Column("access", sa.String(20), nullable=False),
        sa.Column("fingerprint", sa.String(40), nullable=False),
        sa.Column("checked_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("refused_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("user", name=op.f("pk_members")),
    )
    op.create_table(
        "missed_messages",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("since_ts", sa.String(40), nullable=False),
        sa.Column("channel", sa.String(40), nullable=True),
        sa.Column("is_invited", sa.Boolean(), server_default=sa.text("(false)"), nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("claimed_by", sa.String(80), nullable=True),
        sa.Column("claimed_until", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_missed_messages")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "publications",
        sa.Column("job", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("project", sa.String(200), nullable=False),
        sa.Column("requester", sa.String(40), nullable=False),
        sa.Column("state", sa.String(20), nullable=False),
        sa.Column("merged_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("attempts", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("change", sa.JSON(), nullable=True),
        sa.Column("address", sa.Text(), nullable=True),
        sa.Column("title", sa.Text(), nullable=True),
        sa.Column("claimed_by", sa.String(80), nullable=True),
        sa.Column("claimed_until", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("job", name=op.f("pk_publications")),
    )
    op.create_index("ix_publications_merged_at", "publications", ["merged_at"], unique=False)
    op.create_index("ix_publications_state", "publications", ["state", "due_at"], unique=False)
    op.create_table(
        "readings",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("project", sa.String(200), nullable=False),
        sa.Column("source", sa.String(20), nullable=False),
        sa.Column("first_day", sa.Date(), nullable=False),
        sa.Column("end_day", sa.Date(), nullable=False),
        sa.Column("is_final", sa.Boolean(), nullable=False),
        sa.Column("totals", sa.JSON(), nullable=True),
        sa.Column("pages", sa.LargeBinary(), nullable=True),
        sa.Column("is_complete", sa.Boolean(), nullable=False),
        sa.Column("next_offset", sa.Integer(), nullable=False),
        sa.Column("gap_rows", sa.JSON(), nullable=True),
        sa.Column("began_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("read_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("problem", sa.Text(), nullable=True),
        sa.Column("failed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("retry_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_readings")),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "ix_readings_pages",
        "readings",
        ["end_day"],
        unique=False,
        sqlite_where=sa.text("pages IS NOT NULL"),
        postgresql_where=sa.text("pages IS NOT NULL"),
    )
    op.create_index(
        "ix_readings_period",
        "readings",
        ["project", "source", "first_day", "end_day"],
        unique=False,
    )
    op.create_table(
        "repositories",
        sa.Column("project", sa.String(200), nullable=False),
        sa.Column("name", sa.String(300), nullable=False),
        sa.Column("pinned_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("project", name=op.f("pk_repositories")),
    )
    op.create_table(
        "sending_stops",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("stopped_by", sa.String(40), nullable=True),
        sa.Column("stopped_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sending_stops")),
    )
    op.create_table(
        "sent_questions",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("inquiry", sa.Integer(), nullable=False),
        sa.Column("project", sa.String(200), nullable=False),
        sa.Column("text_hash", sa.String(40), nullable=False),
        sa.Column("sent_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("is_search", sa.Boolean(), nullable=False),
        sa.Column("conversation", sa.String(400), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sent_questions")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_sent_questions_inquiry", "sent_questions", ["inquiry"], unique=False)
    op.create_index("ix_sent_questions_sent_at", "sent_questions", ["sent_at"], unique=False)
    op.create_table(
        "service_keys",
        sa.Column("name", sa.String(220), nullable=False),
        sa.Column("salt", sa.String(40), nullable=False),
        sa.Column("fingerprint", sa.String(40), nullable=False),
        sa.Column("first_used_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("refused_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("warned_at_days", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_service_keys")),
    )
    op.create_table(
        "subscriptions",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("key", sa.String(600), nullable=False),
        sa.Column("project", sa.String(200), nullable=False),
        sa.Column("channel", sa.String(40), nullable=False),
        sa.Column("section", sa.Text(), nullable=True),
        sa.Column("weekday", sa.Integer(), nullable=False),
        sa.Column("time_of_day", sa.String(5), nullable=False),
        sa.Column("zone", sa.String(80), nullable=False),
        sa.Column("owner", sa.String(40), nullable=False),
        sa.Column("state", sa.String(20), nullable=False),
        sa.Column("next_run_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_run_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_result", sa.Text(), nullable=True),
        sa.Column("posted_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_subscriptions")),
        sa.UniqueConstraint("key", name=op.f("uq_subscriptions_key")),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "ix_subscriptions_state", "subscriptions", ["state", "next_run_at"], unique=False
    )
    op.create_table(
        "trials",
        sa.Column("token", sa.String(40), nullable=False),
        sa.Column("user", sa.String(40), nullable=False),
        sa.Column("channel", sa.String(40), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("notes", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("token", name=op.f("pk_trials")),
    )
    op.create_table(
        "deliveries",
        sa.Column("seq", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("id", sa.String(40), nullable=False),
        sa.Column("key", sa.String(400), nullable=False),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("state", sa.String(20), nullable=False),
        sa.Column("job", sa.Integer(), nullable=True),
        sa.Column("channel", sa.String(40), nullable=False),
        sa.Column("user", sa.String(40), nullable=True),
        sa.Column("message", sa.JSON(), nullable=True),
        sa.Column("message_ts", sa.String(40), nullable=True),
        sa.Column("reaction", sa.String(80), nullable=True),
        sa.Column("response_url", sa.Text(), nullable=True),
        sa.Column("is_plain", sa.Boolean(), server_default=sa.text("(false)"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("attempts", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("claimed_by", sa.String(80), nullable=True),
        sa.Column("claimed_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("posted_ts", sa.String(40), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("settled_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("subscription", sa.Integer(), nullable=True),
        sa.Column("question", sa.Integer(), nullable=True),
        sa.Column("edited_key", sa.String(400), nullable=True),
        sa.Column("can_join", sa.Boolean(), server_default=sa.text("(false)"), nullable=False),
        sa.ForeignKeyConstraint(["job"], ["jobs.number"], name=op.f("fk_deliveries_job")),
        sa.PrimaryKeyConstraint("seq", name=op.f("pk_deliveries")),
        sa.UniqueConstraint("id", name=op.f("uq_deliveries_id")),
        sa.UniqueConstraint("key", name=op.f("uq_deliveries_key")),
        info={"is_long": True},
        sqlite_autoincrement=True,
    )
    op.create_index("ix_deliveries_channel", "deliveries", ["channel", "state"], unique=False)
    op.create_index("ix_deliveries_job", "deliveries", ["job", "state"], unique=False)
    op.create_index(
        "ix_deliveries_question",
        "deliveries",
        ["channel", "question"],
        unique=False,
        sqlite_where=sa.text("question IS NOT NULL"),
        postgresql_where=sa.text("question IS NOT NULL"),
    )
    op.create_index(
        "ix_deliveries_settled_at",
        "deliveries",
        ["settled_at"],
        unique=False,
        sqlite_where=sa.text("settled_at IS NOT NULL"),
        postgresql_where=sa.text("settled_at IS NOT NULL"),
    )
    op.create_index("ix_deliveries_state", "deliveries", ["state", "due_at"], unique=False)
    op.create_table(
        "previews",
        sa.Column("job", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("project", sa.String(200), nullable=False),
        sa.Column("iteration", sa.Integer(), nullable=False),
        sa.Column("requester", sa.String(40), nullable=False),
        sa.Column("branch", sa.Text(), nullable=False),
        sa.Column("state", sa.String(20), nullable=False),
        sa.Column("asked_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("build_calls", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("status_id", sa.String(400), nullable=True),
        sa.Column("url", sa.Text(), nullable=True),
        sa.Column("log", sa.Text(), nullable=True),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("is_requested", sa.Boolean(), server_default=sa.text("(false)"), nullable=False),
        sa.Column("claimed_by", sa.String(80), nullable=True),
        sa.Column("claimed_until", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["job"], ["jobs.number"], name=op.f("fk_previews_job")),
        sa.PrimaryKeyConstraint("job", name=op.f("pk_previews")),
    )
    op.create_index(
        "ix_previews_due_at",
        "previews",
        ["due_at"],
        unique=False,
        sqlite_where=sa.text("due_at IS NOT NULL"),
        postgresql_where=sa.text("due_at IS NOT NULL"),
    )
    op.create_table(
        "prompts",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("key", sa.String(400), nullable=False),
        sa.Column("job", sa.Integer(), nullable=False),
        sa.Column("project", sa.String(200), nullable=False),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("state", sa.String(20), nullable=False),
        sa.Column("asked_by", sa.String(40), nullable=False),
        sa.Column("raw", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=True),
        sa.Column("asked_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("channel", sa.String(40), nullable=True),
        sa.Column("message_ts", sa.String(40), nullable=True),
        sa.Column("response_url", sa.Text(), nullable=True),
        sa.Column("attach_thread", sa.String(20), nullable=True),
        sa.Column("attachments", sa.Text(), nullable=True),
        sa.Column("files", sa.JSON(), nullable=True),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("sent_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("attempts", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column(
            "is_awaiting_quota", sa.Boolean(), server_default=sa.text("(false)"), nullable=False
        ),
        sa.Column("omitted_parts", sa.JSON(), nullable=True),
        sa.Column("held_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("verified_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("app", sa.String(40), nullable=True),
        sa.Column(
            "is_preview_fix", sa.Boolean(), server_default=sa.text("(false)"), nullable=False
        ),
        sa.Column("claimed_by", sa.String(80), nullable=True),
        sa.Column("claimed_until", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["job"], ["jobs.number"], name=op.f("fk_prompts_job")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_prompts")),
        sa.UniqueConstraint("key", name=op.f("uq_prompts_key")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_prompts_asked_by", "prompts", ["asked_by", "asked_at"], unique=False)
    op.create_index(
        "ix_prompts_held_until",
        "prompts",
        ["held_until"],
        unique=False,
        sqlite_where=sa.text("held_until IS NOT NULL"),
        postgresql_where=sa.text("held_until IS NOT NULL"),
    )
    op.create_index("ix_prompts_job", "prompts", ["job"], unique=False)
    op.create_index(
        "ix_prompts_sent_at",
        "prompts",
        ["project", "sent_at"],
        unique=False,
        sqlite_where=sa.text("sent_at IS NOT NULL"),
        postgresql_where=sa.text("sent_at IS NOT NULL"),
    )
    op.create_index("ix_prompts_state", "prompts", ["state", "due_at"], unique=False)
    op.create_index("ix_prompts_waiting", "prompts", ["asked_by", "state"], unique=False)
    op.create_table(
        "pull_requests",
        sa.Column("job", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("requester", sa.String(40), nullable=False),
        sa.Column("link", sa.Text(), nullable=False),
        sa.Column("iteration", sa.Integer(), nullable=False),
        sa.Column("iteration_ended_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("reported_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("etag", sa.Text(), nullable=True),
        sa.Column("polled_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("poll_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("failed_polls", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("claimed_by", sa.String(80), nullable=True),
        sa.Column("claimed_until", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["job"], ["jobs.number"], name=op.f("fk_pull_requests_job")),
        sa.PrimaryKeyConstraint("job", name=op.f("pk_pull_requests")),
    )
    op.create_index(
        "ix_pull_requests_look_at",
        "pull_requests",
        ["poll_at"],
        unique=False,
        sqlite_where=sa.text("poll_at IS NOT NULL"),
        postgresql_where=sa.text("poll_at IS NOT NULL"),
    )
    op.create_table(
        "questions",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("key", sa.String(400), nullable=False),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("subscription", sa.Integer(), nullable=True),
        sa.Column("project", sa.String(200), nullable=False),
        sa.Column("channel", sa.String(40), nullable=False),
        sa.Column("user", sa.String(40), nullable=True),
        sa.Column("query", sa.JSON(), nullable=True),
        sa.Column("state", sa.String(20), nullable=False),
        sa.Column("readings", sa.JSON(), nullable=True),
        sa.Column("calls", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("waited_seconds", sa.Float(), server_default=sa.text("0"), nullable=False),
        sa.Column("response_url", sa.Text(), nullable=True),
        sa.Column("thread_ts", sa.String(40), nullable=True),
        sa.Column("asked_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("claimed_by", sa.String(80), nullable=True),
        sa.Column("claimed_until", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["subscription"], ["subscriptions.id"], name=op.f("fk_questions_subscription")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_questions")),
        sa.UniqueConstraint("key", name=op.f("uq_questions_key")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_questions_state", "questions", ["state", "due_at"], unique=False)
