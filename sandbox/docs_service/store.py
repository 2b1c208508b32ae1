"""What the docs service keeps in SQLite: jobs, uses of the hourly limits, and a log of requests."""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
import secrets
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from pydantic import BaseModel

from sandbox.docs_service.wire import RefusedError

P = ParamSpec("P")
T = TypeVar("T")

SCHEMA = """
CREATE TABLE IF NOT EXISTS jobs (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, project TEXT NOT NULL, pull_number INTEGER,
    due_at REAL, body TEXT NOT NULL, UNIQUE (project, pull_number)
);
CREATE INDEX IF NOT EXISTS jobs_due ON jobs (due_at);
CREATE TABLE IF NOT EXISTS uses (bucket TEXT NOT NULL, used_at REAL NOT NULL);
CREATE INDEX IF NOT EXISTS uses_bucket ON uses (bucket, used_at);
CREATE TABLE IF NOT EXISTS requests (number INTEGER PRIMARY KEY, entry TEXT NOT NULL);
"""
_HOUR_SECONDS = 3600


class Database:
    """Runs functions of a `sqlite3.Connection` in one thread, each in its own transaction.

    The event loop never waits for the disk.
    """

    def __init__(self, path: Path, schema: str) -> None:
        self._path = path
        self._schema = schema
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix=path.stem)
        self._connection: sqlite3.Connection | None = None

    async def run(
        self, work: Callable[Concatenate[sqlite3.Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run `work` in a transaction and return its result; roll back if it raises."""

        def transact() -> T:
            connection = self._open()
            with connection:
                return work(connection, *args, **kwargs)

        return await asyncio.get_running_loop().run_in_executor(self._thread, transact)

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            # Prompts are for this user alone. SQLite gives the files beside it the same rights.
            self._path.touch(0o600)
            self._connection = sqlite3.connect(self._path, check_same_thread=False)
            self._connection.row_factory = sqlite3.Row
            self._connection.execute("PRAGMA journal_mode=WAL")
            # A killed process loses nothing in WAL mode with NORMAL; only a power cut can.
            # https://www.sqlite.org/pragma.html#pragma_synchronous
            self._connection.execute("PRAGMA synchronous=NORMAL")
            self._connection.executescript(self._schema)
        return self._connection

    async def close(self) -> None:
        """Close the file after the current function; the next `run` opens it again."""
        await asyncio.get_running_loop().run_in_executor(self._thread, self._close)

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


# Jobs


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


class JobMessage(BaseModel):
    """A prompt to the agent: the first of a job, or a follow-up. `done` is None until its work ends."""

    number: int
    prompt: str
    sent_at: datetime
    due_at: datetime
    done: WorkDone | None = None


class PullEnd(BaseModel):
    """The end of a pull request: what it was then, and who merged it; None when it was closed."""

    at: datetime
    head_sha: str
    merged_by: str | None = None


class Job(BaseModel):
    """A job with all its messages, oldest first, stored as one JSON value."""

    id: str
    project: str
    created_at: datetime
    archived_at: datetime | None = None
    branch: str
    base_sha: str | None = None
    pull_number: int | None = None
    pull_end: PullEnd | None = None
    title: str | None = None
    page: str | None = None
    messages: list[JobMessage] = []

    @property
    def link(self) -> str | None:
        """Return the newest address that the publishing command printed, or None."""
        links = [message.done.link for message in self.messages if message.done and message.done.link]
        return links[-1] if links else None

    @property
    def unfinished(self) -> list[JobMessage]:
        """Return the messages that will still be worked on."""
        return [] if self.archived_at else [message for message in self.messages if message.done is None]

    @property
    def status(self) -> Status:
        """Return the status: archived for good, active with an unfinished message, else as the last ended."""
        if self.archived_at:
            return Status.ARCHIVED
        return Status.ACTIVE if self.unfinished else self.last_end

    @property
    def last_end(self) -> Status:
        """Return the status after the last message that ended; active if none has."""
        done = [message.done for message in self.messages if message.done]
        if not done:
            return Status.ACTIVE
        return Status.FAILED if done[-1].outcome is Outcome.FAILED else Status.COMPLETED

    def save(self, connection: sqlite3.Connection) -> Job:
        """Write the job."""
        due_at = min((message.due_at.timestamp() for message in self.unfinished), default=None)
        connection.execute(
            "INSERT INTO jobs (id, project, pull_number, due_at, body) VALUES (?, ?, ?, ?, ?)"
            " ON CONFLICT (id) DO UPDATE SET pull_number = excluded.pull_number, due_at = excluded.due_at,"
            " body = excluded.body",
            (self.id, self.project, self.pull_number, due_at, self.model_dump_json()),
        )
        return self


def _jobs(connection: sqlite3.Connection, where: str, *values: object) -> list[Job]:
    rows = connection.execute(f"SELECT body FROM jobs {where}", values)  # noqa: S608
    return [Job.model_validate_json(row["body"]) for row in rows.fetchall()]


def find(connection: sqlite3.Connection, project: str, job_id: str) -> Job | None:
    """Return the project's job with this id, or None."""
    return next(iter(_jobs(connection, "WHERE id = ? AND project = ?", job_id, project)), None)


def find_pull(connection: sqlite3.Connection, project: str, number: int) -> Job | None:
    """Return the job that opened this pull request of the project, or None."""
    return next(iter(_jobs(connection, "WHERE project = ? AND pull_number = ?", project, number)), None)


def find_branch(connection: sqlite3.Connection, project: str, branch: str) -> Job | None:
    """Return the job that works on this branch of the project, or None."""
    where = "WHERE project = ? AND json_extract(body, '$.branch') = ?"
    return next(iter(_jobs(connection, where, project, branch)), None)


def newest(connection: sqlite3.Connection, limit: int) -> list[Job]:
    """Return at most `limit` jobs of all projects, newest first."""
    return _jobs(connection, "ORDER BY number DESC LIMIT ?", limit)


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
    job = Job(id=job_id, project=project, created_at=now, branch=branch(job_id, prompt))
    return follow_up(connection, job, prompt, now, work_seconds)


def follow_up(
    connection: sqlite3.Connection, job: Job, prompt: str, now: datetime, work_seconds: float
) -> Job:
    """Add a message to the job and return the job; the agent works on messages in order."""
    begins_at = max([now, *(message.due_at for message in job.unfinished)])
    due_at = begins_at + timedelta(seconds=work_seconds)
    job.messages.append(JobMessage(number=len(job.messages) + 1, prompt=prompt, sent_at=now, due_at=due_at))
    return job.save(connection)


def archive(connection: sqlite3.Connection, job: Job, now: datetime) -> Job:
    """Archive the job and return it; its unfinished messages are never worked on."""
    latest = find(connection, job.project, job.id) or job
    latest.archived_at = latest.archived_at or now
    return latest.save(connection)


def end_pull(connection: sqlite3.Connection, job: Job, end: PullEnd) -> None:
    """End the job's pull request, unless it has ended."""
    latest = find(connection, job.project, job.id) or job
    latest.pull_end = latest.pull_end or end
    latest.save(connection)


def due(connection: sqlite3.Connection, now: datetime) -> list[tuple[Job, JobMessage]]:
    """Return the messages that are due, in the order in which to work on them."""
    jobs = _jobs(connection, "WHERE due_at <= ?", now.timestamp())
    found = [(job, message) for job in jobs for message in job.unfinished if message.due_at <= now]
    return sorted(found, key=lambda one: (one[1].due_at, one[0].id, one[1].number))


def next_due_at(connection: sqlite3.Connection) -> float | None:
    """Return when the next message is due, in Unix seconds, or None if there is none."""
    found: float | None = connection.execute("SELECT MIN(due_at) FROM jobs").fetchone()[0]
    return found


def end_message(
    connection: sqlite3.Connection, job: Job, message: JobMessage, done: WorkDone, now: datetime
) -> None:
    """Store the outcome of the message; the first commit opens the pull request."""
    latest = find(connection, job.project, job.id) or job
    latest.messages[message.number - 1].done = done
    if done.commit_sha is not None:
        latest.title, latest.page = latest.title or done.title, done.page
        latest.base_sha = latest.base_sha or done.base_sha
        if latest.pull_number is None:
            newest_pull = "SELECT COALESCE(MAX(pull_number), 0) + 1 FROM jobs WHERE project = ?"
            latest.pull_number = connection.execute(newest_pull, (job.project,)).fetchone()[0]
    if done.outcome is Outcome.ARCHIVED:
        latest.archived_at = latest.archived_at or now
    latest.save(connection)


# Hourly limits


def take(
    connection: sqlite3.Connection,
    bucket: str,
    limit: int,
    now: datetime,
    *,
    period_seconds: int = _HOUR_SECONDS,
) -> None:
    """Count one use of the bucket, of which each is counted for so many seconds.

    Raise `RefusedError` 429 if `limit` is reached; its Retry-After is the seconds until a use is free.
    """
    period_begin = now.timestamp() - period_seconds
    connection.execute("DELETE FROM uses WHERE bucket = ? AND used_at <= ?", (bucket, period_begin))
    rows = connection.execute("SELECT used_at FROM uses WHERE bucket = ? ORDER BY used_at", (bucket,))
    used = [row[0] for row in rows]
    if len(used) >= limit:
        free_at = used[len(used) - limit] if limit else now.timestamp()
        wait_seconds = max(1, math.ceil(free_at - period_begin))
        raise RefusedError(
            429,
            f"limit of {limit} in {period_seconds // 60} minutes is reached",
            {"Retry-After": str(wait_seconds)},
        )
    connection.execute("INSERT INTO uses (bucket, used_at) VALUES (?, ?)", (bucket, now.timestamp()))


# The log of requests


@dataclass
class LoggedRequest:
    """One request, filled in while it is handled. A status of None means that no response was sent."""

    at: str
    method: str
    path: str
    status: int | None = None
    operation: str | None = None
    project: str | None = None
    job_id: str | None = None
    prompt_sha256: str | None = None
    fault: str | None = None

    def note_prompt(self, prompt: str) -> None:
        """Keep a hash of the prompt, and not the prompt."""
        self.prompt_sha256 = hashlib.sha256(prompt.encode()).hexdigest()


def log_request(connection: sqlite3.Connection, entry: LoggedRequest) -> None:
    """Store the request."""
    connection.execute("INSERT INTO requests (entry) VALUES (?)", (json.dumps(asdict(entry)),))


def read_log(connection: sqlite3.Connection) -> list[dict[str, object]]:
    """Return all requests, oldest first."""
    return [
        json.loads(row["entry"]) for row in connection.execute("SELECT entry FROM requests ORDER BY number")
    ]
