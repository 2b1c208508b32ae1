"""What Slack's refusals mean for what is to be said."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TypeVar

from bot.model import Refusal
from bot.work.ports import SlackRefused, SlackUnclear

Found = TypeVar("Found")


async def looked(look: Awaitable[Found]) -> Found:
    """What a look for an earlier try found.

    A look that is refused as if for its blocks says nothing of the blocks that were sent, which may well
    stand there. Raises `SlackUnclear` then, so that nothing is said again without a look.
    """
    try:
        return await look
    except SlackRefused as refusal:
        if refusal.meaning is Refusal.BLOCKS:
            raise SlackUnclear(f"the look was refused: {refusal.code}") from None
        raise
