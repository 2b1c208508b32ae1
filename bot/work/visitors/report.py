"""Build reports from snapshots, and tell the weekly digest.

No numbers are added: unique visitors can only be counted by the service.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import takewhile
from statistics import median

import structlog

from bot.context import Context, WorkerContext
from bot.ids import ChannelId, ProjectId
from bot.messages import digests as say
from bot.messages.digests import digest as digest_message
from bot.messages.visitors import NO_CHART_BEGINS, NO_CHART_BUDGET, NO_CHART_READ
from bot.model.jobs import JobState, TrackedJob
from bot.model.misses import SOURCES, Topic
from bot.model.questions import (
    Comparison,
    MissesReport,
    Movements,
    Numbers,
    Question,
    Report,
    Subscription,
    SubscriptionState,
    Suggestion,
    SuggestionReason,
    ToReview,
    VisitorsQuery,
    WeeklyReport,
    WorkDone,
)
from bot.model.visitors import Analytics, Counts, Period, ReadingProblem, Snapshot, SnapshotState, day_start
from bot.model.worth import MOST, Worth, chosen, worth_doing
from bot.outbox.model import NewDelivery
from bot.outbox.store import Outbox
from bot.store import Transaction
from bot.store.channels import Channels
from bot.store.jobs import Jobs
from bot.store.questions import Subscriptions
from bot.store.snapshots import Pages, Snapshots

log = structlog.get_logger(__name__)
_NAMED = 5
"""Maximum pages in each list of movements."""


def build_report(context: Context, tx: Transaction, query: VisitorsQuery, numbers: Numbers) -> Report:
    """Return the report on a period. Raises LookupError if it has no numbers yet."""
    now, was, analytics = numbers.now, numbers.was, context.analytics
    if now.totals is None or now.taken_at is None:
        raise LookupError(f"snapshot {now.id} has not been read")
    begun = _has_begun(tx, query, numbers)
    comparison = compare(query, now.taken_at, was, begun, analytics)
    compared = was if comparison is Comparison.FAIR else None
    before = was.totals if was else None
    points, no_chart = _points(analytics.chart_parts(query.period, now.taken_at), numbers.chart)
    empty = None
    if points and not begun:
        empty = _without_visits(points)
        is_new = before is not None and not before.total
        left = points[points_too_early([counts for _, counts in points], is_new=is_new) :]
        points, no_chart = (left, None) if len(left) > 1 else ((), NO_CHART_BEGINS)
    return Report(
        query=query,
        now=now,
        was=was,
        site=now.totals,
        before=before,
        pages=Pages(tx).count(now.id, query.section),
        top=tuple(
            Pages(tx).top(now.id, compared.id if compared else None, query.section, query.sort, query.top)
        ),
        movements=_movements(tx, query, now, compared, now.totals),
        chart=points,
        no_chart=no_chart,
        budget=numbers.budget,
        zone=analytics.zone.key,
        is_open=not query.period.is_over(now.taken_at, analytics.zone),
        comparison=comparison,
        taken_at=now.taken_at,
        empty=empty,
    )


def misses_report(
    context: Context, question: Question, numbers: Numbers, topic: Topic | None = None
) -> MissesReport:
    """Return what an answer about what readers miss is made of. ``topic``: of a digest's week."""
    query, windows = question.query, numbers.windows
    if topic is not None:
        query = replace(query, topic=topic)
        windows = tuple(each for each in numbers.missed if each.source in SOURCES[topic])
        windows = tuple(each for each in windows if each.period == query.period)
    read_at = min((each.taken_at for each in windows if each.taken_at), default=context.clock())
    is_open = not query.period.is_over(read_at, context.analytics.zone)
    return MissesReport(query, windows, is_open, read_at)


def _has_begun(tx: Transaction, query: VisitorsQuery, numbers: Numbers) -> bool:
    """Return whether the service's data is known to begin before all that is shown."""
    earliest = min(query.period, query.compared or query.period)
    read_at = min(each.taken_at for each in numbers.windows if each.taken_at is not None)
    return Snapshots(tx).has_visits(numbers.now.project, earliest.lead().end, read_at)


def compare(
    query: VisitorsQuery, taken_at: datetime, was: Snapshot | None, begun: bool, analytics: Analytics
) -> Comparison:
    """Return whether a period, read at ``taken_at``, is compared with ``was``.

    ``begun``: see `_has_begun`.
    """
    if was is None or was.totals is None or was.taken_at is None:
        return Comparison.NONE
    if not was.totals.total:
        return Comparison.EMPTY
    if not begun:
        return Comparison.BEGINS_LATE
    if was.period.days != query.period.days:
        return Comparison.LENGTHS
    over = (query.period.is_over(taken_at, analytics.zone), was.period.is_over(was.taken_at, analytics.zone))
    return Comparison.FAIR if all(over) else Comparison.OPEN


