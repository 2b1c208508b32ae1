"""Our Messenger against the sandbox's workspace: what each answer means, and that nothing is repeated."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import aiohttp
import pytest
from pydantic import SecretStr

from bot.context import Timeouts
from bot.ids import ChannelId, DeliveryId, Message, MessageTs, Refusal, UserId
from bot.ports import SlackRefused, SlackUnclear
from bot.slack.client import identify, open_session, wait_seconds, web_client
from bot.slack.messenger import SlackMessenger, upload_seconds
from sandbox.workspace import Workspace
from sandbox.workspace.options import utcnow
from tests.talk import Talk

DOCS, PRODUCT, SECRET = ChannelId("C01DOCS"), ChannelId("C03PRODUCT"), ChannelId("G04SECRET")
ANA = UserId("U01ANA")
HELLO = Message("Hello", ({"type": "section", "text": {"type": "mrkdwn", "text": "Hello"}},))
ONE = DeliveryId("delivery-1")


async def post(
    messenger: SlackMessenger, channel: ChannelId = DOCS, thread: MessageTs | None = None
) -> MessageTs:
    return await messenger.post(channel, HELLO, delivery=ONE, thread=thread)


async def find(
    messenger: SlackMessenger, channel: ChannelId, delivery: DeliveryId, thread: MessageTs | None
) -> MessageTs | None:
    since = utcnow() - timedelta(seconds=5)
    found = await messenger.find_posted(channel, deliveries=[delivery], thread=thread, since=since)
    return found.get(delivery)


async def test_a_post_carries_its_delivery_and_is_found_by_it(messenger: SlackMessenger) -> None:
    root = await post(messenger)
    reply = await messenger.post(DOCS, HELLO, delivery=DeliveryId("delivery-2"), thread=root)
    assert await find(messenger, DOCS, ONE, None) == root
    assert await find(messenger, DOCS, DeliveryId("delivery-2"), root) == reply
    assert await find(messenger, DOCS, DeliveryId("no"), root) is None


async def test_a_post_is_found_though_this_machines_clock_is_ahead_of_slacks(
    messenger: SlackMessenger,
) -> None:
    root, ahead = await post(messenger), utcnow() + timedelta(hours=2)
    second = DeliveryId("delivery-2")
    reply = await messenger.post(DOCS, HELLO, delivery=second, thread=root)
    found = await messenger.find_posted(DOCS, deliveries=[ONE], thread=None, since=ahead)
    assert found == {ONE: root}
    found = await messenger.find_posted(DOCS, deliveries=[second], thread=root, since=ahead)
    assert found == {second: reply}


async def test_a_channel_is_read_back_no_further_than_a_post_can_be(
    messenger: SlackMessenger, workspace: Workspace
) -> None:
    for _ in range(450):
        workspace.state.add_message(DOCS, user=ANA, text="talk")
    since = utcnow() + timedelta(hours=2)
    assert await messenger.find_posted(DOCS, deliveries=[ONE], thread=None, since=since) == {}
    assert sum(entry.get("method") == "conversations.history" for entry in workspace.log) == 1


async def test_a_post_is_found_on_a_later_page(messenger: SlackMessenger, workspace: Workspace) -> None:
    root = await post(messenger)
    for _ in range(450):
        workspace.state.add_message(DOCS, user=ANA, text="talk")
    assert await find(messenger, DOCS, ONE, None) == root


async def test_a_refusal_keeps_slacks_code_and_words_beside_its_meaning(
    messenger: SlackMessenger,
) -> None:
    with pytest.raises(SlackRefused) as error:
        await post(messenger, PRODUCT)
    assert (error.value.code, error.value.meaning) == ("not_in_channel", Refusal.NOT_A_MEMBER)
    with pytest.raises(SlackRefused) as error:
        await post(messenger, SECRET)
    assert (error.value.code, error.value.meaning) == ("channel_not_found", Refusal.NOT_VISIBLE)
    with pytest.raises(SlackRefused) as error:
        await messenger.post(DOCS, Message("x", ({"type": "no_such_block"},)), delivery=ONE, thread=None)
    assert (error.value.code, error.value.meaning) == ("invalid_blocks", Refusal.BLOCKS)
    assert "no_such_block" in error.value.details[0]


async def test_upload_that_breaks_off_is_refused_for_now(
    messenger: SlackMessenger, workspace: Workspace, tmp_path: Path
) -> None:
    path = tmp_path / "pages.csv"
    path.write_text("page,human")
    workspace.faults.order([{"method": "upload", "fault": "lost_answer"}])
    with pytest.raises(SlackRefused, match="upload_broken_off") as error:
        await messenger.upload(DOCS, path, name=path.name, text="All pages", confirm=lambda: None)
    assert error.value.meaning is Refusal.PASSING


def test_large_upload_gets_more_time_and_less_than_its_lease() -> None:
    assert (upload_seconds(0), upload_seconds(1_000_000)) == (30, 50)
    assert upload_seconds(10**9) < Timeouts().lease_seconds


async def test_a_response_url_speaks_to_one_person_until_it_is_used_up(
    messenger: SlackMessenger, workspace: Workspace
) -> None:
    url = SecretStr(workspace.people.tickets.response_url(ANA, DOCS))
    for _ in range(5):
        await messenger.answer(url, HELLO)
    with pytest.raises(SlackRefused, match="response_url_expired"):
        await messenger.answer(url, HELLO)
    assert len(workspace.state.ephemerals) == 5


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
async def test_words_and_the_token_go_to_slacks_own_addresses_only(
    messenger: SlackMessenger, url: str
) -> None:
    with pytest.raises(SlackRefused, match="response_url_elsewhere") as error:
        await messenger.answer(SecretStr(url), HELLO)
    assert "evil" not in str(error.value)
    with pytest.raises(SlackRefused, match="file_elsewhere"):
        await messenger.read_text(url, most_bytes=20)


async def test_a_wrong_token_is_refused_and_told_nowhere(workspace: Workspace) -> None:
    async with open_session() as session:
        client = web_client(SecretStr("xoxb-canary"), workspace.api_url, session)
        with pytest.raises(SlackRefused, match="invalid_auth") as error:
            await identify(client)
    assert "canary" not in repr(error.value)
    assert error.value.__cause__ is None


async def test_proxies_named_in_the_environment_are_not_used(workspace: Workspace) -> None:
    async with aiohttp.ClientSession() as session:
        assert web_client(SecretStr("xoxb-1"), workspace.api_url, session).proxy is None


@pytest.mark.parametrize(
    ("header", "seconds"),
    [("3", 3), ("0", 0.5), ("-5", 0.5), ("soon", 5), (None, 5), ("1e9", 600), ("nan", 5)],
)
def test_any_retry_after_is_a_sane_wait(header: str | None, seconds: float) -> None:
    assert wait_seconds(header) == seconds


async def test_a_thread_that_is_too_long_is_not_read_in_part(
    messenger: SlackMessenger, workspace: Workspace
) -> None:
    root = workspace.state.add_message(DOCS, user=ANA, text="The page is wrong")["ts"]
    for number in range(1_001):
        workspace.state.add_message(DOCS, user=ANA, text=f"Reply {number}", thread_ts=root)
    with pytest.raises(SlackUnclear):
        await messenger.said_before(DOCS, root, before=None)


def shared_file(workspace: Workspace, text: str, name: str = "notes.txt") -> str:
    said = workspace.people.say(ANA, DOCS, "See this", files=[(name, text)])
    return str(said["files"][0]["url_private_download"])


async def test_without_the_scope_a_file_is_not_read_and_no_redirect_is_followed(
    messenger: SlackMessenger, workspace: Workspace
) -> None:
    url = shared_file(workspace, "a note")
    workspace.people.app = replace(workspace.people.app, scopes=frozenset())
    with pytest.raises(SlackRefused, match="file_not_returned"):
        await messenger.read_text(url, most_bytes=20)


async def test_a_reaction_that_is_there_already_is_as_good_as_done(talk: Talk) -> None:
    await talk.process.starts(log_level="INFO")
    await talk.started()
    talk.faults.loses_the_answer("reactions.add")
    reply = await talk.ben.replies("Make it shorter")
    await talk.time.passes(minutes=2)
    assert talk.slack.calls.count("reactions.add") == 2
    assert talk.reactions(reply) == ["eyes"]
    assert not any("already_reacted" in line for line in talk.log())
    talk.everything()


async def test_a_direct_message_whose_post_is_unclear_is_found_again(talk: Talk) -> None:
    talk.faults.refuses("response_url", "expired_url")
    talk.faults.loses_the_answer("chat.postMessage")
    await talk.ana.asks("Add a page", channel="docs-secret")
    await talk.time.passes(60)
    [note] = talk.ana.reads()
    assert "/invite" in note


async def test_a_status_message_that_somebody_deleted_is_left_alone(talk: Talk) -> None:
    await talk.process.starts(log_level="INFO")
    await talk.started()
    status = talk.root()
    del talk.slack.state.messages[status["channel"]][status["ts"]]
    await talk.ends()
    assert talk.slack.calls.count("chat.update") == 2
    dead = [line for line in talk.log() if '"event": "delivery_dead"' in line]
    assert [line for line in dead if '"kind": "edit"' in line] == []
    talk.everything()
