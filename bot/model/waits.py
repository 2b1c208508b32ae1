"""Why a prompt, a poll or a message waits, and until when."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from bot.model.ids import JobNumber


class Waiting(StrEnum):
    """What waits."""

    PROMPT = "prompt"
    POLL = "poll"
    MESSAGE = "message"


class WaitWhy(StrEnum):
    """What something waits for."""

    BOT = "bot"
    """Its own time, its turn in the job or thread, or a process that works on it."""
    PERSON = "person"
    """Somebody decides about an unconfirmed prompt."""
    SERVICE = "service"
    """The project has a back-off, because the docs service fails or asks to wait."""
    KEY = "key"
    """The docs service refuses the key."""
    LIMIT = "limit"
    """The hourly limit on jobs."""
    SHARE = "share"
    """Whoever asked has had their share of the hourly limit."""


@dataclass(frozen=True, slots=True)
class Wait:
    """Something that waits."""

    what: Waiting
    why: WaitWhy
    since: datetime
    """When it was asked for; of a poll: when it is due."""
    due_at: datetime
    """When it was to be carried out."""
    until: datetime | None = None
    cause: str | None = None
    """For operators: the error that led to a back-off."""
    job: JobNumber | None = None
    is_due: bool = False
    """Whether a worker can claim it now."""

    @property
    def stuck_since(self) -> datetime | None:
        """Return when it was due if it waits for nothing but a worker; otherwise None."""
        return max(self.since, self.due_at) if self.is_due else None
