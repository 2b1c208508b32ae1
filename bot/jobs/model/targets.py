"""Targets: the pages of a job or a request, and the subject of the page that it adds."""

from __future__ import annotations

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


def target_of(text: str) -> Target:
    """Return the target of a text."""
    return Target(find_named_pages(text), find_new_subject(summary_of(text)))


class JobTarget(NamedTuple):
    """The target of a job. A named tuple, since each new request is compared with a hundred."""

    number: JobNumber
    requester: UserId
    text: str
    """The beginning of the job's first prompt."""
    pages: frozenset[str]
    """The pages that the job's prompt names, and those that its pull request changes."""
    subject: Subject
    """The subject of the new page that its content gap, or else its prompt, asks for."""
    pull_request_subject: Subject
    """The same of the title of its pull request; empty without one."""

    @classmethod
    def of_job(
        cls,
        number: JobNumber,
        requester: UserId,
        text: str,
        gap_title: str | None,
        pull_request: PullRequestSnapshot | None,
    ) -> JobTarget:
        """Return the target of a job by the beginning of its prompt, its gap and its pull request."""
        pages = find_named_pages(text)
        subject = find_new_subject(summary_of(gap_title or text))
        if pull_request is None:
            return cls(number, requester, text, pages, subject, frozenset())
        changed = [*pull_request.paths, *(line.page for line in pull_request.lines)]
        pages |= {page_at(path) for path in changed}
        title_subject = find_new_subject(summary_of(pull_request.title))
        return cls(number, requester, text, pages, subject, title_subject)

    def shares_page(self, target: Target) -> bool:
        """Return whether the job's prompt names, or its pull request changes, a page of a target."""
        return not self.pages.isdisjoint(target.pages)

    def adds_same_page(self, target: Target) -> bool:
        """Return whether the job adds the new page of a target."""
        if is_same_subject(target.subject, self.subject):
            return True
        return is_same_subject(target.subject, self.pull_request_subject)
