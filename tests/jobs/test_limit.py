"""The shared limit: the order of prompts, their status while they wait, and the service's 429."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest

from tests.talk import Talk
from tests.talk_people import Person, Shown

HOUR = 3_602


async def ask_all(talk: Talk, *asked: tuple[Person, str]) -> None:
    """Let several people ask."""
    for person, text in asked:
        await person.asks(f"Add {text}")
    await talk.time.passes(5)


def got(talk: Talk) -> list[str]:
    """Return the agent's prompts without "Add"."""
    return [prompt.removeprefix("Add ") for prompt in talk.agent_got()]


def promised(message: Shown) -> datetime:
    """Return the last time in a message."""
    return datetime.fromtimestamp(int(re.findall(r"<!date\^(\d+)", message)[-1]), UTC)


async def test_nobodys_second_goes_before_anothers_first(talk: Talk) -> None:
    await talk.process.starts(uses_an_hour=1)
    await ask_all(talk, (talk.chika, "in between"))
    await ask_all(talk, (talk.ana, "a1"), (talk.ana, "a2"), (talk.ana, "a3"), (talk.ben, "b1"))
    await talk.time.passes(4 * HOUR)
    assert got(talk) == ["in between", "a1", "b1", "a2", "a3"]
    talk.everything()


async def test_status_has_the_time_of_the_next_free_use(talk: Talk) -> None:
    await talk.process.starts(uses_an_hour=2)
    began_at = talk.time.at
    await ask_all(talk, (talk.chika, "keys"))
    await talk.time.passes(600)
    await ask_all(talk, (talk.chika, "two"))
    await ask_all(talk, (talk.ana, "three"), (talk.ben, "four"))
    for number in (3, 4):
        assert "It starts at <!date^" in talk.job(number)
        assert abs(promised(talk.job(number)) - began_at - timedelta(hours=1)) < timedelta(
            minutes=1
        )
        assert "at the earliest: the hourly limit is used up" in talk.job(number)
    until = promised(talk.job(3)) - timedelta(seconds=3)
    await talk.time.passes((until - talk.time.at).total_seconds())
    assert len(talk.agent_got()) == 2
    await talk.time.passes(70)
    assert got(talk)[2:] == ["three"]
    assert abs(promised(talk.job(4)) - began_at - timedelta(seconds=4_200)) < timedelta(minutes=1)
    await talk.time.passes(700)
    assert got(talk)[3:] == ["four"]
    talk.everything()


async def test_prompt_behind_a_withdrawn_one_moves_up(talk: Talk) -> None:
    await talk.process.starts(uses_an_hour=1)
    await ask_all(talk, (talk.chika, "keys"), (talk.ana, "two"), (talk.ben, "three"))
    assert "It starts at <!date^" in talk.job(2)
    assert promised(talk.job(3)) == promised(talk.job(2))
    assert "the hourly limit is used up" in await talk.ben.answer_to("/docs-agent status 3")
    await talk.ana.presses("Withdraw", on=talk.job(2))
    assert talk.ana.reads() == []
    await talk.time.passes(5)
    assert f"*Withdrawn* by <@{talk.ana.id}> · Job 2" in talk.job(2)
    assert "It starts at <!date^" in talk.job(3)
    await talk.time.passes(HOUR)
    assert got(talk) == ["keys", "three"]
    talk.everything()


async def test_pending_follow_up_can_be_withdrawn(talk: Talk) -> None:
    await talk.process.starts(uses_an_hour=1)
    await ask_all(talk, (talk.ana, "keys"))
    await talk.ben.replies("Write more")
    await talk.time.passes(20)
    assert "A follow-up starts at <!date^" in talk.job(1)
    await talk.ben.presses("Withdraw follow-up")
    await talk.time.passes(5)
    assert "waits" not in talk.job(1)
    assert f"“Write more”) wasn't sent. It was withdrawn by <@{talk.ben.id}>." in talk.replies()[-1]
    await talk.time.passes(HOUR)
    assert got(talk) == ["keys"]
    assert "Working on it" in talk.job(1)
    talk.everything()


async def test_of_several_follow_ups_the_pressers_own_is_withdrawn(talk: Talk) -> None:
    await talk.process.starts(uses_an_hour=1)
    await ask_all(talk, (talk.ana, "keys"))
    await talk.ana.replies("Write about ana")
    await talk.ben.replies("Write about ben")
    await talk.time.passes(20)
    await talk.ben.presses("Withdraw follow-up")
    await talk.time.passes(5)
    assert "“Write about ben”" in talk.replies()[-1]
    await talk.time.passes(HOUR)
    assert got(talk) == ["keys", "Write about ana"]
    talk.everything()


