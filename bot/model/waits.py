"""A prompt, a poll or a message that waits."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from bot.model.ids import JobNumber
from bot.model.jobs import QueueWhy


class Waiting(StrEnum):
    """The kind of work that waits."""

    PROMPT = "prompt"
    POLL = "poll"
    MESSAGE = "message"
    """A delivery that notifies somebody; not an edit or a reaction."""


@dataclass(frozen=True, slots=True)
class Wait:
    """Work that waits."""

    what: Waiting
    why: QueueWhy | None
    """None if it waits for its time, for earlier work, or for a free worker."""
    since: datetime
    """The time of the request; of a poll, its due time."""
    until: datetime | None = None
    """None if the time is unknown or has passed."""
    job: JobNumber | None = None
    before: int = 0
    """How many prompts go first, if it waits for the hourly limit."""
    stuck_since: datetime | None = None
    """The time from which a worker could claim it, or has held it; None if no worker can."""
