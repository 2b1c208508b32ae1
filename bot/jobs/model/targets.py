"""Targets: the pages of a job or a request, and the subject of the page that it adds."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from bot.ids import JobNumber, UserId
from bot.jobs.model.prompts import find_named_pages, page_at, summary_of
from bot.jobs.model.pull_request import PullRequestSnapshot
from bot.jobs.model.subjects import Subject, find_new_subject, is_same_subject


class Target(NamedTuple):
    """The pages of a text, and its subject. Two requests with one target are duplicates."""

    pages: frozenset[str]
    """The pages that the text names."""
    subject: Subject
    """The subject of the new page that the text asks for; empty for another request."""


@lru_cache(500)
def target_of(text: str) -> Target:
    """Return the target of a text. Each new request is compared with those of all open jobs."""
    return Target(find_named_pages(text), find_new_subject(summary_of(text)))


class JobTarget(NamedTuple):
    """The target of a job. A named tuple, since each new request reads a hundred of them."""

    number: JobNumber
    requester: UserId
    text: str
    """The beginning of the job's first prompt."""
    gap_title: str | None
    """The title of the job's content gap; None for another job."""
    pull_request: PullRequestSnapshot | None

    def shares_page(self, target: Target) -> bool:
        """Return whether the job's prompt names, or its pull request changes, a page of a target."""
        if not target.pages:
            return False
        pages = target_of(self.text).pages
        if self.pull_request is not None:
            changed = [*self.pull_request.paths, *(line.page for line in self.pull_request.lines)]
            pages |= {page_at(path) for path in changed}
        return not pages.isdisjoint(target.pages)

    def adds_same_page(self, target: Target) -> bool:
        """Return whether the job adds the new page of a target."""
        if is_same_subject(target.subject, target_of(self.gap_title or self.text).subject):
            return True
        pull_request = self.pull_request
        if pull_request is None:
            return False
        return is_same_subject(target.subject, target_of(pull_request.title).subject)
