"""Messages of one author are decided in the order in which they were written."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from sandbox.workspace.state import Json
from tests.talk import Talk

BOT = "@docs-agent"


async def arrive(talk: Talk, events: Sequence[Json]) -> None:
    """Start the bot again, and let these events arrive, each before the next."""
    await talk.process.starts()
    for event in events:
        talk.slack.line.send_event(event)
        await talk.hears()
    await talk.time.passes(60)


def of_messages(talk: Talk, *messages: Json) -> list[Json]:
    """Return all events of the first message, then those of the next."""
    sent = list(talk.slack.line.sent)
    return [
        event for message in messages for event in sent if event["event"]["ts"] == message["ts"]
    ]


async def test_reply_that_arrives_before_its_mention_joins_it(talk: Talk) -> None:
    await talk.process.starts()
    talk.process.dies()
    said = await talk.ana.says(f"{BOT} Add a page on keys")
    added = await talk.ana.replies(f"{BOT} Mention how they are rotated", to=said)
    await talk.time.passes(1)
    await arrive(talk, of_messages(talk, added, said))
    assert talk.agent_got() == ["Add a page on keys\n\nMention how they are rotated"]
    talk.everything()


async def mention_misses_its_reply(
    talk: Talk, text: str, reply: str = "Mention how they are rotated"
) -> Json:
    """Let a message be written whose event is lost at first, and a reply that comes before it."""
    if not talk.process.has_started:
        await talk.process.starts()
        await talk.time.passes(30)
    talk.slack.line.drops_events = True
    said = await talk.ana.says(text)
    talk.slack.line.drops_events = False
    await talk.time.passes(3)
    await talk.ana.replies(reply, to=said)
    await talk.ben.replies("I like this page", to=said)
    return said


@pytest.mark.parametrize("edited", ["", f"{BOT} Add a page on tokens"])
async def test_reply_that_came_before_the_next_try_of_its_mention_joins_it(
    talk: Talk, edited: str
) -> None:
    said = await mention_misses_its_reply(talk, f"{BOT} Add a page on keys")
    missed = of_messages(talk, said)
    await talk.time.passes(57)
    if edited:
        await talk.ana.edits(said, edited)
    for event in missed:
        talk.slack.line.send_event(event)
        await talk.hears()
    await talk.time.passes(60)
    request = "Add a page on tokens" if edited else "Add a page on keys"
    assert talk.agent_got() == [f"{request}\n\nMention how they are rotated"]
    talk.everything()


async def test_late_mentions_thread_is_read_though_the_reading_of_another_rests(
    talk: Talk,
) -> None:
    """The threads to read for the other were listed before this mention was known."""
    others = await mention_misses_its_reply(talk, f"{BOT} Add a page on tokens")
    said = await mention_misses_its_reply(talk, f"{BOT} Add a page on keys", "Add a table of keys")
    talk.faults.limits("conversations.replies", 20)
    for late in (others, said):
        for event in of_messages(talk, late):
            talk.slack.line.send_event(event)
            await talk.hears()
        await talk.time.passes(1)
    await talk.time.passes(60)
    sent = "\n".join(talk.agent_got())
    assert "Mention how they are rotated" in sent
    assert "Add a table of keys" in sent
    talk.everything()


async def test_two_readings_of_one_channel_both_end_though_slack_allows_little(talk: Talk) -> None:
    """The second one was wanted while a call of the first one was under way."""
    replies = {
        "tokens": "Add a table of scopes",
        "keys": "Mention how they are rotated",
        "webhooks": "Add an example in Go",
        "regions": "Explain latency",
    }
    said = [
        await mention_misses_its_reply(talk, f"{BOT} Add a page on {subject}", reply)
        for subject, reply in replies.items()
    ]
    method = "conversations.replies"
    talk.faults.limits(method, 5)
    talk.faults.is_late(method)
    for _ in range(100):
        talk.faults.limits(method, 1)
        talk.faults.takes(method, 0.1)
    for two in (said[:2], said[2:]):
        for event in of_messages(talk, *two):
            talk.slack.line.send_event(event)
            await talk.hears()
        await talk.time.passes(6)
    await talk.time.passes(30)  # until the second one is due, too
    talk.faults.answers()
    await talk.time.passes(60)
    sent = "\n".join(talk.agent_got())
    assert [reply for reply in replies.values() if reply not in sent] == []
    talk.faults.comes_back()
    talk.everything()


async def test_reply_from_before_the_edit_that_made_a_mention_is_for_others(talk: Talk) -> None:
    said = await mention_misses_its_reply(talk, "Add a page on keys")
    await talk.ana.edits(said, f"{BOT} Add a page on keys")
    await talk.time.passes(60)
    assert talk.agent_got() == ["Add a page on keys"]
    talk.everything()


async def test_stop_that_arrives_before_its_mention_takes_it_back(talk: Talk) -> None:
    await talk.process.starts()
    talk.process.dies()
    said = await talk.ana.says(f"{BOT} Add a page on keys")
    stopped = await talk.ana.replies(f"{BOT} stop", to=said)
    await talk.time.passes(1)
    await arrive(talk, of_messages(talk, stopped, said))
    assert "Taken back" in talk.ana.reads()[-1]
    assert talk.agent_got() == []
    talk.everything()


async def test_words_below_a_file_without_words_take_it_along(talk: Talk) -> None:
    said = await talk.ana.says(BOT, files=[("keys.md", "# Keys")])
    await talk.time.passes(2)
    await talk.ana.replies("Add a page on keys", to=said)
    await talk.time.passes(60)
    [prompt] = talk.agent_got()
    assert "Add a page on keys" in prompt
    assert "# Keys" in prompt
    talk.everything()
