"""The recommendations of a digest, without those whose subject an open job has."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from bot.context import Context
from bot.ids import ChannelId, ProjectId, Recommendation
from bot.jobs.model.jobs import TrackedJob
from bot.jobs.store.jobs import Jobs
from bot.messages.plain_text import one_line
from bot.store import Transaction
from bot.visitors.messages.gap_rows import gap_recommendations
from bot.visitors.model.periods import day_start
from bot.visitors.model.questions import Numbers, Question

MAX_RECOMMENDED = 3
_TEXT_LENGTH = 300
"""A long prompt names many subjects besides its own, which stands at its beginning."""
_WORD = re.compile(r"[^\W_]+")


_ENDING = re.compile(r"(?<=...)(?:ing|ies|ed|es|s|e|y)$")
_COMMON_WORDS = """
    a an and are at can do docs does for from how i in is it me my not of on or our page the there to use we
    what when where which who why with you your
"""


_MAX_JOBS = 1_000


@dataclass(frozen=True, slots=True)
class RecommendationSource:
    """A feature's recommendations for digests."""

    list: Callable[
        [Transaction, ProjectId, ChannelId, datetime, datetime], Sequence[Recommendation]
    ]
    """Returns those about a project, for a channel, from a time until before another."""
    hidden: Callable[[Transaction, ProjectId, ChannelId], Collection[str]]
    """Returns the keys of a project's questions that a channel may not see."""
    refresh: Callable[[Context, ProjectId], Awaitable[None]]
    """Asks Slack, before they are listed, which channels are public now."""


async def refresh_recommendations(context: Context, project: ProjectId) -> None:
    for source in context.hooks_of(RecommendationSource):
        await source.refresh(context, project)


def list_recommendations(
    context: Context, tx: Transaction, question: Question, numbers: Numbers
) -> list[Recommendation]:
    """Return all recommendations of a digest, the largest evidence first.

    The service counts the questions that the bot asks for people, so of two with the same key one counts.
    """
    week, zone, channel = question.query.period, context.settings.analytics_zone, question.channel
    times = day_start(week.first, zone), day_start(week.end, zone)
    sources = context.hooks_of(RecommendationSource)
    further = [
        item for source in sources for item in source.list(tx, question.project, channel, *times)
    ]
    candidates = [*gap_recommendations(numbers), *(() if question.query.section else further)]
    largest: dict[str, Recommendation] = {}
    for item in sorted(candidates, key=lambda item: (-item.events, item.title)):
        largest.setdefault(item.key, item)
    return list(largest.values())


def list_more(
    context: Context, tx: Transaction, question: Question, numbers: Numbers
) -> Sequence[Recommendation]:
    """Return the recommendations for which the digest has no room."""
    recent = Jobs(tx).about_gaps(question.project, context.clock())
    free = drop_taken(tx, question, list_recommendations(context, tx, question, numbers), recent)
    return [item for item in free if item.key not in question.query.recommended]


def drop_taken(
    tx: Transaction,
    question: Question,
    candidates: Sequence[Recommendation],
    recent: Sequence[TrackedJob],
) -> list[Recommendation]:
    """Return the recommendations without those that a job was asked for, or whose subject an open job has."""
    keys = {job.about.key for job in recent if job.about and not job.can_run_again}
    subjects: list[set[str]] = []
    for job in Jobs(tx).list_unreviewed(question.project, _MAX_JOBS):
        titles = [job.pull_request.title] if job.pull_request else []
        titles.append(job.about.title if job.about else one_line(job.text, _TEXT_LENGTH))
        subjects += map(_stem_words, titles)
    free = (item for item in candidates if item.key not in keys)
    return [
        item for item in free if not any(_stem_words(item.title, "-") <= text for text in subjects)
    ]


def _stem_words(text: str, if_none: str = "") -> set[str]:
    """Return the stems of the words that distinguish a text; ``if_none`` without any."""
    distinct = set(_WORD.findall(text.casefold())) - set(_COMMON_WORDS.split())
    return {_ENDING.sub("", word) for word in distinct} or {if_none}
