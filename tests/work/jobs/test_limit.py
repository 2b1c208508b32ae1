"""The shared limit: who goes first, what people see while they wait, and the service's own word."""

from __future__ import annotations

import re
from datetime import timedelta

import httpx
import pytest

from bot.model.ids import ChannelId, UserId
from bot.model.jobs import JobState
from tests.builders import ANA, BEN, NOW
from tests.work.office import Office

CHIKA = UserId("U0CHIKA")


async def say_all(office: Office, *asked: tuple[UserId, str]) -> None:
    """Several people ask, and the rounds see to it."""
    for user, text in asked:
        await office.ask(text, user=user)
    await office.settle()


async def test_nobodys_second_goes_before_anothers_first(office: Office) -> None:
    office.limit(1)
    await say_all(office, (CHIKA, "in between"))
    await say_all(office, (ANA, "a1"), (ANA, "a2"), (ANA, "a3"), (BEN, "b1"))
    for _ in range(4):
        await office.pass_time(3602)
    assert office.sent() == ["in between", "a1", "b1", "a2", "a3"]


async def test_each_sees_the_time_that_comes_true(office: Office) -> None:
    office.limit(2)
    await say_all(office, (CHIKA, "one"))
    office.clock.pass_seconds(600)
    await say_all(office, (CHIKA, "two"))
    await say_all(office, (ANA, "three"), (BEN, "four"))
    jobs = [await office.job(number) for number in (3, 4)]
    promised = [job.queue_until for job in jobs]
    assert all(promised)
    for number, until in zip((3, 4), promised, strict=True):
        assert until is not None
        office.clock.at = until - timedelta(seconds=3)
        await office.settle(1)
        assert (await office.job(number)).state is JobState.WAITING
        await office.settle(4)
        assert (await office.job(number)).state is JobState.WORKING


async def test_who_waits_behind_a_withdrawn_prompt_moves_up(office: Office) -> None:
    office.limit(1)
    await say_all(office, (CHIKA, "one"), (ANA, "two"), (BEN, "three"))
    before = await office.job(3)
    await office.press("withdraw", "2", user=ANA)
    await office.settle()
    after = await office.job(3)
    assert before.queue_until
    assert after.queue_until
    assert after.queue_until < before.queue_until


async def test_a_follow_up_that_waits_can_be_withdrawn_and_the_job_stands(office: Office) -> None:
    office.limit(1)
    await say_all(office, (ANA, "one"))
    await office.replied("Write more", user=BEN)
    assert "A follow-up starts at about <!date^" in office.root_text()
    assert "Withdraw follow-up" in str(office.slack.edits[office.slack.root().ts][-1].blocks)
    await office.press("withdraw", "1", user=BEN)
    await office.settle()
    assert "waits" not in office.root_text()
    assert f"“Write more”) wasn't sent. It was withdrawn by <@{BEN}>." in office.said()[-1]
    await office.pass_time(3602)
    assert office.sent() == ["one"]
    assert (await office.job()).state is JobState.WORKING


async def test_of_several_follow_ups_the_pressers_own_is_withdrawn(office: Office) -> None:
    office.limit(1)
    await say_all(office, (ANA, "one"))
    await office.reply("Write of ana", user=ANA)
    await office.replied("Write of ben", user=BEN)
    await office.press("withdraw", "1", user=BEN)
    await office.settle()
    assert "“Write of ben”" in office.said()[-1]
    await office.pass_time(3602)
    assert office.sent() == ["one", "Write of ana"]


async def test_a_429_without_a_time_waits_for_our_own_oldest_use_but_not_for_ever(office: Office) -> None:
    office.docs.answer_instead("create", httpx.Response(429))
    await office.ask("one")
    await office.settle(3)
    assert office.sent() == []
    await office.pass_time(61)
    assert office.sent() == ["one"]