async def test_429_without_a_time_is_a_short_wait(talk: Talk) -> None:
    talk.service.says("create", 429)
    await talk.ana.asks("Add keys")
    await talk.time.passes(3)
    assert got(talk) == []
    await talk.time.passes(61)
    assert got(talk) == ["keys"]
    talk.job(1)


@pytest.mark.parametrize("used", [0, 1, 7])
async def test_limits_have_the_bots_own_count(talk: Talk, used: int) -> None:
    for number in range(used):
        person = talk.newcomer(f"P{number}") if number else talk.ana
        await person.asks(f"Add page {number}")
    await talk.time.passes(20)
    assert len(talk.agent_got()) == len(talk.channel()) == used
    limits = await talk.ana.answer_to("/docs-agent limits")
    mine = " (you used 1)" if used else ""
    assert limits.startswith(
        f"*{100 - used} of 100 jobs and follow-ups left this hour*{mine}. Visitors: 100 of 100 reads left."
    )


async def test_limits_have_the_pending_prompts_and_the_services_wait(talk: Talk) -> None:
    talk.service.says("create", 429, seconds=600)
    await ask_all(talk, (talk.ana, "keys"), (talk.ben, "two"))
    limits = await talk.ana.answer_to("/docs-agent LIMITS")
    assert "*0 of 100 jobs and follow-ups left this hour*; the next frees at" in limits
    assert "2 prompts wait" in limits
    talk.channel()


async def test_status_shows_the_last_uses_left(talk: Talk) -> None:
    await talk.process.starts(uses_an_hour=5)
    began_at = talk.time.at
    await ask_all(talk, (talk.ana, "keys"))
    assert "uses of this hour left" not in talk.job(1)
    for number in range(3):
        await ask_all(talk, (talk.ana, f"more {number}"))
    assert "1 use of this hour left, the next frees at <!date^" in talk.job(4)
    assert abs(promised(talk.job(4)) - began_at - timedelta(hours=1)) < timedelta(minutes=1)
    talk.channel()


def by(talk: Talk, prefix: str) -> int:
    """Count the agent's prompts with a prefix."""
    return sum(prompt.startswith(prefix) for prompt in got(talk))


async def ask_often(talk: Talk, person: Person, prefix: str, count: int) -> None:
    """Let somebody ask again whenever the prompt before is handled."""
    for number in range(count):
        await person.asks(f"Add {prefix}{number}")
        await talk.time.passes(1)
    await talk.time.passes(10)


async def test_two_people_get_half_of_the_uses_each(talk: Talk) -> None:
    await talk.process.starts(uses_an_hour=12)
    await ask_all(talk, (talk.ben, "before"))
    await ask_often(talk, talk.ana, "a", 9)
    assert by(talk, "a") == 6
    await ask_often(talk, talk.ben, "b", 5)
    assert by(talk, "b") == 6
    eighth = talk.job(8)
    assert "It starts at <!date^" in eighth
    assert "Withdraw" in eighth.buttons
    talk.channel()


async def test_share_grows_after_an_hour_without_others(talk: Talk) -> None:
    await talk.process.starts(uses_an_hour=10)
    await ask_all(talk, (talk.ben, "b"))
    await talk.time.passes(1_800)
    await ask_often(talk, talk.ana, "a", 9)
    assert by(talk, "a") == 5
    await talk.time.passes(1_802)
    await talk.time.passes(20)
    assert by(talk, "a") == 8
    talk.everything()


async def test_waiting_survives_a_restart(talk: Talk) -> None:
    await talk.process.starts(uses_an_hour=1)
    await ask_all(talk, (talk.ana, "keys"), (talk.ana, "two"), (talk.ben, "three"))
    for _ in range(2):
        talk.process.dies()
        await talk.process.starts()
        await talk.time.passes(HOUR)
    assert got(talk) == ["keys", "three", "two"]
    talk.everything()


async def test_a_follow_up_takes_one_use_as_a_job_does(talk: Talk) -> None:
    await talk.process.starts(uses_an_hour=3)
    await talk.started("Add a page on hooks")
    await talk.ana.replies("make it shorter")
    await talk.time.passes()
    await talk.started("Add two pages")
    assert talk.agent_got() == ["Add a page on hooks", "make it shorter", "Add two pages"]
    await talk.started("Add three pages")
    assert talk.agent_got() == ["Add a page on hooks", "make it shorter", "Add two pages"]
    assert "starts at" in talk.status(3)
    talk.everything()
