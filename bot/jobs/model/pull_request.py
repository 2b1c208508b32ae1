"""The snapshot of a job's pull request: its state, and its changes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple


class ChangedLine(NamedTuple):
    """A line of a page before and after.

    An added line has no old text, a removed one no new text.
    """

    page: str
    old: str
    new: str


class ChangedPage(NamedTuple):
    """A page that a pull request changes, as the end of an iteration names it."""

    path: str
    title: str
    is_new: bool = False
    headings: tuple[str, ...] = ()
    """The headings of a new page's sections: the first ones, one more than an end shows."""
    length: int = 0
    """The lines of a new page."""


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
    """The time of the last poll, if the next one is late, fails for long or is not due; else
    None."""
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
