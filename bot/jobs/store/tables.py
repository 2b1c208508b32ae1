"""The tables of jobs: prompts, limits and the audit."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, ForeignKey, Index, Integer, Table, and_, select, text

from bot.jobs.model.jobs import AttachThread, GapRef, JobState, Review, ThreadContext, WaitReason
from bot.jobs.model.prompts import Act, PromptKind, PromptState
from bot.jobs.model.pull_request import PullRequestSnapshot
from bot.jobs.model.quota import LONGEST_BACK_OFF
from bot.outbox.threads import JobThreads
from bot.ports import SharedFile
from bot.store.schema import (
    Channel,
    Choice,
    Due,
    Id,
    Json,
    Note,
    OthersText,
    Owner,
    People,
    Person,
    Secret,
    UserJson,
    UserText,
    UtcDateTime,
    if_set,
    lease,
    metadata,
    partial_index,
)

UNREVIEWED_STATES = (*JobState.open_states(), JobState.PULL_REQUEST)
_STATES = ", ".join(f"'{state}'" for state in UNREVIEWED_STATES)
UNREVIEWED = f"review IS NULL AND state IN ({_STATES})"
"""The condition of jobs that are open or to review, literally, for the index of such jobs."""

SNAPSHOT = UserJson(PullRequestSnapshot)
jobs = Table(
    "jobs",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("project", Id(200), nullable=False),
    Column("project_label", Note),
    Column("channel", Channel(40), nullable=False),
    Column("requester", Owner(40), nullable=False),
    Column("text", UserText, nullable=False),
    Column("asked_at", UtcDateTime, nullable=False),
    Column("rerun_of", Integer),
    Column("predecessor", Integer),
    Column("gap", UserJson(GapRef)),
    # Its thread.
    Column("status_ts", Id(40)),
    # Empty when the status message begins its thread.
    Column("thread_ts", Id(40)),
    Column("thread_context", Json(ThreadContext)),
    # Its state, which belongs to the iteration, and what the iteration needs.
    Column("state", Choice(JobState), nullable=False),
    Column("problem", UserText),
    Column("iteration", Integer, nullable=False, server_default=text("0")),
    Column("result_number", Integer, nullable=False, server_default=text("0")),
    Column("iteration_requester", Person(40)),
    Column("iteration_started_at", UtcDateTime),
    Column("ended_at", UtcDateTime),
    Column("other_recipients", People),
    Column("has_been_active", Boolean, nullable=False, server_default=text("false")),
    Column("is_slow", Boolean, nullable=False, server_default=text("false")),
    Column("long_run_notice_at", UtcDateTime),
    Column("uses_left", Integer),
    # Why a prompt of it waits.
    Column("wait_until", UtcDateTime),
    Column("wait_reason", Choice(WaitReason)),
    Column("unconfirmed_until", UtcDateTime),
    # Its polls.
    Column("poll_at", Due(minutes=70)),
    Column("not_found_count", Integer, nullable=False, server_default=text("0")),
    Column("not_found_since", UtcDateTime),
    Column("poll_failing_since", UtcDateTime),
    # What the docs service has reported.
    Column("service_id", Id(400)),
    Column("model", Note),
    Column("pr_link", UserText),
    Column("repository", UserText),
    Column("ref", UserText),
    Column("service_created_at", UtcDateTime),
    Column("service_archived_at", UtcDateTime),
    # What becomes of its pull request: as it was at the last poll; empty where the bot cannot poll
    # it, or has not yet.
    Column("pull_request", SNAPSHOT),
    Column("review", Choice(Review)),
    Column("reviewed_by", Person(40)),
    Column("reviewed_at", UtcDateTime),
    Column("remind_at", UtcDateTime),
    *lease(),
    Index("ix_jobs_thread", "channel", "status_ts", unique=True),
    if_set("ix_jobs_in_thread", "channel", "thread_ts"),
    if_set("ix_jobs_service_id", "service_id"),
    if_set("ix_jobs_poll_at", "poll_at"),
    if_set("ix_jobs_remind_at", "state", "remind_at"),
    if_set("ix_jobs_rerun_of", "rerun_of"),
    Index("ix_jobs_channel", "channel", "number"),
    Index("ix_jobs_requester", "requester", "number"),
    Index("ix_jobs_asked_at", "project", "asked_at"),
    partial_index("review IS NULL", "ix_jobs_state", "state", "channel"),
    partial_index("review IS NULL", "ix_jobs_requester_state", "requester", "state"),
    partial_index(UNREVIEWED, "ix_jobs_unreviewed", "project", "number"),
    # Forgotten jobs, which become the most by far, need no entry.
    partial_index("requester <> ''", "ix_jobs_ended_at", "ended_at"),
    sqlite_autoincrement=True,
)

prompts = Table(
    "prompts",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("key", Id(400), nullable=False, unique=True),
    Column("job", Integer, ForeignKey("jobs.number"), nullable=False),
    Column("project", Id(200), nullable=False),
    Column("kind", Choice(PromptKind), nullable=False),
    Column("state", Choice(PromptState), nullable=False),
    Column("asked_by", Owner(40), nullable=False),
    Column("raw", UserText, nullable=False),
    Column("text", UserText),
    Column("asked_at", UtcDateTime, nullable=False),
    Column("channel", Channel(40)),
    Column("message_ts", Id(40)),
    Column("response_url", Secret),
    Column("attach_thread", Choice(AttachThread)),
    # Earlier messages of a thread, and files.
    Column("attachments", OthersText),
    Column("files", UserJson(tuple[SharedFile, ...])),
    Column("due_at", Due(minutes=65), nullable=False),
    Column("sent_at", UtcDateTime),
    Column("attempts", Integer, nullable=False, server_default=text("0")),
    Column("is_awaiting_quota", Boolean, nullable=False, server_default=text("false")),
    # The names of the parts of its messages that cannot be read as text.
    Column("omitted_parts", UserJson(tuple[str, ...])),
    # Empty once it may be sent.
    Column("held_until", Due(minutes=11)),
    Column("verified_at", UtcDateTime),
    Column("app", Id(40)),
    Column("is_preview_fix", Boolean, nullable=False, server_default=text("false")),
    *lease(),
    if_set("ix_prompts_held_until", "held_until"),
    Index("ix_prompts_state", "state", "due_at"),
    Index("ix_prompts_job", "job"),
    if_set("ix_prompts_sent_at", "project", "sent_at"),
    Index("ix_prompts_asked_by", "asked_by", "asked_at"),
    Index("ix_prompts_waiting", "asked_by", "state"),
    sqlite_autoincrement=True,
)
STARTS_JOB = prompts.c.kind == PromptKind.START
JOB_THREADS = JobThreads(
    jobs,
    number=jobs.c.number,
    status_ts=jobs.c.status_ts,
    thread_ts=jobs.c.thread_ts,
    request=(
        select(prompts.c.key)
        .where(prompts.c.job == jobs.c.number, STARTS_JOB)
        .limit(1)
        .scalar_subquery()
    ),
    awaits_status_message=and_(jobs.c.status_ts.is_(None), jobs.c.state == JobState.WAITING),
)
"""Where the outbox finds the thread of a job's messages."""


