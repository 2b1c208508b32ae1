"""Group direct messages, direct messages between two people, guests, and channels shared with others."""

from __future__ import annotations

import pytest

from sandbox.workspace.people import Refused
from tests.sandbox.workspace.conftest import Served
from tests.sandbox.workspace.small_bot import ANA, ANAS_DM, BEN, BOT, BUTTON, DOCS, SECRET, until

TRIO, ANA_AND_BEN, PARTNERS, PIA, SOL = "C06TRIO", "D07ANABEN", "C05PARTNERS", "U06PIA", "U05SOL"


async def test_a_mention_in_a_group_direct_message_is_one_event(served: Served) -> None:
    said = served.people.say(ANA, TRIO, "@docs-agent write a page")
    served.people.say(BEN, DOCS, "the next one")
    await until(lambda: len(served.heard.events) == 2 or None)
    [heard, _] = sorted(served.heard.of("message"), key=lambda event: str(event["ts"]))
    assert (heard["ts"], heard["channel_type"]) == (said["ts"], "mpim")


async def test_a_mention_event_says_neither_the_kind_of_channel_nor_whose_thread(
    served: Served,
) -> None:
    root = await served.client.chat_postMessage(channel=DOCS, text="A job")
    served.people.say(ANA, DOCS, "@docs-agent shorter please", thread_ts=str(root["ts"]))
    await until(lambda: len(served.heard.events) == 2 or None)
    [mention], [message] = served.heard.of("app_mention"), served.heard.of("message")
    assert not {"channel_type", "parent_user_id"} & set(mention)
    assert (message["channel_type"], message["parent_user_id"]) == ("channel", BOT)


@pytest.mark.parametrize(
    ("channel", "named"),
    [
        (ANA_AND_BEN, "directmessage"),
        (ANAS_DM, "directmessage"),
        (TRIO, "mpdm-ana--ben--docs-agent-1"),
        (SECRET, "privategroup"),
        (DOCS, "docs"),
    ],
)
async def test_a_commands_channel_is_named_as_slack_names_it(
    served: Served, channel: str, named: str
) -> None:
    await served.people.command(ANA, channel, "/docs-agent", "hi")
    [heard] = served.heard.commands
    assert (heard["channel_id"], heard["channel_name"]) == (channel, named)


async def test_people_of_another_organisation_have_buttons_and_words_but_no_commands(
    served: Served,
) -> None:
    posted = await served.client.chat_postMessage(channel=PARTNERS, text="Go?", blocks=[BUTTON])
    said = served.people.say(PIA, PARTNERS, "@docs-agent write a page")
    assert (await served.people.command(PIA, PARTNERS, "/docs-agent", "hi"))[
        "error"
    ] == "unknown_command"
    with pytest.raises(Refused):
        await served.people.shortcut(PIA, "ask_about", PARTNERS, said["ts"])
    container = {"type": "message", "channel": PARTNERS, "ts": posted["ts"]}
    await served.people.press(PIA, container, {"type": "button", "action_id": "go", "value": "7"})
    await until(lambda: served.heard.of("app_mention") or None)
    assert all(event["is_ext_shared_channel"] for event in served.heard.events)
    assert served.heard.commands == []
    [pressed] = served.heard.interactions
    assert pressed["user"]["team_id"] == "T0PARTNER"
