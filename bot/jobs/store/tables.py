"""The tables of jobs: prompts, pull requests, previews, limits and the audit."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, ForeignKey, Index, Integer, Table, and_, text

from bot.jobs.model.jobs import About, JobState, QueueWhy, Review, TakeThread, ThreadContext
from bot.jobs.model.prompts import Act, PromptKind, PromptState
from bot.jobs.model.pull_requests import PreviewState, SeenPullRequest
from bot.jobs.model.quota import LONGEST_BACK_OFF
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

jobs = Table(
    "jobs",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("project", Id(200), nullable=False),
    Column("channel", Channel(40), nullable=False),
    Column("requester", Owner(40), nullable=False),
    Column("text", UserText, nullable=False),
    Column("asked_at", UtcDateTime, nullable=False),
    Column("state", Choice(JobState), nullable=False),
    Column("root_ts", Id(40)),
    # Empty when the status message begins its thread.
    Column("thread_ts", Id(40)),
    Column("service_id", Id(400)),
    Column("iteration", Integer, nullable=False, server_default=text("0")),
    Column("version", Integer, nullable=False, server_default=text("0")),
    Column("iteration_requester", Person(40)),
    Column("iteration_started_at", UtcDateTime),
    Column("saw_active", Boolean, nullable=False, server_default=text("false")),
    Column("unconfirmed_until", UtcDateTime),
    Column("pr_link", UserText),
    Column("repository", UserText),
    Column("ref", UserText),
    Column("ended_at", UtcDateTime),
    Column("told_running_at", UtcDateTime),
    Column("is_slow", Boolean, nullable=False, server_default=text("false")),
    Column("problem", UserText),
    Column("queue_until", UtcDateTime),
    Column("queue_why", Choice(QueueWhy)),
    Column("uses_left", Integer),
    Column("also_asked", People),
    Column("earlier", Json(ThreadContext)),
    Column("poll_at", Due(minutes=70)),
    Column("misses", Integer, nullable=False, server_default=text("0")),
    Column("missing_since", UtcDateTime),
    Column("unread_since", UtcDateTime),
    Column("model", Note),
    Column("created_at", UtcDateTime),
    Column("archived_at", UtcDateTime),
    Column("again_of", Integer),
    Column("follows", Integer),
    Column("review", Choice(Review)),
    Column("reviewed_by", Person(40)),
    Column("reviewed_at", UtcDateTime),
    Column("remind_at", UtcDateTime),
    Column("project_label", Note),
    Column("about", UserJson(About)),
    *lease(),
    Index("ix_jobs_thread", "channel", "root_ts", unique=True),
    if_set("ix_jobs_in_thread", "channel", "thread_ts"),
    if_set("ix_jobs_service_id", "service_id"),
    if_set("ix_jobs_poll_at", "poll_at"),
    if_set("ix_jobs_remind_at", "state", "remind_at"),
    if_set("ix_jobs_again_of", "again_of"),
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
AWAITS_STATUS_MESSAGE = and_(jobs.c.root_ts.is_(None), jobs.c.state == JobState.WAITING)

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
    Column("take_thread", Choice(TakeThread)),
    # Earlier messages of a thread, and files.
    Column("attachments", OthersText),
    Column("files", UserJson(tuple[SharedFile, ...])),
    Column("due_at", Due(minutes=65), nullable=False),
    Column("sent_at", UtcDateTime),
    Column("attempts", Integer, nullable=False, server_default=text("0")),
    Column("in_queue", Boolean, nullable=False, server_default=text("false")),
    # The names of the parts of its messages that cannot be read as text.
    Column("omitted", UserJson(tuple[str, ...])),
    # Empty once it may be sent.
    Column("held_until", Due(minutes=11)),
    Column("seen_at", UtcDateTime),
    Column("app", Id(40)),
    Column("mends_preview", Boolean, nullable=False, server_default=text("false")),
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

SEEN = UserJson(SeenPullRequest)
pull_requests = Table(
    "pull_requests",
    metadata,
    Column("job", Integer, ForeignKey("jobs.number"), primary_key=True, autoincrement=False),
    Column("requester", Owner(40), nullable=False),
    Column("link", UserText, nullable=False),
    Column("iteration", Integer, nullable=False),
    Column("iteration_ended_at", UtcDateTime, nullable=False),
    Column("since", UtcDateTime, nullable=False),
    Column("seen", SEEN),
    Column("etag", Note),
    Column("looked_at", UtcDateTime),
    Column("look_at", Due(days=2)),
    Column("failures", Integer, nullable=False, server_default=text("0")),
    *lease(),
    if_set("ix_pull_requests_look_at", "look_at"),
)

previews = Table(
    "previews",
    metadata,
    Column("job", Integer, ForeignKey("jobs.number"), primary_key=True, autoincrement=False),
    Column("project", Id(200), nullable=False),
    Column("iteration", Integer, nullable=False),
    Column("requester", Owner(40), nullable=False),
    Column("branch", UserText, nullable=False),
    Column("state", Choice(PreviewState), nullable=False),
    Column("asked_at", UtcDateTime, nullable=False),
    Column("asks", Integer, nullable=False, server_default=text("0")),
    Column("status_id", Id(400)),
    Column("url", UserText),
    Column("log", UserText),
    Column("due_at", Due(minutes=65)),
    Column("notifies", Boolean, nullable=False, server_default=text("false")),
    *lease(),
    if_set("ix_previews_due_at", "due_at"),
)

repositories = Table(
    "repositories",
    metadata,
    Column("project", Id(200), primary_key=True),
    Column("name", Id(300), nullable=False),
    Column("pinned_at", UtcDateTime, nullable=False),
)

service_keys = Table(
    "service_keys",
    metadata,
    Column("name", Id(220), primary_key=True),
    Column("salt", Id(40), nullable=False),
    Column("fingerprint", Id(40), nullable=False),
    Column("first_used_at", UtcDateTime, nullable=False),
    Column("refused_at", UtcDateTime),
    Column("told_days", Integer, nullable=False),
)

back_offs = Table(
    "back_offs",
    metadata,
    Column("project", Id(200), primary_key=True),
    Column("until", Due(seconds=LONGEST_BACK_OFF.total_seconds()), nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("reason", Id(200), nullable=False),
    Column("since", UtcDateTime, nullable=False),
)

limits = Table(
    "limits",
    metadata,
    Column("project", Id(200), primary_key=True),
    Column("prompts_until", Due(minutes=65)),
    Column("calls_until", Due(minutes=65)),
    Column("no_previews_until", Due(hours=25)),
)

sending_stops = Table(
    "sending_stops",
    metadata,
    # One row at most, which is there while sending is switched off.
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("user", Owner(40)),
    Column("at", UtcDateTime, nullable=False),
)

audit = Table(
    "audit",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("at", UtcDateTime, nullable=False),
    Column("user", Owner(40), nullable=False),
    Column("act", Choice(Act), nullable=False),
    Column("project", Id(200), nullable=False),
    Column("channel", Channel(40), nullable=False),
    Column("job", Integer),
    # Empty for acts that end at once.
    Column("prompt", Integer),
    Column("subscription", Integer),
    Column("end", Id(20)),
    Column("app", Id(40)),
    # Most jobs have one row, so this finds the row of a prompt, too.
    Index("ix_audit_job", "job"),
    partial_index("\"user\" <> ''", "ix_audit_at", "at"),
    sqlite_autoincrement=True,
)

analytics_calls = Table(
    "analytics_calls",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("project", Id(200), nullable=False),
    Column("at", UtcDateTime, nullable=False),
    Index("ix_analytics_calls_at", "project", "at"),
    sqlite_autoincrement=True,
)
