"""Group direct messages, direct messages between two people, guests, and channels shared with others."""

from __future__ import annotations

from typing import Any

import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from sandbox.workspace import Workspace
from sandbox.workspace.people import Refused
from tests.sandbox.workspace.conftest import Served
from tests.sandbox.workspace.small_bot import ANA, ANAS_DM, BEN, BOT, BUTTON, DOCS, GUS, SECRET, Json, until

TRIO, ANA_AND_BEN, PARTNERS, PIA, SOL = "C06TRIO", "D07ANABEN", "C05PARTNERS", "U06PIA", "U05SOL"


async def error_of(call: Any) -> str:
    """Return the error with which Slack refuses this call."""
    with pytest.raises(SlackApiError) as refused:
        await call
    return str(refused.value.response["error"])


async def told_of(client: AsyncWebClient, user: str) -> Json:
    answer = await client.users_info(user=user)
    told: Json = answer["user"]
    return told


async def test_a_mention_in_a_group_direct_message_is_one_event(served: Served) -> None:
    said = served.people.say(ANA, TRIO, "@docs-agent write a page")
    served.people.say(BEN, DOCS, "the next one")
    await until(lambda: len(served.heard.events) == 2 or None)
    [heard, _] = sorted(served.heard.of("message"), key=lambda event: str(event["ts"]))
    assert (heard["ts"], heard["channel_type"]) == (said["ts"], "mpim")


async def test_a_mention_event_says_neither_the_kind_of_channel_nor_whose_thread(served: Served) -> None:
    root = await served.client.chat_postMessage(channel=DOCS, text="A job")
    served.people.say(ANA, DOCS, "@docs-agent shorter please", thread_ts=str(root["ts"]))
    await until(lambda: len(served.heard.events) == 2 or None)
    [mention], [message] = served.heard.of("app_mention"), served.heard.of("message")
    assert not {"channel_type", "parent_user_id"} & set(mention)
    assert (message["channel_type"], message["parent_user_id"]) == ("channel", BOT)


async def test_the_bot_may_post_in_a_group_direct_message_and_nobody_can_be_added(
    workspace: Workspace, client: AsyncWebClient
) -> None:
    posted = await client.chat_postMessage(channel=TRIO, text="Hello")
    told = (await client.conversations_info(channel=TRIO))["channel"]
    assert posted["ok"]
    assert (told["is_mpim"], told["is_private"], told["is_channel"]) == (True, True, False)
    with pytest.raises(Refused):
        workspace.people.invite(ANA, TRIO, "@chika")


async def test_a_direct_message_between_two_people_is_nothing_to_the_bot(client: AsyncWebClient) -> None:
    assert await error_of(client.chat_postMessage(channel=ANA_AND_BEN, text="Hello")) == "channel_not_found"
    assert await error_of(client.conversations_info(channel=ANA_AND_BEN)) == "channel_not_found"
    assert await error_of(client.conversations_members(channel=ANA_AND_BEN)) == "channel_not_found"


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


async def test_both_kinds_of_guests_are_told_apart(client: AsyncWebClient) -> None:
    kinds = {
        user: (told["is_restricted"], told["is_ultra_restricted"])
        for user in (ANA, GUS, SOL)
        if (told := await told_of(client, user))
    }
    assert kinds == {ANA: (False, False), GUS: (True, False), SOL: (True, True)}


async def test_somebody_of_another_organisation_is_a_stranger_only_without_a_shared_channel(
    workspace: Workspace, client: AsyncWebClient
) -> None:
    told = await told_of(client, PIA)
    assert told["team_id"] != (await told_of(client, ANA))["team_id"]
    assert (told["is_stranger"], told["is_restricted"]) == (False, False)
    shared = (await client.conversations_info(channel=PARTNERS))["channel"]
    assert (shared["is_ext_shared"], shared["is_shared"]) == (True, True)
    workspace.state.channels[PARTNERS].is_ext_shared = False
    assert (await told_of(client, PIA))["is_stranger"] is True


async def test_people_of_another_organisation_have_buttons_and_words_but_no_commands(served: Served) -> None:
    posted = await served.client.chat_postMessage(channel=PARTNERS, text="Go?", blocks=[BUTTON])
    said = served.people.say(PIA, PARTNERS, "@docs-agent write a page")
    assert (await served.people.command(PIA, PARTNERS, "/docs-agent", "hi"))["error"] == "unknown_command"
    with pytest.raises(Refused):
        await served.people.shortcut(PIA, "ask_about", PARTNERS, said["ts"])
    container = {"type": "message", "channel": PARTNERS, "ts": posted["ts"]}
    await served.people.press(PIA, container, {"type": "button", "action_id": "go", "value": "7"})
    await until(lambda: served.heard.of("app_mention") or None)
    assert all(event["is_ext_shared_channel"] for event in served.heard.events)
    assert served.heard.commands == []
    [pressed] = served.heard.interactions
    assert pressed["user"]["team_id"] == "T0PARTNER"
