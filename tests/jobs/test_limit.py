"""The shared limit: who goes first, what people see while they wait, and the service's own word."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest

from tests.talk import Talk
from tests.talk_people import Person, Shown

HOUR = 3_602


async def ask_all(talk: Talk, *asked: tuple[Person, str]) -> None:
    """Several people ask, and the bot sees to it."""
    for person, text in asked:
        await person.asks(f"Add {text}")
    await talk.time.passes(5)


def got(talk: Talk) -> list[str]:
    """Return what the agent was asked to add, in order."""
    return [prompt.removeprefix("Add ") for prompt in talk.agent_got()]


def promised(shown: Shown) -> datetime:
    """Return the last time that a message names."""
    return datetime.fromtimestamp(int(re.findall(r"<!date\^(\d+)", shown)[-1]), UTC)


async def test_nobodys_second_goes_before_anothers_first(talk: Talk) -> None:
    await talk.process.starts(uses_an_hour=1)
    await ask_all(talk, (talk.chika, "in between"))
    await ask_all(talk, (talk.ana, "a1"), (talk.ana, "a2"), (talk.ana, "a3"), (talk.ben, "b1"))
    await talk.time.passes(4 * HOUR)
    assert got(talk) == ["in between", "a1", "b1", "a2", "a3"]
    talk.everything()


async def test_each_sees_when_the_next_use_frees_and_how_many_go_before(talk: Talk) -> None:
    await talk.process.starts(uses_an_hour=2)
    began_at = talk.time.at
    await ask_all(talk, (talk.chika, "one"))
    await talk.time.passes(600)
    await ask_all(talk, (talk.chika, "two"))
    await ask_all(talk, (talk.ana, "three"), (talk.ben, "four"))
    for number in (3, 4):
        assert "It starts at <!date^" in talk.job(number)
        assert abs(promised(talk.job(number)) - began_at - timedelta(hours=1)) < timedelta(minutes=1)
        assert "at the earliest: the hourly limit is used up" in talk.job(number)
    assert "before it" not in talk.job(3)
    assert "used up, 1 before it" in talk.job(4)
    until = promised(talk.job(3)) - timedelta(seconds=3)
    await talk.time.passes((until - talk.time.at).total_seconds())
    assert len(talk.agent_got()) == 2
    await talk.time.passes(70)
    assert got(talk)[2:] == ["three"]
    assert "before it" not in talk.job(4)
    assert abs(promised(talk.job(4)) - began_at - timedelta(seconds=4_200)) < timedelta(minutes=1)
    await talk.time.passes(700)
    assert got(talk)[3:] == ["four"]
    talk.everything()


async def test_who_waits_behind_a_withdrawn_prompt_moves_up(talk: Talk) -> None:
    await talk.process.starts(uses_an_hour=1)
    await ask_all(talk, (talk.chika, "one"), (talk.ana, "two"), (talk.ben, "three"))
    assert "1 before it" in talk.job(3)
    assert "1 before it" in await talk.ben.answer_to("/docs-agent status 3")
    await talk.ana.presses("Withdraw", on=talk.job(2))
    await talk.time.passes(5)
    assert "before it" not in talk.job(3)
    talk.everything()


async def test_a_follow_up_that_waits_can_be_withdrawn_and_the_job_stands(talk: Talk) -> None:
    await talk.process.starts(uses_an_hour=1)
    await ask_all(talk, (talk.ana, "one"))
    await talk.ben.replies("Write more")
    await talk.time.passes(20)
    assert "A follow-up starts at <!date^" in talk.job(1)
    await talk.ben.presses("Withdraw follow-up")
    await talk.time.passes(5)
    assert "waits" not in talk.job(1)
    assert f"“Write more”) wasn't sent. It was withdrawn by <@{talk.ben.id}>." in talk.replies()[-1]
    await talk.time.passes(HOUR)
    assert got(talk) == ["one"]
    assert "Working on it" in talk.job(1)
    talk.everything()


async def test_of_several_follow_ups_the_pressers_own_is_withdrawn(talk: Talk) -> None:
    await talk.process.starts(uses_an_hour=1)
    await ask_all(talk, (talk.ana, "one"))
    await talk.ana.replies("Write of ana")
    await talk.ben.replies("Write of ben")
    await talk.time.passes(20)
    await talk.ben.presses("Withdraw follow-up")
    await talk.time.passes(5)
    assert "“Write of ben”" in talk.replies()[-1]
    await talk.time.passes(HOUR)
    assert got(talk) == ["one", "Write of ana"]
    talk.everything()


async def test_a_429_without_a_time_waits_for_our_own_oldest_use_but_not_for_ever(talk: Talk) -> None:
    talk.service.says("create", 429)
    await talk.ana.asks("Add one")
    await talk.time.passes(3)
    assert got(talk) == []
    await talk.time.passes(61)
    assert got(talk) == ["one"]
    talk.job(1)


@pytest.mark.parametrize("used", [0, 1, 7])
async def test_limits_are_told_as_our_rows_count_them(talk: Talk, used: int) -> None:
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


async def test_limits_say_how_many_wait_and_until_when_the_service_wants_no_more(talk: Talk) -> None:
    talk.service.says("create", 429, seconds=600)
    await ask_all(talk, (talk.ana, "one"), (talk.ben, "two"))
    limits = await talk.ana.answer_to("/docs-agent LIMITS")
    assert "*0 of 100 jobs and follow-ups left this hour*; the next frees at" in limits
    assert "2 prompts wait" in limits
    talk.channel()


async def test_the_status_says_how_many_uses_are_left_when_few_are(talk: Talk) -> None:
    await talk.process.starts(uses_an_hour=5)
    began_at = talk.time.at
    await ask_all(talk, (talk.ana, "one"))
    assert "uses of this hour left" not in talk.job(1)
    for number in range(3):
        await ask_all(talk, (talk.ana, f"more {number}"))
    assert "1 use of this hour left, the next frees at <!date^" in talk.job(4)
    assert abs(promised(talk.job(4)) - began_at - timedelta(hours=1)) < timedelta(minutes=1)
    talk.channel()


def by(talk: Talk, prefix: str) -> int:
    """How many of the prompts that reached the service begin so."""
    return sum(prompt.startswith(prefix) for prompt in got(talk))


async def ask_often(talk: Talk, person: Person, prefix: str, count: int) -> None:
    """Somebody asks, each time when their prompt before has been handled."""
    for number in range(count):
        await person.asks(f"Add {prefix}{number}")
        await talk.time.passes(1)
    await talk.time.passes(10)


async def test_where_somebody_else_asks_one_person_gets_half_of_the_hour(talk: Talk) -> None:
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


async def test_a_share_grows_when_nobody_else_has_asked_for_an_hour(talk: Talk) -> None:
    await talk.process.starts(uses_an_hour=10)
    await ask_all(talk, (talk.ben, "b"))
    await talk.time.passes(1_800)
    await ask_often(talk, talk.ana, "a", 9)
    assert by(talk, "a") == 5
    await talk.time.passes(1_802)
    await talk.time.passes(20)
    assert by(talk, "a") == 8
    talk.everything()


async def test_the_status_says_the_time_and_lets_it_be_withdrawn(talk: Talk) -> None:
    await talk.process.starts(uses_an_hour=1)
    await ask_all(talk, (talk.ana, "one"), (talk.ana, "two"))
    assert "It starts at <!date^" in talk.job(2)
    await talk.ana.presses("Withdraw", on=talk.job(2))
    assert talk.ana.reads() == []
    await talk.time.passes(5)
    assert f"*Withdrawn* by <@{talk.ana.id}> · Job 2" in talk.job(2)
    await talk.time.passes(HOUR)
    assert got(talk) == ["one"]
    talk.everything()


async def test_waiting_survives_a_restart(talk: Talk) -> None:
    await talk.process.starts(uses_an_hour=1)
    await ask_all(talk, (talk.ana, "one"), (talk.ana, "two"), (talk.ben, "three"))
    for _ in range(2):
        talk.process.dies()
        await talk.process.starts()
        await talk.time.passes(HOUR)
    assert got(talk) == ["one", "three", "two"]
    talk.everything()


async def test_a_follow_up_takes_one_use_as_a_job_does(talk: Talk) -> None:
    await talk.process.starts(uses_an_hour=3)
    await talk.started("Add one page")
    await talk.ana.replies("make it shorter")
    await talk.time.passes()
    await talk.started("Add two pages")
    assert talk.agent_got() == ["Add one page", "make it shorter", "Add two pages"]
    await talk.started("Add three pages")
    assert talk.agent_got() == ["Add one page", "make it shorter", "Add two pages"]
    assert "starts at" in talk.status(3)
    talk.everything()
