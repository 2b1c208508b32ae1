"""Generated visits look like those of a real site and are the same every time."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest

from sandbox.docs_service import DocsServiceOptions, visits
from sandbox.docs_service.visits import Site, Visit, VisitorCounter, paths
from sandbox.docs_service.wire import VisitorsQuery

MONDAY = date(2026, 10, 5)
TODAY = date(2026, 10, 14)


@contextmanager
def filled(site: Site, today: date = TODAY, *, days: int = 10) -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(":memory:")
    connection.row_factory = sqlite3.Row
    connection.executescript(visits.SCHEMA)
    fill(connection, site, today, days)
    yield connection
    connection.close()


def fill(connection: sqlite3.Connection, site: Site, today: date, days: int) -> None:
    for day in visits.missing_days(connection, days, today):
        visits.store(connection, site, day)


def stored(connection: sqlite3.Connection) -> list[tuple[object, ...]]:
    return [tuple(row) for row in connection.execute("SELECT * FROM visits ORDER BY at, rowid")]


def week(site: Site, monday: date = MONDAY) -> list[Visit]:
    return [visit for each in range(7) for visit in site.visits_of(monday + timedelta(days=each))]


def readers_by_page(made: list[Visit], kind: str = "") -> dict[int, int]:
    readers: defaultdict[int, set[int]] = defaultdict(set)
    for visit in made:
        if kind in ("", visit.kind):
            readers[visit.page].add(visit.visitor)
    return {page: len(who) for page, who in readers.items()}


def test_the_same_seed_gives_the_same_visits_and_another_one_others() -> None:
    assert week(Site("acme-docs", 7, 300)) == week(Site("acme-docs", 7, 300))
    assert week(Site("acme-docs", 7, 300)) != week(Site("acme-docs", 8, 300))
    assert week(Site("acme-docs", 7, 300)) != week(Site("other-docs", 7, 300))


def test_days_that_were_missed_are_made_up_as_if_they_had_not_been() -> None:
    with filled(Site("acme-docs", 7, 30), date(2026, 10, 12), days=8) as connection:
        fill(connection, Site("acme-docs", 7, 30), TODAY, 8)
        later = stored(connection)
    with filled(Site("acme-docs", 7, 30)) as connection:
        assert later == stored(connection)


def test_some_readers_are_counted_as_people_and_as_ai_and_once_in_total() -> None:
    with filled(Site("acme-docs", 7, 30)) as connection:
        now = datetime(2026, 10, 14, 9, 30, tzinfo=UTC).timestamp()
        totals = VisitorCounter().answer(connection, VisitorsQuery(), now)["totals"]
    assert max(totals["human"], totals["ai"]) < totals["total"] < totals["human"] + totals["ai"]


@pytest.mark.parametrize("weeks", range(4))
def test_each_week_a_page_begins_another_vanishes_and_some_rise_and_fall(weeks: int) -> None:
    site = Site("acme-docs", 7, 300)
    monday = MONDAY + timedelta(weeks=weeks)
    before, after = (
        readers_by_page(week(site, monday - timedelta(weeks=1))),
        readers_by_page(week(site, monday)),
    )
    assert any(after.get(page, 0) == 0 for page in before if before[page] >= 3)
    assert any(before.get(page, 0) == 0 for page in after if after[page] >= 3)
    assert any(before.get(page, 0) >= 8 and after[page] > 1.4 * before[page] for page in after)
    assert any(
        after.get(page, 0) and after[page] < 0.7 * before[page] for page in before if before[page] >= 8
    )


def test_some_pages_are_read_by_ai_and_hardly_by_people_and_the_reverse() -> None:
    made = week(Site("acme-docs", 7, 300))
    people, agents = readers_by_page(made, "human"), readers_by_page(made, "ai")
    assert any(number >= 15 and people.get(page, 0) <= 2 for page, number in agents.items())
    assert any(number >= 15 and agents.get(page, 0) <= 1 for page, number in people.items())


@pytest.mark.parametrize("count", [1, 2, 22, 23, 30, 100, 101])
def test_a_site_of_any_size_is_read(count: int) -> None:
    pages = readers_by_page(week(Site("acme-docs", 7, count)))
    assert set(pages) <= set(range(1, count + 1))
    assert len(pages) >= min(count, 20)


@pytest.mark.parametrize("change", [{"pages": 0}, {"pages": 100_001}, {"days": 0}, {"days": 1_001}])
def test_sizes_that_cannot_be_are_refused(options: DocsServiceOptions, change: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="pages are 1 to 100,000"):
        replace(options, **change)  # type: ignore[arg-type]


@pytest.mark.parametrize("count", [1, 12, 21, 300, 100_000])
def test_each_page_has_its_own_path(count: int) -> None:
    made = paths(count)
    assert len(made) == len(set(made)) == count
    assert all(path.startswith("/") for path in made)
