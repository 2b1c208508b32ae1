"""A stop in the middle of a reading: the part is kept, and the answer comes soon after the start."""

from __future__ import annotations

from datetime import date
from typing import Any

from tests.site import Visit
from tests.talk import Talk
from tests.work.readers import DAY, FIRST

PAGES = 5_000
CALL_THAT_HANGS = 10


async def test_reading_goes_on_after_a_stop_where_it_was(talk: Talk) -> None:
    site = talk.service.site
    site.visits = [
        Visit(FIRST + (number % 7) * DAY, number % 400, "human", f"/page-{number}")
        for number in range(PAGES)
    ]
    answer = site.answer

    def answer_or_hang(first: date, end: date, limit: int, offset: int) -> dict[str, Any]:
        if len(site.calls) == CALL_THAT_HANGS - 1:
            talk.service.hangs("visitors")
        return answer(first, end, limit, offset)

    site.answer = answer_or_hang  # type: ignore[method-assign]
    await talk.ana.types("/docs-visitors compare none")
    await talk.time.passes(5)
    talk.ana.reads()
    await talk.process.stops()
    await talk.process.starts()
    await talk.time.passes(10)
    [shown] = talk.ana.reads()
    assert f"{PAGES:,} pages" in shown
    assert len(site.calls) == len(set(site.calls)), "nothing is read twice"
