"""A messenger for the benchmarks that posts nowhere."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from pathlib import Path

from pydantic import SecretStr

from bot.model.access import Profile
from bot.model.ids import ChannelId, DeliveryId, MessageTs, UserId
from bot.model.message import Message


class SilentMessenger:
    """Accepts every call immediately and posts nothing."""

    def __init__(self) -> None:
        self._ts = itertools.count(1)

    async def post(
        self, channel: ChannelId, message: Message, *, delivery: DeliveryId, thread: MessageTs | None
    ) -> MessageTs:
        """Return a new timestamp."""
        del channel, message, delivery, thread
        return MessageTs(f"1700000000.{next(self._ts):06}")

    async def find_posted(
        self,
        channel: ChannelId,
        *,
        deliveries: Collection[DeliveryId],
        thread: MessageTs | None,
        since: datetime,
    ) -> Mapping[DeliveryId, MessageTs]:
        """Return nothing: no delivery is ever unconfirmed here."""
        del channel, deliveries, thread, since
        return {}

    async def said_since(
        self, channel: ChannelId, *, thread: MessageTs | None, since: MessageTs
    ) -> tuple[()]:
        """Return nothing: no message is ever missed here."""
        del channel, thread, since
        return ()

    async def said_before(
        self, channel: ChannelId, thread: MessageTs, *, before: MessageTs | None
    ) -> tuple[()]:
        """Return nothing: no thread has earlier messages here."""
        del channel, thread, before
        return ()

    async def whisper(
        self, channel: ChannelId, user: UserId, message: Message, *, thread: MessageTs | None
    ) -> None:
        """Do nothing."""

    async def edit(self, channel: ChannelId, ts: MessageTs, message: Message) -> None:
        """Do nothing."""

    async def answer(self, response_url: SecretStr, message: Message, *, replaces: bool = False) -> None:
        """Do nothing."""

    async def tell(self, user: UserId, message: Message, *, delivery: DeliveryId) -> None:
        """Do nothing."""

    async def conversation_with(self, user: UserId) -> ChannelId:
        """Return a conversation id made from the user's id."""
        return ChannelId(f"D{user[1:]}")

    async def upload(
        self, channel: ChannelId, path: Path, *, name: str, words: str, confirm: Callable[[], None]
    ) -> None:
        """Do nothing."""

    async def read_text(self, url: str, *, most_bytes: int) -> str:
        """Return nothing: no message has files here."""
        del url, most_bytes
        return ""

    async def find_file(self, channel: ChannelId, name: str, *, since: datetime) -> bool:
        """Return False: no delivery is ever unconfirmed here."""
        del channel, name, since
        return False

    async def profile(self, user: UserId) -> Profile:
        """Return the profile of an ordinary member."""
        del user
        return Profile(is_guest=False, is_bot=False, is_stranger=False, is_deleted=False)

    async def group_members(self, group: str) -> frozenset[UserId]:
        """Return no members."""
        del group
        return frozenset()

    async def is_public(self, channel: ChannelId) -> bool:
        """Return True."""
        del channel
        return True

    async def is_member(self, channel: ChannelId, user: UserId) -> bool:
        """Return True."""
        del channel, user
        return True

    async def user_zone(self, user: UserId) -> str | None:
        """Return None."""
        del user
        return None

    async def react(self, channel: ChannelId, ts: MessageTs, name: str) -> None:
        """Do nothing."""

    async def join(self, channel: ChannelId) -> None:
        """Do nothing."""

    async def user_name(self, user: UserId) -> str:
        """Return the id."""
        return str(user)

    async def channel_name(self, channel: ChannelId) -> str:
        """Return the id."""
        return str(channel)
