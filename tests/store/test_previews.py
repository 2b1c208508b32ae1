"""How many builds begin in a minute with one key, on both databases and in several processes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
from sqlalchemy import insert, update

from bot.model.ids import ProjectId
from bot.model.previews import PreviewState
from bot.store import Store, Transaction
from bot.store.previews import PreviewLimits
from bot.store.schema import previews
from tests.builders import ANA, NOW, PROJECT, add_job, execute
from tests.pause import Pause
from tests.work.drains import make_previews
from tests.work.office import Office
from tests.work.sites import ACME, BETA, Sites, open_sites

BRANCH = "agent/one"


@pytest.fixture
async def office(store: Store) -> AsyncIterator[Office]:
    office = Office(store)
    office.docs.branch = BRANCH
    yield office
    await office.context.docs.aclose()


async def ask(office: Office, count: int, project: ProjectId = PROJECT, **values: object) -> None:
    """Ask for the previews of so many jobs."""
    state = {
        "state": PreviewState.ASKED,
        "asked_at": NOW,
        "due_at": NOW,
        "iteration": 1,
        "branch": BRANCH,
    }
    for _ in range(count):
        job = await add_job(office.store, project=project)
        row = {"job": job, "project": project, "requester": ANA, **state, **values}
        await execute(office.store, insert(previews).values(row))


async def begun(office: Office, seconds: float = 0) -> int:
    """Let time pass, make what is due, and return how many builds of the office's own project have begun."""
    office.clock.pass_seconds(seconds)
    while await office.works(make_previews):
        pass
    return office.docs.calls.count("preview")


async def test_room_comes_a_minute_after_the_fifth_newest(office: Office) -> None:
    await ask(office, 3)
    assert await begun(office) == 3
    await ask(office, 4)
    assert [await begun(office, seconds) for seconds in (20, 39, 1)] == [5, 5, 7]


async def test_a_preview_is_asked_for_once_in_a_minute_since_its_row_has_the_last_call_only(
    office: Office,
) -> None:
    await ask(office, 1)
    assert await begun(office) == 1
    await execute(office.store, update(previews).values(state=PreviewState.ASKED, due_at=NOW, asks=0))
    assert [await begun(office, seconds) for seconds in (59, 1)] == [1, 2]


async def _each(sites: Sites) -> tuple[int, int]:
    return await begun(sites.office), sites.beta.calls.count("preview")


async def test_projects_with_one_key_share_its_minute_and_others_do_not(office: Office) -> None:
    sites = await open_sites(office)
    sites.beta.branch = BRANCH
    for project in (ACME.id, BETA.id):
        await ask(office, 6, project)
    assert await _each(sites) == (5, 5)
    await sites.serve(ACME, replace(BETA, counted_with=ACME.id))
    office.clock.pass_seconds(60)
    await ask(office, 6, BETA.id)
    one, other = await _each(sites)
    assert one + other == 10 + 5


async def test_of_several_processes_one_counts_at_a_time(office: Office, another: Store) -> None:
    pause = Pause()
    await ask(office, 5, due_at=None)
    await ask(office, 1)

    def begin_five(tx: Transaction) -> None:
        PreviewLimits(tx).lock(PROJECT)
        pause()
        tx.connection.execute(update(previews).where(previews.c.due_at.is_(None)).values(called_at=NOW))

    beginning = asyncio.create_task(another.write(begin_five))
    await pause.reached()
    making = asyncio.create_task(make_previews(office.context))
    await asyncio.sleep(0.2)
    pause.end()
    await beginning
    await making
    assert "preview" not in office.docs.calls
    assert await begun(office, 60) == 1
