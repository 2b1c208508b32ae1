"""Numbers of visitors are those of an independent count, however they are read."""

from __future__ import annotations

import asyncio
import csv
import io
import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.visitors.model.readings import Counts
from tests.properties import share
from tests.site import Rows, Site, Visit, counted
from tests.talk import Talk
from tests.work.readers import DAY, FIRST, LAST, START, TODAY, asked, files


def a_site(chance: random.Random) -> Site:
    """Return a site that the bot reads in three calls, with visits before and after last week too."""
    return Site(
        [
            Visit(
                START + chance.randrange(35, 63) * DAY,
                chance.randrange(40),
                chance.choice(("human", "ai")),
                f"/p{chance.randrange(700):03}",
            )
            for _ in range(6_000)
        ]
    )


async def counts_in_file(talk: Talk) -> dict[str, tuple[int, int, int]]:
    """Return the people, agents and visitors of each page in the only file."""
    [(_, _, file)] = await files(talk)
    _, *rows = csv.reader(io.StringIO(file))
    pages = {path: (int(human), int(ai), int(total)) for path, human, ai, total in rows}
    assert len(pages) == len(rows), "a page has two rows"
    return pages


@pytest.mark.parametrize("seed", range(3))
async def test_answer_and_file_have_the_numbers_of_an_independent_count(
    talk: Talk, seed: int
) -> None:
    talk.service.site = site = a_site(random.Random(seed))
    answer = await asked(talk, "last week compare none csv")
    inside = [visit for visit in site.visits if FIRST <= visit.day <= LAST]
    people = {visit.visitor for visit in inside if visit.kind == "human"}
    agents = {visit.visitor for visit in inside if visit.kind == "ai"}
    totals = f"*{len(people | agents)} visitors* · {len(people)} people · {len(agents)} AI agents"
    assert totals in answer
    assert await counts_in_file(talk) == {
        path: (counts.human, counts.ai, counts.total) for path, counts in Site.rows(inside)
    }


@pytest.mark.parametrize("seed", range(3))
async def test_rows_that_move_between_calls_are_never_counted_twice(talk: Talk, seed: int) -> None:
    def shuffled(rows: Rows, call: int) -> Rows:
        return random.Random(f"{seed}:{call}").sample(rows, len(rows))

    talk.service.site = site = a_site(random.Random(seed))
    site.order = shuffled
    answer = await asked(talk, "last week compare none csv")
    inside = [visit for visit in site.visits if FIRST <= visit.day <= LAST]
    assert f"*{counted(inside).total} visitors*" in answer
    truth = {path: (counts.human, counts.ai, counts.total) for path, counts in Site.rows(inside)}
    assert (await counts_in_file(talk)).items() <= truth.items()


@settings(max_examples=share(2))
@given(
    st.integers(1, 15),
    st.integers(-6, 9),
    st.lists(st.tuples(st.integers(0, 90), st.integers(0, 90)), min_size=3, max_size=3),
)
def test_only_changes_beyond_chance_are_named(
    days: int, begins: int, readers: list[tuple[int, int]]
) -> None:
    """``begins``: how many days after the window compared with the data does. ``readers``: now and before."""
    end = TODAY
    first, earlier = end - days * DAY, end - (days + -days % 7 + days) * DAY
    site, data = Site([Visit(end - DAY, 999, "human", "/")]), earlier + begins * DAY
    for number, (now, was) in enumerate(readers):
        site.read(f"/p{number}", first, end - DAY, people=now)
        site.read(f"/p{number}", earlier, earlier + (days - 1) * DAY, people=was)
    site.visits = [visit for visit in site.visits if visit.day >= data] + [
        Visit(data, 999, "human", "/")
    ]

    async def answer() -> str:
        talk = Talk()
        talk.service.site = site
        try:
            return await asked(talk, f"{first}..{end - DAY}")
        finally:
            print(talk.transcript())
            await talk.close()

    said = asyncio.run(answer())
    inside = [visit for visit in site.visits if earlier <= visit.day < earlier + days * DAY]
    before, after = (
        dict(Site.rows(inside)),
        dict(Site.rows([v for v in site.visits if first <= v.day < end])),
    )
    counts = {path: (_total(after, path), _total(before, path)) for path in {*before, *after}}
    moved = {
        path: now - was for path, (now, was) in counts.items() if (now - was) ** 2 > 9 * (now + was)
    }
    is_fair = begins <= 0 and bool(inside)
    told = {path for path in after if re.search(rf"`{path}` \*[0-9]+ visitors?\* \(", said)}
    assert told == ({*moved} & {*after} if is_fair else set())


def _total(rows: dict[str, Counts], path: str) -> int:
    return rows[path].total if path in rows else 0
