"""Numbers of sections are those of an independent count: 25 windows, each with six sections."""

from __future__ import annotations

import random
from datetime import date

import pytest

from bot.visitors.model.readings import Counts
from tests.site import Site, Visit, counted, viewed
from tests.talk import Talk
from tests.work.readers import DAY, START, TODAY, asked

PATHS = (
    "/",
    "/api",
    "/api/orders",
    "/api/orders/refunds",
    "/apiary",
    "/guides/api",
    "/quickstart",
)
SECTIONS = {
    "": PATHS,
    "/api": ("/api", "/api/orders", "/api/orders/refunds"),
    "/api*": ("/api", "/api/orders", "/api/orders/refunds", "/apiary"),
    "/api/orders": ("/api/orders", "/api/orders/refunds"),
    "/quickstart": ("/quickstart",),
    "/none": (),
}
"""The pages that each section has."""
WINDOWS = 5
"""Windows of each seed."""


def some_visits(chance: random.Random) -> list[Visit]:
    """Return visits of four weeks by few readers, who come back."""
    return [
        Visit(
            START + chance.randrange(35, 63) * DAY,
            chance.randrange(30),
            chance.choice(("human", "ai")),
            chance.choice(PATHS),
        )
        for _ in range(400)
    ]


def some_window(chance: random.Random) -> tuple[str, date, date]:
    """Return a period as somebody may type it, its first day and its last."""
    days = round(1 + 20 * chance.random() ** 2)
    if chance.random() < 0.3:
        return f"{days}d", TODAY - days * DAY, TODAY - DAY
    last = TODAY - chance.randrange(7) * DAY
    first = last - (days - 1) * DAY
    return f"{first}..{last}", first, last


def plural(count: int, one: str, many: str) -> str:
    return f"{count:,} {one if count == 1 else many}"


def line_of_page(rank: int, path: str, counts: Counts) -> str:
    visitors = plural(counts.total, "visitor", "visitors")
    people = plural(counts.human, "person", "people")
    agents = plural(counts.ai, "AI agent", "AI agents")
    return f"{rank}. `{path}` *{visitors}* · {people} · {agents}"


@pytest.mark.parametrize("seed", range(5))
async def test_sections_have_the_numbers_of_an_independent_count(talk: Talk, seed: int) -> None:
    chance = random.Random(seed)
    await talk.process.starts(analytics_calls_an_hour=1_000)
    talk.service.site.visits = visits = some_visits(chance)
    for _ in range(WINDOWS):
        words, first, last = some_window(chance)
        inside = [visit for visit in visits if first <= visit.day <= last]
        site = plural(counted(inside).total, "visitor", "visitors")
        for section, pages in SECTIONS.items():
            path = f"path {section}" if section else ""
            answer = await asked(talk, f"{words} {path} compare none top 20")
            of_section = [visit for visit in inside if visit.path in pages]
            rows = sorted(Site.rows(of_section), key=lambda row: (-row[1].total, row[0]))
            lines = [line_of_page(rank, *row) for rank, row in enumerate(rows, 1)]
            shown = answer.splitlines()
            assert [line for line in shown if line[:1].isdigit() and ". `" in line] == lines
            assert not lines or f"*{site}*" in answer, "uniques of a section are not added"
            views = viewed(of_section)
            by_whom = f"{views.human:,} by people and {views.ai:,} by AI agents"
            total = plural(views.total, "view", "views")
            assert (f"`{section}`: *{total}*, {by_whom}" in shown) == bool(section and lines)
