"""A question reads what its third of the hour's calls allows, and says what it leaves out."""

from __future__ import annotations

import pytest

from tests.work.asking import DAY, FIRST, LAST, START
from tests.work.office import Office


async def asked(office: Office, pages: int, text: str = "") -> str:
    """Ana asks about a site of so many pages, ten to a call, with 60 calls an hour: 20 for her question."""
    office.docs.site.fill(pages, START, LAST)
    office.budget(60, page_size=10)
    await office.visitors(text)
    await office.reading(60, step_seconds=0.1)
    return office.answers()[-1]


async def test_what_the_share_allows_is_read_whole_and_compared(office: Office) -> None:
    said = await asked(office, 60)
    assert " · 60 pages" in said
    assert "compared with" in said
    assert "calls were left" not in said


@pytest.mark.parametrize("pages", [80, 130])
async def test_beyond_the_share_the_comparison_goes_first(office: Office, pages: int) -> None:
    said = await asked(office, pages)
    assert f" · {pages} pages" in said
    left_out = "I don't know which pages are new or gone" if pages == 80 else "wasn't read, because no calls"
    assert left_out in said
    assert len(office.docs.site.calls) == 20


async def test_then_the_ranking_goes_and_the_chart_stays(office: Office) -> None:
    said = await asked(office, 400)
    assert (
        "Only the first 130 pages that the service names were read, then no calls were left for more or for "
        "the period before. The ranking covers those alone. Ask again, and I'll go on where I stopped."
    ) in said
    assert "Unique visitors by day: " in said
    assert len(office.docs.site.calls) == 20
    assert len(office.answers()) == 1


async def test_asking_again_goes_on_with_another_third(office: Office) -> None:
    await asked(office, 300)
    await office.visitors()
    await office.reading(60, step_seconds=0.1)
    assert " · 300 pages" in office.answers()[-1]
    assert [call[3] for call in office.docs.site.calls if call[:2] == (FIRST, LAST + DAY)] == [
        *range(0, 300, 10)
    ]
    assert len(office.docs.site.calls) == 40


async def test_two_who_ask_the_same_share_what_is_read_for_both(office: Office) -> None:
    office.docs.site.fill(400, START, LAST)
    office.budget(60, page_size=10)
    for _ in range(2):
        await office.visitors()
    await office.reading(60, step_seconds=0.1)
    assert ["Only the first 130 pages" in each for each in office.answers()] == [True, True]
    assert len(office.docs.site.calls) == 20
