"""Generate visits to a fictional site by people, AI agents and crawlers, with weekly and seasonal changes."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from datetime import UTC, date, datetime, time
from itertools import accumulate
from typing import NamedTuple

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
    made = list(_KNOWN_PATHS[:count])
    number = 0
    while len(made) < count:
        area = _AREAS[number % len(_AREAS)]
        action = _ACTIONS[number // len(_AREAS) % len(_ACTIONS)]
        thing = _THINGS[number // (len(_AREAS) * len(_ACTIONS)) % len(_THINGS)]
        cycle = number // (len(_AREAS) * len(_ACTIONS) * len(_THINGS))
        made.append(f"/{area}/{action}-{thing}" + (f"-{cycle + 1}" if cycle else ""))
        number += 1
    return made


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
        self._seasons = [
            (rank, rng.uniform(0.3, 0.9), rng.uniform(8, 20), rng.random())
            for rank in range(2, pages)
            if rng.random() < 0.25
        ]
        self._skew()
        self._scale = max(1.0, pages / _LARGE) ** 0.75
        self._week: _Week | None = None

    def _skew(self) -> None:
        """Make some pages popular with AI agents only, and some with people only."""
        for rank in range(11, self.pages, 17):
            self._people[rank] *= _LOW_FACTOR
            self._agents[rank] *= _HIGH_FACTOR
        for rank in range(5, self.pages, 23):
            self._agents[rank] *= _LOW_FACTOR

    def visits_of(self, day: date) -> Iterator[Visit]:
        """Return the visits of one whole day in UTC; the same day always has the same visits."""
        week = self._week_of(day)
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

    def _week_of(self, day: date) -> _Week:
        number = (day.toordinal() - 1) // 7
        if self._week is None or self._week.number != number:
            self._week = self._make_week(number)
        return self._week

    def _make_week(self, number: int) -> _Week:
        people, agents = self._people.copy(), self._agents.copy()
        for rank, height, period, phase in self._seasons:
            people[rank] *= math.exp(height * math.sin(2 * math.pi * (number / period + phase)))
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
