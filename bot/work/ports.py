"""What the work needs from outside, as Protocols; and what can go wrong there, by what it means for us."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Protocol

from pydantic import SecretStr

from bot.model import ChannelId, DeliveryId, Message, MessageTs, Profile, Refusal, UserId

Clock = Callable[[], datetime]
"""Tells the time, aware and in UTC. Tests hold it."""


class Rooms(Protocol):
    """What Slack tells of its channels and direct messages. Both methods may raise a SlackError."""

    async def is_public(self, channel: ChannelId) -> bool:
        """Whether every full member of the workspace can read the channel."""
        ...

    async def is_member(self, channel: ChannelId, user: UserId) -> bool:
        """Whether somebody is in a channel or a direct message."""
        ...


class Messenger(Rooms, Protocol):
    """Slack as the work sees it. Every method may raise any of the errors below, and nothing else."""

    async def post(
        self, channel: ChannelId, message: Message, *, delivery: DeliveryId, thread: MessageTs | None
    ) -> MessageTs:
        """Post a message carrying the delivery's id; answers its ts. Never repeats by itself."""
        ...

    async def find_posted(
        self, channel: ChannelId, *, delivery: DeliveryId, thread: MessageTs | None, since: datetime
    ) -> MessageTs | None:
        """The ts of the message that carries this delivery's id, or None when there is none."""
        ...

    async def edit(self, channel: ChannelId, ts: MessageTs, message: Message) -> None:
        """Replace the words and blocks of our own message."""
        ...

    async def answer(self, response_url: SecretStr, message: Message, *, replaces: bool = False) -> None:
        """Say something to one person through the response URL of what they did (30 minutes, five times).

        ``replaces``: in place of the message whose button was pressed. A command's URL replaces nothing.
        """
        ...

    async def tell(self, user: UserId, message: Message, *, delivery: DeliveryId) -> None:
        """Send a direct message."""
        ...

    async def find_told(self, user: UserId, *, delivery: DeliveryId, since: datetime) -> bool:
        """Whether a direct message with this delivery's id has been sent."""
        ...

    async def conversation_with(self, user: UserId) -> ChannelId:
        """The conversation with this person, opened if need be."""
        ...

    async def upload(
        self, channel: ChannelId, path: Path, *, name: str, words: str, confirm: Callable[[], None]
    ) -> None:
        """Share a file with a channel under this name, with words beside it. Never repeats by itself.

        ``confirm`` is called before the step that lets people see it; what it raises ends the upload.
        """
        ...

    async def find_file(self, channel: ChannelId, name: str, *, since: datetime) -> bool:
        """Whether a file of this name stands in the channel."""
        ...

    async def profile(self, user: UserId) -> Profile:
        """What somebody is to this workspace."""
        ...

    async def group_members(self, group: str) -> frozenset[UserId]:
        """Who belongs to a user group."""
        ...

    async def user_zone(self, user: UserId) -> str | None:
        """The IANA name of somebody's time zone, as Slack has it."""
        ...

    async def react(self, channel: ChannelId, ts: MessageTs, name: str) -> None:
        """Add an emoji to somebody's message; already there counts as done."""
        ...

    async def join(self, channel: ChannelId) -> None:
        """Join a public channel."""
        ...

    async def user_name(self, user: UserId) -> str:
        """The name people know somebody by."""
        ...

    async def channel_name(self, channel: ChannelId) -> str:
        """A channel's name, without the sign before it."""
        ...


class SlackError(Exception):
    """Slack did not do what it was asked. Never carries a token, a response URL or a message's text."""


class SlackRefused(SlackError):
    """Slack said no.

    Decide by ``meaning``. ``code`` is Slack's own word (https://docs.slack.dev/reference/methods): it is
    logged, stored with the delivery and shown to people, but never compared.
    """

    def __init__(self, meaning: Refusal, code: str, details: tuple[str, ...] = ()) -> None:
        super().__init__(code)
        self.meaning = meaning
        self.code = code
        self.details = details

    @classmethod
    def not_found(cls, what: str) -> SlackRefused:
        """Return the refusal of a request that needs something we know to be missing; Slack is not asked."""
        return cls(Refusal.PERMANENT, f"{what}_not_found")


class SlackThrottled(SlackError):
    """Too many requests; nothing was done."""

    def __init__(self, retry_after_seconds: float) -> None:
        super().__init__(f"retry after {retry_after_seconds:g} s")
        self.retry_after_seconds = retry_after_seconds


class SlackUnreachable(SlackError):
    """The request certainly never arrived; it may be made again."""


class SlackUnclear(SlackError):
    """No clear answer: it may have been done."""
