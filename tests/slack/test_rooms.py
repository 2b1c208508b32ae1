"""Readers of a channel, and how long they are cached."""

from __future__ import annotations

from typing import Any

import pytest
import structlog
from slack_sdk.web.async_client import AsyncWebClient

from bot.ids import ChannelId, UserId
from bot.slack.messenger import SlackMessenger
from bot.slack.rooms import SlackRooms
from sandbox.workspace import Workspace

DOCS = ChannelId("C01DOCS")
ANA, DORA = UserId("U01ANA"), UserId("U0DORA")


async def test_member_of_a_later_page_is_found(
    workspace: Workspace, messenger: SlackMessenger
) -> None:
    workspace.state.channels[DOCS].members += [f"U{number:05}" for number in range(450)]
    assert await messenger.is_member(DOCS, UserId("U00449"))


class SmallClient(AsyncWebClient):
    """Returns one object for every channel, and one page of members a call."""

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
    ("channel", "public"),
    [
        ({"is_channel": True, "is_private": False}, True),
        ({"is_channel": True, "is_private": False, "is_mpim": True}, False),
        ({"is_channel": True, "is_private": False, "is_im": True}, False),
        ({"is_group": True, "is_private": True}, False),
        ({"is_im": True}, False),
        ({}, False),
    ],
)
async def test_channel_is_public_only_if_slack_marks_it(
    channel: dict[str, Any], public: bool
) -> None:
    assert await SlackRooms(SmallClient(channel)).is_public(DOCS) is public


async def test_readers_are_read_once_for_several_requests() -> None:
    client = SmallClient({"is_private": True})
    rooms = SlackRooms(client)
    for _ in range(3):
        assert not await rooms.is_public(DOCS)
        assert await rooms.is_member(DOCS, ANA)
        assert not await rooms.is_member(DOCS, DORA)
    assert client.calls == 2


async def test_reading_of_members_ends() -> None:
    client = SmallClient({}, pages=10_000)
    with structlog.testing.capture_logs() as logs:
        assert not await SlackRooms(client).is_member(DOCS, DORA)
    assert client.calls == 50
    assert [line["event"] for line in logs] == ["too_many_members"]
