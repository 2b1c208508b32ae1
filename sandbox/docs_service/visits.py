"""Visits to a made-up site by people and AI agents: generated, stored, and counted."""

from __future__ import annotations

import asyncio
import random
import sqlite3
from collections import OrderedDict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, time, timedelta
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeVar

from sandbox.docs_service.wire import Counts, ViewCounts, Views, Visitors, VisitorsQuery

P = ParamSpec("P")
T = TypeVar("T")

_KNOWN = """
/ /quickstart /installation /authentication /webhooks /errors /rate-limits /api/shipments /sdks/python
/sdks/javascript /pagination /idempotency /api/tracking /api/labels /sdks /sdks/go /guides/testing
/guides/returns /guides/migrate-to-v2 /faq /changelog
"""
_KNOWN_PATHS = _KNOWN.split()
_AREAS = ("guides", "api", "concepts", "recipes", "integrations", "security")
_ACTIONS = (
    "create",
    "list",
    "update",
    "cancel",
    "import",
    "export",
    "search",
    "track",
    "verify",
    "schedule",
)
_THINGS = (
    "orders",
    "parcels",
    "addresses",
    "carriers",
    "customs",
    "pickups",
    "rates",
    "manifests",
    "bills",
)

_PEOPLE_A_DAY = 150
_AGENTS_A_DAY = 70
_KNOWN_PEOPLE = 6_000
_KNOWN_AGENTS = 900
_FIRST_AGENT = 100_000_000
_WEEKEND_FACTOR = 0.35
_GROWTH_A_DAY = 0.003
_EPOCH_DAY = date(2026, 1, 1)

_LARGE = 1_000
"""Number of pages above which a site has more visitors."""

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
        people = round(
            _PEOPLE_A_DAY * self._scale * growth**0.5 * weekday_factor * rng.uniform(0.85, 1.15)
        )
        agents = round(_AGENTS_A_DAY * self._scale * growth * rng.uniform(0.8, 1.2))
        for _ in range(people):
            # People read from 07:00 on.
            yield from self._read(
                rng, self._person(rng), "human", week.people, midnight + 25_200, 54_000
            )
        for _ in range(agents):
            # About one agent in eight has the id of a person, who counts as both.
            both = rng.random() < 0.12
            agent = _FIRST_AGENT + int(_KNOWN_AGENTS * self._scale * rng.random())
            reader = self._person(rng) if both else agent
            yield from self._read(rng, reader, "ai", week.agents, midnight, 86_000)

    def _person(self, rng: random.Random) -> int:
        """Return the id of a person; low ids are more frequent and stand for regular readers."""
        return int(_KNOWN_PEOPLE * self._scale * rng.random() ** 2) + 1

    def _read(
        self,
        rng: random.Random,
        visitor: int,
        kind: str,
        weights: list[float],
        begin: int,
        length: int,
    ) -> Iterator[Visit]:
        at = begin + int(length * rng.random())
        for page in rng.choices(self._ids, cum_weights=weights, k=1 + int(4 * rng.random() ** 2)):
            yield Visit(visitor, kind, page, at)
            at += 40

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
            _FIRST_TEMPORARY_PAGE + _TEMPORARY_PAGE_STEP * index
            for index in range(temporary)
            if (number + index) % _TEMPORARY_PAGES >= _LIFETIME_WEEKS
        )


SCHEMA = """
CREATE TABLE IF NOT EXISTS pages (id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS visits (
    visitor INTEGER NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('human', 'ai')),
    page INTEGER NOT NULL REFERENCES pages (id),
    at INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS visits_window ON visits (at, page, visitor, kind);
CREATE TABLE IF NOT EXISTS filled (day TEXT PRIMARY KEY);
"""


