"""The very same request within a minute: asked about before it spends a second use."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import httpx

from bot.commands.catalogue import take_message
from bot.model.ids import ChannelId, MessageTs
from bot.model.prompts import PromptRequest
from bot.work.jobs.ask import ask
from bot.work.ports import Mention
from tests.builders import ANA, BEN, CHANNEL, let_in, origin
from tests.work.office import Office

QUESTION = MessageTs("1700000900.000001")


async def mention(office: Office, text: str, ts: str) -> None:
    """Ana mentions the bot in the channel."""
    said = replace(origin(f"message:{CHANNEL}:{ts}"), message_ts=MessageTs(ts))
    await take_message(office.context, Mention(said, text))


async def test_the_same_command_again_asks_and_starts_nothing(office: Office) -> None:
    await office.types("/docs-agent", "Add a page")
    office.clock.pass_seconds(59)
    again = await office.told("/docs-agent", "  Add a page\n")
    assert "it's Job 1. I started nothing new." in again
    await office.settle()
    assert len(office.docs.prompts) == 1


async def test_the_button_starts_it_once_more_however_often_it_is_pressed(office: Office) -> None:
    await office.types("/docs-agent", "Add a page")
    await office.types("/docs-agent", "Add a page")
    assert (await office.press("ask_anyway", "1", ts=QUESTION)).message is None
    second = await office.press("ask_anyway", "1", ts=QUESTION)
    assert second.message is not None
    assert "Job 2" in second.message.text
    await office.settle()
    assert len(office.docs.prompts) == 2


async def test_another_person_channel_text_or_minute_is_another_request(office: Office) -> None:
    await office.ask("Add a page")
    await office.ask("Add a page", user=BEN)
    await office.ask("Add a page", channel=ChannelId("C0OTHER"))
    await office.ask("Add a page.")
    office.clock.pass_seconds(61)
    await office.ask("Add a page")
    await office.settle(10)
    assert len(office.docs.prompts) == 5


async def test_what_was_not_started_may_be_asked_again_at_once(office: Office) -> None:
    office.docs.answer_instead("create", httpx.Response(400, json={"error": "no"}))
    await office.started("Add a page")
    asked = await office.ask("Add a page")
    assert not asked.same


async def test_the_same_mention_again_is_answered_privately(office: Office) -> None:
    await mention(office, "<@U0BOT> Add a page", "1700000100.000001")
    await mention(office, "<@U0BOT> Add a page", "1700000101.000001")
    await office.settle()
    assert len(office.docs.prompts) == 1
    assert any("for exactly this" in message.text for *_, message in office.slack.whispers)


async def test_the_same_reply_again_is_held_back_and_sent_once_more_by_its_button(office: Office) -> None:
    await office.started("Add a page")
    await office.reply("Write more")
    await office.replied("Write more")
    assert office.sent() == ["Add a page", "Write more"]
    [question] = [
        message for *_, message in office.slack.whispers if "less than a minute ago" in message.text
    ]
    [value] = [
        button["value"]
        for block in question.blocks
        for button in block.get("elements", [])
        if button.get("action_id") == "follow_up_anyway"
    ]
    assert (await office.press("follow_up_anyway", value, ts=QUESTION)).message is None
    second = await office.press("follow_up_anyway", value, ts=QUESTION)
    assert second.message is not None
    await office.settle()
    assert office.sent() == ["Add a page", "Write more", "Write more"]


async def test_what_is_asked_in_a_direct_message_goes_on_in_its_channel(office: Office) -> None:
    office.access_policy(channels=frozenset({CHANNEL}))
    direct = ChannelId("D0ANA")
    await mention(office, "Add a page", "1700000901.000001")
    await mention(office, "Add a page", "1700000902.000001")
    await office.settle()
    assert (await office.press("ask_anyway", "1", ts=QUESTION, channel=direct)).message is None
    await office.settle()
    await office.hears("Write more", thread="1700000901.000001")
    await office.says("Write more", thread="1700000901.000001")
    assert (await office.press("follow_up_anyway", "3", ts=QUESTION, channel=direct)).message is None
    await office.settle()
    assert (await office.job(2)).channel == CHANNEL
    assert office.sent() == ["Add a page", "Add a page", "Write more", "Write more"]


async def test_what_many_ask_at_the_same_moment_is_stored_together_and_each_once(office: Office) -> None:
    """Of each the same text twice: one way with the same key, as Slack delivers again, one way without."""
    requests = [
        (let_in(origin(f"k{number}", user)), PromptRequest(f"p{number % 4}"))
        for number, user in enumerate([ANA, BEN] * 8)
    ]
    asked = await asyncio.gather(*(ask(office.context, *each) for each in (*requests, *requests)))
    stored = {each.job for each in asked if not (each.repeated or each.same)}
    assert len(stored) == 4
    assert [each.job for each in asked[16:]] == [each.job for each in asked[:16]]
    jobs = await office.store.read(lambda tx: tx.jobs.newest(100))
    assert {job.number for job in jobs} == stored
    assert sorted((job.requester, job.text) for job in jobs) == sorted(
        {(allowed.user, request.raw) for allowed, request in requests}
    )


async def test_one_that_cannot_be_stored_keeps_no_other_from_it(office: Office) -> None:
    bad = origin("bad")
    object.__setattr__(bad, "message_ts", object())  # something that no database takes
    origins = [*(origin(f"k{number}") for number in range(3)), bad]
    asked = (ask(office.context, let_in(each), PromptRequest(each.key)) for each in origins)
    told = await asyncio.gather(*asked, return_exceptions=True)
    assert [isinstance(each, Exception) for each in told] == [False, False, False, True]
    assert len(await office.store.read(lambda tx: tx.jobs.newest(100))) == 3


async def test_run_again_is_no_slip(office: Office) -> None:
    await office.started("Add a page")
    await office.ends("failed", None)
    await office.run_again()
    await office.settle()
    assert len(office.docs.prompts) == 2
