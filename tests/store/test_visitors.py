"""Snapshots, the budget, pages and digests: the same rules on both databases, several processes at once."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from functools import partial

import pytest

from bot.ids import PageKey, SnapshotId, UserId
from bot.model.questions import QuestionKind, SubscriptionState, VisitorsQuery, Weekday
from bot.model.visitors import Counts, PageCounts, Period, Snapshot, SortBy, in_section
from bot.store import Claimer, Store, Transaction
from bot.store.limits import AnalyticsQuota
from bot.store.questions import Questions, Subscriptions
from bot.store.snapshots import Pages, ReadPage, Snapshots
from tests.builders import CHANNEL, NOW, PROJECT, claimer, origin

WEEK = Period(date(2026, 10, 26), date(2026, 11, 2))
PAGES = {
    "/": Counts(50, 5, 54),
    "/api": Counts(20, 20, 38),
    "/api/orders": Counts(1, 60, 61),
    "/apiary": Counts(30, 0, 30),
    "/new": Counts(9, 9, 18),
    "/tiny": Counts(2, 1, 3),
    "/'; DROP TABLE jobs; --": Counts(0, 3, 3),
    "/" + "long/" * 900: Counts(4, 4, 8),
}
BEFORE = {
    "/": Counts(20, 5, 25),
    "/api": Counts(60, 40, 95),
    "/apiary": Counts(29, 0, 29),
    "/old": Counts(12, 0, 12),
}
SITE = Counts(110, 90, 190)


async def want(
    store: Store,
    period: Period = WEEK,
    *,
    is_final: bool = True,
    kind: QuestionKind = QuestionKind.VISITORS,
    with_pages: bool = True,
    at: timedelta = timedelta(),
    until: timedelta = timedelta(minutes=10),
) -> Snapshot:
    def ask(tx: Transaction) -> Snapshot:
        asked = Snapshots(tx).request(PROJECT, period, with_pages=with_pages, is_final=is_final, now=NOW + at)
        Snapshots(tx).want([asked.id], kind, NOW + at + until)
        return asked

    return await store.write(ask)


async def claim(
    store: Store, who: Claimer, limit: int = 1, *, digests_too: bool = True
) -> Sequence[Snapshot]:
    return await store.write(lambda tx: Snapshots(tx).claim(who, PROJECT, limit, digests_too=digests_too))


async def store_page(
    store: Store,
    held: Snapshot,
    rows: Sequence[tuple[str, Counts]],
    *,
    owner: str = "one",
    next_offset: int,
    is_last: bool,
    at: datetime = NOW,
) -> None:
    page = ReadPage(SITE, rows, at, next_offset, is_last)
    await store.write(lambda tx: Snapshots(tx).store(held, page, owner=owner))


async def stored(store: Store, snapshot: SnapshotId) -> Snapshot:
    return await store.read(lambda tx: Snapshots(tx).get([snapshot])[snapshot])


async def read(store: Store, period: Period, pages: dict[str, Counts], owner: str = "one") -> Snapshot:
    """A window that was read whole, in pages of three rows."""
    wanted = await want(store, period)
    rows = list(pages.items())
    for end in range(3, len(rows) + 3, 3):
        [claimed] = await claim(store, claimer(owner))
        assert claimed.id == wanted.id
        page = rows[end - 3 : end]
        await store_page(store, claimed, page, owner=owner, next_offset=end, is_last=end >= len(rows))
        await want(store, period)
    return await stored(store, wanted.id)


async def test_many_who_want_a_window_at_once_share_one_snapshot(store: Store, another: Store) -> None:
    wanted = await asyncio.gather(*(want(each) for each in [store, another] * 4))
    assert len({each.id for each in wanted}) == 1


async def test_what_people_want_is_claimed_first_then_what_is_wanted_soonest_and_nothing_else(
    store: Store,
) -> None:
    later = await want(store, WEEK.earlier(2)[0], kind=QuestionKind.DIGEST, until=timedelta(hours=6))
    sooner = await want(store, WEEK.earlier(3)[0], kind=QuestionKind.DIGEST)
    asked = await want(store)
    left = await want(store, WEEK.earlier(4)[0])
    await store.write(lambda tx: Snapshots(tx).want([left.id], QuestionKind.VISITORS, None))
    assert [each.id for each in await claim(store, claimer(), 5, digests_too=False)] == [asked.id]
    at = [claimer(at=NOW + timedelta(seconds=each)) for each in (1, 2)]
    assert [each.id for who in at for each in await claim(store, who)] == [sooner.id, later.id]
    assert await claim(store, claimer(at=NOW + timedelta(days=1)), 5) == []


def take_three(tx: Transaction) -> int:
    AnalyticsQuota(tx).lock(PROJECT)
    budget = AnalyticsQuota(tx).read(PROJECT, 10, NOW)
    calls = min(budget.free, 3)
    AnalyticsQuota(tx).take(PROJECT, calls, NOW)
    return calls


async def budget(store: Store, after: timedelta = timedelta()) -> tuple[int, datetime | None]:
    """How many calls of ten are free, and when the next will be."""
    found = await store.read(lambda tx: AnalyticsQuota(tx).read(PROJECT, 10, NOW + after))
    return found.free, found.free_at


async def test_the_budget_is_never_passed_however_many_take_at_once(store: Store, another: Store) -> None:
    taken = await asyncio.gather(*(each.write(take_three) for each in [store, another] * 4))
    assert sum(taken) == 10
    assert await budget(store) == (0, NOW + timedelta(hours=1))
    assert await budget(store, timedelta(minutes=61)) == (10, None)


@pytest.mark.parametrize(("used", "minutes"), [(0, 3), (10, 3), (10, 62)])
async def test_next_call_waits_for_hold_and_for_own_count(store: Store, used: int, minutes: int) -> None:
    hold = timedelta(minutes=minutes)
    await store.write(lambda tx: AnalyticsQuota(tx).take(PROJECT, used, NOW))
    await store.write(lambda tx: AnalyticsQuota(tx).mark_exhausted(PROJECT, NOW + hold))
    free_at = NOW + max(hold, timedelta(hours=1) if used else hold)
    assert (await budget(store))[1] == free_at
    assert await budget(store, free_at - NOW + timedelta(minutes=1)) == (10, None)


def paths(pages: Sequence[PageCounts]) -> list[str]:
    return [page.path for page in pages]


@pytest.mark.parametrize("section", [None, "/api", "/api/", "/api*", "/nothing", "*"])
async def test_the_database_cuts_a_section_as_the_rule_says(store: Store, section: str | None) -> None:
    now = await read(store, WEEK, PAGES)
    found = await store.read(lambda tx: Pages(tx).top(now.id, None, section, SortBy.TOTAL, 40))
    count = await store.read(lambda tx: Pages(tx).count(now.id, section))
    expected = {path[:2000] for path in PAGES if section is None or in_section(path, section)}
    assert set(paths(found)) == expected
    assert count == len(expected)


async def test_the_largest_counts_are_stored_and_compared(store: Store) -> None:
    most = 2**63 - 1
    was = await read(store, WEEK.before(), {"/": Counts(most, most, most), "/api": Counts(0, 0, 0)})
    now = await read(store, WEEK, {"/": Counts(most, most, most), "/api": Counts(most, 0, most)})
    moved = await store.read(lambda tx: Pages(tx).moved(now.id, was.id, None, up=True, limit=5))
    assert paths(moved) == ["/api"]


async def test_pages_are_ranked_and_compared(store: Store) -> None:
    was = await read(store, WEEK.before(), BEFORE)
    now = await read(store, WEEK, PAGES)
    assert (now.rows, now.repeated, now.complete) == (len(PAGES), 0, True)

    def compare(tx: Transaction) -> PageKey:
        pages = Pages(tx)
        top = pages.top(now.id, was.id, None, SortBy.AI, 2)
        assert [(page.path, page.was) for page in top] == [("/api/orders", None), ("/api", BEFORE["/api"])]
        assert paths(pages.top(now.id, was.id, None, SortBy.HUMAN, 1)) == ["/"]
        assert paths(pages.moved(now.id, was.id, None, up=True, limit=5)) == ["/"]
        assert paths(pages.moved(now.id, was.id, None, up=False, limit=5)) == ["/api"]
        assert paths(pages.appeared(now.id, was.id, "/new", 5)) == ["/new"]
        assert "/tiny" not in paths(pages.appeared(now.id, was.id, None, 9))
        assert paths(pages.appeared(was.id, now.id, None, 5)) == ["/old"]
        assert paths(pages.leaning(now.id, SITE, None, to_ai=True, limit=5)) == ["/api/orders"]
        assert paths(pages.leaning(now.id, SITE, None, to_ai=False, limit=5)) == ["/", "/apiary"]
        return top[0].key

    first = await store.read(compare)
    one = await store.read(lambda tx: Pages(tx).one(first))
    assert one is not None
    assert (one[0].path, one[0].now, one[1]) == ("/api/orders", PAGES["/api/orders"], WEEK)


async def test_pages_of_an_old_window_stay_while_it_is_read_or_was_read_lately(store: Store) -> None:
    begun, after = await want(store, WEEK), WEEK.end + timedelta(days=1)
    [claimed] = await claim(store, claimer())
    page = [("/a", Counts(1, 0, 1))]
    await store_page(store, claimed, page, next_offset=1, is_last=False)
    assert await store.write(lambda tx: Snapshots(tx).sweep(NOW - timedelta(days=2), after)) == 0
    assert (await stored(store, begun.id)).next_offset == 1
    assert await store.write(lambda tx: Snapshots(tx).sweep(NOW + timedelta(days=2), after)) == 1


async def test_a_week_gets_one_digest_whoever_plans_it(store: Store, another: Store) -> None:
    week = await want(store)

    def plan(tx: Transaction) -> bool:
        return Questions(tx).add(
            replace(origin("digest:1:2026-10-26"), user=UserId("")),
            VisitorsQuery(WEEK, None),
            kind=QuestionKind.DIGEST,
            subscription=None,
            project=PROJECT,
            now=week,
            was=None,
            older=None,
            chart=(),
            asked_at=NOW,
        )

    assert sum(await asyncio.gather(*(each.write(plan) for each in [store, another] * 3))) == 1
    assert len(await store.write(lambda tx: Questions(tx).claim(claimer("one"), 9))) == 1
    assert await store.write(lambda tx: Questions(tx).claim(claimer("two"), 9)) == []


async def test_a_subscription_is_one_for_each_place_and_changes_only_from_where_it_was(
    store: Store,
) -> None:
    def subscribe(hour: int, tx: Transaction) -> int:
        return Subscriptions(tx).put(
            origin(),
            project=PROJECT,
            section="/api",
            weekday=Weekday.FRIDAY,
            at=time(hour, 30),
            zone="Asia/Kolkata",
            now=NOW,
        )

    numbers = await asyncio.gather(*(store.write(partial(subscribe, hour)) for hour in (8, 9, 10)))
    assert len(set(numbers)) == 1
    [one] = await store.read(lambda tx: Subscriptions(tx).in_channel(CHANNEL))
    assert (one.revision, one.weekly.zone, one.section) == (3, "Asia/Kolkata", "/api")

    def prove(tx: Transaction) -> bool:
        return Subscriptions(tx).change(one.id, was=SubscriptionState.NEW, state=SubscriptionState.PROVING)

    assert [await store.write(prove) for _ in range(2)] == [True, False]


async def test_a_page_is_read_each_time_that_a_person_wants_it_and_for_a_digest_all(store: Store) -> None:
    await want(store)
    [held] = await claim(store, claimer())
    await store_page(store, held, [("/", SITE)], next_offset=1, is_last=False)
    assert await claim(store, claimer()) == []
    await want(store, kind=QuestionKind.DIGEST)
    for offset in (2, 3):
        [held] = await claim(store, claimer())
        await store_page(store, held, [(f"/{offset}", SITE)], next_offset=offset, is_last=offset == 3)
    assert (await stored(store, held.id)).complete


async def test_pages_of_an_old_window_stay_while_its_next_page_is_being_read(store: Store) -> None:
    await want(store, WEEK)
    after, later = WEEK.end + timedelta(days=1), NOW + timedelta(days=3)
    [held] = await claim(store, claimer())
    await store_page(store, held, [("/a", SITE)], next_offset=1, is_last=False)
    await want(store, at=timedelta(days=3))
    [held] = await claim(store, claimer(at=later))
    assert await store.write(lambda tx: Snapshots(tx).sweep(later - timedelta(days=2), after)) == 0
    await store_page(store, held, [("/b", SITE)], next_offset=2, is_last=True, at=later)
    assert (await stored(store, held.id)).rows == 2
