"""Store jobs and their messages; a job's status is derived from its messages."""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum

SCHEMA = """
CREATE TABLE IF NOT EXISTS jobs (
    id TEXT PRIMARY KEY,
    project TEXT NOT NULL,
    created_at TEXT NOT NULL,
    archived_at TEXT,
    branch TEXT NOT NULL,
    base_sha TEXT,
    pull_number INTEGER,
    title TEXT,
    page TEXT,
    UNIQUE (project, pull_number)
);
CREATE TABLE IF NOT EXISTS messages (
    job_id TEXT NOT NULL REFERENCES jobs (id),
    number INTEGER NOT NULL,
    prompt TEXT NOT NULL,
    sent_at TEXT NOT NULL,
    due_at TEXT NOT NULL,
    ended_at TEXT,
    outcome TEXT,
    summary TEXT,
    commit_sha TEXT,
    PRIMARY KEY (job_id, number)
);
CREATE TABLE IF NOT EXISTS programs (
    job_id TEXT NOT NULL,
    number INTEGER NOT NULL,
    output TEXT NOT NULL,
    link TEXT,
    PRIMARY KEY (job_id, number)
);
CREATE INDEX IF NOT EXISTS messages_due ON messages (ended_at, due_at);
"""


class Status(StrEnum):
    """The status of a job."""

    ACTIVE = "active"
    COMPLETED = "completed"
    FAILED = "failed"
    ARCHIVED = "archived"


class Outcome(StrEnum):
    """How the work on one message ended."""

    CHANGED = "changed"
    UNCHANGED = "unchanged"
    FAILED = "failed"
    ARCHIVED = "archived"


@dataclass(frozen=True)
class JobMessage:
    """A prompt to the agent: the first of a job, or a follow-up."""

    job_id: str
    number: int
    prompt: str
    sent_at: datetime
    due_at: datetime
    ended_at: datetime | None
    outcome: Outcome | None
    summary: str | None
    commit_sha: str | None
    output: str = ""
    link: str | None = None


@dataclass(frozen=True)
class Job:
    """A job with all its messages, oldest first."""

    id: str
    project: str
    created_at: datetime
    archived_at: datetime | None
    branch: str
    base_sha: str | None
    pull_number: int | None
    title: str | None
    page: str | None
    messages: tuple[JobMessage, ...]

    @property
    def link(self) -> str | None:
        """Return the newest address that the publishing command printed, or None."""
        return next((message.link for message in reversed(self.messages) if message.link), None)

    @property
    def status(self) -> Status:
        """Return the job's status.

        An archived job stays archived. A job is active while a message is unfinished; otherwise the outcome
        of the last message decides.
        """
        if self.archived_at is not None:
            return Status.ARCHIVED
        if any(message.ended_at is None for message in self.messages):
            return Status.ACTIVE
        failed = self.messages[-1].outcome is Outcome.FAILED
        return Status.FAILED if failed else Status.COMPLETED


@dataclass(frozen=True)
class WorkDone:
    """The result of the agent's work on one message; `output` and `link` come from programs only."""

    outcome: Outcome
    summary: str
    title: str | None = None
    page: str | None = None
    base_sha: str | None = None
    commit_sha: str | None = None
    output: str = ""
    link: str | None = None


def _format_time(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="microseconds")


