"""The preview of a job's branch, for the end of one of its iterations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from bot.ids import JobNumber, ProjectId, UserId
from bot.masking import masked

MAX_BUILD_CALLS = 2
"""How often a preview is asked for at most.

It is asked for again only when the answer to the first call was lost.
"""
GIVEN_UP_AFTER = timedelta(minutes=30)
"""A build that is not over by then is not waited for. Users measured 1.5 to 4 minutes."""
NOT_HERE_FOR = timedelta(days=1)
"""How long a project's previews count as not available after such an answer of the service."""
_MAX_LINES = 15
_LINE_LENGTH = 300
_READ_LENGTH = 1_000
"""Characters of a line that are masked, so that no key is cut where it is still a key."""


class PreviewState(StrEnum):
    """How far a preview is."""

    ASKED = "asked"
    """The service is yet to be asked."""
    BUILDING = "building"
    READY = "ready"
    BROKEN = "broken"
    """Its build has failed."""
    MISSING = "missing"
    """There will be none: the service has refused it, or did not report on its build."""

    @property
    def is_open(self) -> bool:
        """Return whether the preview may still change."""
        return self in (PreviewState.ASKED, PreviewState.BUILDING)


@dataclass(frozen=True, slots=True)
class Preview:
    """A preview of the branch of a job, for the end of one of its iterations."""

    job: JobNumber
    project: ProjectId
    iteration: int
    requester: UserId
    branch: str
    state: PreviewState
    asked_at: datetime
    build_calls: int = 0
    """Calls that may have begun a build."""
    status_id: str | None = None
    """The service's id of the build."""
    url: str | None = None
    log: str | None = None
    """The end of a failed build's log."""
    due_at: datetime | None = None
    """When the service is asked next; None for never."""
    is_requested: bool = False
    """Whether its requester is told when it is built: they have asked for it."""

    @property
    def is_put_off(self) -> bool:
        """Return whether the service has put the build off."""
        return (
            self.state is PreviewState.ASKED
            and self.due_at is not None
            and self.due_at > self.asked_at
        )

    @property
    def outlasts(self) -> bool:
        """Return whether the preview stays valid for later iterations.

        The service rebuilds an existing preview.
        """
        return self.state in (PreviewState.BUILDING, PreviewState.READY)


def end_of(logs: Sequence[str]) -> str | None:
    """Return the end of a build's log, masked, as many whole lines as fit; None for an empty log.

    The caller has removed hidden characters.
    """
    lines: list[str] = []
    for text in logs:
        lines += [line.strip()[:_READ_LENGTH] for line in text.splitlines() if line.strip()]
    tail = masked("\n".join(lines[-_MAX_LINES:])).splitlines()
    return "\n".join(line[:_LINE_LENGTH] for line in tail) or None
