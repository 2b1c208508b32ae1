"""Requests that arrive at the same moment are stored together, and each of them once."""

from __future__ import annotations

import asyncio

from bot.jobs.ask import ask
from bot.jobs.model.prompts import PromptRequest
from bot.jobs.store.jobs import Jobs
from tests.builders import ANA, BEN, let_in, origin
from tests.work.office import Office


async def test_requests_of_one_moment_are_stored_once_each(office: Office) -> None:
    """Each text comes twice with the same key, as Slack delivers again, and twice with another."""
    requests = [
        (let_in(origin(f"k{number}", user)), PromptRequest(f"p{number % 4}"))
        for number, user in enumerate([ANA, BEN] * 8)
    ]
    asked = await asyncio.gather(*(ask(office.context, *each) for each in (*requests, *requests)))
    stored = {each.job for each in asked if not (each.repeated or each.same)}
    assert len(stored) == 4
    assert [each.job for each in asked[16:]] == [each.job for each in asked[:16]]
    jobs = await office.store.read(lambda tx: Jobs(tx).newest(100))
    assert {job.number for job in jobs} == stored
    assert sorted((job.requester, job.text) for job in jobs) == sorted(
        {(allowed.user, request.raw) for allowed, request in requests}
    )


async def test_request_that_cannot_be_stored_stops_no_other(office: Office) -> None:
    bad = origin("bad")
    object.__setattr__(bad, "message_ts", object())  # something that no database takes
    origins = [*(origin(f"k{number}") for number in range(3)), bad]
    asked = (ask(office.context, let_in(each), PromptRequest(each.key)) for each in origins)
    outcomes = await asyncio.gather(*asked, return_exceptions=True)
    assert [isinstance(outcome, Exception) for outcome in outcomes] == [False, False, False, True]
    assert len(await office.store.read(lambda tx: Jobs(tx).newest(100))) == 3
