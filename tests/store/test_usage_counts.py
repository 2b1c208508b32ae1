"""The numbers of a month are those of an independent count of the same rows."""

from __future__ import annotations

import asyncio
import random
import statistics
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.answers.model import Audience, InquiryState
from bot.ids import ChannelId, ProjectId
from bot.jobs.model.jobs import JobState, Review
from bot.jobs.model.prompts import PromptKind, PromptState
from bot.store import Store, Transaction
from bot.store.retention import forget_before
from bot.usage.model import Month, Usage, UsageScope
from bot.usage.store import UsageCounts
from tests import schema as s
from tests.builders import ANA, PROJECT, new_store
from tests.store.test_planner import read_by_sqlite, recorded_statements

Rows = list[dict[str, Any]]
OTHER = ProjectId("other-docs")
UNSERVED = ProjectId("old-docs")
HERE = ChannelId("C0HERE")
THERE = ChannelId("C0THERE")
OCTOBER = (2026, 10)
NOVEMBER = (2026, 11)
TIMES = (
    datetime(2026, 9, 30, 23, 59, 59, 999_999, tzinfo=UTC),
    datetime(2026, 10, 1, tzinfo=UTC),
    datetime(2026, 10, 31, 23, 59, 59, 999_999, tzinfo=UTC),
    datetime(2026, 11, 1, tzinfo=UTC),
    datetime(2026, 11, 14, 12, tzinfo=UTC),
    datetime(2026, 12, 1, tzinfo=UTC),
)


class Made:
    """Rows of all sorts, drawn by a seed."""

    def __init__(self, seed: int, count: int) -> None:
        draw = random.Random(seed)
        self.jobs = [self._job(draw, number) for number in range(1, count + 1)]
        self.pulls = [self._pull(draw, job) for job in self.jobs if draw.random() < 0.6]
        self.prompts = [self._prompt(draw, number, count) for number in range(1, count + 1)]
        self.inquiries = [self._inquiry(draw, number, count) for number in range(1, count + 1)]

    def _job(self, draw: random.Random, number: int) -> dict[str, Any]:
        asked_at = draw.choice(TIMES)
        review = draw.choice([None, *Review])
        return {
            "number": number,
            "project": draw.choice((PROJECT, OTHER, UNSERVED)),
            "channel": draw.choice((HERE, THERE)),
            "requester": ANA,
            "text": "Add a page on keys",
            "asked_at": asked_at,
            "ended_at": asked_at,
            "state": draw.choice(list(JobState)),
            "review": review,
            "reviewed_at": asked_at + timedelta(minutes=draw.randrange(5_000)) if review else None,
            "pr_link": draw.choice((None, "https://github.com/acme/docs/pull/1")),
        }

    def _pull(self, draw: random.Random, job: dict[str, Any]) -> dict[str, Any]:
        since = job["asked_at"] + timedelta(seconds=draw.randrange(9_000))
        return {
            "job": job["number"],
            "requester": ANA,
            "link": "https://github.com/acme/docs/pull/1",
            "iteration": 1,
            "iteration_ended_at": since,
            "reported_at": since,
        }

    def _prompt(self, draw: random.Random, number: int, count: int) -> dict[str, Any]:
        job = self.jobs[draw.randrange(count)]
        return {
            "key": f"p{number}",
            "job": job["number"],
            "project": job["project"],
            "kind": draw.choice(list(PromptKind)),
            "state": draw.choice(list(PromptState)),
            "asked_by": ANA,
            "raw": "Shorter",
            "asked_at": TIMES[0],
            "due_at": TIMES[0],
            "sent_at": draw.choice((None, *TIMES)),
        }

    def _inquiry(self, draw: random.Random, number: int, count: int) -> dict[str, Any]:
        state = draw.choice(list(InquiryState))
        is_written = state in (InquiryState.WRITTEN, InquiryState.NOTIFIED)
        return {
            "key": f"i{number}",
            "project": draw.choice((PROJECT, OTHER, UNSERVED)),
            "channel": draw.choice((HERE, THERE)),
            "user": ANA,
            "text": "How?",
            "gap_key": "how",
            "state": state,
            "asked_at": draw.choice(TIMES),
            "due_at": TIMES[0],
            "audience": draw.choice(list(Audience)),
            "is_by_assistant": draw.random() < 0.5,
            "is_topic": draw.random() < 0.2,
            "job": draw.randrange(1, count + 1) if is_written or draw.random() < 0.2 else None,
        }

    def insert(self, tx: Transaction) -> None:
        tables = (
            (s.jobs, self.jobs),
            (s.pull_requests, self.pulls),
            (s.prompts, self.prompts),
            (s.inquiries, self.inquiries),
        )
        for table, rows in tables:
            if rows:
                tx.connection.execute(table.insert(), rows)


