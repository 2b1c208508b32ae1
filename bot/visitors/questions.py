"""Questions about visitors: asked, answered when their numbers are read, and the buttons of an answer."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from itertools import takewhile
from typing import TypeVar

from bot.access.admit import Allowed, asking_slack, is_reader
from bot.context import Context, WorkerContext, make_claim
from bot.engine import unless_taken_over
from bot.ids import Message, ProjectId, QuestionId, SubscriptionId, UserId, is_direct_message
from bot.jobs.service_health import analytics_budget
from bot.outbox.model import DeliveryKind, DeliveryState, NewDelivery
from bot.outbox.store import Outbox
from bot.ports import Origin
from bot.store import Transaction
from bot.visitors import gap_messages, messages
from bot.visitors.content_gaps import SOURCES, Source, Topic
from bot.visitors.digests import (
    answer_key,
    gap_windows,
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
    Reading,
    ReadingProblem,
    Report,
    build_report,
)
from bot.visitors.reading import Purse, Reader, Window, find_reading
from bot.visitors.store import Questions, Readings

Result = TypeVar("Result")
_SOON = timedelta(seconds=20)
"""A question waits for the budget if the next call is possible within this time."""
_PATIENCE = timedelta(minutes=10)
_WEEKLY_PATIENCE, _WEEKLY_LATEST = timedelta(hours=3), timedelta(hours=24)
"""Waiting times of a weekly digest: for the rest of its numbers, and for any at all."""
_RUN_SECONDS = 45.0
"""Longest time of one run, which is less than a lease. At its end the readings are stored."""
_NO_ROOM_SECONDS = 60.0
"""Pause before a digest looks again for a call that is not kept for people."""


async def ask_visitors(
    context: Context, allowed: Allowed, query: Query, project: ProjectId | None = None
) -> Message | None:
    """Store a question, which a worker answers. Return an immediate reply, if there is one.

    ``project``: None for that of the channel.
    """

    def add(tx: Transaction) -> Message | None:
        project_id = project or context.project_of(tx, allowed.origin.channel).id
        kind = QuestionKind.VISITORS
        now = context.clock()
        windows = _windows(context, tx, project_id, kind, query, now)
        if not windows:
            return gap_messages.not_offered(query)
        is_read = all(find_reading(context, tx, project_id, window).is_whole for window in windows)
        asked = ask_question(context, tx, allowed.origin, query, project_id, kind, now)
        return None if is_read else messages.progress_note(asked)

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
) -> Query:
    """Store a question that is read for from now on, and answered from ``at`` on. Return its content."""
    now, zone, entry = (
        context.clock(),
        context.settings.analytics_zone,
        context.projects.shown(project),
    )
    if query.topic is Topic.VISITORS and not query.chart:
        points = [point for point in query.period.chart_points() if point.is_over(now, zone)]
        # Only the whole site has totals at the service.
        has_chart = not query.section and 1 < len(points) < _most_calls(context)
        query = replace(query, chart=tuple(points) if has_chart else ())
    query = replace(query, label=entry.label if entry else None)
    question = Question(
        QuestionId(0),
        kind,
        project,
        origin.channel,
        query,
        asked_at=at,
        state=QuestionState.WAITING,
        user=origin.user,
        subscription=subscription,
        thread_ts=origin.thread,
        response_url=origin.response_url,
    )
    Questions(tx).add(question, origin.key, now)
    return query


def _most_calls(context: Context) -> int:
    """Return how many calls one question may make."""
    return max(1, context.limits.analytics_calls_an_hour // 3)


def _windows(
    context: Context,
    tx: Transaction,
    project: ProjectId,
    kind: QuestionKind,
    query: Query,
    at: datetime,
) -> list[Window]:
    """Return the windows of a question that was asked then, as far as they are offered, in order."""
    period = query.period
    compared = query.compared
    if query.topic is not Topic.VISITORS:
        windows = [Window(source, period) for source in SOURCES[query.topic]]
    else:
        periods = [period, compared] if compared else [period]
        zone = context.settings.analytics_zone
        windows = [Window(Source.VISITORS, period, with_pages=True)]
        points = [min(periods).lead_week()] if compared else []
        points += [point for point in query.chart if point not in periods]
        windows += [Window(Source.VISITORS, point) for point in points]
        if compared:
            is_comparable = (
                all(one.is_over(at, zone) for one in periods) and compared.days == period.days
            )
            windows.append(Window(Source.VISITORS, compared, is_comparable))
        if kind is QuestionKind.DIGEST:
            windows += [Window(source, week) for week, source in gap_windows(query)]
    windows = list(dict.fromkeys(windows))
    now = context.clock()
    return [one for one in windows if not Readings(tx).is_not_offered(project, one.source, now)]


claim_questions = make_claim(lambda tx, claimer, limit: Questions(tx).claim(claimer, limit))
"""Claims the questions that are due, people's before digests."""