@pytest.mark.parametrize("used", [0, 1, 7])
async def test_limits_are_told_as_our_rows_count_them(office: Office, used: int) -> None:
    for number in range(used):
        user = UserId(f"U{number}") if number else ANA
        await office.ask(f"p{number}", user=user, channel=ChannelId(f"C{number}"))
    await office.settle(10)
    assert len(office.sent()) == used
    said = await office.told("/docs-agent", "limits")
    mine = f" (1 of the {used} spent is yours)" if used else ""
    assert said.startswith(f"*{100 - used} of 100 left this hour*{mine}. Visitors: 100 of 100 reads left.")


async def test_limits_say_how_many_wait_and_until_when_the_service_wants_no_more(office: Office) -> None:
    office.docs.answer_instead("create", httpx.Response(429, headers={"Retry-After": "600"}))
    await say_all(office, (ANA, "one"), (BEN, "two"))
    answer = await office.told("/docs-agent", "LIMITS")
    assert "*0 of 100 left this hour*; the next frees at" in answer
    assert "2 prompts wait" in answer


async def test_the_root_says_how_many_uses_are_left_when_few_are(office: Office) -> None:
    office.limit(5)
    await say_all(office, (ANA, "one"))
    assert "uses of this hour left" not in office.root_text()
    for number in range(3):
        await say_all(office, (ANA, f"more {number}"))
    root = [post for post in office.slack.posts if post.thread is None][3]
    frees_at = int((NOW + timedelta(hours=1)).timestamp())
    said = office.slack.edits[root.ts][-1].text
    assert re.search(r"1 use of this hour left, the next frees at <!date\^(\d+)\^{time}\|", said)
    assert abs(int(re.findall(r"date\^(\d+)", said)[-1]) - frees_at) < 60


def by(office: Office, prefix: str) -> int:
    """How many of the prompts that reached the service begin so."""
    return sum(text.startswith(prefix) for text in office.sent())


async def ask_often(office: Office, user: UserId, prefix: str, count: int) -> None:
    """Somebody asks, each time when their prompt before has been handled."""
    for number in range(count):
        await office.ask(f"{prefix}{number}", user=user)
        await office.settle(1)
    await office.settle(10)


async def test_where_somebody_else_asks_one_person_gets_half_of_the_hour(office: Office) -> None:
    office.limit(12)
    await say_all(office, (BEN, "before"))
    await ask_often(office, ANA, "a", 9)
    assert by(office, "a") == 6
    await ask_often(office, BEN, "b", 5)
    assert by(office, "b") == 6
    root = [post for post in office.slack.posts if post.thread is None][7]
    shown = office.slack.edits[root.ts][-1]
    assert "whoever asked has had their share of the hourly limit. It goes out at about <!date^" in shown.text
    assert "Withdraw" in str(shown.blocks)


async def test_a_share_grows_when_nobody_else_has_asked_for_an_hour(office: Office) -> None:
    office.limit(10)
    await say_all(office, (BEN, "b"))
    office.clock.pass_seconds(1_800)
    await ask_often(office, ANA, "a", 9)
    assert by(office, "a") == 5
    await office.pass_time(1_802)
    assert by(office, "a") == 8


async def test_the_root_says_the_time_and_lets_it_be_withdrawn(office: Office) -> None:
    office.limit(1)
    await say_all(office, (ANA, "one"), (ANA, "two"))
    root = [post for post in office.slack.posts if post.thread is None][1]
    shown = office.slack.edits[root.ts][-1]
    assert "It starts at about <!date^" in shown.text
    assert "Withdraw" in str(shown.blocks)
    answer = await office.press("withdraw", "2")
    assert answer.message is None
    await office.settle()
    assert f"*Withdrawn* by <@{ANA}> · Job 2" in office.slack.edits[root.ts][-1].text
    await office.pass_time(3602)
    assert office.sent() == ["one"]
    assert (await office.job(2)).state is JobState.WITHDRAWN


async def test_waiting_survives_a_restart(office: Office) -> None:
    office.limit(1)
    await say_all(office, (ANA, "one"), (ANA, "two"), (BEN, "three"))
    office.restart()
    await office.pass_time(3602)
    office.restart()
    await office.pass_time(3602)
    assert office.sent() == ["one", "three", "two"]
