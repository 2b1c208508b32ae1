"""Visits as a site might have them, made from a seed day by day: people, AI agents, and both."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from itertools import accumulate

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

_KNOWN_PATHS = (
    "/",
    "/quickstart",
    "/installation",
    "/authentication",
    "/webhooks",
    "/errors",
    "/rate-limits",
    "/api/shipments",
    "/sdks/python",
    "/sdks/javascript",
    "/pagination",
    "/idempotency",
    "/api/tracking",
    "/api/labels",
    "/sdks",
    "/sdks/go",
    "/guides/testing",
    "/guides/returns",
    "/guides/migrate-to-v2",
    "/faq",
    "/changelog",
)
_AREAS = ("guides", "api", "concepts", "recipes", "integrations", "security")
_ACTIONS = ("create", "list", "update", "cancel", "import", "export", "search", "track", "verify", "schedule")
_THINGS = (
    "orders",
    "parcels",
    "addresses",
    "carriers",
    "customs",
    "pickups",
    "rates",
    "manifests",
    "invoices",
)

_PEOPLE_A_DAY = 150
_AGENTS_A_DAY = 70
_FIRST_AGENT = 10_000_000
_WEEKEND = 0.35
_GROWTH_A_DAY = 0.003
_EPOCH_DAY = date(2026, 1, 1)


@dataclass(frozen=True)
class Visit:
    """One reader on one page; the same reader can come as a person and as an AI agent."""

    visitor: int
    kind: str
    page: int
    at: int


def paths(count: int) -> list[str]:
    """The addresses of a site with that many pages, most read first."""
    made = list(_KNOWN_PATHS[:count])
    number = 0
    while len(made) < count:
        area = _AREAS[number % len(_AREAS)]
        action = _ACTIONS[number // len(_AREAS) % len(_ACTIONS)]
        thing = _THINGS[number // (len(_AREAS) * len(_ACTIONS)) % len(_THINGS)]
        round_number = number // (len(_AREAS) * len(_ACTIONS) * len(_THINGS))
        made.append(f"/{area}/{action}-{thing}" + (f"-{round_number + 1}" if round_number else ""))
        number += 1
    return made


def fill(
    connection: sqlite3.Connection, project: str, *, seed: int, pages: int, days: int, today: date
) -> None:
    """Store the visits of every day that is missing up to today; `days` of them when there are none yet."""
    row = connection.execute("SELECT last_day FROM filled WHERE project = ?", (project,)).fetchone()
    day = today - timedelta(days=days - 1) if row is None else date.fromisoformat(row[0]) + timedelta(days=1)
    if day > today:
        return
    connection.executemany(
        "INSERT OR IGNORE INTO pages (id, path) VALUES (?, ?)", list(enumerate(paths(pages), 1))
    )
    site = _Site(project, seed, pages)
    while day <= today:
        connection.executemany(
            "INSERT INTO visits (project, visitor, kind, page, at) VALUES (?, ?, ?, ?, ?)",
            ((project, one.visitor, one.kind, one.page, one.at) for one in site.visits_of(day)),
        )
        day += timedelta(days=1)
    connection.execute(
        "INSERT INTO filled (project, last_day) VALUES (?, ?)"
        " ON CONFLICT (project) DO UPDATE SET last_day = excluded.last_day",
        (project, today.isoformat()),
    )


class _Site:
    """How often each page is read, and by whom; each day has random numbers of its own."""

    def __init__(self, project: str, seed: int, pages: int) -> None:
        self._name = f"{seed}:{project}"
        chance = random.Random(self._name)  # noqa: S311
        self._ids = range(1, pages + 1)
        # The n-th page is read about 1/n as often as the first: https://en.wikipedia.org/wiki/Zipf%27s_law
        liking = [1 / (rank + 1) ** 0.9 for rank in range(pages)]
        self._people = list(accumulate(weight * chance.uniform(0.5, 1.6) for weight in liking))
        # Agents read references and small pages much more evenly than people do.
        self._agents = list(accumulate(weight**0.5 * chance.uniform(0.3, 2.5) for weight in liking))

    def visits_of(self, day: date) -> Iterator[Visit]:
        chance = random.Random(f"{self._name}:{day.isoformat()}")  # noqa: S311
        midnight = int(datetime.combine(day, time(), UTC).timestamp())
        growth = min(4.0, max(0.3, 1 + _GROWTH_A_DAY * (day - _EPOCH_DAY).days))
        week = _WEEKEND if day.weekday() >= 5 else 1.0
        people = round(_PEOPLE_A_DAY * growth**0.5 * week * chance.uniform(0.85, 1.15))
        agents = round(_AGENTS_A_DAY * growth * chance.uniform(0.8, 1.2))
        for _ in range(people):
            # Regular readers have small numbers and come again; most come once.
            visitor = int(6000 * chance.random() ** 2) + 1
            yield from self._read(chance, visitor, "human", self._people, midnight + 25_200, 54_000)
        for _ in range(agents):
            # One agent in eight reads for somebody who also reads alone: counted as both.
            both = chance.random() < 0.12
            visitor = (
                int(6000 * chance.random() ** 2) + 1 if both else _FIRST_AGENT + int(900 * chance.random())
            )
            yield from self._read(chance, visitor, "ai", self._agents, midnight, 86_000)

    def _read(
        self, chance: random.Random, visitor: int, kind: str, weights: list[float], begin: int, length: int
    ) -> Iterator[Visit]:
        at = begin + int(length * chance.random())
        for page in chance.choices(self._ids, cum_weights=weights, k=1 + int(4 * chance.random() ** 2)):
            yield Visit(visitor, kind, page, at)
            at += 40