class Database:
    """Runs functions of a connection in one thread, each in its own transaction: counting takes long."""

    def __init__(self, path: Path | None) -> None:
        """``path`` is None for visits in memory."""
        self._path = path
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="readers")

    async def run(
        self,
        work: Callable[Concatenate[sqlite3.Connection, P], T],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Run `work` in a transaction and return its result; roll back if it raises."""

        def transact() -> T:
            with self._connection:
                return work(self._connection, *args, **kwargs)

        return await asyncio.get_running_loop().run_in_executor(self._thread, transact)

    @cached_property
    def _connection(self) -> sqlite3.Connection:
        if self._path is not None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(self._path or ":memory:", check_same_thread=False)
        connection.row_factory = sqlite3.Row
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.executescript(SCHEMA)
        return connection

    async def close(self) -> None:
        """Close the file after the current function."""
        await asyncio.get_running_loop().run_in_executor(self._thread, self._connection.close)


def missing_days(connection: sqlite3.Connection, days: int, today: date) -> list[date]:
    """Return the days up to today that are not stored, in order; the last `days` if none is stored."""
    last = _last_day(connection) or today - timedelta(days=days)
    return [last + timedelta(days=day) for day in range(1, (today - last).days + 1)]


def _last_day(connection: sqlite3.Connection) -> date | None:
    (day,) = connection.execute("SELECT MAX(day) FROM filled").fetchone()
    return date.fromisoformat(day) if day else None


def store(connection: sqlite3.Connection, site: Site, day: date) -> None:
    """Store the visits of one day, unless it is stored. Call it for the days in order."""
    last = _last_day(connection)
    if last is not None and day <= last:
        return
    (stored,) = connection.execute("SELECT COALESCE(MAX(id), 0) FROM pages").fetchone()
    if stored < site.pages:
        pages = list(enumerate(paths(site.pages), 1))
        connection.executemany("INSERT OR IGNORE INTO pages VALUES (?, ?)", pages)
    connection.executemany("INSERT INTO visits VALUES (?, ?, ?, ?)", site.visits_of(day))
    connection.execute("INSERT INTO filled VALUES (?)", (day.isoformat(),))


_READERS = (
    "(SELECT {page} visitor, MAX(kind = 'human') AS human, MAX(kind = 'ai') AS ai FROM visits"
    " WHERE at >= :begin AND at < :end GROUP BY {page} visitor)"
)
_COUNTS = "COALESCE(SUM(human), 0) AS human, COALESCE(SUM(ai), 0) AS ai, COUNT(*) AS total"
_TOTALS = f"SELECT {_COUNTS} FROM {_READERS.format(page='')}"  # noqa: S608
_ROWS = (
    "SELECT p.path AS path, human, ai, total"  # noqa: S608
    f" FROM (SELECT page, {_COUNTS} FROM {_READERS.format(page='page,')} GROUP BY page)"
    " JOIN pages p ON p.id = page ORDER BY total DESC, p.path"
)
_PERIOD_KEY = (
    "SELECT (SELECT MIN(at) FROM visits WHERE at >= :begin),"
    " (SELECT MIN(at) FROM visits WHERE at >= :end), (SELECT MAX(rowid) FROM visits)"
)
_VIEWS = (
    "SELECT p.path AS path, COUNT(*) FILTER (WHERE kind = 'human') AS human,"
    " COUNT(*) FILTER (WHERE kind = 'ai') AS ai, COUNT(*) AS total"
    " FROM visits v JOIN pages p ON p.id = v.page WHERE at >= :begin AND at < :end"
    " GROUP BY p.path ORDER BY total DESC, p.path"
)
_MOST_PERIODS = 6


class VisitorCounter:
    """Counts visitors, and caches the counts of the latest periods for their further pages.

    The key of the cache has the first visit in the period, the first one after it and the last one, so
    that new visits cause a new count.
    """

    def __init__(self) -> None:
        self._cache: OrderedDict[tuple[object, ...], tuple[Counts, list[sqlite3.Row]]] = (
            OrderedDict()
        )

    def answer(self, connection: sqlite3.Connection, query: VisitorsQuery, now: float) -> Visitors:
        """Return the response to a visitors request: totals, one page of rows, and whether there are more."""
        totals, rows = self._count(connection, {"begin": query.begin, "end": query.until(now)})
        last = query.offset + query.limit
        page: Any = [dict(row) for row in rows[query.offset : last]]
        return {"totals": totals, "visitors": page, "hasMore": len(rows) > last}

    def _count(
        self, connection: sqlite3.Connection, period: dict[str, float]
    ) -> tuple[Counts, list[sqlite3.Row]]:
        """Return the totals of a period, and a row for each visited page, most visited first."""
        key = tuple(connection.execute(_PERIOD_KEY, period).fetchone())
        if key not in self._cache:
            totals: Any = dict(connection.execute(_TOTALS, period).fetchone())
            self._cache[key] = (totals, connection.execute(_ROWS, period).fetchall())
        self._cache.move_to_end(key)
        while len(self._cache) > _MOST_PERIODS:
            self._cache.popitem(last=False)
        return self._cache[key]


def count_views(connection: sqlite3.Connection, query: VisitorsQuery, now: float) -> Views:
    """Return the response to a views request: totals, one page of rows, and whether there are more."""
    period = {"begin": query.begin, "end": query.until(now)}
    rows: list[Any] = [dict(row) for row in connection.execute(_VIEWS, period)]
    totals = ViewCounts(
        human=sum(row["human"] for row in rows),
        ai=sum(row["ai"] for row in rows),
        total=sum(row["total"] for row in rows),
    )
    last = query.offset + query.limit
    return {"totals": totals, "views": rows[query.offset : last], "hasMore": len(rows) > last}
