"""Counts of distinct visitors from stored visits, over half-open periods, in pages."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime

import aiohttp
from hypothesis import given
from hypothesis import strategies as st

from sandbox.docs_service import DocsService, DocsServiceOptions, visits
from sandbox.docs_service.visits import VisitorCounter
from sandbox.docs_service.wire import Visitors, VisitorsQuery
from tests.sandbox.docs_service.caller import Caller, HeldClock

NOW = datetime(2026, 10, 14, 9, 30, tzinfo=UTC)
Stored = tuple[int, str, int, int]
Row = dict[str, object]


@contextmanager
def database() -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(":memory:")
    connection.row_factory = sqlite3.Row
    connection.executescript(visits.SCHEMA)
    connection.executemany("INSERT INTO pages VALUES (?, ?)", [(n, f"/p{n}") for n in range(1, 6)])
    yield connection
    connection.close()


visit_lists = st.lists(
    st.tuples(st.integers(1, 6), st.sampled_from(["human", "ai"]), st.integers(1, 5), st.integers(0, 40)),
    max_size=60,
)


def put(connection: sqlite3.Connection, stored: list[Stored]) -> None:
    connection.executemany("INSERT INTO visits VALUES ('a', ?, ?, ?, ?)", stored)


def check(answer: Visitors, stored: list[Stored], query: VisitorsQuery) -> None:
    """Compare a response with a count of plain sets."""
    begin, end = query.begin or 0, query.end or 0
    seen = [(visitor, kind, f"/p{page}", at) for visitor, kind, page, at in stored if begin <= at < end]
    rows = counted_by_page(seen)
    assert answer["totals"] == plain([(visitor, kind) for visitor, kind, _, _ in seen])
    assert answer["visitors"] == rows[query.offset : query.offset + query.limit]
    assert answer["hasMore"] == (len(rows) > query.offset + query.limit)


@given(visit_lists, st.integers(0, 40), st.integers(1, 41), st.integers(1, 4), st.integers(0, 6))
def test_counts_are_those_of_a_plain_count(
    stored: list[Stored], begin: int, length: int, limit: int, offset: int
) -> None:
    query = VisitorsQuery(begin, begin + length, limit, offset)
    with database() as connection:
        put(connection, stored)
        connection.execute("INSERT INTO visits VALUES ('b', 99, 'human', 1, 10)")
        check(VisitorCounter().answer(connection, "a", query, NOW), stored, query)


@given(visit_lists, visit_lists, st.lists(st.tuples(st.integers(0, 40), st.integers(1, 41)), max_size=6))
def test_what_was_counted_before_is_never_shown_for_other_visits(
    first: list[Stored], later: list[Stored], windows: list[tuple[int, int]]
) -> None:
    counted = VisitorCounter()
    queries = [VisitorsQuery(begin, begin + length, 3, 1) for begin, length in windows]
    with database() as connection:
        put(connection, first)
        for query in queries * 2:
            check(counted.answer(connection, "a", query, NOW), first, query)
        put(connection, later)
        for query in queries:
            check(counted.answer(connection, "a", query, NOW), first + later, query)


@given(visit_lists, st.lists(st.integers(0, 41), min_size=1, max_size=8))
def test_a_window_that_is_open_grows_with_time(stored: list[Stored], moments: list[int]) -> None:
    counted = VisitorCounter()
    with database() as connection:
        put(connection, stored)
        for moment in sorted(moments):
            now = datetime.fromtimestamp(moment, UTC)
            answer = counted.answer(connection, "a", VisitorsQuery(None, None, 5, 0), now)
            check(answer, stored, VisitorsQuery(0, moment, 5, 0))


def counted_by_page(seen: Iterable[tuple[int, str, str, int]]) -> list[Row]:
    pages: defaultdict[str, list[tuple[int, str]]] = defaultdict(list)
    for visitor, kind, path, _ in seen:
        pages[path].append((visitor, kind))
    return sorted(({"path": path, **plain(who)} for path, who in pages.items()), key=rank)


def plain(who: list[tuple[int, str]]) -> dict[str, object]:
    return {
        "human": len({visitor for visitor, kind in who if kind == "human"}),
        "ai": len({visitor for visitor, kind in who if kind == "ai"}),
        "total": len({visitor for visitor, _ in who}),
    }


def rank(row: dict[str, object]) -> tuple[int, str]:
    return (-int(str(row["total"])), str(row["path"]))


async def test_the_end_of_a_window_is_not_in_it(caller: Caller) -> None:
    first = (await caller.visitors("?dateFrom=2026-10-12&dateTo=2026-10-13")).json["totals"]
    second = (await caller.visitors("?dateFrom=2026-10-13&dateTo=2026-10-14")).json["totals"]
    both = (await caller.visitors("?dateFrom=2026-10-12&dateTo=2026-10-14")).json["totals"]
    assert max(first["human"], second["human"]) < both["human"] <= first["human"] + second["human"]
    with_time = (await caller.visitors("?dateFrom=2026-10-12T02:00%2B02:00&dateTo=2026-10-13T00:00Z")).json
    assert with_time["totals"] == first


async def test_the_whole_day_of_the_end_is_left_out_also_when_a_time_stands_in_it(caller: Caller) -> None:
    day = (await caller.visitors("?dateFrom=2026-10-12&dateTo=2026-10-13")).json
    for end in ("2026-10-13T12:00Z", "2026-10-13T23:59:59.9", "2026-10-14T01:00%2B02:00"):
        assert (await caller.visitors(f"?dateFrom=2026-10-12&dateTo={end}")).json == day
    same_day = (await caller.visitors("?dateFrom=2026-10-12T08:00&dateTo=2026-10-12T20:00")).json
    assert same_day == {"totals": {"human": 0, "ai": 0, "total": 0}, "visitors": [], "hasMore": False}


async def test_visits_come_with_time_and_none_from_the_future(caller: Caller, clock: HeldClock) -> None:
    morning = (await caller.visitors("?dateFrom=2026-10-14")).json["totals"]["total"]
    clock.forward(6 * 3600)
    afternoon = (await caller.visitors("?dateFrom=2026-10-14")).json["totals"]["total"]
    clock.forward(24 * 3600)
    tomorrow = (await caller.visitors("?dateFrom=2026-10-15")).json["totals"]["total"]
    assert 0 < morning < afternoon
    assert tomorrow > 0
    assert (await caller.visitors("?dateFrom=2026-10-20")).json["totals"]["total"] == 0


# The same over HTTP, with the visits that the service generated.


async def test_another_size_or_seed_is_another_site_in_the_same_folder(
    options: DocsServiceOptions, clock: HeldClock
) -> None:
    answers = []
    for changed in (options, replace(options, pages=40), replace(options, seed=8), options):
        service = DocsService(changed, clock)
        base_url = await service.start()
        async with aiohttp.ClientSession() as session:
            answers.append((await Caller(session, base_url).visitors()).json)
        await service.stop()
    assert answers[0] == answers[3]
    assert answers[0] not in answers[1:3]


async def test_filling_is_told_day_by_day(options: DocsServiceOptions, clock: HeldClock) -> None:
    told: list[tuple[int, int]] = []
    service = DocsService(replace(options, projects=("acme-docs",)), clock, lambda *one: told.append(one))
    await service.start()
    await service.stop()
    assert told == [(number, options.days) for number in range(1, options.days + 1)]
