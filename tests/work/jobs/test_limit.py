"""The shared limit: who goes first, what people see while they wait, and the service's own word."""

from __future__ import annotations

import re
from datetime import timedelta

import httpx
import pytest

from bot.model.ids import ChannelId, UserId
from bot.model.jobs import JobState, QueueWhy
from bot.work.jobs.prepare import prepare_prompts
from bot.work.jobs.submit import submit_prompts
from bot.work.outbox.deliver import deliver_due
from tests.builders import ANA, BEN, NOW
from tests.work.office import Office

CHIKA = UserId("U0CHIKA")


def sent(office: Office) -> list[str]:
    """What reached the service, in order."""
    return [text for _, text in office.docs.prompts]


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
    assert sent(office) == ["in between", "a1", "b1", "a2", "a3"]


async def test_a_follow_up_goes_before_a_new_job_of_an_equal(office: Office) -> None:
    office.limit(1)
    await say_all(office, (CHIKA, "first"))
    await office.ask("new", user=BEN)
    await office.reply("more", user=ANA)
    await office.settle()
    for _ in range(2):
        await office.pass_time(3602)
    assert sent(office) == ["first", "more", "new"]


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


async def test_the_root_says_the_time_and_lets_it_be_withdrawn(office: Office) -> None:
    office.limit(1)
    await say_all(office, (ANA, "one"), (ANA, "two"))
    root = [post for post in office.slack.posts if post.thread is None][1]
    shown = office.slack.edits[root.ts][-1]
    assert "hourly limit. It goes out at about <!date^" in shown.text
    assert "Withdraw" in str(shown.blocks)
    answer = await office.press("withdraw", "2")
    assert answer.message is None
    await office.pass_time(3602)
    assert sent(office) == ["one"]
    assert (await office.job(2)).state is JobState.WITHDRAWN


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
    await office.reply("more", user=BEN)
    await office.settle()
    assert "A follow-up waits for the shared hourly limit. It goes out at about" in office.root_text()
    assert "Withdraw follow-up" in str(office.slack.edits[office.slack.root().ts][-1].blocks)
    await office.press("withdraw", "1", user=BEN)
    await office.settle()
    assert "waits" not in office.root_text()
    assert "“more”) was withdrawn and hasn't been sent" in office.said()[-1]
    await office.pass_time(3602)
    assert sent(office) == ["one"]
    assert (await office.job()).state is JobState.WORKING


async def test_of_several_follow_ups_the_pressers_own_is_withdrawn(office: Office) -> None:
    office.limit(1)
    await say_all(office, (ANA, "one"))
    await office.reply("of ana", user=ANA)
    await office.reply("of ben", user=BEN)
    await office.settle()
    await office.press("withdraw", "1", user=BEN)
    await office.settle()
    assert "“of ben”" in office.said()[-1]
    await office.pass_time(3602)
    assert sent(office) == ["one", "of ana"]


async def test_waiting_survives_a_restart(office: Office) -> None:
    office.limit(1)
    await say_all(office, (ANA, "one"), (ANA, "two"), (BEN, "three"))
    office.restart()
    await office.pass_time(3602)
    office.restart()
    await office.pass_time(3602)
    assert sent(office) == ["one", "three", "two"]


async def test_a_limit_counts_over_all_processes(office: Office) -> None:
    office.limit(3)
    for number in range(6):
        await office.ask(f"p{number}", channel=ChannelId(f"C{number}"))
    await prepare_prompts(office.context)
    await deliver_due(office.context)
    first = office.context
    for _ in range(4):
        await submit_prompts(first)
        office.restart()
        await submit_prompts(office.context)
    assert len(sent(office)) == 3


async def test_a_429_puts_everybody_in_the_queue_and_its_time_is_obeyed(office: Office) -> None:
    office.docs.answer_instead("create", httpx.Response(429, headers={"Retry-After": "120"}))
    await office.ask("one")
    await office.settle(3)
    await office.ask("two", user=BEN)
    await office.settle(3)
    one, two = await office.job(1), await office.job(2)
    assert (one.queue_why, two.queue_why) == (QueueWhy.LIMIT, QueueWhy.LIMIT)
    assert one.queue_until is not None
    assert timedelta(seconds=115) < one.queue_until - NOW < timedelta(seconds=125)
    office.clock.at = NOW + timedelta(seconds=118)
    await office.settle(0.5)
    assert sent(office) == []
    await office.settle(8)
    assert sent(office) == ["one", "two"]


async def test_a_429_without_a_time_waits_for_our_own_oldest_use_but_not_for_ever(office: Office) -> None:
    office.docs.answer_instead("create", httpx.Response(429))
    await office.ask("one")
    await office.settle(3)
    assert sent(office) == []
    await office.pass_time(61)
    assert sent(office) == ["one"]


@pytest.mark.parametrize("used", [0, 1, 37])
async def test_limits_are_told_as_our_rows_count_them(office: Office, used: int) -> None:
    for number in range(used):
        user = UserId(f"U{number}") if number else ANA
        await office.ask(f"p{number}", user=user, channel=ChannelId(f"C{number}"))
    await office.settle(10)
    assert len(sent(office)) == used
    answer = await office.types("/docs-agent", "limits")
    assert answer.message is not None
    said = answer.message.text
    assert f"*{100 - used} of 100 uses left*" in said
    assert ("the next frees at" in said) == (used > 0)
    assert f"{min(used, 1)} were yours" in said or f"{min(used, 1)} was yours" in said
    assert "100 of 100 analytics calls left" in said


async def test_limits_say_how_many_wait_and_until_when_the_service_wants_no_more(office: Office) -> None:
    office.docs.answer_instead("create", httpx.Response(429, headers={"Retry-After": "600"}))
    await say_all(office, (ANA, "one"), (BEN, "two"))
    answer = await office.types("/docs-agent", "LIMITS")
    assert answer.message is not None
    assert "*0 of 100 uses left*, the next frees at" in answer.message.text
    assert "2 prompts wait" in answer.message.text


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
    return sum(text.startswith(prefix) for text in sent(office))


async def ask_often(office: Office, user: UserId, prefix: str, count: int) -> None:
    """Somebody asks, each time when their prompt before has been handled."""
    for number in range(count):
        await office.ask(f"{prefix}{number}", user=user)
        await office.settle(1)
    await office.settle(10)


async def test_the_next_persons_prompt_goes_at_once_however_much_one_has_asked(office: Office) -> None:
    office.limit(12)
    await ask_often(office, ANA, "a", 14)
    assert by(office, "a") == 10
    await say_all(office, (BEN, "b"))
    assert by(office, "b") == 1


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


async def test_what_waits_for_a_share_goes_at_the_time_that_its_face_says(office: Office) -> None:
    office.limit(4)
    await say_all(office, (BEN, "b"))
    for number in range(3):
        office.clock.pass_seconds(300)
        await say_all(office, (ANA, f"a{number}"))
    job = await office.job(4)
    assert job.queue_why is QueueWhy.SHARE
    assert job.queue_until is not None
    office.clock.at = job.queue_until - timedelta(seconds=3)
    await office.settle(1)
    assert by(office, "a") == 2
    await office.settle(4)
    assert by(office, "a") == 3


async def test_a_share_grows_when_nobody_else_has_asked_for_an_hour(office: Office) -> None:
    office.limit(10)
    await say_all(office, (BEN, "b"))
    office.clock.pass_seconds(1_800)
    await ask_often(office, ANA, "a", 9)
    assert by(office, "a") == 5
    await office.pass_time(1_802)
    assert by(office, "a") == 8