def _points(
    parts: tuple[Period, ...], chart: tuple[Snapshot, ...]
) -> tuple[tuple[tuple[Period, Counts], ...], str | None]:
    """Return the points of the chart, or why there is none. ``parts``: those that it could have."""
    points = tuple((part.period, part.totals) for part in chart if part.totals is not None)
    if points and len(points) == len(chart):
        return points, None
    if any(part.state is SnapshotState.FAILED for part in chart):
        return (), NO_CHART_READ
    return (), NO_CHART_BUDGET if parts else None


def _without_visits(points: Sequence[tuple[Period, Counts]]) -> Period | None:
    """Return what a chart's first points without visits cover; None if its first one has some."""
    empty = [period for period, _ in takewhile(lambda point: not point[1].total, points)]
    return Period(empty[0].first, empty[-1].end) if empty else None


def points_too_early(points: Sequence[Counts | None], *, is_new: bool = False) -> int:
    """Return how many of a chart's first points to leave out: those before the data begins, and the next.

    That next one may cover fewer days. ``is_new``: the period before has no visits either.
    """
    first = next((at for at, counts in enumerate(points) if counts and counts.total), len(points))
    is_part = is_new or any(counts is not None for counts in points[:first])
    return first + 1 if is_part else 0


def _movements(
    tx: Transaction, query: VisitorsQuery, now: Snapshot, compared: Snapshot | None, site: Counts
) -> Movements:
    """Return how pages moved. New and vanished pages need two snapshots with every page in them."""
    section, pages = query.section, Pages(tx)
    came = compared is not None and _is_whole(now) and _is_whole(compared)
    return Movements(
        risen=tuple(pages.moved(now.id, compared.id, section, up=True, limit=_NAMED)) if compared else (),
        fallen=tuple(pages.moved(now.id, compared.id, section, up=False, limit=_NAMED)) if compared else (),
        appeared=tuple(pages.appeared(now.id, compared.id, section, _NAMED)) if came and compared else (),
        vanished=tuple(pages.appeared(compared.id, now.id, section, _NAMED)) if came and compared else (),
        hardly_people=tuple(pages.leaning(now.id, site, section, to_ai=True, limit=_NAMED)),
        hardly_ai=tuple(pages.leaning(now.id, site, section, to_ai=False, limit=_NAMED)),
    )


def _is_whole(snapshot: Snapshot) -> bool:
    """Return whether the snapshot surely has every page. Rows that move during the fetch can be missed."""
    return snapshot.complete and not snapshot.repeated


# ---- the weekly digest

CURVE_WEEKS = 8
"""Weeks in the chart, with the digest's own and the one it is compared with."""
_MOST_JOBS = 20_000
"""Maximum jobs read for a week; a hundred an hour make fewer."""
_RECENT = timedelta(days=30)
_MOST_TO_REVIEW = 3
"""Maximum pull requests that the digest names as waiting for review."""
_RECENT_JOBS = 1_000
"""A page is not suggested if one of these jobs names it."""


def tell_digest(context: WorkerContext, tx: Transaction, question: Question, numbers: Numbers) -> bool:
    """Post a digest. Return False if there are no numbers, and its owner or who asked for it is told why.

    A subscription ends with its project.
    """
    now, key = context.clock(), f"question:{question.id}:answer"
    shown = context.projects.shown(question.project)
    subscription = Subscriptions(tx).get(question.subscription) if question.subscription else None
    is_served = context.projects.serve(question.project)
    if is_served and numbers.now.totals is not None:
        weekly = _weekly_report(context, tx, question, numbers, subscription)
        post = NewDelivery.post(
            key, question.channel, question.user or None, digest_message(weekly, question.id)
        )
        Outbox(tx).add(replace(post, subscription=question.subscription, question=question.id), now)
        log.info("digest_told", question=question.id, week=question.query.period.first.isoformat())
        return True
    problem = (numbers.now.problem or ReadingProblem.LATE) if is_served else ReadingProblem.NOT_SERVED
    log.error("digest_missed", question=question.id, reason=problem)
    week, reader, message = question.query.period, question.user, None
    if subscription is not None:
        reader, message = subscription.owner, say.missed(subscription, week, problem, shown)
        Subscriptions(tx).change(subscription.id, last_result=f"not told: {problem}", last_run_at=now)
        if problem == ReadingProblem.NOT_SERVED:
            Subscriptions(tx).change(subscription.id, state=SubscriptionState.ENDED, next_run_at=None)
    message = message or say.digest_failed(question.channel, week, problem, shown)
    url = question.response_url
    Outbox(tx).add(NewDelivery.private(key, question.channel, reader, message, response_url=url), now)
    return False


