"""Messages of one author are decided in the order in which they were written."""

from __future__ import annotations

from collections.abc import Sequence

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
