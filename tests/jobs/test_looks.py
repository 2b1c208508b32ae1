"""Looks at pull requests, and what a conversation cannot show of them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import httpx
import pytest

from bot.jobs.store.retention import forget_job
from tests.fakes import LINK, FakeGithub
from tests.work.office import Office

NOT_FOUND = httpx.Response(404)


@pytest.fixture
async def github(office: Office) -> AsyncIterator[FakeGithub]:
    fake = FakeGithub()
    client = fake.client(office.clock)
    office.context = replace(office.context, github=client)
    yield fake
    await client.aclose()


async def ended(office: Office, **options: str) -> None:
    await office.started(**options)
    await office.ends(pr_link=LINK)


async def looked(office: Office, hours: float = 1 / 6) -> None:
    """Let so much time pass, and look at what is due."""
    office.clock.pass_seconds(hours * 3_600 + 1)
    await office.settle(1.0)


async def test_a_look_that_finds_nothing_new_wakes_nobody(office: Office, github: FakeGithub) -> None:
    await ended(office)
    wakes, calls = office.wakes, len(github.calls)
    await looked(office)
    await looked(office)
    assert (office.wakes, len(github.calls)) == (wakes, calls + 2)


async def test_a_job_that_is_forgotten_is_looked_at_no_more(office: Office, github: FakeGithub) -> None:
    await ended(office)
    job = await office.job()
    await office.store.write(lambda tx: forget_job(tx, job.number))
    calls = len(github.calls)
    await looked(office)
    assert len(github.calls) == calls


async def test_a_job_that_is_forgotten_during_a_look_stays_forgotten(
    office: Office, github: FakeGithub
) -> None:
    await ended(office)
    job, about = await office.job(), github.pull | {"title": "Another", "head": {"ref": "agent/one"}}

    async def forgotten() -> httpx.Response:
        await office.store.write(lambda tx: forget_job(tx, job.number))
        return httpx.Response(200, json=about)

    github.instead.append(forgotten())
    await looked(office)
    assert (await office.job()).is_forgotten
    assert (await office.job()).pull_request is None
    calls = len(github.calls)
    await looked(office, 25)
    assert len(github.calls) == calls
