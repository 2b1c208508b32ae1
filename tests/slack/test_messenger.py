"""The messenger against the sandbox's workspace: answers of Slack, and no post twice."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import aiohttp
import pytest
from pydantic import SecretStr

from bot.context import Timeouts
from bot.ids import ChannelId, DeliveryId, Message, MessageTs, Refusal, UserId
from bot.ports import SlackRefused
from bot.slack.client import make_web_client, wait_seconds
from bot.slack.messenger import SlackMessenger, upload_seconds
from sandbox.workspace import Workspace
from tests.talk import Talk

DOCS, PRODUCT, SECRET = ChannelId("C01DOCS"), ChannelId("C03PRODUCT"), ChannelId("G04SECRET")
ANA = UserId("U01ANA")
HELLO = Message("Hello", ({"type": "section", "text": {"type": "mrkdwn", "text": "Hello"}},))
ONE = DeliveryId("delivery-1")


async def post(
    messenger: SlackMessenger, channel: ChannelId = DOCS, thread: MessageTs | None = None
) -> MessageTs:
    posted = await messenger.post(channel, HELLO, delivery=ONE, thread=thread)
    return posted.ts


async def test_refusal_has_slacks_code_and_text_and_a_meaning(messenger: SlackMessenger) -> None:
    with pytest.raises(SlackRefused) as error:
        await post(messenger, PRODUCT)
    assert (error.value.code, error.value.meaning) == ("not_in_channel", Refusal.NOT_A_MEMBER)
    with pytest.raises(SlackRefused) as error:
        await post(messenger, SECRET)
    assert (error.value.code, error.value.meaning) == ("channel_not_found", Refusal.NOT_VISIBLE)
    with pytest.raises(SlackRefused) as error:
        await messenger.post(
            DOCS, Message("x", ({"type": "no_such_block"},)), delivery=ONE, thread=None
        )
    assert (error.value.code, error.value.meaning) == ("invalid_blocks", Refusal.BLOCKS)
    assert "no_such_block" in error.value.details[0]


def test_large_upload_gets_more_time_and_less_than_its_lease() -> None:
    assert (upload_seconds(0), upload_seconds(1_000_000)) == (30, 50)
    assert upload_seconds(10**9) < Timeouts().lease_seconds


@pytest.mark.parametrize(
    "url",
    [
        "https://evil.example/response/x",
        "http://hooks.slack.com/x",
        "https://hooks.slack.com.evil.example/",
        "https://hooks.slack-gov.com.evil.example/",
        "https://notslack-gov.com/x",
    ],
)
async def test_texts_and_the_token_go_only_to_slacks_addresses(
    messenger: SlackMessenger, url: str
) -> None:
    with pytest.raises(SlackRefused, match="response_url_elsewhere") as error:
        await messenger.answer(SecretStr(url), HELLO)
    assert "evil" not in str(error.value)
    with pytest.raises(SlackRefused, match="file_elsewhere"):
        await messenger.read_text(url, most_bytes=20)


async def test_proxy_of_the_environment_is_not_used(workspace: Workspace) -> None:
    async with aiohttp.ClientSession() as session:
        assert make_web_client(SecretStr("xoxb-1"), workspace.api_url, session).proxy is None


@pytest.mark.parametrize(
    ("header", "seconds"),
    [("3", 3), ("0", 0.5), ("-5", 0.5), ("soon", 5), (None, 5), ("1e9", 600), ("nan", 5)],
)
def test_retry_after_is_a_bounded_wait(header: str | None, seconds: float) -> None:
    assert wait_seconds(header) == seconds


def shared_file(workspace: Workspace, text: str, name: str = "notes.txt") -> str:
    message = workspace.people.say(ANA, DOCS, "See this", files=[(name, text)])
    return str(message["files"][0]["url_private_download"])


async def test_file_without_the_scope_is_not_read(
    messenger: SlackMessenger, workspace: Workspace
) -> None:
    url = shared_file(workspace, "a note")
    workspace.people.app = replace(workspace.people.app, scopes=frozenset())
    with pytest.raises(SlackRefused, match="file_not_returned"):
        await messenger.read_text(url, most_bytes=20)


async def test_existing_reaction_counts_as_done(talk: Talk) -> None:
    await talk.process.starts(log_level="INFO")
    await talk.started()
    talk.faults.loses_the_answer("reactions.add")
    reply = await talk.ben.replies("Make it shorter")
    await talk.time.passes(minutes=2)
    assert talk.slack.calls.count("reactions.add") == 2
    assert talk.reactions(reply) == ["eyes"]
    assert not any("already_reacted" in line for line in talk.log())
    talk.everything()


async def test_direct_message_of_unclear_outcome_is_found(talk: Talk) -> None:
    talk.faults.refuses("response_url", "expired_url", times=2)
    talk.faults.loses_the_answer("chat.postMessage", times=2)
    await talk.ana.asks("Add a page on keys", channel="docs-secret")
    await talk.time.passes(60)
    [note] = talk.ana.reads()
    assert "/invite" in note
    assert note.message["channel"] == "D01ANA"


async def test_direct_message_in_place_of_a_thread_is_found(talk: Talk) -> None:
    await talk.started()
    talk.faults.refuses("chat.postEphemeral", "user_not_in_channel", times=2)
    talk.faults.loses_the_answer("chat.postMessage")
    await talk.chika.replies("@docs-agent status")
    await talk.time.passes(60)
    [note] = talk.chika.reads()
    assert note.message["channel"] == "D03CHIKA"
    talk.everything()


async def test_deleted_status_message_is_left_alone(talk: Talk) -> None:
    await talk.process.starts(log_level="INFO")
    await talk.started()
    status = talk.root()
    del talk.slack.state.messages[status["channel"]][status["ts"]]
    await talk.ends()
    assert talk.slack.calls.count("chat.update") == 2
    dead = [line for line in talk.log() if '"event": "delivery_dead"' in line]
    assert [line for line in dead if '"kind": "edit"' in line] == []
    talk.everything()


def add_talk(talk: Talk, count: int = 450, **message: Any) -> None:
    """Let people write more messages than Slack returns at once."""
    for number in range(count):
        talk.slack.state.add_message(
            talk.room("docs").id, user=talk.ben.id, text=f"Talk {number}", **message
        )


async def test_post_of_unclear_outcome_is_found_on_a_later_page(talk: Talk) -> None:
    talk.faults.loses_the_answer("chat.postMessage")
    talk.faults.goes_down("conversations.history")
    await talk.ana.asks("Add a page on keys")
    await talk.time.passes(20)
    add_talk(talk)
    talk.faults.comes_back()
    await talk.time.passes(60)
    assert talk.slack.calls.count("conversations.history") > 2
    assert len(talk.channel()) == len(talk.agent_got()) == 1


async def test_channel_is_read_back_no_further_than_its_post(talk: Talk) -> None:
    add_talk(talk)
    await talk.time.passes(hours=2)
    talk.faults.fails("chat.postMessage")
    await talk.ana.asks("Add a page on keys")
    await talk.time.passes(60)
    assert talk.slack.calls.count("conversations.history") == 1
    assert len(talk.channel()) == len(talk.agent_got()) == 1


async def test_thread_that_is_too_long_is_not_attached_in_part(talk: Talk) -> None:
    root = await talk.ben.says("The page is wrong")
    add_talk(talk, 5_001, thread_ts=root["ts"])
    await talk.ana.replies("@docs-agent Add a page on keys", to=root)
    await talk.time.passes(minutes=5)
    assert talk.agent_got() == ["Add a page on keys"]
    assert "Slack didn't let me read them" in talk.job(1)
    talk.everything()


async def test_long_thread_is_read_to_its_end(talk: Talk) -> None:
    root = await talk.ben.says("The page is wrong")
    add_talk(talk, 1_001, thread_ts=root["ts"])
    await talk.ben.replies("The last word", to=root)
    await talk.ana.replies("@docs-agent Add a page on keys", to=root)
    await talk.time.passes(minutes=5)
    assert talk.agent_got()[0].endswith("The last word")
    talk.everything()


async def test_follow_up_reads_only_the_end_of_a_long_thread(talk: Talk) -> None:
    root = await talk.ben.says("The page is wrong")
    add_talk(talk, 1_001, thread_ts=root["ts"])
    await talk.ana.replies("@docs-agent Add a page on keys", to=root)
    await talk.time.passes(60)
    talk.slack.calls.clear()
    await talk.ben.replies("It lacks a table", to=root)
    await talk.ana.replies("@docs-agent Add what Ben says", to=root)
    await talk.time.passes(60)
    assert talk.slack.calls.count("conversations.replies") == 1
    assert talk.agent_got()[1].endswith("It lacks a table")
    talk.everything()
