"""The tables of pull requests and previews, and when their rows are forgotten."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, ForeignKey, Integer, Table, and_, text

from bot.jobs.store.retention import JOBS_RULE, is_of_finished_job
from bot.pulls.model.previews import PreviewState
from bot.store.leases import FREE
from bot.store.retention import RetentionRule
from bot.store.schema import (
    Choice,
    Due,
    Id,
    Note,
    Owner,
    UserText,
    UtcDateTime,
    if_set,
    lease,
    metadata,
)

pull_requests = Table(
    "pull_requests",
    metadata,
    Column("job", Integer, ForeignKey("jobs.number"), primary_key=True, autoincrement=False),
    Column("requester", Owner(40), nullable=False),
    Column("link", UserText, nullable=False),
    Column("iteration", Integer, nullable=False),
    Column("iteration_ended_at", UtcDateTime, nullable=False),
    Column("reported_at", UtcDateTime, nullable=False),
    Column("etag", Note),
    Column("polled_at", UtcDateTime),
    Column("poll_at", Due(days=2)),
    Column("failed_polls", Integer, nullable=False, server_default=text("0")),
    *lease(),
    if_set("ix_pull_requests_look_at", "poll_at"),
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
    Column("build_calls", Integer, nullable=False, server_default=text("0")),
    Column("status_id", Id(400)),
    Column("url", UserText),
    Column("log", UserText),
    Column("due_at", Due(minutes=65)),
    Column("is_requested", Boolean, nullable=False, server_default=text("false")),
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

PULL_REQUESTS_RULE = RetentionRule(
    "pull requests",
    pull_requests,
    is_of_finished_job(pull_requests.c.job),
    None,
    part_of=(JOBS_RULE, pull_requests.c.job),
    extra_values={"poll_at": None, **FREE},
)
PREVIEWS_RULE = RetentionRule(
    "previews",
    previews,
    and_(previews.c.due_at.is_(None), is_of_finished_job(previews.c.job)),
    None,
    part_of=(JOBS_RULE, previews.c.job),
    extra_values={"due_at": None, **FREE},
)