def _parse_optional_time(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


def _parse_time(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _message(row: sqlite3.Row) -> JobMessage:
    return JobMessage(
        job_id=row["job_id"],
        number=row["number"],
        prompt=row["prompt"],
        sent_at=_parse_time(row["sent_at"]),
        due_at=_parse_time(row["due_at"]),
        ended_at=_parse_optional_time(row["ended_at"]),
        outcome=None if row["outcome"] is None else Outcome(row["outcome"]),
        summary=row["summary"],
        commit_sha=row["commit_sha"],
        output=row["output"] or "",
        link=row["link"],
    )


_MESSAGES = "SELECT m.*, p.output, p.link FROM messages m LEFT JOIN programs p USING (job_id, number)"


def _job(connection: sqlite3.Connection, row: sqlite3.Row) -> Job:
    found = connection.execute(f"{_MESSAGES} WHERE m.job_id = ? ORDER BY m.number", (row["id"],))
    return Job(
        id=row["id"],
        project=row["project"],
        created_at=_parse_time(row["created_at"]),
        archived_at=_parse_optional_time(row["archived_at"]),
        branch=row["branch"],
        base_sha=row["base_sha"],
        pull_number=row["pull_number"],
        title=row["title"],
        page=row["page"],
        messages=tuple(_message(message) for message in found),
    )


def find(connection: sqlite3.Connection, project: str, job_id: str) -> Job | None:
    """Return the project's job with this id, or None."""
    row = connection.execute("SELECT * FROM jobs WHERE id = ? AND project = ?", (job_id, project)).fetchone()
    return None if row is None else _job(connection, row)


def find_pull(connection: sqlite3.Connection, project: str, number: int) -> Job | None:
    """Return the job that opened this pull request of the project, or None."""
    row = connection.execute(
        "SELECT * FROM jobs WHERE project = ? AND pull_number = ?", (project, number)
    ).fetchone()
    return None if row is None else _job(connection, row)


def newest(connection: sqlite3.Connection, limit: int) -> list[Job]:
    """Return at most `limit` jobs of all projects, newest first."""
    rows = connection.execute("SELECT * FROM jobs ORDER BY created_at DESC, rowid DESC LIMIT ?", (limit,))
    return [_job(connection, row) for row in rows.fetchall()]


def create(
    connection: sqlite3.Connection,
    project: str,
    prompt: str,
    now: datetime,
    work_seconds: float,
    branch: Callable[[str, str], str],
) -> Job:
    """Create a job with its first message, due after `work_seconds`; `branch(id, prompt)` is its branch."""
    job_id = f"job_{secrets.token_hex(8)}"
    connection.execute(
        "INSERT INTO jobs (id, project, created_at, branch) VALUES (?, ?, ?, ?)",
        (job_id, project, _format_time(now), branch(job_id, prompt)),
    )
    _add_message(connection, job_id, 1, prompt, now, now + timedelta(seconds=work_seconds))
    return _get(connection, project, job_id)


def follow_up(
    connection: sqlite3.Connection, job: Job, prompt: str, now: datetime, work_seconds: float
) -> Job:
    """Add a message to the job and return the job; the agent works on messages in order."""
    latest = _get(connection, job.project, job.id)
    begins_at = max([now, *(message.due_at for message in latest.messages if message.ended_at is None)])
    due_at = begins_at + timedelta(seconds=work_seconds)
    _add_message(connection, job.id, len(latest.messages) + 1, prompt, now, due_at)
    return _get(connection, job.project, job.id)


def archive(connection: sqlite3.Connection, job: Job, now: datetime) -> Job:
    """Archive the job and return it; its unfinished messages are never worked on."""
    connection.execute(
        "UPDATE jobs SET archived_at = ? WHERE id = ? AND archived_at IS NULL", (_format_time(now), job.id)
    )
    return _get(connection, job.project, job.id)


def due(connection: sqlite3.Connection, now: datetime) -> list[tuple[Job, JobMessage]]:
    """Return the messages that are due, in the order in which to work on them."""
    rows = connection.execute(
        "SELECT m.job_id, m.number, j.project FROM messages m JOIN jobs j ON j.id = m.job_id"
        " WHERE m.ended_at IS NULL AND j.archived_at IS NULL AND m.due_at <= ?"
        " ORDER BY m.due_at, m.job_id, m.number",
        (_format_time(now),),
    ).fetchall()
    found = [(_get(connection, row["project"], row["job_id"]), row["number"]) for row in rows]
    return [(job, job.messages[number - 1]) for job, number in found]


def next_due_at(connection: sqlite3.Connection) -> datetime | None:
    """Return when the next message is due, or None if there is none."""
    row = connection.execute(
        "SELECT MIN(m.due_at) FROM messages m JOIN jobs j ON j.id = m.job_id"
        " WHERE m.ended_at IS NULL AND j.archived_at IS NULL"
    ).fetchone()
    return _parse_optional_time(row[0])


def end_message(connection: sqlite3.Connection, message: JobMessage, done: WorkDone, now: datetime) -> None:
    """Store the outcome of the message; the first commit opens the pull request."""
    connection.execute(
        "UPDATE messages SET ended_at = ?, outcome = ?, summary = ?, commit_sha = ?"
        " WHERE job_id = ? AND number = ? AND ended_at IS NULL",
        (_format_time(now), done.outcome, done.summary, done.commit_sha, message.job_id, message.number),
    )
    if done.output or done.link:
        connection.execute(
            "INSERT OR REPLACE INTO programs VALUES (?, ?, ?, ?)",
            (message.job_id, message.number, done.output, done.link),
        )
    if done.commit_sha is not None:
        connection.execute(
            "UPDATE jobs SET title = COALESCE(title, ?), page = ?, base_sha = COALESCE(base_sha, ?),"
            " pull_number = COALESCE(pull_number, (SELECT COALESCE(MAX(o.pull_number), 0) + 1"
            "  FROM jobs o WHERE o.project = jobs.project)) WHERE id = ?",
            (done.title, done.page, done.base_sha, message.job_id),
        )
    if done.outcome is Outcome.ARCHIVED:
        connection.execute(
            "UPDATE jobs SET archived_at = ? WHERE id = ? AND archived_at IS NULL",
            (_format_time(now), message.job_id),
        )


def _add_message(
    connection: sqlite3.Connection, job_id: str, number: int, prompt: str, now: datetime, due_at: datetime
) -> None:
    connection.execute(
        "INSERT INTO messages (job_id, number, prompt, sent_at, due_at) VALUES (?, ?, ?, ?, ?)",
        (job_id, number, prompt, _format_time(now), _format_time(due_at)),
    )


def _get(connection: sqlite3.Connection, project: str, job_id: str) -> Job:
    job = find(connection, project, job_id)
    if job is None:
        raise LookupError(f"no job {job_id} in {project}")
    return job
