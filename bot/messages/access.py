"""Messages about denied access: to the bot, or to a button."""

from __future__ import annotations

from collections.abc import Mapping

from bot.messages import blocks as b
from bot.messages.problems import Spent
from bot.model import Access, Message, UserId

_WHY: Mapping[Access, str] = {
    Access.GUEST: "Guests cannot use this bot.",
    Access.BOT: "Bots cannot use this bot.",
    Access.STRANGER: "People from other organisations cannot use this bot.",
    Access.GONE: "Slack says that this account is not active.",
    Access.NOT_LISTED: "This bot is set up for some people only, and you are not among them.",
    Access.CHANNEL: "This bot is not set up for this channel.",
    Access.UNTOLD: "Slack could not tell me who you are, so I do nothing.",
}


def not_allowed(access: Access) -> Message:
    """Return the answer to a user without access: the reason, and whom to ask."""
    why = _WHY.get(access, "You cannot use this bot.")
    return b.words(
        f":no_entry: {why} Nothing was started. {Spent.NO.value} If that should be otherwise, "
        "ask a colleague who may use it, or whoever runs this bot."
    )


def not_yours(requester: UserId) -> Message:
    """Return the answer to a user who pressed a button reserved for the requester and admins."""
    return b.words(
        f":no_entry: Only {b.mention(requester)} or an admin of this bot can decide that. Nothing was done."
    )
