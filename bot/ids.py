"""A type for each kind of id, messages, and refusals.

mypy refuses an id of one kind in place of another.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NewType

ProjectId = NewType("ProjectId", str)
"""The docs service's id of a project."""

JobNumber = NewType("JobNumber", int)
"""The bot's number of a tracked job, which people type and read as ``#42``."""

ServiceJobId = NewType("ServiceJobId", str)
"""The docs service's id of a job. Known once the service has accepted the first prompt."""

PromptId = NewType("PromptId", int)
DeliveryId = NewType("DeliveryId", str)
"""Id of an outbox row. It is part of the post's metadata, so that the post can be found again."""

UserId = NewType("UserId", str)

ChannelId = NewType("ChannelId", str)


def is_direct_message(channel: ChannelId) -> bool:
    """Return whether a channel is a direct message: only their ids begin with D.

    https://docs.slack.dev/apis/web-api/using-the-conversations-api
    """
    return channel.startswith("D")


MessageTs = NewType("MessageTs", str)
"""Slack's id of a message within its channel: a timestamp in seconds with six decimals, as text."""

RequestKey = NewType("RequestKey", str)
"""Idempotency key of a request from Slack: the same when Slack delivers the request again."""

ReadingId = NewType("ReadingId", int)
QuestionId = NewType("QuestionId", int)
SubscriptionId = NewType("SubscriptionId", int)


def can_be_id(number: int) -> bool:
    """Return whether a number is in the range of an id column.

    Drivers raise errors for others.
    """
    return 0 < number < 2**31


Block = dict[str, Any]
"""One block of Slack's Block Kit, as plain JSON."""


@dataclass(frozen=True, slots=True)
class Message:
    """Text and blocks of a message."""

    text: str
    """It is complete by itself, because notifications and screen readers show only the text."""
    blocks: tuple[Block, ...] = ()
    plain_blocks: tuple[Block, ...] = ()
    """Posted if Slack refuses ``blocks``. If they are empty, the text is posted alone."""


class Refusal(StrEnum):
    """The meaning of a refusal. ``bot/slack/client.py`` maps Slack's error codes to it."""

    BLOCKS = "blocks"
    """Slack refused the blocks; simpler blocks with the same text may be accepted."""
    TOKEN = "token"  # noqa: S105
    """Slack refused the token. All calls fail until an operator replaces it."""
    SCOPE = "scope"
    """The token lacks a scope. An operator must grant it; a retry does not help."""
    NOT_A_MEMBER = "not_a_member"
    """The bot is not in the channel. It can join a public one."""
    NOT_VISIBLE = "not_visible"
    """The bot cannot see the channel: it is private and the bot is not in it, or it does not
    exist.
    """
    ARCHIVED = "archived"
    """The channel is archived."""
    RESTRICTED = "restricted"
    """The workspace does not let the bot post in the channel."""
    THREAD_GONE = "thread_gone"
    """The message that began the thread was deleted."""
    PASSING = "passing"
    """A temporary state of Slack; a retry may succeed."""
    PERMANENT = "permanent"
    """Any other refusal; a retry would be refused again."""
    BETWEEN_PEOPLE = "between_people"
    """A direct message between two people, in which no bot can be."""

    @property
    def needs_operator(self) -> bool:
        """Whether the bot's token is the cause.

        Every channel is affected then.
        """
        return self in (Refusal.TOKEN, Refusal.SCOPE)
