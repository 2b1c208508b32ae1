"""The decision about a request, and whether Slack is called for it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from bot.model import Access, UserId


class AskSlack(Enum):
    """Whether Slack is called about access that the database does not tell."""

    NEVER = "never"
    """Leave it undecided. Required before an acknowledgement, which Slack expects within 3 s."""
    TRY = "try"
    """Call Slack, and leave it undecided if Slack cannot tell at this moment."""
    FINAL = "final"
    """Call Slack, and deny access if Slack cannot tell at this moment."""


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether somebody may do what they ask for, and if not, why.

    ``access``: their access to the bot; None if only Slack can tell.
    ``sees_job``: whether they may see and steer the job; None if only Slack can tell.
    ``decided_by``: who sent the prompt and decides about it, if this person may not; otherwise None.
    """

    access: Access | None
    sees_job: bool | None = True
    decided_by: UserId | None = None

    @property
    def may(self) -> bool | None:
        """Return whether they may do all of it; None if only Slack can tell."""
        if self.denied is not None or self.sees_job is False or self.decided_by is not None:
            return False
        return None if self.access is None or self.sees_job is None else True

    @property
    def denied(self) -> Access | None:
        """Return why they may not use the bot; None if they may, or if only Slack can tell."""
        return None if self.access is None or self.access.may else self.access
