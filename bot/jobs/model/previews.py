"""The preview of a job's branch: asked for, built by the docs service, and shown at the job's end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from bot.ids import JobNumber, ProjectId, UserId
from bot.masking import masked

MOST_ASKS = 2
"""How often a preview is asked for at most: again only when the answer to the first call was lost."""
GIVEN_UP_AFTER = timedelta(minutes=30)
"""A build that is not over by then is not waited for. Users measured 1.5 to 4 minutes."""
NOT_HERE_FOR = timedelta(days=1)
"""How long a project's previews count as not available after such an answer of the service."""
_MOST_LINES, _LINE_LENGTH = 15, 300
_READ_LENGTH = 1_000
"""Characters of a line that are masked, so that no key is cut where it is still a key."""
_NO_BRANCHES_OF_JOBS = frozenset({"main", "master", "trunk", "gh-pages", "head"})


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


class PreviewsWanted(StrEnum):
    """When the bot asks for previews."""

    PRESS = "press"
    """When somebody presses *Preview*."""
    ALWAYS = "always"
    """At each end with a pull request."""
    OFF = "off"


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
    asks: int = 0
    """Calls that may have begun a build."""
    status_id: str | None = None
    """The service's id of the build."""
    url: str | None = None
    log: str | None = None
    """The end of a failed build's log."""
    due_at: datetime | None = None
    """When the service is asked next; None for never."""

    @property
    def outlasts(self) -> bool:
        """Return whether it stays valid for later iterations: the service rebuilds an existing preview."""
        return self.state in (PreviewState.BUILDING, PreviewState.READY)


def branch_to_show(branch: str | None) -> str | None:
    """Return the branch if a preview of it may be asked for; None unless it is the agent's own.

    The deployment branch has a preview of its own: the site itself.
    """
    name = (branch or "").strip().removeprefix("refs/heads/")
    return name if name and name.lower() not in _NO_BRANCHES_OF_JOBS else None


def end_of(logs: Sequence[str]) -> str | None:
    """Return the end of a build's log, masked, as many whole lines as fit; None for an empty log.

    The caller has removed hidden characters.
    """
    lines = [line.strip()[:_READ_LENGTH] for text in logs for line in text.splitlines() if line.strip()]
    tail = masked("\n".join(lines[-_MOST_LINES:])).splitlines()
    return "\n".join(line[:_LINE_LENGTH] for line in tail) or None
