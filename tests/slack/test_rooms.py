"""Who can read a channel, as the workspace tells; and how long that is remembered."""

from __future__ import annotations

from typing import Any

import pytest
import structlog
from slack_sdk.web.async_client import AsyncWebClient

from bot.ids import ChannelId, UserId
from bot.ports import SlackRefused
from bot.slack.messenger import SlackMessenger
from bot.slack.rooms import SlackRooms
from sandbox.workspace import Workspace

DOCS, SECRET = ChannelId("C01DOCS"), ChannelId("G04SECRET")
UNKNOWN = ChannelId("C0UNKNOWN")
ANA, DORA = UserId("U01ANA"), UserId("U0DORA")


@pytest.mark.parametrize("channel", [SECRET, UNKNOWN, ChannelId("D0ELSEWHERE")])
async def test_what_the_bot_cannot_see_is_refused(messenger: SlackMessenger, channel: ChannelId) -> None:
    with pytest.raises(SlackRefused, match="channel_not_found"):
        await messenger.is_public(channel)
    with pytest.raises(SlackRefused, match="channel_not_found"):
        await messenger.is_member(channel, ANA)


async def test_members_of_later_pages_are_found(workspace: Workspace, messenger: SlackMessenger) -> None:
    workspace.state.channels[DOCS].members += [f"U{number:05}" for number in range(450)]
    assert await messenger.is_member(DOCS, UserId("U00449"))


class TellingClient(AsyncWebClient):
    """Tells the same of every channel, a page of members a call."""

    def __init__(self, channel: dict[str, Any], pages: int = 1) -> None:
        super().__init__(token="xoxb-none")
        self.channel, self.pages, self.calls = channel, pages, 0

    async def conversations_info(self, **_asked: Any) -> Any:
        self.calls += 1
        return {"ok": True, "channel": self.channel}

    async def conversations_members(self, **_asked: Any) -> Any:
        self.calls += 1
        cursor = "more" if self.calls < self.pages else ""
        return {"ok": True, "members": [ANA], "response_metadata": {"next_cursor": cursor}}


@pytest.mark.parametrize(
    ("told", "public"),
    [
        ({"is_channel": True, "is_private": False}, True),
        ({"is_channel": True, "is_private": False, "is_mpim": True}, False),
        ({"is_channel": True, "is_private": False, "is_im": True}, False),
        ({"is_group": True, "is_private": True}, False),
        ({"is_im": True}, False),
        ({}, False),
    ],
)
async def test_what_slack_does_not_call_public_is_not(told: dict[str, Any], public: bool) -> None:
    assert await SlackRooms(TellingClient(told)).is_public(DOCS) is public


async def test_slack_is_asked_once_for_several_requests() -> None:
    client = TellingClient({"is_private": True})
    rooms = SlackRooms(client)
    for _ in range(3):
        assert not await rooms.is_public(DOCS)
        assert await rooms.is_member(DOCS, ANA)
        assert not await rooms.is_member(DOCS, DORA)
    assert client.calls == 2


async def test_reading_the_members_comes_to_an_end() -> None:
    client = TellingClient({}, pages=10_000)
    with structlog.testing.capture_logs() as logs:
        assert not await SlackRooms(client).is_member(DOCS, DORA)
    assert client.calls == 50
    assert [line["event"] for line in logs] == ["too_many_members"]
