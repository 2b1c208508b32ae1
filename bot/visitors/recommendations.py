"""The recommendations of a digest: one for each subject without an open job."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime

from bot.context import Context
from bot.ids import ProjectId, is_direct_message
from bot.jobs.duplicates import is_about_any, list_open_jobs
from bot.jobs.model.jobs import TrackedJob
from bot.jobs.model.subjects import find_page_subject, find_subject, is_same_subject
from bot.jobs.store.jobs import Jobs
from bot.ports import SlackError
from bot.store import Transaction
from bot.visitors.hooks import DigestHooks
from bot.visitors.messages.gap_rows import gap_recommendations, quote_more
from bot.visitors.model.digests import Recommendation
from bot.visitors.model.periods import day_start
from bot.visitors.model.questions import Numbers, Question

MAX_RECOMMENDED = 3
_MAX_OTHERS = 5
"""Recommendations that are named in the prompt of another with the same subject."""


async def refresh_recommendations(context: Context, project: ProjectId) -> None:
    for hooks in context.hooks_of(DigestHooks):
        await hooks.refresh_privacy(context, project)


async def note_readers(context: Context, question: Question) -> Question:
    """Return a question with the flag whether another organisation reads its channel.

    A channel that Slack does not describe counts as shared.
    """
    is_shared = not is_direct_message(question.channel)
    if is_shared:
        with suppress(SlackError):
            is_shared = await context.messenger.is_shared_outside(question.channel)
    return replace(question, query=replace(question.query, is_shared_outside=is_shared))


def list_recommendations(
    context: Context, tx: Transaction, question: Question, numbers: Numbers
) -> list[Recommendation]:
    """Return all recommendations of a digest, one for each subject, the largest evidence first.

    The service counts the questions that the bot asks for people, so of two with the same key one
    counts.
    """
    zone = context.settings.analytics_zone
    since = day_start(question.query.period.first, zone)
    before = day_start(question.query.period.end, zone)
    # Another organisation may read neither readers' words nor words of other channels.
    own_only = question.query.is_shared_outside
    candidates = [] if own_only else list(gap_recommendations(numbers))
    if not question.query.section:
        for hooks in context.hooks_of(DigestHooks):
            candidates += hooks.list_recommendations(
                tx, question.project, question.channel, since, before, own_only
            )
    largest: dict[str, Recommendation] = {}
    for item in sorted(candidates, key=lambda item: (-item.events, item.title)):
        largest.setdefault(item.key, item)
    return [_join(group) for group in _group_ideas(largest.values())]


def _group_ideas(items: Iterable[Recommendation]) -> list[list[Recommendation]]:
    """Return the recommendations of each subject, the largest first. Two pages are two subjects."""
    groups = list[tuple[frozenset[str], list[Recommendation]]]()
    for item in items:
        subject = find_page_subject(item.title) if item.is_page else find_subject(item.title)
        for known, group in groups:
            is_second_page = item.is_page and any(other.is_page for other in group)
            if is_same_subject(known, subject) and not is_second_page:
                group.append(item)
                break
        else:
            groups.append((subject, [item]))
    return [group for _, group in groups]


def _join(group: Sequence[Recommendation]) -> Recommendation:
    """Return one recommendation of a subject, with the evidence of all.

    The page leads, if there is one, because the readers' need is to be met there.
    """
    first = next((item for item in group if item.is_page), group[0])
    others = [item for item in group if item is not first]
    if not others:
        return first
    evidences = [first.evidence, *(item.added_evidence or item.evidence for item in others)]
    quotes = [(item.title, item.added_evidence or item.evidence) for item in others]
    return replace(
        first,
        evidence=" · ".join(evidences),
        events=group[0].events,
        prompt=quote_more(first.prompt, quotes[:_MAX_OTHERS]),
        merged_keys=(*first.merged_keys, *(key for item in others for key in item.keys)),
    )


def list_more(
    context: Context, tx: Transaction, question: Question, numbers: Numbers
) -> Sequence[Recommendation]:
    """Return the recommendations for which the digest has no room."""
    now = context.clock()
    recent = Jobs(tx).list_from_gaps(question.project, now)
    candidates = list_recommendations(context, tx, question, numbers)
    free = drop_taken(tx, question, candidates, recent, now)
    recommended = question.query.recommended
    return [item for item in free if not set(item.keys) & set(recommended)]


def drop_taken(
    tx: Transaction,
    question: Question,
    candidates: Sequence[Recommendation],
    recent: Sequence[TrackedJob],
    now: datetime,
) -> list[Recommendation]:
    """Return the recommendations without a job, and without an open job about the same subject."""
    keys = {job.gap.key for job in recent if job.gap and not job.can_run_again}
    taken = [text for _, texts in list_open_jobs(tx, question.project, now) for text in texts]
    return [
        item
        for item in candidates
        if keys.isdisjoint(item.keys) and not is_about_any(item.title, taken)
    ]
