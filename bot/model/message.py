"""What the bot says, as a value: words, and blocks that draw the same words better."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

Block = dict[str, Any]
"""One block of Slack's Block Kit, as plain JSON."""


@dataclass(frozen=True, slots=True)
class Message:
    """Words and blocks. ``text`` stands alone: notifications and screen readers get nothing else.

    ``plain_blocks`` are posted when Slack refuses ``blocks``; without them the text alone is.
    """

    text: str
    blocks: tuple[Block, ...] = ()
    plain_blocks: tuple[Block, ...] = field(default=())
