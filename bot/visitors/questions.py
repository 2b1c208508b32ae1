"""Questions about visitors: asked, answered when their numbers are read, and the buttons of an answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from itertools import takewhile

import structlog

from bot.access.admit import Allowed
from bot.context import Context, WorkerContext, make_claim
from bot.engine import unless_taken_over
from bot.ids import (
    Block,
    Message,
    ProjectId,
    QuestionId,
    SubscriptionId,
    UserId,
    is_direct_message,
)
from bot.jobs.service_health import analytics_budget
from bot.outbox.model import DeliveryKind, DeliveryState, NewDelivery
from bot.outbox.store import Outbox
from bot.ports import Origin
from bot.store import Transaction
from bot.visitors import digest_messages, gap_messages, messages
from bot.visitors.content_gaps import SOURCES, Source, Topic
from bot.visitors.digests import (
    answer_key,
    gap_windows,
    list_more,
    read_numbers,
    refresh_recommendations,
    send_digest,
)
from bot.visitors.model import (
    FileTo,
    Numbers,
    Query,
    Question,
    QuestionKind,
    QuestionState,
    ReadingProblem,
    Report,
    Snapshot,
    build_report,
)
from bot.visitors.periods import Period
from bot.visitors.store import Questions, Snapshots

log = structlog.get_logger(__name__)
_SOON = timedelta(seconds=20)
"""A question waits for the budget if the next call is possible within this time."""
_PATIENCE = timedelta(minutes=10)
_WEEKLY_PATIENCE, _WEEKLY_LATEST = timedelta(hours=3), timedelta(hours=24)
"""Waiting times of a weekly digest: for the rest of its pages, and for any numbers at all."""


async def ask_visitors(
    context: Context, allowed: Allowed, query: Query, project: ProjectId | None = None
) -> Message | None:
    """Store a question, which a worker answers. Return an immediate reply, if there is one.

    ``project``: None for that of the channel.
    """

    def add(tx: Transaction) -> Message | None:
        project_id = project or context.project_of(tx, allowed.origin.channel).id
        listed = ask_question(
            context, tx, allowed.origin, query, project_id, QuestionKind.VISITORS, context.clock()
        )
        if not listed:
            return gap_messages.not_offered(query)
        entry = context.projects.shown(project_id)
        labelled = replace(query, label=entry.label if entry else None)
        return None if all(snapshot.is_done for snapshot in listed) else messages.progress_note(labelled)

    return await context.write(add)


def ask_question(
    context: Context,
    tx: Transaction,
    origin: Origin,
    query: Query,
    project: ProjectId,
    kind: QuestionKind,
    at: datetime,
    subscription: SubscriptionId | None = None,
) -> Sequence[Snapshot]:
    """Store a question that is answered from ``at`` on. Return its snapshots; none if none is offered."""
    now, zone, entry = context.clock(), context.settings.analytics_zone, context.projects.shown(project)
    if query.topic is Topic.VISITORS and not query.chart:
        points = [point for point in query.period.chart_points() if point.is_over(now, zone)]
        # Only the whole site has totals at the service.
        has_chart = not query.section and 1 < len(points) < _most_calls(context)
        query = replace(query, chart=tuple(points) if has_chart else ())
    query = replace(query, label=entry.label if entry else None)
    listed = _request(context, tx, query, project, kind)
    if listed and Questions(tx).add(origin, project, kind, query, listed, at, subscription) and origin.user:
        Snapshots(tx).retry_failed(listed, now)
    return listed


def _most_calls(context: Context) -> int:
    """Return how many calls one question may make."""
    return max(1, context.settings.analytics_calls_an_hour // 3)


def _request(
    context: Context, tx: Transaction, query: Query, project: ProjectId, kind: QuestionKind
) -> Sequence[Snapshot]:
    """Request the snapshots of a question, and return them in the order of reading."""
    now, zone, snapshots = context.clock(), context.settings.analytics_zone, Snapshots(tx)
    windows = {
        (period, source): with_pages
        for period, source, with_pages in _windows(context, query, kind)
        if not snapshots.is_not_offered(project, source, now)
    }
    requested = {
        (period, source): snapshots.find_or_add(
            project,
            period,
            now=now,
            is_final=period.is_final(now, zone),
            with_pages=windows[period, source],
            source=source,
        )
        for period, source in sorted(windows)  # in one order: two transactions must not lock each other out
    }
    return [requested[window] for window in windows]


def _windows(context: Context, query: Query, kind: QuestionKind) -> Iterator[tuple[Period, Source, bool]]:
    """Yield the periods and sources of a question in the order of reading, and whether pages are read."""
    period, compared = query.period, query.compared
    if query.topic is not Topic.VISITORS:
        yield from ((period, source, False) for source in SOURCES[query.topic])
        return
    periods = [period, *([compared] if compared else [])]
    yield period, Source.VISITORS, True
    if compared:
        yield min(periods).lead_week(), Source.VISITORS, False
    yield from ((point, Source.VISITORS, False) for point in query.chart if point not in periods)
    if compared:
        now, zone = context.clock(), context.settings.analytics_zone
        is_over = all(one.is_over(now, zone) for one in periods)
        yield compared, Source.VISITORS, is_over and compared.days == period.days
    if kind is QuestionKind.DIGEST:
        yield from ((week, source, False) for week, source in gap_windows(query))


claim_questions = make_claim(lambda tx, claimer, limit: Questions(tx).claim(claimer, limit))
"""Claims the questions that are due, people's before digests."""


