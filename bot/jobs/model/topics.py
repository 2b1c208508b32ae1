"""What a job is about, to recognise a request for the same: its pages, and the page that it adds."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from bot.ids import JobNumber, UserId
from bot.jobs.model.prompts import page_at, pages_named, subject_of
from bot.jobs.model.pull_request import PullRequestSnapshot
from bot.jobs.model.subjects import Subject, find_new_subject, is_same_subject


class Topic(NamedTuple):
    """What a text is about."""

    pages: frozenset[str]
    """The pages that it names."""
    subject: Subject
    """The subject of the new page that it asks for; empty for another request."""


@lru_cache(500)
def topic_of(text: str) -> Topic:
    """Return the topic of a text. Each new request is compared with those of all open jobs."""
    return Topic(pages_named(text), find_new_subject(subject_of(text)))


class JobTopic(NamedTuple):
    """What a job is about. A named tuple, since each new request reads a hundred of them."""

    number: JobNumber
    requester: UserId
    text: str
    """The beginning of its first prompt."""
    gap_title: str | None
    """The title of the content gap for which it was asked; None for another job."""
    pull_request: PullRequestSnapshot | None

    def has_page_of(self, topic: Topic) -> bool:
        """Return whether the job's prompt names, or its pull request changes, a page of a text."""
        if not topic.pages:
            return False
        pages = topic_of(self.text).pages
        if self.pull_request is not None:
            changed = [*self.pull_request.paths, *(line.page for line in self.pull_request.lines)]
            pages |= {page_at(path) for path in changed}
        return not pages.isdisjoint(topic.pages)

    def has_subject_of(self, topic: Topic) -> bool:
        """Return whether the job also adds the new page that a text asks for."""
        if is_same_subject(topic.subject, topic_of(self.gap_title or self.text).subject):
            return True
        pull_request = self.pull_request
        if pull_request is None:
            return False
        return is_same_subject(topic.subject, topic_of(pull_request.title).subject)
