"""A documentation site whose visitors are counted with plain sets, for tests of everything that counts."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any, NamedTuple

from bot.visitors.model.readings import Counts

Rows = list[tuple[str, Counts]]


class Visit(NamedTuple):
    """Somebody read a page on a day."""

    day: date
    visitor: int
    kind: str
    path: str


def counted(visits: Iterable[Visit]) -> Counts:
    """Distinct visitors: people, AI agents, and both together with nobody twice."""
    people: set[int] = set()
    agents: set[int] = set()
    for visit in visits:
        (people if visit.kind == "human" else agents).add(visit.visitor)
    return Counts(len(people), len(agents), len(people | agents))


def viewed(visits: Iterable[Visit]) -> Counts:
    """Views by people, by AI agents, and in all."""
    kinds = [visit.kind for visit in visits]
    return Counts(kinds.count("human"), kinds.count("ai"), len(kinds))


def in_order(rows: Rows, call: int) -> Rows:
    """As they are."""
    return rows


@dataclass
class Site:
    """The visits, and the order in which the service would tell the pages at its n-th call."""

    visits: list[Visit] = field(default_factory=list)
    order: Callable[[Rows, int], Rows] = in_order
    calls: list[tuple[date, date, int, int]] = field(default_factory=list)
    view_calls: list[tuple[date, date, int, int]] = field(default_factory=list)

    def answer(self, first: date, end: date, limit: int, offset: int) -> dict[str, Any]:
        """As the service answers: the days from ``first`` up to, without, ``end``."""
        self.calls.append((first, end, limit, offset))
        inside = [visit for visit in self.visits if first <= visit.day < end]
        rows = self.order(self.rows(inside), len(self.calls))
        return {
            "totals": _json(counted(inside)),
            "visitors": [
                {"path": path, **_json(counts)} for path, counts in rows[offset : offset + limit]
            ],
            "hasMore": len(rows) > offset + limit,
        }

    def answer_views(self, first: date, end: date, limit: int, offset: int) -> dict[str, Any]:
        """As the service answers about views: each visit to a page is one."""
        self.view_calls.append((first, end, limit, offset))
        inside = [visit for visit in self.visits if first <= visit.day < end]
        by_path: dict[str, list[Visit]] = {}
        for visit in inside:
            by_path.setdefault(visit.path, []).append(visit)
        rows = [(path, viewed(these)) for path, these in sorted(by_path.items())]
        return {
            "totals": _json(viewed(inside)),
            "views": [
                {"path": path, **_json(counts)} for path, counts in rows[offset : offset + limit]
            ],
            "hasMore": len(rows) > offset + limit,
        }

    @staticmethod
    def rows(visits: Iterable[Visit]) -> Rows:
        """Each page with its own distinct visitors."""
        by_path: dict[str, list[Visit]] = {}
        for visit in visits:
            by_path.setdefault(visit.path, []).append(visit)
        return [(path, counted(these)) for path, these in sorted(by_path.items())]

    def read(self, path: str, first: date, last: date, *, people: int = 0, agents: int = 0) -> None:
        """So many people and agents read a page on one of these days, every third again the next day."""
        days = (last - first).days + 1
        for kind, count, offset in (("human", people, 0), ("ai", agents, 1_000_000)):
            for number in range(count):
                for at in {number % days, min(number % days + (number % 3 == 0), days - 1)}:
                    self.visits.append(
                        Visit(first + timedelta(days=at), offset + number, kind, path)
                    )

    def fill(self, pages: int, first: date, last: date, seed: int = 1) -> None:
        """Every one of so many pages is read once each week at least."""
        chance = random.Random(seed)
        day = first
        while day <= last:
            for page in range(pages):
                when = min(day + timedelta(days=chance.randrange(7)), last)
                visitor, kind = chance.randrange(400), chance.choice(("human", "ai"))
                self.visits.append(Visit(when, visitor, kind, f"/page-{page}"))
            day += timedelta(days=7)


def _json(counts: Counts) -> dict[str, int]:
    return {"human": counts.human, "ai": counts.ai, "total": counts.total}