async def answer_question(context: WorkerContext, question: Question) -> None:
    """Answer a question, or put it back until its numbers are read."""
    with unless_taken_over("question", question.id):
        if question.has_gaps:
            await context.retry(partial(refresh_recommendations, context, question.project))
        await context.settle(lambda tx: _settle(context, tx, question))
        context.wake()
        context.wake_after(context.timeouts.reading_seconds * 1.1)


def _settle(context: WorkerContext, tx: Transaction, question: Question) -> None:
    if not (listed := Questions(tx).snapshots(question.id)):
        return  # its subscription was withdrawn after the claim
    numbers = read_numbers(context, tx, question)
    awaited = [snapshot for snapshot in listed if question.awaits(snapshot)]
    if awaited and _has_patience(context, tx, question, numbers, awaited):
        next_at = max(
            context.after(context.timeouts.reading_seconds), min(snapshot.due_at for snapshot in awaited)
        )
        Questions(tx).put_back(question.id, context.owner, next_at)
        return
    if question.kind is QuestionKind.VISITORS:
        _answer(context, tx, question, numbers)
        state = QuestionState.ANSWERED
    else:
        is_posted = send_digest(context, tx, question, numbers)
        state = QuestionState.ANSWERED if is_posted else QuestionState.MISSED
    Questions(tx).settle(question.id, context.owner, state)


def _has_patience(
    context: WorkerContext,
    tx: Transaction,
    question: Question,
    numbers: Numbers,
    awaited: Sequence[Snapshot],
) -> bool:
    """Return whether a question still waits. Otherwise it is answered from the snapshots that were read.

    A weekly digest waits hours for its pages. Other snapshots are awaited while calls are left.
    """
    now, budget = context.clock(), analytics_budget(context, tx, question.project)
    age = now - question.asked_at
    if question.is_weekly and any(snapshot.with_pages for snapshot in awaited):
        is_read = numbers.visitors(question.query.period) is not None
        is_served = context.projects.serve(question.project)
        return is_served and age < (_WEEKLY_PATIENCE if is_read else _WEEKLY_LATEST)
    first = numbers.snapshots[0]
    if first.with_pages and first.problem and not first.is_done:
        return False  # without its first numbers there is no answer
    calls = sum(snapshot.calls for snapshot in numbers.snapshots) - question.calls_before
    is_soon = budget.free_at is None or budget.free_at - now <= _SOON
    has_room = question.kind is QuestionKind.VISITORS or budget.digest_calls_left > 0
    return age < _PATIENCE and calls < _most_calls(context) and is_soon and has_room


def _answer(context: WorkerContext, tx: Transaction, question: Question, numbers: Numbers) -> None:
    """Put the answer into the outbox, and its file if the question asks for one."""
    query, first = question.query, numbers.snapshots[0]
    is_read = first.is_read or (query.topic.is_gaps and any(part.is_read for part in numbers.snapshots))
    if is_read:
        message = _build_answer(context, tx, question, numbers)
        send_file(tx, question, query.file_to, context.clock())
    elif first.problem == ReadingProblem.NOT_HERE:
        message = gap_messages.not_offered(query)
    elif first.problem:
        message = messages.not_readable(query, first.problem)
    else:
        message = messages.budget_used_up(query, analytics_budget(context, tx, question.project))
    key, channel, thread = answer_key(question.id), question.channel, question.thread_ts
    if question.response_url is None:
        answer = NewDelivery.whisper(key, channel, question.user, message, thread=thread)
    else:
        url = question.response_url
        answer = NewDelivery.private(key, channel, question.user, message, response_url=url, thread=thread)
    Outbox(tx).add(replace(answer, question=question.id), context.clock())


def _build_answer(
    context: Context, tx: Transaction, question: Question, numbers: Numbers, shared_by: UserId | None = None
) -> Message:
    can_share = not is_direct_message(question.channel)
    if question.query.topic.is_gaps:
        return gap_messages.gap_answer(numbers, question.id, shared_by=shared_by, can_share=can_share)
    report = _report(context, tx, question, numbers)
    return messages.answer(report, question.id, shared_by=shared_by, can_share=can_share)


