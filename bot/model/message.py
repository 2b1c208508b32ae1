"""A Slack message as a value: its text, and blocks that show the same content."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

Block = dict[str, Any]
"""One block of Slack's Block Kit, as plain JSON."""


@dataclass(frozen=True, slots=True)
class Message:
    """Text and blocks of a message.

    ``text`` is complete by itself, because notifications and screen readers show only the text.
    ``plain_blocks`` are posted if Slack refuses ``blocks``; if they are empty, the text is posted alone.
    """

    text: str
    blocks: tuple[Block, ...] = ()
    plain_blocks: tuple[Block, ...] = field(default=())
