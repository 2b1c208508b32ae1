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


async def claimed(store: Store, at: datetime = NOW, limit: int = 10) -> list[JobNumber]:
    due = await store.write(lambda tx: PullRequests(tx).claim_due(claimer("one", at), limit))
    return [each.job for each in due]


async def looked(store: Store, number: JobNumber, at: datetime, look_at: datetime) -> None:
    await store.write(
        lambda tx: PullRequests(tx).settle(number, "one", look_at=look_at, seen=SEEN, etag="e", looked_at=at)
    )


async def jobs(store: Store, count: int) -> list[JobNumber]:
    return [await add_job(store, root_ts=f"1.{number}") for number in range(count)]


async def test_a_new_end_makes_it_due_and_keeps_what_was_seen_unless_the_link_is_another(
    store: Store,
) -> None:
    [number] = await jobs(store, 1)
    await watch(store, number)
    assert await claimed(store) == [number]
    await looked(store, number, NOW, NOW + HOUR)
    assert (await store.read(lambda tx: Jobs(tx).known(number))).pull_request == SEEN
    assert await claimed(store) == []
    await watch(store, number)
    assert await claimed(store) == [number]
    assert (await store.read(lambda tx: Jobs(tx).known(number))).pull_request == SEEN
    await watch(store, number, f"{LINK}7", NOW + HOUR)
    assert (await store.read(lambda tx: Jobs(tx).known(number))).pull_request is None
    [row] = await rows_of(store, select(schema.pull_requests))
    assert (row["link"], row["since"], row["etag"]) == (f"{LINK}7", NOW + HOUR, None)


async def test_those_looked_at_long_ago_are_claimed_until_their_faces_say_so(store: Store) -> None:
    old, other, new, over = numbers = await jobs(store, 4)
    for number in numbers:
        await watch(store, number)
    assert await claimed(store) == numbers
    for number in (old, other):
        await looked(store, number, NOW - 2 * HOUR, NOW)
    await looked(store, new, NOW - HOUR, NOW)
    await store.write(lambda tx: PullRequests(tx).settle(over, "one", look_at=None, seen=SEEN, looked_at=NOW))

    async def undated(before: datetime, limit: int = 10) -> Sequence[WatchedPullRequest]:
        return await store.write(lambda tx: PullRequests(tx).claim_undated(claimer("one"), before, limit))

    [watched] = await undated(NOW - 2 * HOUR, 1)
    assert [each.job for each in await undated(NOW - 2 * HOUR)] == [other]
    await store.write(lambda tx: PullRequests(tx).date_face(watched, "one"))
    seen = (await store.read(lambda tx: Jobs(tx).known(old))).pull_request
    assert seen == replace(SEEN, as_of=NOW - 2 * HOUR)
    assert [each.job for each in await undated(NOW)] == [new]
    assert await claimed(store) == [old]  # it waits for its look as before


async def test_a_limit_puts_off_all_that_would_come_sooner_and_no_other(store: Store) -> None:
    soon, late, never = numbers = await jobs(store, 3)
    for number in numbers:
        await watch(store, number)
    assert await claimed(store) == numbers
    await looked(store, soon, NOW, NOW)
    await looked(store, late, NOW, NOW + 3 * HOUR)
    await store.write(lambda tx: PullRequests(tx).settle(never, "one", look_at=None, seen=SEEN))
    await store.write(lambda tx: PullRequests(tx).put_off(NOW + HOUR))
    rows = await rows_of(store, select(schema.pull_requests))
    assert {row["job"]: row["look_at"] for row in rows} == {
        soon: NOW + HOUR,
        late: NOW + 3 * HOUR,
        never: None,
    }
