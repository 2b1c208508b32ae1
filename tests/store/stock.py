"""Fill the queues of a database with thousands of due rows."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

from sqlalchemy.engine import Connection

from bot.answers.model import InquiryState, PublicationState
from bot.inbox.model import MessageState
from bot.jobs.model.jobs import JobState
from bot.jobs.model.prompts import PromptKind, PromptState
from bot.outbox.model import DeliveryKind, DeliveryState
from bot.pulls.model.previews import PreviewState
from bot.store.database import Database
from bot.visitors.model.questions import QuestionKind, QuestionState
from tests import schema as s
from tests.builders import ANA, PROJECT

Rows = list[dict[str, Any]]
LEASED = tuple(table for table in s.metadata.sorted_tables if "claimed_until" in table.c)
"""The tables of the queues."""
FOLLOW_UPS, REPLIES, CHANNELS = 3, 4, 20
_DAY = date(2026, 1, 1)
_QUERY = {
    "period": {"first": "2026-01-01", "end": "2026-01-08"},
    "compared": None,
    "section": None,
    "top": 10,
    "sort": "total",
    "file_to": "nowhere",
}


def channel(job: int) -> str:
    """Return the channel of a job."""
    return f"C{job % CHANNELS:02}"


def _jobs(count: int, now: datetime) -> Rows:
    values: dict[str, Any] = {
        "project": PROJECT,
        "requester": ANA,
        "text": "Add a page on keys",
        "state": JobState.WORKING,
    }
    values |= {"asked_at": now, "poll_at": now}
    return [
        {**values, "number": n, "channel": channel(n), "service_id": f"j{n}"}
        for n in range(1, count + 1)
    ]


def _looks(count: int, now: datetime) -> Rows:
    values: dict[str, Any] = {
        "requester": ANA,
        "link": "https://github.com/acme/docs/pull/1",
        "iteration": 1,
    }
    times = dict.fromkeys(("iteration_ended_at", "reported_at", "poll_at"), now)
    return [{**values, **times, "job": n} for n in range(1, count + 1)]


def _previews(count: int, now: datetime) -> Rows:
    values: dict[str, Any] = {
        "requester": ANA,
        "project": PROJECT,
        "branch": "agent/one",
        "iteration": 1,
    }
    values |= {"state": PreviewState.ASKED, "asked_at": now, "due_at": now}
    return [{**values, "job": n} for n in range(1, count + 1)]


def _prompts(count: int, now: datetime) -> Rows:
    """Return follow-ups of each job, oldest first."""
    values: dict[str, Any] = {
        "project": PROJECT,
        "kind": PromptKind.FOLLOW_UP,
        "state": PromptState.WAITING,
    }
    values |= {"asked_by": ANA, "raw": "More", "text": "More", "asked_at": now, "due_at": now}
    return [{**values, "key": f"p{n}", "job": n // FOLLOW_UPS + 1} for n in range(count)]


def _deliveries(count: int, now: datetime) -> Rows:
    """Return a root, replies and a reaction, which has no order, for each thread."""
    values = {"state": DeliveryState.PENDING, "created_at": now, "due_at": now}
    rows: Rows = []
    for job in range(1, count // (REPLIES + 2) + 1):
        kinds = [DeliveryKind.STATUS, *[DeliveryKind.REPLY] * REPLIES, DeliveryKind.REACTION]
        for place, kind in enumerate(kinds):
            key = f"{job}:{place}"
            rows.append(
                {**values, "id": key, "key": key, "kind": kind, "job": job, "channel": channel(job)}
            )
    return rows


def _questions(count: int, now: datetime) -> Rows:
    values: dict[str, object] = {"project": PROJECT, "channel": "C00", "user": ANA, "query": _QUERY}
    values |= {
        "kind": QuestionKind.VISITORS,
        "state": QuestionState.WAITING,
        "asked_at": now,
        "due_at": now,
    }
    return [{**values, "key": f"q{n}"} for n in range(count)]


def _inquiries(count: int, now: datetime) -> Rows:
    values: dict[str, Any] = {"project": PROJECT, "channel": "C00", "user": ANA, "text": "How?"}
    values |= {"gap_key": "how", "state": InquiryState.ASKED, "asked_at": now, "due_at": now}
    values |= {"audience": "channel"}
    return [{**values, "key": f"i{n}"} for n in range(count)]


def _publications(count: int, now: datetime) -> Rows:
    """Return merged pages to look for."""
    values: dict[str, Any] = {"project": PROJECT, "requester": ANA, "merged_at": now, "due_at": now}
    values |= {"state": PublicationState.AWAITED}
    return [{**values, "job": n} for n in range(count)]


def _messages(count: int, now: datetime) -> Rows:
    """Return messages to decide."""
    values: dict[str, Any] = {"channel": "C00", "user": ANA, "state": MessageState.NEW}
    values |= {"text": "Add a page", "said_at": now, "due_at": now}
    return [{**values, "ts": f"1.{n}", "conversation_ts": f"1.{n}"} for n in range(count)]


def _missed(count: int, now: datetime) -> Rows:
    """Return conversations to be read again."""
    return [{"since_ts": "1.1", "channel": f"D{n}", "due_at": now} for n in range(count)]


async def fill(
    database: Database,
    *,
    jobs: int,
    prompts: int,
    deliveries: int,
    questions: int,
    messages: int = 0,
    looks: int = 0,
) -> None:
    """Insert due rows into each queue; deliveries are whole threads."""
    now = datetime.now(UTC) - timedelta(seconds=1)

    def insert(connection: Connection) -> None:
        connection.execute(s.jobs.insert(), _jobs(jobs, now))
        connection.execute(s.prompts.insert(), _prompts(prompts, now))
        connection.execute(s.deliveries.insert(), _deliveries(deliveries, now))
        connection.execute(s.questions.insert(), _questions(questions, now))
        connection.execute(s.inquiries.insert(), _inquiries(questions, now))
        connection.execute(s.publications.insert(), _publications(questions, now))
        if looks:
            connection.execute(s.pull_requests.insert(), _looks(looks, now))
            connection.execute(s.previews.insert(), _previews(looks, now))
        if messages:
            connection.execute(s.inbox.insert(), _messages(messages, now))
            connection.execute(s.missed_messages.insert(), _missed(messages, now))

    await database.write(insert)
