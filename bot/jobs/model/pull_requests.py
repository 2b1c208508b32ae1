"""The pull request of a job on a host that the bot can poll, and the preview of its branch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple

from bot.ids import JobNumber, ProjectId, UserId
from bot.jobs.model.changes import ChangedLine, ChangedPage
from bot.masking import masked

_OFTEN_FOR = timedelta(days=1)
_SELDOM_FOR = timedelta(days=30)
"""A pull request is polled seldom until then, and afterwards never."""
_SELDOM = 6
"""How many times longer a pause is after the first day."""


class Size(NamedTuple):
    """How much a pull request changes, in lines and in files."""

    additions: int
    deletions: int
    files: int


@dataclass(frozen=True, slots=True)
class PullRequestSnapshot:
    """A pull request as of its last poll."""

    title: str
    size: Size
    is_draft: bool
    iteration: int
    """The job's iteration whose end it belongs to."""
    reported_at: datetime
    """When the job had it first."""
    is_merged: bool = False
    ended_at: datetime | None = None
    """When it was merged or closed; None while it is open."""
    merged_by: str | None = None
    """A login of the host."""
    as_of: datetime | None = None
    """When it was polled, if the next poll is late, fails for long or never comes; else None."""
    branch: str | None = None
    head: str | None = None
    """The newest commit."""
    made: Size | None = None
    """The size of the iteration's change; None where its commits could not be compared."""
    lines: tuple[ChangedLine, ...] = ()
    """The lines that the iteration changed, where they are few."""
    paths: tuple[str, ...] = ()
    """The first files that it changes, if they were read."""
    pages: tuple[ChangedPage, ...] = ()
    """The pages that the iteration changed, if its files were read."""

    @property
    def titles(self) -> dict[str, str]:
        """Return the titles of changed pages by their paths."""
        return {page.path: page.title for page in self.pages}


@dataclass(frozen=True, slots=True)
class WatchedPullRequest:
    """The pull request of a job, and its state at the last poll."""

    job: JobNumber
    link: str
    iteration: int
    """The newest iteration that has ended with it."""
    iteration_ended_at: datetime
    reported_at: datetime
    """The time of the first end with it."""
    snapshot: PullRequestSnapshot | None = None
    etag: str = ""
    """The host's id of its last answer."""
    polled_at: datetime | None = None
    """When the host last answered; None for never."""
    failed_polls: int = 0
    """Polls without an answer since then."""
    poll_at: datetime | None = None
    """When it is polled next; None for never."""

    def next_poll(self, now: datetime, pause_seconds: float) -> datetime | None:
        """Return the next poll of an open one; None for never.

        The pause is that of the first day.
        """
        age = now - self.iteration_ended_at
        if age >= _SELDOM_FOR:
            return None
        if age >= _OFTEN_FOR:
            pause_seconds *= _SELDOM
        return now + timedelta(seconds=pause_seconds)


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
