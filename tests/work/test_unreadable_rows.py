"""A row with a value of a newer version, or a zone that the machine does not know, stops no other row."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import func, select, update
from structlog.testing import capture_logs

from bot.ids import ChannelId
from bot.jobs.store.tables import jobs, prompts
from bot.outbox.store import deliveries
from bot.store.schema import AnyTable
from bot.visitors.tables import questions, snapshots, subscriptions
from tests.builders import BEN, execute
from tests.work.asking import DAY, FIRST, LAST
from tests.work.drains import prepare_prompts
from tests.work.office import Office
from tests.work.weekly import digests, until

OTHER = ChannelId("C0OTHER")


async def spoil(office: Office, table: AnyTable, **values: Any) -> None:
    """Write into the oldest row what this version cannot read."""
    key = next(iter(table.primary_key.columns))
    await execute(
        office.store, update(table).where(key == select(func.min(key)).scalar_subquery()).values(values)
    )


async def two_ask(office: Office) -> None:
    await office.ask("One")
    await office.ask("Two", user=BEN, channel=OTHER)


async def test_a_prompt_of_a_newer_version_stops_no_other_prompt(office: Office) -> None:
    await two_ask(office)
    await spoil(office, prompts, kind="newer")
    await office.settle()
    assert [text for _, text in office.docs.prompts] == ["Two"]


async def test_a_delivery_of_a_newer_version_stops_no_other_delivery(office: Office) -> None:
    await two_ask(office)
    await prepare_prompts(office.context)
    await spoil(office, deliveries, message={"newer": 1})
    await office.settle()
    assert [text for _, text in office.docs.prompts] == ["Two"]


async def test_a_job_of_a_newer_version_stops_no_other_poll_and_no_list(office: Office) -> None:
    await two_ask(office)
    await office.settle()
    await spoil(office, jobs, state="newer")
    office.docs.finish()
    await office.settle(60)
    [said] = office.said()
    assert "*Two* is done" in said
    listed = (await office.types("/docs-agent", "jobs", user=BEN, channel=OTHER)).message
    assert listed is not None
    assert "Two" in listed.text


async def test_it_is_tried_again_after_its_lease_and_logged(office: Office) -> None:
    one = update(prompts).where(prompts.c.raw == "One")
    with capture_logs() as logged:
        await two_ask(office)
        await execute(office.store, one.values(id=4_711, kind="newer"))
        await office.settle()
        await execute(office.store, one.values(kind="start"))
        await office.settle()
        assert [text for _, text in office.docs.prompts] == ["Two"], "nobody tries it before"
        await office.pass_time(100)
    assert [text for _, text in office.docs.prompts] == ["Two", "One"]
    rows = {(line["table"], line["row"]) for line in logged if line["event"] == "row_not_readable"}
    assert rows == {("prompts", 4_711)}


@pytest.mark.parametrize("table", [questions, snapshots])
async def test_a_question_of_a_newer_version_stops_no_other_answer(office: Office, table: AnyTable) -> None:
    office.docs.site.fill(5, FIRST, LAST)
    await office.visitors(f"{FIRST} compare none")
    await office.visitors(f"{LAST} compare none")
    spoilt: dict[str, Any] = {"query": {}} if table is questions else {"end": FIRST}
    await spoil(office, table, **spoilt)
    for _ in range(10):
        try:
            await office.reading(1)
        except ValueError:
            assert table is snapshots, "whoever needs that very row fails alone"
    [answer] = office.answers()
    assert "1 Nov 2026" in answer


@pytest.mark.parametrize("rows", [1, 25])
async def test_a_zone_that_the_machine_does_not_know_stops_no_other_digest(office: Office, rows: int) -> None:
    for row in range(rows):
        await office.visitors(f"subscribe monday 08:30 UTC path /{row}")
    await office.reading(10 + 2 * rows)
    await execute(office.store, update(subscriptions).values(zone="Europe/Newborg"))
    await office.visitors("subscribe monday 09:00 UTC")
    await office.reading(10)
    office.docs.site.fill(5, FIRST + 7 * DAY, LAST + 7 * DAY)
    await until(office, datetime(2026, 11, 9, 9, 0, tzinfo=UTC))
    assert len(digests(office)) == 1
    assert "All together" in digests(office)[0] or "visitors" in digests(office)[0]
