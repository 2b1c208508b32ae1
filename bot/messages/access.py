"""Messages about denied access: to the bot, or to a button."""

from __future__ import annotations

from collections.abc import Mapping

from bot.messages import blocks as b
from bot.model.access import Access
from bot.model.ids import UserId
from bot.model.message import Message

_WHY: Mapping[Access, str] = {
    Access.GUEST: "Guests can't start jobs. Ask a teammate to send this for you.",
    Access.BOT: "Bots can't start jobs. Ask a teammate to send this.",
    Access.STRANGER: "People from other organisations can't start jobs. Ask a teammate to send this for you.",
    Access.GONE: "Slack says this account isn't active. Ask a teammate to send this for you.",
    Access.NOT_LISTED: "This bot is set up for some people only. Ask one of them to send this for you.",
    Access.CHANNEL: "This bot isn't set up for this channel. Ask in another one, or ask whoever runs it.",
    Access.UNTOLD: "Slack couldn't tell me who you are, so I did nothing. Try again in a minute.",
}


def not_allowed(access: Access) -> Message:
    """Return the answer to a user without access: the reason, and whom to ask."""
    why = _WHY.get(access, "You can't use this bot. Ask whoever runs it.")
    return b.words(f":no_entry: {why}")


def not_yours(requester: UserId) -> Message:
    """Return the answer to a user who pressed a button reserved for the requester and admins."""
    return b.words(f":no_entry: Only {b.mention(requester)} or an admin of this bot can decide that.")
