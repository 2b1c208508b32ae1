"""Generated visits look like those of a real site and are the same every time."""

from __future__ import annotations

from collections import defaultdict
from datetime import date, timedelta

import pytest

from sandbox.docs_service.visits import Site, Visit, paths

MONDAY = date(2026, 10, 5)
TODAY = date(2026, 10, 14)


def week(site: Site, monday: date = MONDAY) -> list[Visit]:
    return [visit for each in range(7) for visit in site.visits_of(monday + timedelta(days=each))]


def readers_by_page(made: list[Visit], kind: str = "") -> dict[int, int]:
    readers: defaultdict[int, set[int]] = defaultdict(set)
    for visit in made:
        if kind in ("", visit.kind):
            readers[visit.page].add(visit.visitor)
    return {page: len(who) for page, who in readers.items()}


def test_the_same_seed_gives_the_same_visits_and_another_one_others() -> None:
    assert week(Site("acme-docs", 7, 300)) == week(Site("acme-docs", 7, 300))
    assert week(Site("acme-docs", 7, 300)) != week(Site("acme-docs", 8, 300))
    assert week(Site("acme-docs", 7, 300)) != week(Site("other-docs", 7, 300))


@pytest.mark.parametrize("weeks", range(4))
def test_each_week_a_page_begins_another_vanishes_and_some_rise_and_fall(weeks: int) -> None:
    site = Site("acme-docs", 7, 300)
    monday = MONDAY + timedelta(weeks=weeks)
    before, after = (
        readers_by_page(week(site, monday - timedelta(weeks=1))),
        readers_by_page(week(site, monday)),
    )
    assert any(after.get(page, 0) == 0 for page in before if before[page] >= 3)
    assert any(before.get(page, 0) == 0 for page in after if after[page] >= 3)
    assert any(before.get(page, 0) >= 8 and after[page] > 1.4 * before[page] for page in after)
    assert any(
        after.get(page, 0) and after[page] < 0.7 * before[page] for page in before if before[page] >= 8
    )


@pytest.mark.parametrize("count", [1, 12, 21, 300, 100_000])
def test_each_page_has_its_own_path(count: int) -> None:
    made = paths(count)
    assert len(made) == len(set(made)) == count
    assert all(path.startswith("/") for path in made)
