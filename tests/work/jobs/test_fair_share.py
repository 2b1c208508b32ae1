"""A fair share: how many prompts of one person wait, faces in turn, and look-ups that delay nobody."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from bot.commands.catalogue import take_message
from bot.commands.command import FormState
from bot.model.ids import MessageTs, UserId
from bot.slack.client import refused
from bot.work.access import admit
from bot.work.jobs.ask import TooManyWaiting
from bot.work.jobs.prepare import prepare_prompts
from bot.work.outbox.deliver import deliver_due
from bot.work.ports import Mention
from tests.builders import ANA, BEN, CHANNEL, origin
from tests.limits import HANG_SECONDS
from tests.work.office import RESPONSE_URL, Office

CHIKA = UserId("U0CHIKA")
TOO_MANY = "10 prompts of yours wait already"


async def ten_waiting(office: Office) -> None:
    """Ten prompts of Ana's wait for the limit."""
    office.limit(0)
    for number in range(10):
        await office.ask(f"Page {number}")
    await office.settle(12)


async def test_the_eleventh_prompt_is_given_back_to_copy_and_is_not_stored(office: Office) -> None:
    await ten_waiting(office)
    answer = await office.types("/docs-agent", "Mention <https://x.example|the *page*> &amp; more")
    assert answer.message is not None
    assert TOO_MANY in answer.message.text
    assert "the *page* (https://x.example) & more" in str(answer.message.blocks)
    assert await office.count_jobs() == 10


async def test_another_person_and_one_whose_prompt_was_sent_are_not_held_up(office: Office) -> None:
    await ten_waiting(office)
    assert (await office.types("/docs-agent", "Write mine", user=BEN)).message is None
    office.limit(1)
    await office.pass_time(3_600)
    assert office.docs.prompts
    await office.ask("The eleventh")
    with pytest.raises(TooManyWaiting):
        await office.ask("The twelfth")


async def test_requests_of_one_moment_count_together(office: Office) -> None:
    asked = await asyncio.gather(*(office.ask(f"p{n}") for n in range(14)), return_exceptions=True)
    assert sum(isinstance(each, TooManyWaiting) for each in asked) == 4
    assert await office.count_jobs() == 10


async def test_a_follow_up_counts_too(office: Office) -> None:
    await office.started("Add a page", user=BEN)
    await ten_waiting(office)
    await office.replied("Write more")
    assert TOO_MANY in office.slack.whispers[-1][-1].text
    answer = await office.told("/docs-followup", "1 Add a table")
    assert TOO_MANY in answer
    assert office.sent() == ["Add a page"]


async def test_a_mention_is_answered_in_private(office: Office) -> None:
    await ten_waiting(office)
    said = replace(origin("message:1"), message_ts=MessageTs("1700000100.000001"))
    await take_message(office.context, Mention(said, "<@U0BOT> Add a page"))
    await office.settle()
    [(_, _, user, message)] = office.slack.whispers
    assert user == ANA
    assert TOO_MANY in message.text
    assert not [post for post in office.slack.posts if "Add a page" in post.message.text]


async def test_a_form_keeps_the_prompt_and_says_why(office: Office) -> None:
    await ten_waiting(office)
    errors = await office.submits("ask", FormState(CHANNEL, RESPONSE_URL), prompt="Add a page")
    assert errors is not None
    assert errors.errors["prompt"].startswith(TOO_MANY)


async def test_faces_of_several_people_go_out_in_turn(office: Office) -> None:
    for number in range(5):
        await office.ask(f"a{number}")
    await office.ask("b0", user=BEN)
    await office.ask("b1", user=BEN)
    await office.ask("c0", user=CHIKA)
    await office.settle(15)
    roots = [post.message.text for post in office.slack.posts if post.thread is None]
    order = [next(line for line in text.splitlines() if len(line) == 2) for text in roots]
    assert order == ["a0", "b0", "c0", "a1", "b1", "a2", "a3", "a4"]


async def test_a_face_that_slack_refuses_holds_back_no_further_one(office: Office) -> None:
    office.slack.trouble("post", refused("channel_not_found"))
    await office.ask("a0")
    await office.ask("a1")
    await office.settle(10)
    assert office.sent() == ["a1"]


async def prepared(office: Office, text: str) -> None:
    """Wait until a face with this text is in the outbox or posted."""
    async with asyncio.timeout(HANG_SECONDS):
        while not any(text in post.message.text for post in office.slack.posts):
            await deliver_due(office.context)
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("when", ["together", "later"])
async def test_a_slow_look_up_delays_nobody_else(office: Office, when: str) -> None:
    await admit(office.context, origin())
    office.slack.silent.add(ANA)
    await office.ask(f"Never looked up <@{ANA}>")
    if when == "together":
        await office.ask("Write mine", user=BEN)
    preparing = asyncio.create_task(prepare_prompts(office.context))
    if when == "later":
        await asyncio.sleep(0)
        await office.ask("Write mine", user=BEN)
    await prepared(office, "Write mine")
    assert not preparing.done()
    preparing.cancel()
    await asyncio.gather(preparing, return_exceptions=True)


async def test_at_most_twenty_names_are_looked_up_the_first_of_the_text(office: Office) -> None:
    users = [f"U0{number:03}" for number in range(900)]
    office.slack.names |= {user: user.lower() for user in users}
    await office.started(" ".join(f"<@{user}>" for user in users))
    assert sorted(office.slack.looked_up) == users[:20]
    [(_, text)] = office.docs.prompts
    assert text.split()[18:22] == ["@u0018", "@u0019", "@U0020", "@U0021"]


async def test_names_that_slack_does_not_tell_in_time_stay_ids(office: Office) -> None:
    timeouts = replace(office.context.timeouts, names_seconds=0.2)
    office.context = replace(office.context, timeouts=timeouts)
    office.slack.silent.add("U0SLOW")
    await office.started("Ask <@U0SLOW> and <@U0BEN> about <#C0GEN>")
    assert office.sent() == ["Ask @U0SLOW and @ben about #general"]
