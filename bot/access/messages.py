"""The answer to a person who may not use the bot."""

from __future__ import annotations

from collections.abc import Mapping

from bot.access.model import Access
from bot.ids import ChannelId, Message
from bot.messages import blocks as b

_WHY: Mapping[Access, str] = {
    Access.GUEST: "Guests can't use this bot{here}. Ask a teammate to send this for you.",
    Access.BOT: "Bots can't use this bot{here}. Ask a teammate to send this.",
    Access.STRANGER: (
        "People from other organisations can't use this bot{here}. Ask a teammate to send this for you."
    ),
    Access.GONE: "Slack says this account isn't active. Ask a teammate to send this{here} for you.",
    Access.NOT_LISTED: "This bot is set up for some people only. Ask one of them to send this{here} for you.",
    Access.CHANNEL: "I'm not set up for use{here}. Ask in another channel, or ask whoever runs this bot.",
    Access.UNTOLD: "Slack didn't tell me who you are, so I did nothing. Send or press it again in a minute.",
}


def not_allowed(access: Access, channel: ChannelId | None = None) -> Message:
    """Return the answer to a user without access, who asked in ``channel``: the reason and the contact."""
    reason = _WHY[access]
    return b.words(f":no_entry: {reason.format(here=f' in {b.channel(channel)}' if channel else '')}")
