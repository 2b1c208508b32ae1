"""Which pull requests are looked at, and when, on both databases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from sqlalchemy import select

from bot.ids import JobNumber
from bot.model.pull_requests import SeenPullRequest, Size, WatchedPullRequest
from bot.store import Store
from bot.store.jobs import Jobs
from bot.store.pull_requests import PullRequests
from tests import schema
from tests.builders import NOW, add_job, claimer, rows_of

LINK = "https://github.com/acme/docs/pull/7"
SEEN = SeenPullRequest("Add a quickstart", Size(46, 1, 2), is_draft=False, iteration=1, since=NOW)
HOUR = timedelta(hours=1)


async def watch(store: Store, number: JobNumber, link: str = LINK, at: datetime = NOW) -> None:
    job = await store.read(lambda tx: Jobs(tx).known(number))
    await store.write(lambda tx: PullRequests(tx).watch(job, link, at))


async def claimed(store: Store) -> Sequence[WatchedPullRequest]:
    return await store.write(lambda tx: PullRequests(tx).claim_due(claimer("one", NOW), 10))


async def looked(store: Store, watched: WatchedPullRequest, at: datetime, look_at: datetime) -> None:
    new = replace(watched, look_at=look_at, seen=SEEN, etag="e", looked_at=at)
    await store.write(lambda tx: PullRequests(tx).save(watched, new, owner="one"))


async def jobs(store: Store, count: int) -> list[JobNumber]:
    return [await add_job(store, root_ts=f"1.{number}") for number in range(count)]


async def test_a_new_end_makes_it_due_and_keeps_what_was_seen_unless_the_link_is_another(
    store: Store,
) -> None:
    [number] = await jobs(store, 1)
    await watch(store, number)
    [watched] = await claimed(store)
    await looked(store, watched, NOW, NOW + HOUR)
    assert (await store.read(lambda tx: Jobs(tx).known(number))).pull_request == SEEN
    assert await claimed(store) == []
    await watch(store, number)
    assert [due.job for due in await claimed(store)] == [number]
    assert (await store.read(lambda tx: Jobs(tx).known(number))).pull_request == SEEN
    await watch(store, number, f"{LINK}7", NOW + HOUR)
    assert (await store.read(lambda tx: Jobs(tx).known(number))).pull_request is None
    [row] = await rows_of(store, select(schema.pull_requests))
    assert (row["link"], row["since"], row["etag"]) == (f"{LINK}7", NOW + HOUR, None)
