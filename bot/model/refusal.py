"""What it means for us when Slack refuses a request."""

from __future__ import annotations

from enum import StrEnum


class Refusal(StrEnum):
    """The meaning of a refusal. The codes of Slack behind each are listed in ``bot/slack/errors.py`` only."""

    BLOCKS = "blocks"
    """The blocks are not accepted; the same words in plain blocks may be."""
    TOKEN = "token"  # noqa: S105
    """The token is not accepted. Everything can be said once an operator has replaced it."""
    SCOPE = "scope"
    """The token lacks a right. An operator must grant it; waiting does not help."""
    NOT_A_MEMBER = "not_a_member"
    """The bot is not in the channel. It can join a public one."""
    NOT_VISIBLE = "not_visible"
    """The bot cannot see the channel: it is private and the bot is not in it, or it does not exist."""
    ARCHIVED = "archived"
    """The channel is archived."""
    RESTRICTED = "restricted"
    """The workspace does not let the bot post in the channel."""
    PASSING = "passing"
    """A temporary state of Slack; the same request may pass a little later."""
    PERMANENT = "permanent"
    """Any other refusal: the same request would be refused again."""

    @property
    def is_outside(self) -> bool:
        """Whether the bot has to be invited to the channel."""
        return self in (Refusal.NOT_A_MEMBER, Refusal.NOT_VISIBLE)

    @property
    def needs_operator(self) -> bool:
        """Whether the fault is in the bot's token, so that it concerns every channel."""
        return self in (Refusal.TOKEN, Refusal.SCOPE)
