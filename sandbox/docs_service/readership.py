"""Who reads what on a made-up site: people, AI agents, readers that are both, crawlers; weeks and seasons."""

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
_WEEKEND = 0.35
_GROWTH_A_DAY = 0.003
_EPOCH_DAY = date(2026, 1, 1)

_LARGE = 1_000
"""From so many pages on a site has more readers, and crawlers that read all of it once a week."""

_CRAWLERS = (1.0, 0.7, 0.4)
"""The share of the site that each crawler reads in a week."""

_LIFE_WEEKS = 13
_MORTAL, _MORTAL_FROM, _MORTAL_STEP = 2 * _LIFE_WEEKS, 22, 3
"""Pages that are there for a quarter and away for a quarter, one beginning and one ending each week."""

_HARDLY, _MUCH = 0.02, 5.0


class Visit(NamedTuple):
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


class _Week(NamedTuple):
    """What holds for one week, counted from a Monday: running weights by page, and who is not there."""

    number: int
    people: list[float]
    agents: list[float]
    away: frozenset[int]


class Site:
    """How often each page is read, and by whom; each day and week has random numbers of its own."""

    def __init__(self, project: str, seed: int, pages: int) -> None:
        self.project = project
        self.pages = pages
        self._name = f"{seed}:{project}"
        chance = random.Random(self._name)  # noqa: S311
        self._ids = range(1, pages + 1)
        # The n-th page is read about 1/n as often as the first: https://en.wikipedia.org/wiki/Zipf%27s_law
        liking = [1 / (rank + 1) ** 0.9 for rank in range(pages)]
        self._people = [weight * chance.uniform(0.5, 1.6) for weight in liking]
        # Agents read references and small pages much more evenly than people do.
        self._agents = [weight**0.5 * chance.uniform(0.3, 2.5) for weight in liking]
        self._seasons = [
            (rank, chance.uniform(0.3, 0.9), chance.uniform(8, 20), chance.random())
            for rank in range(2, pages)
            if chance.random() < 0.25
        ]
        self._lean()
        self._scale = max(1.0, pages / _LARGE) ** 0.75
        self._week: _Week | None = None

    def _lean(self) -> None:
        """Some pages are read by AI and hardly by people, some the other way round."""
        for rank in range(11, self.pages, 17):
            self._people[rank] *= _HARDLY
            self._agents[rank] *= _MUCH
        for rank in range(5, self.pages, 23):
            self._agents[rank] *= _HARDLY

    def visits_of(self, day: date) -> Iterator[Visit]:
        """The visits of one whole day in UTC, always the same ones."""
        week = self._week_of(day)
        chance = random.Random(f"{self._name}:{day.isoformat()}")  # noqa: S311
        midnight = int(datetime.combine(day, time(), UTC).timestamp())
        growth = min(4.0, max(0.3, 1 + _GROWTH_A_DAY * (day - _EPOCH_DAY).days))
        quiet = _WEEKEND if day.weekday() >= 5 else 1.0
        people = round(_PEOPLE_A_DAY * self._scale * growth**0.5 * quiet * chance.uniform(0.85, 1.15))
        agents = round(_AGENTS_A_DAY * self._scale * growth * chance.uniform(0.8, 1.2))
        for _ in range(people):
            # People read from the morning on.
            yield from self._read(
                chance, self._person(chance), "human", week.people, midnight + 25_200, 54_000
            )
        for _ in range(agents):
            # One agent in eight reads for somebody who also reads alone: counted as both.
            both = chance.random() < 0.12
            agent = _FIRST_AGENT + int(_KNOWN_AGENTS * self._scale * chance.random())
            reader = self._person(chance) if both else agent
            yield from self._read(chance, reader, "ai", week.agents, midnight, 86_000)
        yield from self._crawl(chance, week, day.weekday(), midnight)

    def _person(self, chance: random.Random) -> int:
        """Regular readers have small numbers and come again; most come once."""
        return int(_KNOWN_PEOPLE * self._scale * chance.random() ** 2) + 1

    def _read(
        self, chance: random.Random, visitor: int, kind: str, weights: list[float], begin: int, length: int
    ) -> Iterator[Visit]:
        at = begin + int(length * chance.random())
        for page in chance.choices(self._ids, cum_weights=weights, k=1 + int(4 * chance.random() ** 2)):
            yield Visit(visitor, kind, page, at)
            at += 40

    def _crawl(self, chance: random.Random, week: _Week, weekday: int, midnight: int) -> Iterator[Visit]:
        """A seventh of the site for each crawler, so that each week has all of it."""
        if self.pages <= _LARGE:
            return
        for number, share in enumerate(_CRAWLERS):
            first = 1 + (weekday + 2 * number) % 7
            for page in range(first, self.pages + 1, 7):
                if page not in week.away and chance.random() < share:
                    at = midnight + 86_399 * page // self.pages
                    yield Visit(_FIRST_CRAWLER + number, "ai", page, at)

    def _week_of(self, day: date) -> _Week:
        number = (day.toordinal() - 1) // 7
        if self._week is None or self._week.number != number:
            self._week = self._made_week(number)
        return self._week

    def _made_week(self, number: int) -> _Week:
        people, agents = self._people.copy(), self._agents.copy()
        for rank, height, period, phase in self._seasons:
            people[rank] *= math.exp(height * math.sin(2 * math.pi * (number / period + phase)))
        if self.pages > _MORTAL_FROM:
            # Somebody of importance linked to this one.
            famous = random.Random(f"{self._name}:{number}").randrange(6, min(self.pages, 60))  # noqa: S311
            people[famous] *= _MUCH
        away = self._away(number)
        for rank in away:
            people[rank - 1] = agents[rank - 1] = 0.0
        return _Week(number, list(accumulate(people)), list(accumulate(agents)), away)

    def _away(self, number: int) -> frozenset[int]:
        """The pages that do not exist in that week."""
        mortal = min(_MORTAL, self.pages // 11) if self.pages > 100 else 0
        return frozenset(
            _MORTAL_FROM + _MORTAL_STEP * each
            for each in range(mortal)
            if (number + each) % _MORTAL >= _LIFE_WEEKS
        )
