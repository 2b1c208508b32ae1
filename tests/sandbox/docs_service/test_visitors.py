"""Visitors are counted from the stored visits: distinct, half open, in pages."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.sandbox.docs_service import DocsServiceOptions, visitors, visits
from bot.sandbox.docs_service.inputs import VisitorsQuery
from tests.sandbox.docs_service.caller import Caller, HeldClock

NOW = datetime(2026, 10, 14, 9, 30, tzinfo=UTC)


@contextmanager
def database() -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(":memory:")
    connection.row_factory = sqlite3.Row
    connection.executescript(visits.SCHEMA)
    yield connection
    connection.close()


visit_lists = st.lists(
    st.tuples(st.integers(1, 6), st.sampled_from(["human", "ai"]), st.integers(1, 5), st.integers(0, 40)),
    max_size=60,
)


@settings(max_examples=150, deadline=None)
@given(visit_lists, st.integers(0, 40), st.integers(1, 41), st.integers(1, 4), st.integers(0, 6))
def test_counts_are_those_of_a_plain_count(
    stored: list[tuple[int, str, int, int]], begin: int, length: int, limit: int, offset: int
) -> None:
    with database() as connection:
        connection.executemany("INSERT INTO pages VALUES (?, ?)", [(n, f"/p{n}") for n in range(1, 6)])
        connection.executemany("INSERT INTO visits VALUES ('a', ?, ?, ?, ?)", stored)
        connection.execute("INSERT INTO visits VALUES ('b', 99, 'human', 1, 10)")
        answer = visitors.count(connection, "a", VisitorsQuery(begin, begin + length, limit, offset), NOW)

    seen = [one for one in stored if begin <= one[3] < begin + length]
    pages: defaultdict[str, list[tuple[int, str]]] = defaultdict(list)
    for visitor, kind, page, _ in seen:
        pages[f"/p{page}"].append((visitor, kind))
    rows = sorted(({"path": path, **plain(who)} for path, who in pages.items()), key=rank)
    assert answer["totals"] == plain([(visitor, kind) for visitor, kind, _, _ in seen])
    assert answer["visitors"] == rows[offset : offset + limit]
    assert answer["hasMore"] == (len(rows) > offset + limit)


def plain(who: list[tuple[int, str]]) -> dict[str, object]:
    return {
        "human": len({visitor for visitor, kind in who if kind == "human"}),
        "ai": len({visitor for visitor, kind in who if kind == "ai"}),
        "total": len({visitor for visitor, _ in who}),
    }


def rank(row: dict[str, object]) -> tuple[int, str]:
    return (-int(str(row["total"])), str(row["path"]))


def made(seed: int, today: date, *, days: int = 10, then: date | None = None) -> list[tuple[object, ...]]:
    with database() as connection:
        for last in (today, then):
            if last is not None:
                visits.fill(connection, "acme-docs", seed=seed, pages=30, days=days, today=last)
        return [tuple(row) for row in connection.execute("SELECT * FROM visits ORDER BY at, rowid")]


def test_the_same_seed_gives_the_same_visits_and_another_one_others() -> None:
    assert made(7, date(2026, 10, 14)) == made(7, date(2026, 10, 14))
    assert made(7, date(2026, 10, 14)) != made(8, date(2026, 10, 14))


def test_days_that_were_missed_are_made_up_as_if_they_had_not_been() -> None:
    later = made(7, date(2026, 10, 12), days=8, then=date(2026, 10, 14))
    assert later == made(7, date(2026, 10, 14), days=10)


def test_some_readers_are_counted_as_people_and_as_ai_and_once_in_total() -> None:
    with database() as connection:
        visits.fill(connection, "acme-docs", seed=7, pages=30, days=10, today=date(2026, 10, 14))
        totals = visitors.count(connection, "acme-docs", VisitorsQuery(None, None, 1, 0), NOW)["totals"]
    assert isinstance(totals, dict)
    assert max(totals["human"], totals["ai"]) < totals["total"] < totals["human"] + totals["ai"]


def test_weekends_are_quiet_for_people() -> None:
    days: defaultdict[int, int] = defaultdict(int)
    for _, _, kind, _, at in made(7, date(2026, 10, 18), days=14):
        days[datetime.fromtimestamp(int(str(at)), UTC).weekday()] += kind == "human"
    assert max(days[5], days[6]) < min(days[day] for day in range(5)) / 1.5


def test_a_site_can_have_very_many_pages_each_with_its_own_path() -> None:
    assert len(set(visits.paths(100_000))) == 100_000


async def test_all_pages_together_are_the_whole_list(caller: Caller, options: DocsServiceOptions) -> None:
    rows: list[dict[str, object]] = []
    offset, more = 0, True
    while more:
        answer = (await caller.visitors(f"?limit=5&offset={offset}")).json
        rows, offset, more = rows + answer["visitors"], offset + 5, answer["hasMore"]
    assert len(rows) == options.pages
    assert rows == (await caller.visitors("?limit=250")).json["visitors"]


async def test_the_end_of_a_window_is_not_in_it(caller: Caller) -> None:
    first = (await caller.visitors("?dateFrom=2026-10-12&dateTo=2026-10-13")).json["totals"]
    second = (await caller.visitors("?dateFrom=2026-10-13&dateTo=2026-10-14")).json["totals"]
    both = (await caller.visitors("?dateFrom=2026-10-12&dateTo=2026-10-14")).json["totals"]
    assert max(first["human"], second["human"]) < both["human"] <= first["human"] + second["human"]
    with_time = (await caller.visitors("?dateFrom=2026-10-12T02:00%2B02:00&dateTo=2026-10-13T00:00Z")).json
    assert with_time["totals"] == first


async def test_visits_come_with_time_and_none_from_the_future(caller: Caller, clock: HeldClock) -> None:
    morning = (await caller.visitors("?dateFrom=2026-10-14")).json["totals"]["total"]
    clock.forward(6 * 3600)
    afternoon = (await caller.visitors("?dateFrom=2026-10-14")).json["totals"]["total"]
    clock.forward(24 * 3600)
    tomorrow = (await caller.visitors("?dateFrom=2026-10-15")).json["totals"]["total"]
    assert 0 < morning < afternoon
    assert tomorrow > 0
    assert (await caller.visitors("?dateFrom=2026-10-20")).json["totals"]["total"] == 0
