"""The tables. ``migrations/`` makes them."""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, Column, Date, ForeignKey, Index, Integer, MetaData, Table, text

from bot.model.access import Access
from bot.model.ids import Message, SnapshotId
from bot.model.jobs import About, Earlier, JobState, QueueWhy, Review, SharedFile, TakeThread
from bot.model.misses import Source, Words
from bot.model.outbox import DeliveryKind, DeliveryState
from bot.model.previews import PreviewState
from bot.model.prompts import Act, PromptKind, PromptState
from bot.model.pull_requests import SeenPullRequest
from bot.model.questions import QuestionKind, QuestionState, SubscriptionState, VisitorsQuery
from bot.model.quota import LONGEST_BACK_OFF
from bot.model.visitors import SnapshotState
from bot.store.columns import (
    Channel,
    Choice,
    Due,
    Id,
    Json,
    Note,
    Owner,
    People,
    Person,
    Secret,
    UserJson,
    UserText,
    UtcDateTime,
    lease,
)

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_name)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def _if_set(name: str, *columns: str) -> Index:
    """Return an index without the rows in which its last column is not set, which need no entry.

    Its ``info`` says so: for an option of PostgreSQL's, SQLAlchemy would import the whole dialect, 2.5 MB.
    ``migrate`` adds the option.
    """
    return Index(name, *columns, info={"where": f"{columns[-1]} IS NOT NULL"})


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
    # Empty when the face begins its thread.
    Column("thread_ts", Id(40)),
    Column("service_id", Id(400)),
    Column("iteration", Integer, nullable=False, server_default=text("0")),
    Column("version", Integer, nullable=False, server_default=text("0")),
    Column("iteration_requester", Person(40)),
    Column("iteration_started_at", UtcDateTime),
    Column("saw_active", Boolean, nullable=False, server_default=text("false")),
    Column("unconfirmed_until", UtcDateTime),
    Column("pr_link", UserText),
    Column("pr_version", Integer),
    Column("repository", UserText),
    Column("ref", UserText),
    Column("ended_at", UtcDateTime),
    Column("told_running_at", UtcDateTime),
    Column("problem", UserText),
    Column("queue_until", UtcDateTime),
    Column("queue_why", Choice(QueueWhy)),
    Column("queue_before", Integer),
    Column("uses_left", Integer),
    Column("also_asked", People),
    Column("earlier", Json(Earlier)),
    Column("poll_at", Due(minutes=70)),
    Column("misses", Integer, nullable=False, server_default=text("0")),
    Column("missing_since", UtcDateTime),
    Column("unread_since", UtcDateTime),
    Column("model", Note),
    Column("created_at", UtcDateTime),
    Column("archived_at", UtcDateTime),
    Column("shown_minutes", Integer, nullable=False, server_default=text("0")),
    Column("again_of", Integer),
    Column("trouble", Choice(QueueWhy)),
    Column("trouble_since", UtcDateTime),
    Column("review", Choice(Review)),
    Column("reviewed_by", Person(40)),
    Column("reviewed_at", UtcDateTime),
    Column("remind_at", UtcDateTime),
    Column("project_label", Note),
    Column("about", UserJson(About)),
    *lease(),
    Index("ix_jobs_thread", "channel", "root_ts", unique=True),
    _if_set("ix_jobs_in_thread", "channel", "thread_ts"),
    _if_set("ix_jobs_service_id", "service_id"),
    _if_set("ix_jobs_poll_at", "poll_at"),
    _if_set("ix_jobs_remind_at", "remind_at"),
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
    Column("take_thread", Choice(TakeThread)),
    Column("attachments", UserText),
    Column("files", UserJson(tuple[SharedFile, ...])),
    Column("due_at", Due(minutes=65), nullable=False),
    Column("sent_at", UtcDateTime),
    Column("attempts", Integer, nullable=False, server_default=text("0")),
    Column("in_queue", Boolean, nullable=False, server_default=text("false")),
    *lease(),
    Index("ix_prompts_state", "state", "due_at"),
    Index("ix_prompts_job", "job"),
    _if_set("ix_prompts_sent_at", "project", "sent_at"),
    Index("ix_prompts_asked_by", "asked_by", "asked_at"),
    Index("ix_prompts_waiting", "asked_by", "state"),
)

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
    _if_set("ix_pull_requests_look_at", "look_at"),
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
    Column("called_at", UtcDateTime),  # 0.2.0 fills it; nothing reads it
    Column("status_id", Id(400)),
    Column("url", UserText),
    Column("files", UserJson(tuple[str, ...])),  # 0.2.0 fills it; nothing reads it
    Column("log", UserText),
    Column("due_at", Due(minutes=65)),
    *lease(),
    _if_set("ix_previews_due_at", "due_at"),
    _if_set("ix_previews_called_at", "called_at"),
)

