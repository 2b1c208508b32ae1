"""Numbers of visitors are those of an independent count, however they are read."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from datetime import date

from hypothesis import given
from hypothesis import strategies as st

from bot.model.visitors import Counts, PageCounts, Period, Snapshot
from bot.store import Transaction
from bot.work.visitors.fetch import fetch_snapshots
from bot.work.visitors.question import answer_questions
from tests.builders import new_store
from tests.site import Rows, Site, Visit
from tests.work.asking import DAY, START
from tests.work.office import Office


async def newest_snapshot(office: Office, period: Period) -> tuple[Counts | None, dict[str, Counts], int]:
    """What is stored of a window: totals, pages, and how many rows came twice."""

    def look(tx: Transaction) -> tuple[Snapshot, Sequence[PageCounts]]:
        project = office.context.projects.default.id
        known = tx.snapshots.request(project, period, with_pages=False, is_final=True, now=office.clock())
        return known, tx.pages.following(known.id, None, limit=9_999)[0]

    known, pages = await office.store.read(look)
    return known.totals, {page.path: page.now for page in pages}, known.repeated


visits = st.lists(
    st.builds(
        Visit,
        st.integers(0, 20).map(lambda number: START + number * DAY),
        st.integers(0, 12),
        st.sampled_from(["human", "ai"]),
        st.sampled_from([f"/p{number}" for number in range(9)]),
    ),
    max_size=60,
)


async def read_with(site: Site, first: date, last: date, page_size: int) -> tuple[Office, Period]:
    """An office that has read one window of a site."""
    office = Office(await new_store())
    office.docs.site = site
    office.budget(10_000, page_size)
    await office.visitors(f"{first}..{last} compare none")
    while await fetch_snapshots(office.context):
        await answer_questions(office.context)
    return office, Period(first, last + DAY)


@given(visits, st.integers(0, 20), st.integers(0, 20), st.integers(1, 7))
def test_totals_and_pages_are_those_of_an_independent_count(
    made: list[Visit], one: int, other: int, page_size: int
) -> None:
    first, last = START + min(one, other) * DAY, START + max(one, other) * DAY

    async def read() -> tuple[Counts | None, dict[str, Counts], int]:
        office, period = await read_with(Site(made), first, last, page_size)
        found = await newest_snapshot(office, period)
        await office.close()
        return found

    totals, pages, _ = asyncio.run(read())
    inside = [visit for visit in made if first <= visit.day <= last]
    people = {visit.visitor for visit in inside if visit.kind == "human"}
    agents = {visit.visitor for visit in inside if visit.kind == "ai"}
    assert totals == Counts(len(people), len(agents), len(people | agents))
    assert set(pages) == {visit.path for visit in inside}
    for path, counts in pages.items():
        here = {(visit.kind, visit.visitor) for visit in inside if visit.path == path}
        assert counts.human == len({visitor for kind, visitor in here if kind == "human"})
        assert counts.ai == len({visitor for kind, visitor in here if kind == "ai"})
        assert counts.total == len({visitor for _, visitor in here})


@given(visits, st.integers(1, 4), st.integers(0, 1_000))
def test_rows_that_move_while_they_are_read_are_never_counted_twice_and_those_missed_are_told(
    made: list[Visit], page_size: int, seed: int
) -> None:
    def shuffled(rows: Rows, call: int) -> Rows:
        return random.Random(f"{seed}:{call}").sample(rows, len(rows))

    async def read() -> tuple[Counts | None, dict[str, Counts], int]:
        office, period = await read_with(Site(made, shuffled), START, START + 20 * DAY, page_size)
        found = await newest_snapshot(office, period)
        await office.close()
        return found

    totals, pages, repeated = asyncio.run(read())
    truth = dict(Site.rows(made))
    assert totals == Site(made).answer_totals()
    assert all(truth[path] == counts for path, counts in pages.items())
    # A whole answer of rows seen before ends the reading, since it could go on for ever.
    assert len(pages) + repeated == len(truth) or repeated >= page_size