def _to_review(tx: Transaction, project: ProjectId, channel: ChannelId, now: datetime) -> ToReview:
    jobs, count = Jobs(tx).awaiting_review(project, channel, _MOST_TO_REVIEW)
    return ToReview(tuple(jobs), now, count - len(jobs), Channels(tx).reviewers(channel))


def _weekly_report(
    context: WorkerContext,
    tx: Transaction,
    question: Question,
    numbers: Numbers,
    subscription: Subscription | None,
) -> WeeklyReport:
    zone, now, week = context.analytics.zone, context.clock(), question.query.period
    report = build_report(context, tx, question.query, numbers)
    jobs = Jobs(tx).asked_between(
        question.project, day_start(week.first, zone), day_start(week.end, zone), _MOST_JOBS
    )
    taken = [job.time_taken.total_seconds() for job in jobs if job.time_taken is not None]
    work = WorkDone(
        asked=len(jobs),
        by_state=dict(Counter(job.state for job in jobs)),
        median_time=timedelta(seconds=median(taken)) if taken else None,
        to_review=_to_review(tx, question.project, question.channel, now),
    )
    recent = Jobs(tx).asked_between(question.project, now - _RECENT, now, _RECENT_JOBS)
    worth = _worth(question, numbers, recent)
    read = (*numbers.chart, *(each for each in (numbers.was, numbers.now) if each))
    curve = tuple((snapshot.period, snapshot.totals) for snapshot in read)
    return WeeklyReport(
        report=report,
        curve=curve[points_too_early([counts for _, counts in curve]) :],
        work=work,
        suggestion=_suggestion(report, worth, recent),
        subscription=subscription,
        worth=worth,
        asked=_asked_for(recent, question.channel, day_start(week.first, zone)),
        missed=numbers.missed,
    )


def _worth(question: Question, numbers: Numbers, recent: Sequence[TrackedJob]) -> tuple[Worth, ...]:
    """Return what is worth doing this week, without what ``recent`` jobs were asked for."""
    week, asked = question.query.period, {job.about.key for job in recent if job.about and not _failed(job)}
    now, was = (
        {each.source: each.words for each in numbers.missed if each.words and (each.period == week) is is_now}
        for is_now in (True, False)
    )
    return chosen(worth_doing(now, was, question.query.section), asked)


def _failed(job: TrackedJob) -> bool:
    return job.state in (JobState.FAILED, JobState.REFUSED, JobState.WITHDRAWN)


def _asked_for(recent: Sequence[TrackedJob], channel: ChannelId, since: datetime) -> tuple[TrackedJob, ...]:
    """Return the newest job of a channel for each row at which one was asked for since then."""
    newest: dict[str, TrackedJob] = {}
    for job in recent:
        if job.about and job.channel == channel and job.asked_at >= since:
            newest.setdefault(job.about.key, job)
    return tuple(newest.values())[:MOST]


def _suggestion(report: Report, worth: Sequence[Worth], recent: Sequence[TrackedJob]) -> Suggestion | None:
    """Return the page to name below what is worth doing; None if there is no room or no need."""
    if len(worth) >= MOST:
        return None
    found = suggestion(report, [*(job.text for job in recent), *(each.title for each in worth)])
    is_needed = found is not None and not (worth and found.why is SuggestionReason.MOST_READ)
    return found if is_needed else None


def suggestion(report: Report, worked_on: Iterable[str]) -> Suggestion | None:
    """Return a page that no text in ``worked_on`` names; None if there is none.

    Pages that lost visitors come first, then those that hardly any people read, then the most read.
    """
    texts = list(worked_on)
    groups = (
        (SuggestionReason.FALLING, report.movements.fallen),
        (SuggestionReason.ONLY_AI, report.movements.hardly_people),
        (SuggestionReason.MOST_READ, report.top),
    )
    for why, pages in groups:
        for page in pages:
            # Exactly this page's path, and not a longer or a shorter one.
            path = rf"(?<![\w/-]){re.escape(page.path)}(?![\w/-])"
            if not any(re.search(path, text) for text in texts):
                return Suggestion(page, why)
    return None
