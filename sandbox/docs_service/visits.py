"""Visits to a made-up site by people, AI agents and crawlers: generated, stored, and counted."""

from __future__ import annotations

import random
import sqlite3
from collections import OrderedDict
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from itertools import accumulate
from typing import Any, NamedTuple

from sandbox.docs_service.wire import Counts, Visitors, VisitorsQuery

_KNOWN = """
/ /quickstart /installation /authentication /webhooks /errors /rate-limits /api/shipments /sdks/python
/sdks/javascript /pagination /idempotency /api/tracking /api/labels /sdks /sdks/go /guides/testing
/guides/returns /guides/migrate-to-v2 /faq /changelog
"""
_KNOWN_PATHS = _KNOWN.split()
_AREAS = ("guides", "api", "concepts", "recipes", "integrations", "security")
_ACTIONS = ("create", "list", "update", "cancel", "import", "export", "search", "track", "verify", "schedule")
_THINGS = ("orders", "parcels", "addresses", "carriers", "customs", "pickups", "rates", "manifests", "bills")

_PEOPLE_A_DAY = 150
_AGENTS_A_DAY = 70
_KNOWN_PEOPLE = 6_000
_KNOWN_AGENTS = 900
_FIRST_AGENT = 100_000_000
_FIRST_CRAWLER = 200_000_000
_WEEKEND_FACTOR = 0.35
_GROWTH_A_DAY = 0.003
_EPOCH_DAY = date(2026, 1, 1)

_LARGE = 1_000
"""Number of pages above which a site has more visitors, and crawlers that go through it once a week."""

_CRAWLERS = (1.0, 0.7, 0.4)
"""Share of the site that each crawler reads in a week."""

_LIFETIME_WEEKS = 13
_TEMPORARY_PAGES, _FIRST_TEMPORARY_PAGE, _TEMPORARY_PAGE_STEP = 2 * _LIFETIME_WEEKS, 22, 3
"""Pages that exist for 13 weeks and are missing for 13; each week one appears and one disappears."""

_LOW_FACTOR, _HIGH_FACTOR = 0.02, 5.0


class Visit(NamedTuple):
    """One visit to one page; `at` is in Unix seconds. A visitor can come as a person and as an AI agent."""

    visitor: int
    kind: str
    page: int
    at: int


def paths(count: int) -> list[str]:
    """Return the paths of a site with `count` pages, most visited first."""
    made = _KNOWN_PATHS[:count]
    for number in range(count - len(made)):
        rest, area = divmod(number, len(_AREAS))
        rest, action = divmod(rest, len(_ACTIONS))
        cycle, thing = divmod(rest, len(_THINGS))
        path = f"/{_AREAS[area]}/{_ACTIONS[action]}-{_THINGS[thing]}"
        made.append(f"{path}-{cycle + 1}" if cycle else path)
    return made


def scale(pages: int) -> float:
    """Return how many times as many visitors a site of so many pages has as an ordinary one."""
    return float(max(1.0, pages / _LARGE) ** 0.75)


class _Week(NamedTuple):
    """A week from Monday: cumulative weights of the pages for people and agents, and the missing pages."""

    number: int
    people: list[float]
    agents: list[float]
    missing: frozenset[int]


