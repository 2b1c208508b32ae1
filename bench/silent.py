"""Messengers of the benches: one to which nobody listens, and one that keeps Slack's pace."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from pydantic import SecretStr

from bot.model import ChannelId, DeliveryId, Message, MessageTs, Profile, UserId


class SilentMessenger:
    """Takes everything at once and says nothing anywhere."""

    def __init__(self) -> None:
        self._ts = itertools.count(1)

    async def post(
        self, channel: ChannelId, message: Message, *, delivery: DeliveryId, thread: MessageTs | None
    ) -> MessageTs:
        """Done at once."""
        del channel, message, delivery, thread
        return MessageTs(f"1700000000.{next(self._ts):06}")

    async def find_posted(
        self, channel: ChannelId, *, delivery: DeliveryId, thread: MessageTs | None, since: datetime
    ) -> MessageTs | None:
        """Nothing is ever in doubt here."""
        del channel, delivery, thread, since
        return None

    async def edit(self, channel: ChannelId, ts: MessageTs, message: Message) -> None:
        """Done at once."""

    async def answer(self, response_url: SecretStr, message: Message, *, replaces: bool = False) -> None:
        """Done at once."""

    async def tell(self, user: UserId, message: Message, *, delivery: DeliveryId) -> None:
        """Done at once."""

    async def find_told(self, user: UserId, *, delivery: DeliveryId, since: datetime) -> bool:
        """Nothing is ever in doubt here."""
        del user, delivery, since
        return False

    async def conversation_with(self, user: UserId) -> ChannelId:
        """A conversation named after the person."""
        return ChannelId(f"D{user[1:]}")

    async def upload(
        self, channel: ChannelId, path: Path, *, name: str, words: str, confirm: Callable[[], None]
    ) -> None:
        """Done at once."""

    async def find_file(self, channel: ChannelId, name: str, *, since: datetime) -> bool:
        """Nothing is ever in doubt here."""
        del channel, name, since
        return False

    async def profile(self, user: UserId) -> Profile:
        """Everybody is a member."""
        del user
        return Profile(is_guest=False, is_bot=False, is_stranger=False, is_deleted=False)

    async def group_members(self, group: str) -> frozenset[UserId]:
        """Groups are empty."""
        del group
        return frozenset()

    async def is_public(self, channel: ChannelId) -> bool:
        """Every channel is."""
        del channel
        return True

    async def is_member(self, channel: ChannelId, user: UserId) -> bool:
        """Everybody is."""
        del channel, user
        return True

    async def user_zone(self, user: UserId) -> str | None:
        """Nobody has one."""
        del user
        return None

    async def react(self, channel: ChannelId, ts: MessageTs, name: str) -> None:
        """Done at once."""

    async def join(self, channel: ChannelId) -> None:
        """Done at once."""

    async def user_name(self, user: UserId) -> str:
        """The id serves as a name."""
        return str(user)

    async def channel_name(self, channel: ChannelId) -> str:
        """The id serves as a name."""
        return str(channel)