def _report(context: Context, tx: Transaction, question: Question, numbers: Numbers) -> Report:
    pages = Snapshots(tx).pages_of(numbers)
    return build_report(
        numbers, pages, context.settings.analytics_zone, analytics_budget(context, tx, question.project)
    )


def send_file(tx: Transaction, question: Question, to: FileTo, now: datetime, number: int = 0) -> None:
    """Put the file with all rows into the outbox."""
    if to is not FileTo.NOWHERE:
        key, user = f"{_file_key(question, to)}:{number}", question.user if to is FileTo.PRIVATE else None
        file = NewDelivery(key, DeliveryKind.FILE, question.channel, user=user, question=question.id)
        Outbox(tx).add(file, now)


def _file_key(question: Question, to: FileTo) -> str:
    return f"question:{question.id}:file:{to}:{question.user}"


def make_csv_file(context: Context, tx: Transaction, question: Question) -> tuple[str, str]:
    """Return the file with all rows, and the text that accompanies it."""
    numbers = read_numbers(context, tx, question)
    if question.query.topic.is_gaps:
        return gap_messages.gap_file(numbers)
    first = numbers.snapshots[0]
    return messages.csv_file(question.query, Snapshots(tx).pages(first.id), complete=first.complete)


# ---- the buttons of an answer


def find_answered(
    context: Context, tx: Transaction, number: QuestionId
) -> tuple[Question, Numbers] | Message:
    """Return an answered question with its numbers, or the message that they are missing."""
    question = Questions(tx).get(number)
    if question is None:
        return messages.NOT_KEPT
    if question.state is QuestionState.WAITING:
        return messages.STILL_READING
    numbers = read_numbers(context, tx, question)
    is_kept = any(part.gap_rows or (part.totals and part.with_pages) for part in numbers.snapshots)
    return (question, numbers) if is_kept else messages.NOT_KEPT


def _next_number(tx: Transaction, key: str) -> int | None:
    """Return the number of a delivery to make, after dead letters; None if one was made."""
    states = (Outbox(tx).state_of(f"{key}:{number}") for number in range(50))
    dead = sum(1 for _ in takewhile(lambda state: state is DeliveryState.DEAD, states))
    return dead if Outbox(tx).state_of(f"{key}:{dead}") is None else None


async def share_report(context: Context, allowed: Allowed, number: QuestionId) -> Message | None:
    """Post an answer into the channel of its question, once. Return the reason if it isn't posted."""

    def share(tx: Transaction) -> Message | None:
        answer = find_answered(context, tx, number)
        if isinstance(answer, Message):
            return answer
        key, (question, numbers) = f"question:{number}:shared", answer
        count = _next_number(tx, key)
        if count is None:
            return messages.SHARED_BEFORE
        message = _build_answer(context, tx, question, numbers, shared_by=allowed.user)
        post = NewDelivery.post(f"{key}:{count}", question.channel, allowed.user, message)
        Outbox(tx).add(replace(post, question=number), context.clock())
        return None

    return await context.write(share)


async def show_ideas(context: Context, number: QuestionId, private: str) -> Message | Block:
    """Return the view with the recommendations for which a digest had no room."""

    def view(tx: Transaction) -> Message | Block:
        answer = find_answered(context, tx, number)
        if isinstance(answer, Message):
            return answer
        return digest_messages.ideas_view(list_more(context, tx, *answer), number, private=private)

    return await context.store.read(view)


async def show_rest(context: Context, number: QuestionId) -> Message:
    """Return the rest of an answer, or all numbers of a digest."""

    def rest(tx: Transaction) -> Message:
        answer = find_answered(context, tx, number)
        if isinstance(answer, Message):
            return answer
        question, numbers = answer
        if question.query.topic.is_gaps:
            return gap_messages.more_gaps(numbers, number)
        is_digest = question.kind is QuestionKind.DIGEST
        return messages.more(_report(context, tx, question, numbers), number, is_digest=is_digest)

    return await context.store.read(rest)


async def send_csv(context: Context, allowed: Allowed, number: QuestionId) -> Message:
    """Send the file to the person who presses, once unless Slack refuses it. Return the reply."""

    def send(tx: Transaction) -> Message:
        answer = find_answered(context, tx, number)
        if isinstance(answer, Message):
            return answer
        question = replace(answer[0], user=allowed.user)
        count = _next_number(tx, _file_key(question, FileTo.PRIVATE))
        if count is None:
            return messages.FILE_SENT_BEFORE
        send_file(tx, question, FileTo.PRIVATE, context.clock(), count)
        return messages.FILE_FOLLOWS

    return await context.write(send)