async def answer_question(context: WorkerContext, question: Question, reader: Reader) -> None:
    """Read the windows of a question and answer it, or let it wait until more can be read."""
    with unless_taken_over("question", question.id):
        if question.has_gaps:
            await context.retry(partial(refresh_recommendations, context, question.project))
        try:
            question, readings = await _read_all(context, question, reader)
        except asyncio.CancelledError:  # the process stops, and the next one goes on at once
            now = context.clock()
            await context.store.write(
                lambda tx: Questions(tx).put_back(question, context.owner, now)
            )
            raise
        await context.settle(lambda tx: _settle(context, tx, question, readings))
        context.wake()


async def _read_all(
    context: WorkerContext, question: Question, reader: Reader
) -> tuple[Question, Sequence[Reading]]:
    """Read the windows of a question as far as it may. Return it with its readings."""
    windows = await context.store.read(
        lambda tx: _windows(
            context, tx, question.project, question.kind, question.query, question.asked_at
        )
    )
    calls = math.inf if question.is_weekly else _most_calls(context) - question.calls
    purse = Purse(calls, context.after(_RUN_SECONDS))
    read = partial(reader.read, context, question, purse=purse)
    readings = [await read(window) for window in windows[:1]]
    # The calls are for the first: without it there is no answer.
    if question.query.topic.is_gaps or any(one.is_read for one in readings):
        readings += await asyncio.gather(*map(read, windows[1:]))
    ids = tuple(one.id for one in readings if one.id)
    return replace(question, readings=ids, calls=question.calls + purse.spent), readings


def _settle(
    context: WorkerContext, tx: Transaction, question: Question, readings: Sequence[Reading]
) -> None:
    """Answer a question, or put it back until more can be read."""
    next_at = _next_at(context, tx, question, readings)
    if next_at is not None:
        Questions(tx).put_back(question, context.owner, next_at)
        return
    numbers = read_numbers(context, tx, question)
    if question.kind is QuestionKind.VISITORS:
        _answer(context, tx, question, numbers)
        question = replace(question, state=QuestionState.ANSWERED)
    else:
        question = send_digest(context, tx, question, numbers)
    Questions(tx).settle(question, context.owner)


def _next_at(
    context: WorkerContext, tx: Transaction, question: Question, readings: Sequence[Reading]
) -> datetime | None:
    """Return when to read on for a question; None to answer it now.

    A weekly digest waits hours; others wait minutes while they may make calls.
    """
    now = context.clock()
    budget = analytics_budget(context, tx, question.project)
    soon = context.after(context.timeouts.reading_seconds)
    has_room = question.kind is QuestionKind.VISITORS or budget.digest_calls_left > 0
    free_at = budget.free_at or (soon if has_room else context.after(_NO_ROOM_SECONDS))
    if question.is_weekly:
        is_patient = context.projects.serve(question.project)
        patience = _WEEKLY_PATIENCE if any(one.is_read for one in readings[:1]) else _WEEKLY_LATEST
    else:
        is_patient = free_at - now <= _SOON and question.calls < _most_calls(context)
        patience = _PATIENCE
    retry = [
        one.retry_at or free_at for one in readings if one.is_awaited(to_the_end=question.is_weekly)
    ]
    if retry and is_patient and now < question.asked_at + patience:
        return max(min(retry), soon)
    return question.asked_at if question.asked_at > now else None


def _answer(context: WorkerContext, tx: Transaction, question: Question, numbers: Numbers) -> None:
    """Put the answer into the outbox, and its file if the question asks for one."""
    query = question.query
    problem = next((one.problem for one in numbers.readings), ReadingProblem.NOT_HERE)
    needed = numbers.readings if query.topic.is_gaps else numbers.readings[:1]
    if any(reading.is_read for reading in needed):
        message = _build_answer(context, tx, question, numbers)
        send_file(tx, question, query.file_to, context.clock())
    elif problem == ReadingProblem.NOT_HERE:
        message = gap_messages.not_offered(query)
    elif problem:
        message = messages.not_readable(query, problem)
    else:
        message = messages.budget_used_up(query, analytics_budget(context, tx, question.project))
    key, channel, thread = answer_key(question.id), question.channel, question.thread_ts
    if question.response_url is None:
        answer = NewDelivery.whisper(key, channel, question.user, message, thread=thread)
    else:
        url = question.response_url
        answer = NewDelivery.private(
            key, channel, question.user, message, response_url=url, thread=thread
        )
    Outbox(tx).add(replace(answer, question=question.id), context.clock())


