"""What a refusal by Slack means for the bot."""

from __future__ import annotations

from enum import StrEnum


class Refusal(StrEnum):
    """The meaning of a refusal. ``bot/slack/errors.py`` maps Slack's error codes to it."""

    BLOCKS = "blocks"
    """Slack refused the blocks; simpler blocks with the same text may be accepted."""
    TOKEN = "token"  # noqa: S105
    """Slack refused the token. All calls fail until an operator replaces it."""
    SCOPE = "scope"
    """The token lacks a scope. An operator must grant it; a retry does not help."""
    NOT_A_MEMBER = "not_a_member"
    """The bot is not in the channel. It can join a public one."""
    NOT_VISIBLE = "not_visible"
    """The bot cannot see the channel: it is private and the bot is not in it, or it does not exist."""
    ARCHIVED = "archived"
    """The channel is archived."""
    RESTRICTED = "restricted"
    """The workspace does not let the bot post in the channel."""
    PASSING = "passing"
    """A temporary state of Slack; a retry may succeed."""
    PERMANENT = "permanent"
    """Any other refusal; a retry would be refused again."""
    BETWEEN_PEOPLE = "between_people"
    """A direct message between two people, in which no bot can be."""

    @property
    def is_outside(self) -> bool:
        """Whether the bot must be invited to the channel."""
        return self in (Refusal.NOT_A_MEMBER, Refusal.NOT_VISIBLE)

    @property
    def needs_operator(self) -> bool:
        """Whether the bot's token is the cause, so that every channel is affected."""
        return self in (Refusal.TOKEN, Refusal.SCOPE)
