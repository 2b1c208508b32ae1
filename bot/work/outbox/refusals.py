"""What Slack's refusals mean for what is to be said."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TypeVar

from bot.work.ports import SlackRefused, SlackUnclear

Found = TypeVar("Found")

BLOCKS_REFUSED = frozenset(
    {
        "invalid_blocks",
        "invalid_blocks_format",
        "msg_blocks_too_long",
        "msg_blocks_too_many",
        "block_mismatch",
    }
)
"""The words in plain blocks may still pass."""
PASSING = frozenset(
    {"internal_error", "fatal_error", "service_unavailable", "request_timeout", "team_added_to_org"}
)
"""Slack's own troubles; every other refusal would only be repeated."""

TOKEN_REFUSED = frozenset(
    {"invalid_auth", "not_authed", "token_revoked", "token_expired", "account_inactive"}
)
"""Whoever runs the bot gives it another token, and then all of it can be said."""


async def looked(look: Awaitable[Found]) -> Found:
    """What a look for an earlier try found.

    A look that is refused as if for its blocks says nothing of the blocks that were sent, which may well
    stand there. Raises `SlackUnclear` then, so that nothing is said again without a look.
    """
    try:
        return await look
    except SlackRefused as refusal:
        if refusal.code in BLOCKS_REFUSED:
            raise SlackUnclear(f"the look was refused: {refusal.code}") from None
        raise