class Site:
    """The visit pattern of a site; each day and each week has its own seeded random numbers."""

    def __init__(self, project: str, seed: int, pages: int) -> None:
        self.project = project
        self.pages = pages
        self._name = f"{seed}:{project}"
        rng = random.Random(self._name)  # noqa: S311
        self._ids = range(1, pages + 1)
        # Zipf's law: the n-th page has about 1/n of the first page's visits.
        # https://en.wikipedia.org/wiki/Zipf%27s_law
        popularity = [1 / (rank + 1) ** 0.9 for rank in range(pages)]
        self._people = [weight * rng.uniform(0.5, 1.6) for weight in popularity]
        # Agents spread their visits over pages more evenly than people do.
        self._agents = [weight**0.5 * rng.uniform(0.3, 2.5) for weight in popularity]
        # Some pages are popular with AI agents only, and some with people only.
        for rank in range(11, pages, 17):
            self._people[rank] *= _LOW_FACTOR
            self._agents[rank] *= _HIGH_FACTOR
        for rank in range(5, pages, 23):
            self._agents[rank] *= _LOW_FACTOR
        self._scale = scale(pages)
        self._week: _Week | None = None

    def visits_of(self, day: date) -> Iterator[Visit]:
        """Return the visits of one whole day in UTC; the same day always has the same visits."""
        number = (day.toordinal() - 1) // 7
        if self._week is None or self._week.number != number:
            self._week = self._make_week(number)
        week = self._week
        rng = random.Random(f"{self._name}:{day.isoformat()}")  # noqa: S311
        midnight = int(datetime.combine(day, time(), UTC).timestamp())
        growth = min(4.0, max(0.3, 1 + _GROWTH_A_DAY * (day - _EPOCH_DAY).days))
        weekday_factor = _WEEKEND_FACTOR if day.weekday() >= 5 else 1.0
        people = round(_PEOPLE_A_DAY * self._scale * growth**0.5 * weekday_factor * rng.uniform(0.85, 1.15))
        agents = round(_AGENTS_A_DAY * self._scale * growth * rng.uniform(0.8, 1.2))
        for _ in range(people):
            # People read from 07:00 on.
            yield from self._read(rng, self._person(rng), "human", week.people, midnight + 25_200, 54_000)
        for _ in range(agents):
            # About one agent in eight has the id of a person, who counts as both.
            both = rng.random() < 0.12
            agent = _FIRST_AGENT + int(_KNOWN_AGENTS * self._scale * rng.random())
            reader = self._person(rng) if both else agent
            yield from self._read(rng, reader, "ai", week.agents, midnight, 86_000)
        yield from self._crawl(rng, week, day.weekday(), midnight)

    def _person(self, rng: random.Random) -> int:
        """Return the id of a person; low ids are more frequent and stand for regular readers."""
        return int(_KNOWN_PEOPLE * self._scale * rng.random() ** 2) + 1

    def _read(
        self, rng: random.Random, visitor: int, kind: str, weights: list[float], begin: int, length: int
    ) -> Iterator[Visit]:
        at = begin + int(length * rng.random())
        for page in rng.choices(self._ids, cum_weights=weights, k=1 + int(4 * rng.random() ** 2)):
            yield Visit(visitor, kind, page, at)
            at += 40

    def _crawl(self, rng: random.Random, week: _Week, weekday: int, midnight: int) -> Iterator[Visit]:
        """Return a crawler's visits to a seventh of the site, so that a week covers all of it."""
        if self.pages <= _LARGE:
            return
        for number, share in enumerate(_CRAWLERS):
            first = 1 + (weekday + 2 * number) % 7
            for page in range(first, self.pages + 1, 7):
                if page not in week.missing and rng.random() < share:
                    at = midnight + 86_399 * page // self.pages
                    yield Visit(_FIRST_CRAWLER + number, "ai", page, at)

    def _make_week(self, number: int) -> _Week:
        people, agents = self._people.copy(), self._agents.copy()
        if self.pages > _FIRST_TEMPORARY_PAGE:
            # One page has a peak, as after a link from a popular site.
            spike = random.Random(f"{self._name}:{number}").randrange(6, min(self.pages, 60))  # noqa: S311
            people[spike] *= _HIGH_FACTOR
        missing = self._missing_pages(number)
        for rank in missing:
            people[rank - 1] = agents[rank - 1] = 0.0
        return _Week(number, list(accumulate(people)), list(accumulate(agents)), missing)

    def _missing_pages(self, number: int) -> frozenset[int]:
        """Return the pages that do not exist in that week."""
        temporary = min(_TEMPORARY_PAGES, self.pages // 11) if self.pages > 100 else 0
        return frozenset(
            _FIRST_TEMPORARY_PAGE + _TEMPORARY_PAGE_STEP * each
            for each in range(temporary)
            if (number + each) % _TEMPORARY_PAGES >= _LIFETIME_WEEKS
        )


SCHEMA = """
CREATE TABLE IF NOT EXISTS pages (id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS visits (
    project TEXT NOT NULL,
    visitor INTEGER NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('human', 'ai')),
    page INTEGER NOT NULL REFERENCES pages (id),
    at INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS visits_window ON visits (project, at, page, visitor, kind);
CREATE TABLE IF NOT EXISTS filled (project TEXT PRIMARY KEY, last_day TEXT NOT NULL);
"""


def missing_days(connection: sqlite3.Connection, project: str, days: int, today: date) -> list[date]:
    """Return the days up to today that are not stored, in order; the last `days` if none is stored."""
    last = _last_day(connection, project) or today - timedelta(days=days)
    return [last + timedelta(days=each) for each in range(1, (today - last).days + 1)]


def _last_day(connection: sqlite3.Connection, project: str) -> date | None:
    row = connection.execute("SELECT last_day FROM filled WHERE project = ?", (project,)).fetchone()
    return None if row is None else date.fromisoformat(row[0])


def store(connection: sqlite3.Connection, site: Site, day: date) -> None:
    """Store the visits of one day, unless it is stored. Call it for the days in order."""
    last = _last_day(connection, site.project)
    if last is not None and day <= last:
        return
    (stored,) = connection.execute("SELECT COALESCE(MAX(id), 0) FROM pages").fetchone()
    if stored < site.pages:
        pages = list(enumerate(paths(site.pages), 1))
        connection.executemany("INSERT OR IGNORE INTO pages VALUES (?, ?)", pages)
    connection.executemany(
        "INSERT INTO visits (project, visitor, kind, page, at) VALUES (?, ?, ?, ?, ?)",
        ((site.project, *visit) for visit in site.visits_of(day)),
    )
    connection.execute(
        "INSERT INTO filled (project, last_day) VALUES (?, ?)"
        " ON CONFLICT (project) DO UPDATE SET last_day = excluded.last_day",
        (site.project, day.isoformat()),
    )


_READERS = (
    "(SELECT {page} visitor, MAX(kind = 'human') AS human, MAX(kind = 'ai') AS ai FROM visits"
    " WHERE project = :project AND at >= :begin AND at < :end GROUP BY {page} visitor)"
)
_COUNTS = "COALESCE(SUM(human), 0) AS human, COALESCE(SUM(ai), 0) AS ai, COUNT(*) AS total"
_TOTALS = f"SELECT {_COUNTS} FROM {_READERS.format(page='')}"  # noqa: S608
_ROWS = (
    "SELECT p.path AS path, human, ai, total"  # noqa: S608
    f" FROM (SELECT page, {_COUNTS} FROM {_READERS.format(page='page,')} GROUP BY page)"
    " JOIN pages p ON p.id = page ORDER BY total DESC, p.path"
)
_PERIOD_KEY = (
    "SELECT (SELECT MIN(at) FROM visits WHERE project = :project AND at >= :begin),"
    " (SELECT MIN(at) FROM visits WHERE project = :project AND at >= :end), (SELECT MAX(rowid) FROM visits)"
)
_MOST_PERIODS = 6


class VisitorCounter:
    """Counts visitors, and caches the counts of the latest periods for their further pages.

    The key of the cache has the first visit in the period, the first one after it and the last one, so
    that new visits cause a new count.
    """

    def __init__(self) -> None:
        self._cache: OrderedDict[tuple[object, ...], tuple[Counts, list[sqlite3.Row]]] = OrderedDict()

    def answer(
        self, connection: sqlite3.Connection, project: str, query: VisitorsQuery, now: datetime
    ) -> Visitors:
        """Return the response to a visitors request: totals, one page of rows, and whether there are more."""
        begin = -1e18 if query.begin is None else query.begin
        # Visits are stored for whole days, so leave out those later than now.
        end = now.timestamp() if query.end is None else min(query.end, now.timestamp())
        totals, rows = self._count(connection, {"project": project, "begin": begin, "end": end})
        last = query.offset + query.limit
        page: Any = [dict(row) for row in rows[query.offset : last]]
        return {"totals": totals, "visitors": page, "hasMore": len(rows) > last}

    def _count(
        self, connection: sqlite3.Connection, period: dict[str, Any]
    ) -> tuple[Counts, list[sqlite3.Row]]:
        """Return the totals of a period, and a row for each visited page, most visited first."""
        key = (period["project"], *connection.execute(_PERIOD_KEY, period).fetchone())
        if key not in self._cache:
            totals: Any = dict(connection.execute(_TOTALS, period).fetchone())
            self._cache[key] = (totals, connection.execute(_ROWS, period).fetchall())
        self._cache.move_to_end(key)
        while len(self._cache) > _MOST_PERIODS:
            self._cache.popitem(last=False)
        return self._cache[key]
