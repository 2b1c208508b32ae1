"""Lists and their counts are those of an independent look at the same jobs, on both databases."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.ids import ChannelId, JobNumber, UserId
from bot.jobs.model.jobs import JobScope, JobState, Listed, NextStep, Review, TrackedJob
from bot.jobs.store.job_lists import JobLists
from bot.jobs.store.job_search import JobSearch
from bot.store import Store, Transaction
from tests import schema as s
from tests.builders import ANA, BEN, NOW, PROJECT, new_store
from tests.store.test_planner import read_by_sqlite, recorded_statements

HERE = ChannelId("C0HERE")
THERE = ChannelId("C0THERE")
HIDDEN = ChannelId("C0HIDDEN")
SCOPES = (
    JobScope(ANA, HERE),
    JobScope(ANA, HERE, listed=Listed.OPEN),
    JobScope(ANA, THERE, listed=Listed.REVIEW),
    JobScope(ANA, is_mine=True),
    JobScope(ANA, HERE, is_mine=True),
    JobScope(ANA, is_mine=True, listed=Listed.OPEN),
    JobScope(ANA, is_mine=True, listed=Listed.NEEDS_YOU),
    JobScope(ANA, readable=(HERE,), listed=Listed.REVIEW),
    JobScope(BEN, readable=(HERE, THERE), listed=Listed.REVIEW),
)
PAGE = 10


@dataclass
class Made:
    """Jobs of all sorts, drawn by a seed, with one prompt each."""

    jobs: list[dict[str, Any]]
    prompts: list[dict[str, Any]]

    @classmethod
    def of(cls, seed: int, count: int) -> Made:
        draw = random.Random(seed)
        jobs = [_draw_job(draw, number) for number in range(1, count + 1)]
        prompts = [
            {
                "key": f"p{job['number']}",
                "job": job["number"],
                "project": PROJECT,
                "kind": "start",
                "state": "sent",
                "asked_by": draw.choice((ANA, BEN)),
                "raw": "Add a page",
                "asked_at": NOW,
                "due_at": NOW,
            }
            for job in jobs
        ]
        return cls(jobs, prompts)

    def insert(self, tx: Transaction) -> None:
        if self.jobs:
            tx.connection.execute(s.jobs.insert(), self.jobs)
            tx.connection.execute(s.prompts.insert(), self.prompts)

    def step(self, job: dict[str, Any], reader: UserId) -> NextStep:
        """Return what is to be done about a job, without a query."""
        if job["review"]:
            return NextStep.DONE
        repetitions = [
            other
            for other in self.jobs
            if other["rerun_of"] == job["number"] and other["state"] not in ("refused", "withdrawn")
        ]
        if job["state"] in ("failed", "gone", "unwatched", "unconfirmed") and not repetitions:
            mine = job["requester"] == reader
            return NextStep.NEEDS_YOU if mine else NextStep.NEEDS_REQUESTER
        if job["state"] == "pull_request":
            return NextStep.TO_REVIEW
        is_open = job["state"] in ("waiting", "working", "unconfirmed")
        return NextStep.WORKING if is_open else NextStep.DONE

    def listed(self, scope: JobScope) -> Sequence[tuple[NextStep, JobNumber]]:
        """Return the jobs of a list in their order, without a query."""
        rows = [
            (self.step(job, scope.reader), job) for job in self.jobs if self._belongs(job, scope)
        ]
        wanted = [(step, job) for step, job in rows if _is_wanted(step, job, scope.listed)]

        def place(row: tuple[NextStep, dict[str, Any]]) -> tuple[int, int]:
            step, job = row
            is_oldest_first = step is NextStep.TO_REVIEW
            order = job["number"] if is_oldest_first else -job["number"]
            return list(NextStep).index(step), order

        return [(step, job["number"]) for step, job in sorted(wanted, key=place)]

    def _belongs(self, job: dict[str, Any], scope: JobScope) -> bool:
        if not job["requester"] or scope.channel not in (None, job["channel"]):
            return False
        if scope.is_mine and job["requester"] != scope.reader:
            return False
        if scope.readable is None or job["channel"] in scope.readable:
            return True
        return bool(job["requester"] == scope.reader)


def _is_wanted(step: NextStep, job: dict[str, Any], only: Listed | None) -> bool:
    match only:
        case Listed.NEEDS_YOU:
            return step is NextStep.NEEDS_YOU
        case Listed.REVIEW:
            return step is NextStep.TO_REVIEW
        case Listed.OPEN:
            has_no_end = job["state"] in ("waiting", "working", "unconfirmed", "pull_request")
            return has_no_end and not job["review"]
    return True


def _draw_job(draw: random.Random, number: int) -> dict[str, Any]:
    return {
        "number": number,
        "project": PROJECT,
        "channel": draw.choice((HERE, THERE, HIDDEN)),
        "requester": draw.choice((ANA, BEN, "")),
        "text": f"Add page {number}",
        "asked_at": NOW,
        "state": draw.choice(list(JobState)),
        "review": draw.choice((None, None, *Review)),
        "rerun_of": draw.choice((None, draw.randrange(1, number + 1))) if number > 1 else None,
    }


def _count(scope: JobScope, tx: Transaction) -> Mapping[NextStep, int]:
    return JobLists(tx).count(scope)


def _page(scope: JobScope, skipped: int, tx: Transaction) -> Sequence[tuple[NextStep, TrackedJob]]:
    return JobLists(tx).page(scope, PAGE, skipped)


async def compare(store: Store, made: Made) -> None:
    """Compare all lists, page by page, and their counts."""
    for scope in SCOPES:
        expected = made.listed(scope)
        counts = await store.read(partial(_count, scope))
        counted = Counter(step for step, _ in expected if step is not NextStep.DONE)
        assert counts == counted, scope
        for skipped in range(0, len(expected) + 1, PAGE):
            page = await store.read(partial(_page, scope, skipped))
            shown = [(step, job.number) for step, job in page]
            assert shown == expected[skipped : skipped + PAGE], scope


@given(st.integers(0, 10**9), st.integers(0, 40))
def test_lists_are_those_of_an_independent_look(seed: int, count: int) -> None:
    async def look() -> None:
        made = Made.of(seed, count)
        store = await new_store()
        await store.write(made.insert)
        await compare(store, made)
        await store.close()

    asyncio.run(look())


async def test_both_databases_list_alike(store: Store) -> None:
    made = Made.of(1, 150)
    await store.write(made.insert)
    await compare(store, made)
    newest = {job["channel"]: job["number"] for job in made.jobs}
    channels = await store.read(lambda tx: JobSearch(tx).channels_with_jobs(10))
    assert list(channels) == sorted(newest, key=lambda channel: -newest[channel])


@pytest.mark.parametrize("scope", SCOPES)
async def test_counts_read_no_table_whole(scope: JobScope) -> None:
    store = await new_store()
    await store.write(Made.of(1, 40).insert)
    with recorded_statements() as statements:
        await store.read(lambda tx: (JobLists(tx).count(scope), JobLists(tx).page(scope, PAGE)))

    def scanned(tx: Transaction) -> list[str]:
        return [
            statement
            for statement, values in statements.items()
            if read_by_sqlite(tx.connection, statement, values)
        ]

    assert await store.read(scanned) == []
    await store.close()
