"""What is decided about a request, and how far Slack is asked for it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from bot.model import Access, UserId


class AskSlack(Enum):
    """What is done about what our own rows do not tell."""

    NEVER = "never"
    """It stays undecided. The only choice before a request is acknowledged, which Slack awaits within 3 s."""
    TRY = "try"
    """Slack is asked; it stays undecided when Slack cannot tell at this moment."""
    FINAL = "final"
    """Slack is asked; what it cannot tell at this moment is a no."""


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether somebody may do something, and if not, why.

    ``access``: what they are to the bot; None when only Slack can tell.
    ``sees_job``: whether they may see and steer the job; None when only Slack can tell.
    ``decided_by``: only this person, who asked, or an admin may decide about the prompt.
    """

    access: Access | None
    sees_job: bool | None = True
    decided_by: UserId | None = None

    @property
    def may(self) -> bool | None:
        """Whether they may do all of it; None while only Slack can tell."""
        if self.denied is not None or self.sees_job is False or self.decided_by is not None:
            return False
        return None if self.access is None or self.sees_job is None else True

    @property
    def denied(self) -> Access | None:
        """Why they may not use the bot; None when they may, or when only Slack can tell."""
        return None if self.access is None or self.access.may else self.access
