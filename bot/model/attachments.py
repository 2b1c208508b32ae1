"""What goes along with a prompt: the earlier messages of the thread in which it was asked, and files."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class TakeThread(StrEnum):
    """When the thread's earlier messages go along with a prompt."""

    IF_PUBLIC = "if_public"
    """In public channels."""
    ASKED = "asked"
    """Everywhere, since the person asked for it."""
    GIVEN = "given"
    """As the person left them in a form."""


class NotTaken(StrEnum):
    """Why no earlier message went along, although some might have."""

    UNREAD = "unread"
    """Slack did not return the thread."""
    OFF = "off"
    """The bot is set up so, and the person asked for them."""


class SharedFile(NamedTuple):
    """A file in a message. ``url``: where Slack returns its content; None where it does not."""

    name: str
    size_bytes: int
    is_text: bool
    url: str | None = None


class Earlier(NamedTuple):
    """How many earlier messages went along with a job's newest prompt, and how many were left out."""

    taken: int = 0
    left_out: int = 0
    not_taken: NotTaken | None = None
