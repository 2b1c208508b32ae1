"""Numbers of visitors are those of an independent count, however they are read."""

from __future__ import annotations

import asyncio
import random
import re
from dataclasses import replace
from datetime import date

from hypothesis import given
from hypothesis import strategies as st

from bot.store import Transaction
from bot.visitors.model import Counts
from bot.visitors.periods import Period
from bot.visitors.store import Snapshots
from tests.builders import NOW, new_store
from tests.site import Rows, Site, Visit
from tests.work.drains import answer_questions, fetch_snapshots
from tests.work.office import Office
from tests.work.readers import DAY, START


async def newest_snapshot(office: Office, period: Period) -> tuple[Counts | None, dict[str, Counts]]:
    """Return the stored totals and pages of a period."""

    def read(tx: Transaction) -> tuple[Counts | None, dict[str, Counts]]:
        project = office.context.projects.default.id
        snapshot = Snapshots(tx).find_or_add(project, period, is_final=True, now=office.clock())
        return snapshot.totals, Snapshots(tx).pages(snapshot.id)

    return await office.store.read(read)


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
    office.change_settings(analytics_calls_an_hour=10_000)
    office.context = replace(office.context, page_size=page_size)
    await office.visitors(f"{first}..{last} compare none")
    while await fetch_snapshots(office.context):
        await answer_questions(office.context)
    return office, Period(first, last + DAY)


@given(visits, st.integers(0, 20), st.integers(0, 20), st.integers(1, 7))
def test_totals_and_pages_are_those_of_an_independent_count(
    made: list[Visit], one: int, other: int, page_size: int
) -> None:
    first, last = START + min(one, other) * DAY, START + max(one, other) * DAY

    async def read() -> tuple[Counts | None, dict[str, Counts]]:
        office, period = await read_with(Site(made), first, last, page_size)
        found = await newest_snapshot(office, period)
        await office.close()
        return found

    totals, pages = asyncio.run(read())
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
def test_rows_that_move_while_they_are_read_are_never_counted_twice(
    made: list[Visit], page_size: int, seed: int
) -> None:
    def shuffled(rows: Rows, call: int) -> Rows:
        return random.Random(f"{seed}:{call}").sample(rows, len(rows))

    async def read() -> tuple[Counts | None, dict[str, Counts]]:
        office, period = await read_with(Site(made, shuffled), START, START + 20 * DAY, page_size)
        found = await newest_snapshot(office, period)
        await office.close()
        return found

    totals, pages = asyncio.run(read())
    truth = dict(Site.rows(made))
    assert totals == Site(made).answer_totals()
    assert all(truth[path] == counts for path, counts in pages.items())


@given(
    st.integers(1, 15),
    st.integers(-6, 9),
    st.lists(st.tuples(st.integers(0, 90), st.integers(0, 90)), min_size=3, max_size=3),
)
def test_changes_are_told_beyond_chance_and_never_against_a_window_that_begins_before_the_data(
    days: int, begins: int, readers: list[tuple[int, int]]
) -> None:
    """``begins``: how many days after the window compared with the data does. ``readers``: now and before."""
    end = NOW.date()
    first, earlier = end - days * DAY, end - (days + -days % 7 + days) * DAY
    site, data = Site([Visit(end - DAY, 999, "human", "/")]), earlier + begins * DAY
    for number, (now, was) in enumerate(readers):
        site.read(f"/p{number}", first, end - DAY, people=now)
        site.read(f"/p{number}", earlier, earlier + (days - 1) * DAY, people=was)
    site.visits = [visit for visit in site.visits if visit.day >= data] + [Visit(data, 999, "human", "/")]

    async def answer() -> str:
        office = Office(await new_store())
        office.docs.site = site
        await office.visitors(f"{first}..{end - DAY}")
        await office.reading(30)
        [said] = office.answers()
        await office.close()
        return said

    said = asyncio.run(answer())
    inside = [visit for visit in site.visits if earlier <= visit.day < earlier + days * DAY]
    before, after = dict(Site.rows(inside)), dict(Site.rows([v for v in site.visits if first <= v.day < end]))
    counts = {path: (_total(after, path), _total(before, path)) for path in {*before, *after}}
    moved = {path: now - was for path, (now, was) in counts.items() if (now - was) ** 2 > 9 * (now + was)}
    is_fair = begins <= 0 and bool(inside)
    told = {path for path in after if re.search(rf"`{path}` \*[0-9]+ visitors?\* \(", said)}
    assert told == ({*moved} & {*after} if is_fair else set())


def _total(rows: dict[str, Counts], path: str) -> int:
    return rows[path].total if path in rows else 0
