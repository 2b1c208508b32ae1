"""A 429 while our own count has uses left: the service's time is waited for, not an hour of ours."""

from __future__ import annotations

from datetime import timedelta

import httpx
import pytest

from tests.builders import ANA, BEN
from tests.work.office import Office


@pytest.mark.parametrize("headers", [{"Retry-After": "120"}, {}])
async def test_all_that_wait_go_when_the_services_time_is_over(
    office: Office, headers: dict[str, str]
) -> None:
    await office.ask("one")
    await office.settle(3)
    office.docs.answer_instead("create", httpx.Response(429, headers=headers))
    await office.ask("two", user=ANA)
    await office.settle(3)
    await office.ask("three", user=BEN)
    await office.settle(3)
    assert office.sent() == ["one"]
    told = [(await office.job(number)).queue_until for number in (2, 3)]
    assert all(until and until - office.clock() < timedelta(minutes=16) for until in told)
    await office.pass_time(100)
    assert office.sent() == ["one"]
    await office.pass_time(30 if headers else 15 * 60 - 90)
    await office.settle(3)
    assert sorted(office.sent()) == ["one", "three", "two"]


async def test_beyond_our_own_count_the_uses_are_waited_for_as_well(office: Office) -> None:
    office.limit(2)
    await office.ask("one")
    await office.settle(3)
    office.docs.answer_instead("create", httpx.Response(429, headers={"Retry-After": "120"}))
    await office.ask("two", user=ANA)
    await office.settle(3)
    await office.ask("three", user=BEN)
    await office.settle(3)
    await office.pass_time(130)
    assert len(office.sent()) == 2
    await office.pass_time(3600)
    assert len(office.sent()) == 3