service_keys = Table(
    "service_keys",
    metadata,
    Column("name", Id(220), primary_key=True),
    Column("salt", Id(40), nullable=False),
    Column("fingerprint", Id(40), nullable=False),
    Column("first_used_at", UtcDateTime, nullable=False),
    Column("refused_at", UtcDateTime),
    Column("warned_at_days", Integer, nullable=False),
)

back_offs = Table(
    "back_offs",
    metadata,
    Column("project", Id(200), primary_key=True),
    Column("retry_at", Due(seconds=LONGEST_BACK_OFF.total_seconds()), nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("reason", Id(200), nullable=False),
    Column("began_at", UtcDateTime, nullable=False),
)

limits = Table(
    "limits",
    metadata,
    Column("project", Id(200), primary_key=True),
    Column("prompts_limited_until", Due(minutes=65)),
    Column("analytics_limited_until", Due(minutes=65)),
    Column("previews_unavailable_until", Due(hours=25)),
)

sending_stops = Table(
    "sending_stops",
    metadata,
    # One row at most, which is there while sending is switched off.
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("stopped_by", Owner(40)),
    Column("stopped_at", UtcDateTime, nullable=False),
)

audit = Table(
    "audit",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("acted_at", UtcDateTime, nullable=False),
    Column("user", Owner(40), nullable=False),
    Column("act", Choice(Act), nullable=False),
    Column("project", Id(200), nullable=False),
    Column("channel", Channel(40), nullable=False),
    Column("job", Integer),
    # Empty for acts that end at once.
    Column("prompt", Integer),
    Column("subscription", Integer),
    Column("outcome", Id(20)),
    Column("app", Id(40)),
    # Most jobs have one row, so this finds the row of a prompt, too.
    Index("ix_audit_job", "job"),
    partial_index("\"user\" <> ''", "ix_audit_acted_at", "acted_at"),
    sqlite_autoincrement=True,
)

analytics_calls = Table(
    "analytics_calls",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("project", Id(200), nullable=False),
    Column("called_at", UtcDateTime, nullable=False),
    Index("ix_analytics_calls_called_at", "project", "called_at"),
    sqlite_autoincrement=True,
)