deliveries = Table(
    "deliveries",
    metadata,
    Column("seq", Integer, primary_key=True, autoincrement=True),
    Column("id", Id(40), nullable=False, unique=True),
    Column("key", Id(400), nullable=False, unique=True),
    Column("kind", Choice(DeliveryKind), nullable=False),
    Column("state", Choice(DeliveryState), nullable=False),
    Column("job", Integer, ForeignKey("jobs.number")),
    Column("channel", Channel(40), nullable=False),
    Column("user", Owner(40)),
    # Empty once the delivery is settled.
    Column("message", UserJson(Message)),
    Column("message_ts", Id(40)),
    Column("reaction", Id(80)),
    Column("response_url", Secret),
    Column("plain", Boolean, nullable=False, server_default=text("false")),
    Column("created_at", UtcDateTime, nullable=False),
    Column("due_at", Due(minutes=11), nullable=False),
    Column("attempts", Integer, nullable=False, server_default=text("0")),
    *lease(),
    Column("posted_ts", Id(40)),
    Column("error", Note),
    Column("settled_at", UtcDateTime),
    Column("subscription", Integer),
    Column("question", Integer),
    Column("edits", Id(400)),
    Index("ix_deliveries_state", "state", "due_at"),
    Index("ix_deliveries_job", "job", "state"),
    Index("ix_deliveries_channel", "channel", "state"),
    _if_set("ix_deliveries_settled_at", "settled_at"),
)

