"""Counts of distinct visitors from stored visits, over half-open periods, in pages."""

from __future__ import annotations

import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from sandbox.docs_service import visits
from sandbox.docs_service.visits import VisitorCounter
from sandbox.docs_service.wire import Visitors, VisitorsQuery
from tests.sandbox.docs_service.caller import Caller, HeldClock

DAY_SECONDS = 86_400
NOW = 100.0 * DAY_SECONDS
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


days = st.integers(0, 40)
visit_lists = st.lists(
    st.tuples(st.integers(1, 6), st.sampled_from(["human", "ai"]), st.integers(1, 5), days),
    max_size=60,
)
queries = st.builds(
    lambda begin, length, limit, offset: VisitorsQuery.model_construct(
        begin=begin * DAY_SECONDS, end=(begin + length) * DAY_SECONDS, limit=limit, offset=offset
    ),
    *(days, st.integers(1, 41), st.integers(1, 4), st.integers(0, 6)),
)


@given(visit_lists, visit_lists, st.lists(queries, max_size=6))
def test_counts_are_those_of_a_plain_count_before_and_after_new_visits(
    first: list[Stored], later: list[Stored], asked: list[VisitorsQuery]
) -> None:
    counter, stored = VisitorCounter(), list[Stored]()
    with database() as connection:
        for more in (first, later):
            stored += [
                (visitor, kind, page, day * DAY_SECONDS) for visitor, kind, page, day in more
            ]
            connection.executemany(
                "INSERT INTO visits VALUES (?, ?, ?, ?)", stored[-len(more) :] if more else []
            )
            for query in asked * 2:
                check(counter.answer(connection, query, NOW), stored, query)


def check(answer: Visitors, stored: list[Stored], query: VisitorsQuery) -> None:
    """Compare a response with a count of plain sets."""
    seen = [
        (visitor, kind, f"/p{page}", at)
        for visitor, kind, page, at in stored
        if query.begin <= at < query.end
    ]
    rows = counted_by_page(seen)
    assert answer["totals"] == plain([(visitor, kind) for visitor, kind, _, _ in seen])
    assert answer["visitors"] == rows[query.offset : query.offset + query.limit]
    assert answer["hasMore"] == (len(rows) > query.offset + query.limit)


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
    with_time = (
        await caller.visitors("?dateFrom=2026-10-12T02:00%2B02:00&dateTo=2026-10-13T00:00Z")
    ).json
    assert with_time["totals"] == first


async def test_the_whole_day_of_the_end_is_left_out_also_when_a_time_stands_in_it(
    caller: Caller,
) -> None:
    day = (await caller.visitors("?dateFrom=2026-10-12&dateTo=2026-10-13")).json
    for end in ("2026-10-13T12:00Z", "2026-10-13T23:59:59.9", "2026-10-14T01:00%2B02:00"):
        assert (await caller.visitors(f"?dateFrom=2026-10-12&dateTo={end}")).json == day
    same_day = (await caller.visitors("?dateFrom=2026-10-12T08:00&dateTo=2026-10-12T20:00")).json
    assert same_day == {
        "totals": {"human": 0, "ai": 0, "total": 0},
        "visitors": [],
        "hasMore": False,
    }


async def test_visits_come_with_time_and_none_from_the_future(
    caller: Caller, clock: HeldClock
) -> None:
    morning = (await caller.visitors("?dateFrom=2026-10-14")).json["totals"]["total"]
    clock.forward(6 * 3600)
    afternoon = (await caller.visitors("?dateFrom=2026-10-14")).json["totals"]["total"]
    clock.forward(24 * 3600)
    tomorrow = (await caller.visitors("?dateFrom=2026-10-15")).json["totals"]["total"]
    assert 0 < morning < afternoon
    assert tomorrow > 0
    assert (await caller.visitors("?dateFrom=2026-10-20")).json["totals"]["total"] == 0


# The same over HTTP, with the visits that the service generated.


async def test_views_are_events_that_add_up_over_days_and_pages(caller: Caller) -> None:
    days = ["2026-10-12", "2026-10-13", "2026-10-14"]
    single = [
        (await caller.views(f"?dateFrom={first}&dateTo={end}&limit=250")).json
        for first, end in pairwise(days)
    ]
    both = (await caller.views(f"?dateFrom={days[0]}&dateTo={days[-1]}&limit=250")).json
    assert both["totals"] == add(day["totals"] for day in single)
    assert both["totals"] == add(both["views"])
    assert both["totals"]["total"] == both["totals"]["human"] + both["totals"]["ai"]
    by_path = defaultdict[str, list[Row]](list)
    for row in [*single[0]["views"], *single[1]["views"]]:
        by_path[row["path"]].append(row)
    assert {row["path"]: plain_counts(row) for row in both["views"]} == {
        path: add(rows) for path, rows in by_path.items()
    }
    visitors = (await caller.visitors(f"?dateFrom={days[0]}&dateTo={days[-1]}&limit=250")).json
    assert {row["path"] for row in visitors["visitors"]} == set(by_path)
    assert visitors["totals"]["total"] < both["totals"]["total"]


async def test_views_come_in_pages_and_none_twice(caller: Caller) -> None:
    whole = (await caller.views("?dateFrom=2026-10-12&dateTo=2026-10-14&limit=250")).json["views"]
    rows: list[Row] = []
    has_more = True
    while has_more:
        page = (
            await caller.views(f"?dateFrom=2026-10-12&dateTo=2026-10-14&limit=7&offset={len(rows)}")
        ).json
        rows += page["views"]
        has_more = page["hasMore"]
    assert rows == whole


def plain_counts(row: Row) -> Row:
    return {name: row[name] for name in ("human", "ai", "total")}


def add(rows: Iterable[Row]) -> Row:
    total = Counter[str]()
    for row in rows:
        total.update({name: int(str(count)) for name, count in plain_counts(row).items()})
    return {name: total[name] for name in ("human", "ai", "total")}