def _build_answer(
    context: Context,
    tx: Transaction,
    question: Question,
    numbers: Numbers,
    shared_by: UserId | None = None,
) -> Message:
    can_share = not is_direct_message(question.channel)
    if question.query.topic.is_gaps:
        return gap_messages.gap_answer(
            numbers, question.id, shared_by=shared_by, can_share=can_share
        )
    report = _report(context, tx, question, numbers)
    return messages.answer(report, question.id, shared_by=shared_by, can_share=can_share)


def _report(context: Context, tx: Transaction, question: Question, numbers: Numbers) -> Report:
    budget = analytics_budget(context, tx, question.project)
    return build_report(numbers, context.settings.analytics_zone, budget)


def send_file(
    tx: Transaction, question: Question, to: FileTo, now: datetime, number: int = 0
) -> None:
    """Put the file with all rows into the outbox."""
    if to is not FileTo.NOWHERE:
        key, user = (
            f"{_file_key(question, to)}:{number}",
            question.user if to is FileTo.PRIVATE else None,
        )
        file = NewDelivery(
            key, DeliveryKind.FILE, question.channel, user=user, question=question.id
        )
        Outbox(tx).add(file, now)


def _file_key(question: Question, to: FileTo) -> str:
    return f"question:{question.id}:file:{to}:{question.user}"


def make_csv_file(context: Context, tx: Transaction, question: Question) -> tuple[str, str]:
    """Return the file with all rows, and the text that accompanies it."""
    numbers = read_numbers(context, tx, question)
    if question.query.topic.is_gaps:
        return gap_messages.gap_file(numbers)
    first = numbers.readings[0]
    return messages.csv_file(question.query, first.pages or {}, complete=first.complete)


# ---- the buttons of an answer

Act = Callable[[Context, Transaction, Allowed, Question, Numbers], Result]
"""The effect of a button of an answer."""


async def with_answer(
    context: Context,
    allowed: Allowed,
    number: QuestionId,
    act: Act[Result],
    *,
    writes: bool = False,
) -> Result | Message:
    """Run ``act`` on an answer for somebody who may read it. Return the message that it is missing.

    An answer is as private as its channel: it is for who asked, for the people in its channel and for admins.
    """
    question = await context.store.read(lambda tx: Questions(tx).get(number))
    if question is None or not is_reader(context, allowed, question.user, question.channel):
        return messages.NOT_KEPT
    if question.state is QuestionState.WAITING:
        return messages.STILL_READING
    if question.has_gaps:
        with suppress(TimeoutError):
            async with asking_slack():
                await refresh_recommendations(context, question.project)

    def run(tx: Transaction) -> Result | Message:
        numbers = read_numbers(context, tx, question)
        is_kept = any(
            part.gap_rows or (part.totals and part.pages is not None) for part in numbers.readings
        )
        return act(context, tx, allowed, question, numbers) if is_kept else messages.NOT_KEPT

    return await (context.write if writes else context.store.read)(run)


def _next_number(tx: Transaction, key: str) -> int | None:
    """Return the number of a delivery to make, after dead letters; None if one was made."""
    states = (Outbox(tx).state_of(f"{key}:{number}") for number in range(50))
    dead = sum(1 for _ in takewhile(lambda state: state is DeliveryState.DEAD, states))
    return dead if Outbox(tx).state_of(f"{key}:{dead}") is None else None


def share_numbers(
    context: Context, tx: Transaction, allowed: Allowed, question: Question, numbers: Numbers
) -> Message | None:
    """Post an answer into its channel, once. Return the reason if it isn't posted."""
    key = f"question:{question.id}:shared"
    if (count := _next_number(tx, key)) is None:
        return messages.SHARED_BEFORE
    message = _build_answer(context, tx, question, numbers, shared_by=allowed.user)
    post = NewDelivery.post(f"{key}:{count}", question.channel, allowed.user, message)
    Outbox(tx).add(replace(post, question=question.id), context.clock())
    return None


def send_csv(
    context: Context, tx: Transaction, allowed: Allowed, question: Question, _numbers: Numbers
) -> Message:
    """Send the file to the person who presses, once unless Slack refuses it. Return the reply."""
    question = replace(question, user=allowed.user)
    if (count := _next_number(tx, _file_key(question, FileTo.PRIVATE))) is None:
        return messages.FILE_SENT_BEFORE
    send_file(tx, question, FileTo.PRIVATE, context.clock(), count)
    return messages.FILE_FOLLOWS


def show_rest(
    context: Context, tx: Transaction, _allowed: Allowed, question: Question, numbers: Numbers
) -> Message:
    """Return the rest of an answer, or all numbers of a digest."""
    if question.query.topic.is_gaps:
        return gap_messages.more_gaps(numbers, question.id)
    is_digest = question.kind is QuestionKind.DIGEST
    return messages.more(_report(context, tx, question, numbers), question.id, is_digest=is_digest)
