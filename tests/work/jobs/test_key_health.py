"""A key that the docs service refuses: calls stop, admins hear of it once, and all goes on by itself."""

from __future__ import annotations

from datetime import timedelta

import httpx
import pytest

from bot.model.ids import UserId
from bot.model.jobs import JobState
from tests.builders import ANA, BEN, NOW
from tests.work.office import Office

ADMINS = frozenset({UserId("U0ADA"), UserId("U0BOB")})


def refusals(status: int, count: int) -> list[httpx.Response]:
    """So many times the same no."""
    return [httpx.Response(status, json={"error": "no"}) for _ in range(count)]


def told(office: Office) -> list[tuple[UserId, str]]:
    """What admins were told directly."""
    return [(user, message.text) for user, message, _ in office.slack.direct if user in ADMINS]


@pytest.mark.parametrize(("status", "word"), [(401, "doesn't accept the key"), (403, "doesn't let it")])
async def test_a_refused_key_is_told_to_each_admin_once_and_resumes_by_itself(
    office: Office, status: int, word: str
) -> None:
    office.access_policy(admins=ADMINS)
    office.docs.answer_instead("create", *refusals(status, 4))
    await office.ask("One")
    await office.started("Two", user=BEN)
    for _ in range(8):
        await office.pass_time(600)
    assert sorted(user for user, text in told(office) if word in text) == sorted(ADMINS)
    assert sorted(user for user, text in told(office) if "accepts the key" in text) == sorted(ADMINS)
    assert len(told(office)) == 2 * len(ADMINS)
    assert sorted(text for _, text in office.docs.prompts) == ["One", "Two"]


async def test_the_root_says_that_it_waits_for_the_key(office: Office) -> None:
    office.docs.answer_instead("create", *refusals(401, 1))
    await office.started("One")
    assert "It waits: the docs service refuses the bot's key. I'll try again at" in office.root_text()
    assert "refuses my key" in str((await office.types("/docs-agent", "limits")).message)
    await office.pass_time(90)
    assert (await office.job()).state is JobState.WORKING
    assert "refuses" not in office.root_text()
    assert "refuses my key" not in str((await office.types("/docs-agent", "limits")).message)


async def test_a_good_answer_to_a_poll_lets_waiting_prompts_go_at_once(office: Office) -> None:
    await office.started("One")
    office.docs.answer_instead("create", *refusals(401, 1))
    await office.ask("Two", user=BEN)
    await office.settle(3)
    assert len(office.docs.prompts) == 1
    for _ in range(5):
        await office.pass_time(40)
    assert len(office.docs.prompts) == 2


async def test_a_prompt_waits_a_day_for_the_key_and_is_then_explained(office: Office) -> None:
    office.docs.answer_instead("create", *refusals(401, 500))
    await office.started("One")
    office.clock.at = NOW + timedelta(hours=23)
    await office.settle()
    assert (await office.job()).state is JobState.WAITING
    office.clock.at = NOW + timedelta(hours=25)
    await office.settle()
    assert (await office.job()).state is JobState.REFUSED
    [reply] = office.said()
    assert f"<@{ANA}>" in reply
    assert "limit" not in reply


async def test_a_second_streak_of_refusals_is_told_again(office: Office) -> None:
    office.access_policy(admins=ADMINS)
    for streak in range(2):
        office.docs.answer_instead("create", *refusals(401, 1))
        await office.started(f"p{streak}")
        await office.pass_time(120)
    assert len(told(office)) == 4 * len(ADMINS)


async def test_a_key_that_may_only_read_is_told_once_however_well_polls_go(office: Office) -> None:
    """Looks succeed all the while; only a prompt that is taken shows that the key may write again."""
    office.access_policy(admins=ADMINS)
    await office.started("One")
    office.docs.answer_instead("create", *refusals(403, 90))
    await office.ask("Two", user=BEN)
    for _ in range(6):
        await office.pass_time(600)
    assert len(told(office)) == len(ADMINS)
    office.docs.instead.clear()
    for _ in range(8):
        await office.pass_time(600)
    assert office.sent() == ["One", "Two"]
    assert len(told(office)) == 2 * len(ADMINS)


async def test_a_key_refused_while_reading_visitors_stops_calls_and_is_told(office: Office) -> None:
    office.access_policy(admins=ADMINS)
    office.docs.answer_instead("visitors", *refusals(401, 50))
    await office.visitors("last week compare none")
    await office.reading(10)
    calls = len(office.docs.calls)
    await office.visitors("2026-08-01..2026-08-02 compare none", user=BEN)
    await office.reading(10)
    assert len(office.docs.calls) == calls
    assert sorted({user for user, _ in told(office)}) == sorted(ADMINS)
    assert len(told(office)) == len(ADMINS)
    assert all("key" in answer for answer in office.answers())
    assert len(office.answers()) == 2
    office.docs.instead.clear()
    office.clock.pass_seconds(120)
    await office.visitors("2026-08-03..2026-08-04 compare none", user=BEN)
    await office.reading(10)
    assert len(told(office)) == 2 * len(ADMINS)
