"""Recommendations: content gaps of a week that stand out, and the digest that shows them.

Searches: at least ten, of which under a fifth were followed by a click. Pages: at least five votes, most of
them "not helpful". Questions: at least three without an answer. New and growing gaps come first, then the
most frequent, the three topics in turn. Rows with a recent job are excluded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from bot.jobs.model.jobs import JobState, ToReview, TrackedJob
from bot.visitors.content_gaps import GapRows, Source, Topic, Unanswered, group_feedback, group_questions
from bot.visitors.model import Snapshot, Subscription, in_section, is_beyond_chance
from bot.visitors.report import Report

MOST_RECOMMENDED = 5
_LEAST_SEARCHES, _LEAST_VOTES, _LEAST_QUESTIONS = 10, 5, 3
_SEARCHES_A_CLICK = 5
"""Searches are recommended if fewer than one in so many was followed by a click."""


@dataclass(frozen=True, slots=True)
class Recommendation:
    """A content gap with its evidence."""

    topic: Topic
    key: str
    """The key of its row in an answer about the topic."""
    title: str
    """The searched words, the page or the question."""
    events: int
    """Searches, votes against, or questions."""
    of: int = 0
    """All votes, or the searches followed by a click."""
    was: int | None = None
    """The events of the week before; None if unknown."""
    quote: str = ""
    """The newest comment on a page."""

    @property
    def is_new(self) -> bool:
        return self.was == 0

    @property
    def has_grown(self) -> bool:
        """Whether it grew beyond chance since the week before."""
        return 0 < (self.was or 0) < self.events and is_beyond_chance(self.events, self.was or 0)


@dataclass(frozen=True, slots=True)
class Digest:
    """The content of a weekly digest."""

    report: Report
    jobs: Mapping[JobState, int]
    """The jobs that were asked for in the week, by state."""
    median_time: timedelta | None = None
    to_review: ToReview | None = None
    recommendations: Sequence[Recommendation] = ()
    outcomes: Sequence[TrackedJob] = ()
    """The channel's jobs that were asked for at a recommendation since the week began."""
    gap_snapshots: Sequence[Snapshot] = ()
    """The snapshots of content gaps, read or not."""
    subscription: Subscription | None = None
    """None if the digest was requested once."""


def recommend(
    now: Mapping[Source, GapRows],
    was: Mapping[Source, GapRows],
    section: str | None,
    excluded: Collection[str],
) -> list[Recommendation]:
    """Return the recommendations of a week.

    Args:
        now: the rows of the week.
        was: the rows of the week before.
        section: only recommend its pages; None for the whole site.
        excluded: keys of rows with a recent job.
    """
    candidates = [*_from_feedback(now, section), *_from_questions(now, was, section)]
    if not section:  # searches belong to no section
        candidates += _from_searches(now, was)
    rest = [item for item in candidates if item.key not in excluded]
    first = [item for item in rest if item.is_new or item.has_grown]
    return [*_in_turn(first), *_in_turn(item for item in rest if item not in first)][:MOST_RECOMMENDED]


def _from_searches(now: Mapping[Source, GapRows], was: Mapping[Source, GapRows]) -> Iterable[Recommendation]:
    rows, before = now.get(Source.SEARCHES), was.get(Source.SEARCHES)
    hits_before = {search.key: search.hits for search in before.searches} if before else {}
    for search in rows.searches if rows else ():
        clicks, hits = search.clicks, search.hits
        if hits >= _LEAST_SEARCHES and clicks is not None and clicks * _SEARCHES_A_CLICK < hits:
            events_before = _events_before(search.key, hits_before, before)
            yield Recommendation(Topic.SEARCHES, search.key, search.words, hits, clicks, events_before)


def _from_feedback(now: Mapping[Source, GapRows], section: str | None) -> Iterable[Recommendation]:
    votes, comments = now.get(Source.VOTES), now.get(Source.COMMENTS)
    of_people = [comment for comment in comments.comments if not comment.by_agent] if comments else []
    for feedback in group_feedback(votes.votes if votes else (), of_people):
        against, total = (feedback.votes.not_helpful, feedback.votes.total) if feedback.votes else (0, 0)
        if total >= _LEAST_VOTES and against * 2 > total and in_section(feedback.page, section):
            quote = feedback.comments[0].text if feedback.comments else ""
            yield Recommendation(Topic.FEEDBACK, feedback.key, feedback.page, against, total, quote=quote)


def _from_questions(
    now: Mapping[Source, GapRows], was: Mapping[Source, GapRows], section: str | None
) -> Iterable[Recommendation]:
    before = was.get(Source.QUESTIONS)
    if before is not None and before.is_part:
        before = None  # each of its questions may have been asked more often
    count_before = Counter(question.key for question in _asked_in(before, section))
    for group in group_questions(_asked_in(now.get(Source.QUESTIONS), section)):
        if len(group) >= _LEAST_QUESTIONS:
            key = group[0].key
            events_before = _events_before(key, count_before, before)
            yield Recommendation(Topic.QUESTIONS, key, group[0].text, len(group), was=events_before)


def _asked_in(rows: GapRows | None, section: str | None) -> list[Unanswered]:
    return [row for row in (rows.questions if rows else ()) if in_section(row.page or "", section)]


def _events_before(key: str, events: Mapping[str, int], before: GapRows | None) -> int | None:
    """Return the events of the week before; None if unknown: not all rows were read, or no data existed."""
    is_whole = before is not None and not before.is_part and bool(before.events)
    return events.get(key, 0 if is_whole else None)


def _in_turn(items: Iterable[Recommendation]) -> list[Recommendation]:
    """Return the most frequent row of each topic, then the second of each, and so on."""
    ranks: Counter[Topic] = Counter()
    turns: list[tuple[int, Recommendation]] = []
    for recommendation in sorted(items, key=lambda item: (-item.events, item.title)):
        turns.append((ranks[recommendation.topic], recommendation))
        ranks[recommendation.topic] += 1
    return [recommendation for _, recommendation in sorted(turns, key=lambda turn: turn[0])]
