"""Read the tables of the bot and of the docs service with plain SQL, independent of their code."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg
from psycopg.rows import dict_row

from sandbox.shelf import Shelf

Row = dict[str, Any]
Rows = dict[str, list[Row]]
_DUE = (
    *(
        "back_offs.retry_at",
        "limits.prompts_limited_until",
        "limits.analytics_limited_until",
        "jobs.poll_at",
        "prompts.due_at",
    ),
    *("previews.due_at", "deliveries.due_at", "questions.due_at", "publications.due_at"),
    *("inbox.due_at", "inquiries.due_at", "missed_messages.due_at", "prompts.held_until"),
)
"""Columns with due times."""
_POLLS = ("pull_requests.poll_at",)
MOVED = (*_DUE, *_POLLS)
_OF_QUESTIONS = ("questions.asked_at", "readings.retry_at")
"""Times before which a due question is put back: its numbers may be read ahead, or rest after a failure."""
TABLES = (
    *("jobs", "prompts", "deliveries", "back_offs", "limits", "questions", "readings"),
    *(
        "subscriptions",
        "inbox",
        "missed_messages",
        "pull_requests",
        "previews",
        "inquiries",
        "publications",
    ),
)


class NotReadable(Exception):
    """The database does not exist yet, is locked or is unreachable."""


def read_rows(url: str) -> Rows:
    """Return all rows of the bot's tables, with time zones. Raises NotReadable.

    One transaction reads all of them: a row that moves between two reads would be missed.
    """
    try:
        rows = _from_sqlite(url) if url.startswith("sqlite") else _from_postgres(url)
    except (sqlite3.Error, psycopg.Error) as error:
        raise NotReadable(type(error).__name__) from None
    questions = rows["questions"]
    rows["questions"] = [row for row in questions if row["kind"] != "digest"]
    rows["digests"] = [row for row in questions if row["kind"] == "digest"]
    return rows


def _from_sqlite(url: str) -> Rows:
    path = url.removeprefix("sqlite:///")
    with closing(
        sqlite3.connect(f"file:{quote(path)}?mode=ro", uri=True, timeout=0.2)
    ) as connection:
        connection.row_factory = sqlite3.Row
        connection.execute("BEGIN")
        rows = {
            name: [dict(row) for row in connection.execute(f"SELECT * FROM {name}")]  # noqa: S608
            for name in TABLES
        }
    for row in (row for table in rows.values() for row in table):
        for name, value in row.items():
            if name.endswith(("_at", "_until")):
                is_time = isinstance(value, str)
                row[name] = datetime.fromisoformat(value).replace(tzinfo=UTC) if is_time else None
    return rows


def _from_postgres(url: str) -> Rows:
    with (
        psycopg.connect(
            url.replace("postgres://", "postgresql://", 1), connect_timeout=5
        ) as connection,
        connection.cursor(row_factory=dict_row) as cursor,
    ):
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        return {
            name: list(cursor.execute(f"SELECT * FROM {name}".encode()).fetchall())  # noqa: S608
            for name in TABLES
        }


def let_time_pass(url: str, now: datetime) -> None:
    """Make later work due now. Raises NotReadable."""
    _bring_forward(url, (*_DUE, *_OF_QUESTIONS), now)


def let_polls_come(url: str, now: datetime) -> None:
    """Make the next poll of each pull request due now. Raises NotReadable."""
    _bring_forward(url, _POLLS, now)


def let_the_week_pass(url: str, now: datetime) -> None:
    """Let the hour of every active subscription come now. Raises NotReadable.

    Questions count as asked in the week before, which the digest is about.
    """
    _bring_forward(url, ("inquiries.asked_at",), now - timedelta(weeks=1))
    _bring_forward(url, ("subscriptions.next_run_at",), now)


def _bring_forward(url: str, columns: Sequence[str], now: datetime) -> None:
    names = [name.split(".") for name in columns]
    try:
        if url.startswith("sqlite"):
            _bring_forward_sqlite(url, names, now.replace(tzinfo=None).isoformat(" "))
        else:
            _bring_forward_postgres(url, names, now)
    except (sqlite3.Error, psycopg.Error) as error:
        raise NotReadable(type(error).__name__) from None


def _bring_forward_sqlite(url: str, names: list[list[str]], now: str) -> None:
    with (
        closing(sqlite3.connect(url.removeprefix("sqlite:///"), timeout=5)) as connection,
        connection,
    ):
        for table, column in names:
            connection.execute(f"UPDATE {table} SET {column} = ? WHERE {column} > ?", (now, now))  # noqa: S608


def _bring_forward_postgres(url: str, names: list[list[str]], now: datetime) -> None:
    with psycopg.connect(
        url.replace("postgres://", "postgresql://", 1), connect_timeout=5
    ) as connection:
        for table, column in names:
            statement = f"UPDATE {table} SET {column} = %s WHERE {column} > %s"  # noqa: S608
            connection.execute(statement.encode(), (now, now))


def read_service(folder: Path) -> Rows:
    """Return the docs service's jobs, builds and received prompts; open prompts have no outcome."""
    with closing(Shelf(folder / "service.db")) as shelf:
        jobs = shelf.all("job")
        builds = [{"job_id": build["job"]} for build in shelf.all("build")]
    messages = [
        {
            "job_id": job["id"],
            "number": message["number"],
            "prompt": message["prompt"],
            "sent_at": datetime.fromisoformat(message["sent_at"]),
            "outcome": (message["done"] or {}).get("outcome"),
        }
        for job in jobs
        for message in job["messages"]
    ]
    return {"jobs": jobs, "messages": messages, "builds": builds}
