"""The very same request within a minute: asked about before it spends a second use."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from bot.features import take_message
from bot.ids import ChannelId, MessageTs
from bot.jobs.ask import ask
from bot.jobs.model.prompts import PromptRequest
from bot.jobs.store.jobs import Jobs
from bot.ports import Mention
from tests.builders import ANA, BEN, CHANNEL, let_in, origin
from tests.work.office import Office

QUESTION = MessageTs("1700000900.000001")


async def mention(office: Office, text: str, ts: str) -> None:
    """Ana mentions the bot in the channel."""
    said = replace(origin(f"message:{CHANNEL}:{ts}"), message_ts=MessageTs(ts))
    await take_message(office.context, Mention(said, text))


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
    jobs = await office.store.read(lambda tx: Jobs(tx).newest(100))
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
    assert len(await office.store.read(lambda tx: Jobs(tx).newest(100))) == 3