# No longer used, since each process keeps Slack's paces in memory. A migration may drop it one release later.
paces = Table(
    "paces",
    metadata,
    # A channel, or a method of Slack's Web API.
    Column("subject", Id(40), primary_key=True),
    Column("free_at", UtcDateTime, nullable=False),
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

snapshots = Table(
    "snapshots",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("project", Id(200), nullable=False),
    Column("source", Choice(Source), nullable=False, server_default=text("'visitors'")),
    Column("first", Date, nullable=False),
    Column("end", Date, nullable=False),
    Column("generation", Id(40), nullable=False),
    Column("is_final", Boolean, nullable=False),
    Column("state", Choice(SnapshotState), nullable=False),
    Column("with_pages", Boolean, nullable=False),
    Column("human", BigInteger),
    Column("ai", BigInteger),
    Column("total", BigInteger),
    Column("rows", Integer, nullable=False, server_default=text("0")),
    Column("repeated", Integer, nullable=False, server_default=text("0")),
    Column("next_offset", Integer, nullable=False, server_default=text("0")),
    Column("calls", Integer, nullable=False, server_default=text("0")),
    Column("attempts", Integer, nullable=False, server_default=text("0")),
    Column("complete", Boolean, nullable=False, server_default=text("false")),
    Column("problem", Note),
    Column("created_at", UtcDateTime, nullable=False),
    Column("taken_at", UtcDateTime),
    # What readers wrote; empty for visitors, and once it is forgotten.
    Column("words", UserJson(Words)),
    Column("due_at", Due(minutes=65), nullable=False),
    # Until when a person waits for it, and until when a digest does.
    Column("wanted_until", UtcDateTime),
    Column("planned_until", UtcDateTime),
    *lease(),
    Index("ix_snapshots_window", "project", "source", "first", "end", "generation", unique=True),
    Index("ix_snapshots_state", "state", "due_at"),
)

page_visitors = Table(
    "page_visitors",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("snapshot", Integer, ForeignKey("snapshots.id"), nullable=False),
    # A path can be too long for an index, so pages are found by its hash.
    Column("hash", Id(32), nullable=False),
    Column("path", Note, nullable=False),
    Column("human", BigInteger, nullable=False),
    Column("ai", BigInteger, nullable=False),
    Column("total", BigInteger, nullable=False),
    Index("ix_page_visitors_page", "snapshot", "hash", unique=True),
)

analytics_calls = Table(
    "analytics_calls",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("project", Id(200), nullable=False),
    Column("at", UtcDateTime, nullable=False),
    Index("ix_analytics_calls_at", "project", "at"),
)

subscriptions = Table(
    "subscriptions",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    # Project, channel and section, joined: each combination has one subscription.
    Column("place", Id(600), nullable=False, unique=True),
    Column("project", Id(200), nullable=False),
    Column("channel", Channel(40), nullable=False),
    Column("section", UserText),
    Column("weekday", Integer, nullable=False),
    Column("at", Id(5), nullable=False),
    Column("zone", Id(80), nullable=False),
    Column("owner", Owner(40), nullable=False),
    Column("state", Choice(SubscriptionState), nullable=False),
    Column("revision", Integer, nullable=False, server_default=text("1")),
    Column("next_run_at", Due(days=15)),
    Column("last_run_at", UtcDateTime),
    Column("last_result", UserText),
    Column("response_url", Secret),
    Column("created_at", UtcDateTime, nullable=False),
    Index("ix_subscriptions_state", "state", "next_run_at"),
)

questions = Table(
    "questions",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("key", Id(400), nullable=False, unique=True),
    Column("kind", Choice(QuestionKind), nullable=False),
    Column("subscription", Integer, ForeignKey("subscriptions.id")),
    Column("project", Id(200), nullable=False),
    Column("channel", Channel(40), nullable=False),
    # Empty for the digest of a subscription, and once the question is forgotten, as is the query.
    Column("user", Owner(40)),
    Column("query", UserJson(VisitorsQuery)),
    Column("state", Choice(QuestionState), nullable=False),
    Column("now", Integer, ForeignKey("snapshots.id"), nullable=False),
    Column("was", Integer, ForeignKey("snapshots.id")),
    Column("older", Integer, ForeignKey("snapshots.id")),
    Column("chart", Json(tuple[SnapshotId, ...]), nullable=False),
    Column("missed", Json(tuple[SnapshotId, ...])),
    Column("response_url", Secret),
    Column("calls_before", Integer, nullable=False, server_default=text("0")),
    Column("thread_ts", Id(40)),
    Column("asked_at", UtcDateTime, nullable=False),
    Column("due_at", Due(minutes=70), nullable=False),
    *lease(),
    Index("ix_questions_state", "state", "due_at"),
)

limits = Table(
    "limits",
    metadata,
    Column("project", Id(200), primary_key=True),
    Column("prompts_until", Due(minutes=65)),
    Column("calls_until", Due(minutes=65)),
    Column("no_previews_until", Due(hours=25)),
)

channels = Table(
    "channels",
    metadata,
    # Not "channel": SQLite's RETURNING names columns without their tables, also in a sub-select.
    Column("id", Channel(40), primary_key=True),
    # Empty for the default.
    Column("project", Id(200)),
    Column("by_mention", Boolean, nullable=False, server_default=text("false")),
)

reviewers = Table(
    "reviewers",
    metadata,
    # First, so that a person's rows are found by it.
    Column("reviewer", Owner(40), primary_key=True),
    Column("channel", Channel(40), primary_key=True),
)

members = Table(
    "members",
    metadata,
    Column("user", Owner(40), primary_key=True),
    Column("access", Choice(Access), nullable=False),
    Column("rule", Id(40), nullable=False),
    Column("checked_at", UtcDateTime, nullable=False),
    Column("told_at", UtcDateTime),
)

conversations = Table(
    "conversations",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("channel", Channel(40), nullable=False),
    # Empty for the messages of a channel outside of threads.
    Column("thread", Id(40), nullable=False),
    Column("newest_ts", Id(40), nullable=False),
    Column("missed_since", Id(40)),
    Column("due_at", Due(minutes=11)),
    Column("attempts", Integer, nullable=False, server_default=text("0")),
    *lease(),
    Index("ix_conversations_place", "channel", "thread", unique=True),
    Index("ix_conversations_due_at", "due_at"),
)

heartbeats = Table(
    "heartbeats",
    metadata,
    Column("process", Id(80), primary_key=True),
    # Empty for a process without workers.
    Column("beat_at", UtcDateTime),
    Column("tried_at", UtcDateTime),
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
    # Empty for an act that has no end of its own.
    Column("prompt", Integer),
    Column("subscription", Integer),
    Column("end", Id(20)),
    # Most jobs have one row, so this finds the row of a prompt, too.
    Index("ix_audit_job", "job"),
)