def counted(made: Made, month: tuple[int, int], channel: ChannelId | None) -> Usage:
    """Count the rows in plain Python, without a query and without the code under test."""

    def of_month(rows: Iterable[dict[str, Any]], name: str) -> Rows:
        return [
            row
            for row in rows
            if row[name] is not None
            and (row[name].year, row[name].month) == month
            and row["project"] in (PROJECT, OTHER)
        ]

    by_number = {job["number"]: job for job in made.jobs}
    jobs = [
        job
        for job in of_month(made.jobs, "asked_at")
        if channel in (None, job["channel"]) and job["state"] not in ("refused", "withdrawn")
    ]
    follow_ups = [
        prompt
        for prompt in of_month(made.prompts, "sent_at")
        if prompt["kind"] == "follow_up"
        and prompt["state"] == "sent"
        and channel in (None, by_number[prompt["job"]]["channel"])
    ]
    is_open = 0
    for job in jobs:
        is_under_way = job["state"] in ("waiting", "working", "unconfirmed")
        if job["review"] is None:
            is_open += job["state"] == "pull_request" or (is_under_way and bool(job["pr_link"]))
    merged = [job for job in jobs if job["review"] == "merged"]
    first_ends = {pull["job"]: pull["reported_at"] for pull in made.pulls}
    waits = [
        max((job["reviewed_at"] - first_ends[job["number"]]).total_seconds(), 0)
        for job in merged
        if job["number"] in first_ends
    ]
    questions = [
        row
        for row in of_month(made.inquiries, "asked_at")
        if channel in (None, row["channel"]) and not row["is_topic"]
    ]
    written = [row for row in questions if row["state"] in ("written", "notified")]
    return Usage(
        jobs=len(jobs),
        follow_ups=len(follow_ups),
        merged=len(merged),
        reviewed=sum(job["review"] == "reviewed" for job in jobs),
        open=is_open,
        closed=sum(job["review"] == "closed" for job in jobs),
        time_to_merge=timedelta(seconds=statistics.median(waits)) if waits else None,
        answered=sum(row["state"] == "answered" for row in questions),
        unanswered=sum(row["state"] == "gap" for row in questions),
        written=len(written),
        gaps_closed=len({row["job"] for row in written}),
        assistant_messages=sum(row["is_by_assistant"] for row in questions),
    )


MONTHS = (OCTOBER, NOVEMBER)
CHANNELS = (None, HERE, THERE)


def scope_of(month: tuple[int, int], channel: ChannelId | None) -> UsageScope:
    """Return the scope of a month in the channel, over both served projects."""
    return UsageScope((PROJECT, OTHER), Month.of(datetime(*month, 20, tzinfo=UTC)), channel)


async def numbers(store: Store) -> Sequence[Usage]:
    """Return the bot's numbers of both months, of all channels and of each."""
    scopes = [scope_of(month, channel) for month in MONTHS for channel in CHANNELS]
    return await store.read(lambda tx: [UsageCounts(tx).count(scope) for scope in scopes])


def independent_numbers(made: Made) -> Sequence[Usage]:
    """Return the same numbers, counted here."""
    return [counted(made, month, channel) for month in MONTHS for channel in CHANNELS]


@given(st.integers(0, 10**9), st.integers(0, 40))
def test_numbers_are_those_of_an_independent_count(seed: int, count: int) -> None:
    made = Made(seed, count)

    async def compare() -> None:
        store = await new_store()
        await store.write(made.insert)
        assert await numbers(store) == independent_numbers(made)
        await store.close()

    asyncio.run(compare())


async def test_both_databases_count_alike_also_after_forgetting(store: Store) -> None:
    made = Made(1, 400)
    await store.write(made.insert)
    before = await numbers(store)
    assert before == independent_numbers(made)
    assert all(usage.jobs and usage.follow_ups and usage.gaps_closed for usage in before)
    later = datetime(2028, 1, 1, tzinfo=UTC)
    forgotten = 0
    while rows := await forget_before(store, later):
        forgotten += rows.total()
    assert forgotten > 400
    assert await numbers(store) == before


@pytest.mark.parametrize("channel", [None, HERE])
async def test_months_are_read_by_the_index_of_their_times(channel: ChannelId | None) -> None:
    store = await new_store()
    await store.write(Made(1, 40).insert)
    with recorded_statements() as statements:
        await store.read(lambda tx: UsageCounts(tx).count(scope_of(NOVEMBER, channel)))

    def plans(tx: Transaction) -> list[str]:
        lines = []
        for statement, values in statements.items():
            assert read_by_sqlite(tx.connection, statement, values) == set()
            plan = tx.connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", values)
            lines.append("\n".join(row[3] for row in plan))
        return lines

    used = await store.read(plans)
    await store.close()
    by_time = ("ix_jobs_asked_at", "ix_prompts_sent_at", "ix_inquiries_asked_at")
    assert len(used) == 4
    for plan in used:
        assert any(f"{index} (project=? AND" in plan for index in by_time), plan
        assert "SCAN" not in plan, plan
