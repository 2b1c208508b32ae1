"""Snapshots and questions: the same rules on both databases, several processes at once."""

from __future__ import annotations

import asyncio
from datetime import date, timedelta
from functools import partial

from bot.ids import SnapshotId
from bot.store import Store, Transaction
from bot.visitors.model import Counts, Query, QuestionKind, Snapshot
from bot.visitors.periods import WEEK, Period
from bot.visitors.store import Questions, Snapshots
from tests.builders import NOW, PROJECT, claimer, origin

LAST_WEEK = Period(date(2026, 10, 26), date(2026, 11, 2))
OTHER_WEEKS = [Period(LAST_WEEK.first - n * WEEK, LAST_WEEK.end - n * WEEK) for n in (1, 2, 3)]
SITE = Counts(110, 90, 190)


def ask(
    tx: Transaction, key: str, *periods: Period, kind: QuestionKind = QuestionKind.VISITORS, pages: int = 0
) -> list[Snapshot]:
    """Store a question about periods, the first ``pages`` of them with pages."""
    listed = [
        Snapshots(tx).find_or_add(PROJECT, period, now=NOW, is_final=True, with_pages=number < pages)
        for number, period in enumerate(periods)
    ]
    Questions(tx).add(origin(key), PROJECT, kind, Query(periods[0]), listed, NOW)
    return listed


def _ask_week(key: str, tx: Transaction) -> list[Snapshot]:
    return ask(tx, key, LAST_WEEK)


async def claimed(store: Store, limit: int = 9, *, digests_too: bool = True) -> set[SnapshotId]:
    snapshots = await store.write(
        lambda tx: Snapshots(tx).claim(claimer(), PROJECT, limit, digests_too=digests_too)
    )
    return {snapshot.id for snapshot in snapshots}


async def read_page(store: Store, rows: dict[str, Counts], *, has_more: bool) -> Snapshot:
    """Claim a snapshot, store a page of rows, and return it as it is then."""

    def read(tx: Transaction) -> Snapshot:
        [snapshot] = Snapshots(tx).claim(claimer(), PROJECT, 1)
        Snapshots(tx).store_page(
            snapshot, SITE, [*rows.items()], has_more=has_more, next_offset=2, now=NOW, owner=claimer().owner
        )
        return Snapshots(tx).find_or_add(PROJECT, snapshot.period, now=NOW, is_final=True)

    return await store.write(read)


async def test_concurrent_questions_share_a_snapshot(store: Store, another: Store) -> None:
    asked = await asyncio.gather(
        *(one.write(partial(_ask_week, f"q{n}")) for n, one in enumerate([store, another] * 4))
    )
    assert len({snapshot.id for listed in asked for snapshot in listed}) == 1


async def test_snapshots_of_people_are_claimed_before_those_of_digests(store: Store) -> None:
    digest = await store.write(lambda tx: ask(tx, "d", *OTHER_WEEKS, kind=QuestionKind.DIGEST))
    person = await store.write(lambda tx: ask(tx, "p", LAST_WEEK))
    await store.write(
        lambda tx: Snapshots(tx).find_or_add(
            PROJECT, Period(NOW.date(), date(2027, 1, 1)), now=NOW, is_final=False
        )
    )
    assert await claimed(store, digests_too=False) == {person[0].id}
    assert await claimed(store, 2) == {digest[0].id, digest[1].id}
    assert await claimed(store) == {digest[2].id}, "a snapshot that no question lists is never claimed"


async def test_pages_are_stored_once_and_end_with_the_last_page(store: Store) -> None:
    await store.write(lambda tx: ask(tx, "q", LAST_WEEK, pages=1))
    first = await read_page(store, {"/a": SITE, "/" + "long/" * 900: SITE}, has_more=True)
    assert (first.rows, first.is_done, first.complete) == (2, False, False)
    last = await read_page(store, {"/a": SITE, "/c": Counts(4, 4, 8)}, has_more=False)
    assert (last.rows, last.is_done, last.complete, last.totals) == (3, True, True, SITE)
    pages = await store.read(lambda tx: Snapshots(tx).pages(last.id))
    assert [len(path) for path in pages] == [2, 2_000, 2]


async def test_old_pages_are_swept_unless_a_question_waits_for_them(store: Store) -> None:
    await store.write(lambda tx: ask(tx, "q", LAST_WEEK, pages=1))
    done = await read_page(store, {"/a": SITE}, has_more=False)
    later, day = NOW + timedelta(days=300), date(2027, 6, 1)
    assert await store.write(lambda tx: Snapshots(tx).sweep(later, day)) == 0
    await store.write(lambda tx: tx.connection.exec_driver_sql("UPDATE questions SET state = 'answered'"))
    assert await store.write(lambda tx: Snapshots(tx).sweep(later, day)) == 1
    assert await store.read(lambda tx: Snapshots(tx).pages(done.id)) == {}
    snapshots = await store.write(lambda tx: ask(tx, "again", LAST_WEEK))
    assert snapshots[0].totals == SITE
