"""The worker of questions: it reads the numbers of a question, and answers it."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial

from bot.context import Context, WorkerContext, make_claim
from bot.engine import unless_taken_over
from bot.ids import Message, UserId, is_direct_message
from bot.jobs.service_health import read_analytics_budget
from bot.outbox.model import DeliveryKind, NewDelivery
from bot.outbox.store import Outbox
from bot.store import Transaction
from bot.visitors.ask import list_windows, max_calls_of_question
from bot.visitors.digests import answer_key, read_numbers, send_digest
from bot.visitors.messages import answers as answer_messages
from bot.visitors.messages import gap_rows as gap_row_messages
from bot.visitors.messages import gaps as gap_messages
from bot.visitors.model.gaps import Source
from bot.visitors.model.questions import (
    FileDestination,
    Numbers,
    Question,
    QuestionKind,
    QuestionState,
)
from bot.visitors.model.readings import Reading, ReadingProblem
from bot.visitors.model.reports import Report, build_report
from bot.visitors.reading import CallBudget, Reader, Window
from bot.visitors.recommendations import note_readers, refresh_recommendations
from bot.visitors.store import Questions, Subscriptions
from bot.visitors.subscriptions import MAX_LATE, skip_digest

_RUN_SECONDS = 45.0
"""Longest time of one run, which is less than a lease. At its end the readings are stored."""
_SHORT_PAUSE = timedelta(seconds=20)
"""A person waits for the budget if the next call is possible within this time."""
_PATIENCE = timedelta(minutes=10)
"""How long a person, or a digest that somebody requested, waits for numbers that are missing."""
_WEEKLY_PATIENCE = timedelta(hours=3)
"""How long a weekly digest waits for the rest of its numbers."""
_WEEKLY_PATIENCE_FOR_ANY = timedelta(hours=24)
"""How long a weekly digest waits while nothing could be read."""
_NO_ROOM_SECONDS = 60.0
"""Pause before a digest looks again for a call that is not kept for people."""


claim_questions = make_claim(lambda tx, claimer, limit: Questions(tx).claim(claimer, limit))
"""Claims the questions that are due, people's before digests."""


async def answer_question(context: WorkerContext, question: Question, reader: Reader) -> None:
    """Read the numbers of a question and answer it, or let it wait until more can be read."""
    began_at = context.clock()
    with unless_taken_over("question", question.id):
        if _is_too_late(question, began_at):
            await context.settle(partial(_skip, context, question))
            return
        if question.has_gaps:
            await context.retry(partial(refresh_recommendations, context, question.project))
            question = await note_readers(context, question)
        try:
            question, readings = await _read_all(context, question, reader)
        except asyncio.CancelledError:  # the process stops, and the next one goes on at once
            now = context.clock()
            await context.store.write(
                lambda tx: Questions(tx).put_back(question, context.owner, now)
            )
            raise
        question = _add_wait(question, began_at, context.clock())
        await context.settle(lambda tx: _settle(context, tx, question, readings))
        context.wake()


def _is_too_late(question: Question, now: datetime) -> bool:
    """Return whether a weekly digest has waited for a process for a day."""
    due_at = max(question.asked_at, question.due_at or question.asked_at)
    return question.is_weekly and now - due_at > MAX_LATE


def _add_wait(question: Question, begin: datetime, end: datetime) -> Question:
    """Return a question that has waited from one time to another.

    Only the wait after its own time counts.
    """
    seconds = (end - max(begin, question.asked_at)).total_seconds()
    return replace(question, waited_seconds=question.waited_seconds + max(seconds, 0.0))


def _skip(context: WorkerContext, question: Question, tx: Transaction) -> None:
    subscription = Subscriptions(tx).get(question.subscription) if question.subscription else None
    if subscription:
        skip_digest(tx, subscription, question.asked_at)
    Questions(tx).settle(replace(question, state=QuestionState.MISSED), context.owner)


# ---- reading


async def _read_all(
    context: WorkerContext, question: Question, reader: Reader
) -> tuple[Question, Sequence[Reading]]:
    """Read the numbers of a question as far as it may. Return the question with its readings."""
    windows = await context.store.read(
        lambda tx: list_windows(
            context, tx, question.project, question.kind, question.query, question.asked_at
        )
    )
    calls = math.inf if question.is_weekly else max_calls_of_question(context) - question.calls
    purse = CallBudget(calls, context.after(_RUN_SECONDS))
    readings = list[Reading]()

    async def read(group: Sequence[Window]) -> None:
        reads = [reader.read(context, question, window, purse) for window in group]
        readings.extend(await asyncio.gather(*reads))

    visitors = [window for window in windows if window.source is Source.VISITORS]
    views = [window for window in windows if window.source is Source.VIEWS]
    gaps = [window for window in windows if window not in (*visitors, *views)]
    await read(visitors[:1])
    # The calls are for the first: without it the others say nothing.
    has_visitors = any(reading.is_read for reading in readings)
    if has_visitors:
        await read(visitors[1:])
    await read(gaps)
    if has_visitors:
        await read(views)
    ids = tuple(reading.id for reading in readings if reading.id)
    return replace(question, readings=ids, calls=question.calls + purse.spent), readings


def _settle(
    context: WorkerContext, tx: Transaction, question: Question, readings: Sequence[Reading]
) -> None:
    """Answer a question, or put it back until more can be read."""
    next_at = _next_at(context, tx, question, readings)
    if next_at is not None:
        waiting = _add_wait(question, context.clock(), next_at)
        Questions(tx).put_back(waiting, context.owner, next_at)
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
    """Return when to read on for a question; None to answer it now."""
    now = context.clock()
    free_at = _next_call_at(context, tx, question)
    awaited = [one for one in readings if _is_awaited(one, question, now)]
    is_early = question.asked_at > now
    if awaited and _is_patient(context, question, readings, free_at):
        soon = context.after(context.timeouts.reading_seconds)
        next_try = max(min(one.retry_at or free_at for one in awaited), soon)
        return min(next_try, question.asked_at) if is_early else next_try
    return question.asked_at if is_early else None


def _next_call_at(context: WorkerContext, tx: Transaction, question: Question) -> datetime:
    """Return when the hour's budget has a call for a question."""
    budget = read_analytics_budget(context, tx, question.project)
    if budget.free_at is not None:
        return budget.free_at
    has_room = question.kind is QuestionKind.VISITORS or budget.digest_calls_left > 0
    return context.after(context.timeouts.reading_seconds if has_room else _NO_ROOM_SECONDS)


def _is_awaited(reading: Reading, question: Question, now: datetime) -> bool:
    """Return whether a question waits for more of a reading.

    Until its time a weekly digest tries each source again that failed, and then only visitors.
    """
    if reading.is_waiting:
        return True
    if reading.is_whole or not question.is_weekly:
        return False
    return question.asked_at > now or reading.source is Source.VISITORS


def _is_patient(
    context: WorkerContext, question: Question, readings: Sequence[Reading], free_at: datetime
) -> bool:
    """Return whether a question may wait on. Only the time counts in which a process worked."""
    waited = timedelta(seconds=question.waited_seconds)
    if question.is_weekly:
        is_read = any(reading.is_read for reading in readings)
        patience = _WEEKLY_PATIENCE if is_read else _WEEKLY_PATIENCE_FOR_ANY
        return context.projects.can_serve(question.project) and waited < patience
    has_calls = question.calls < max_calls_of_question(context)
    return has_calls and free_at - context.clock() <= _SHORT_PAUSE and waited < _PATIENCE


# ---- answering


def _answer(context: WorkerContext, tx: Transaction, question: Question, numbers: Numbers) -> None:
    """Put the answer into the outbox, and its file if the question asks for one."""
    query = question.query
    needed = numbers.readings if query.report_type.is_gaps else numbers.readings[:1]
    if any(reading.is_read for reading in needed):
        message = build_answer(context, tx, question, numbers)
        is_kept_in = query.report_type.is_gaps and query.is_shared_outside
        to_channel = query.file_to is FileDestination.CHANNEL
        file_to = FileDestination.PRIVATE if is_kept_in and to_channel else query.file_to
        send_file(tx, question, file_to, context.clock())
    else:
        message = _find_failure(context, tx, question, numbers)
    key = answer_key(question.id)
    thread = question.thread_ts
    url = question.response_url
    if url is None:
        answer = NewDelivery.whisper(key, question.channel, question.user, message, thread=thread)
    else:
        answer = NewDelivery.private(
            key, question.channel, question.user, message, response_url=url, thread=thread
        )
    Outbox(tx).add(replace(answer, question=question.id), context.clock())


def _find_failure(
    context: Context, tx: Transaction, question: Question, numbers: Numbers
) -> Message:
    """Return the reason why a question has no answer."""
    problems = [reading.problem or ReadingProblem.LATE for reading in numbers.readings]
    problem = problems[0] if problems else ReadingProblem.NOT_HERE
    if problem == ReadingProblem.NOT_HERE:
        return gap_messages.not_offered(question.query)
    budget = read_analytics_budget(context, tx, question.project)
    return answer_messages.unanswered(question.query, problem, budget.free_at)


def build_answer(
    context: Context,
    tx: Transaction,
    question: Question,
    numbers: Numbers,
    shared_by: UserId | None = None,
) -> Message:
    """Return the answer to a question. ``shared_by``: the person who shares it in the channel."""
    is_kept_in = question.query.report_type.is_gaps and question.query.is_shared_outside
    can_share = not (is_direct_message(question.channel) or is_kept_in)
    if question.query.report_type.is_gaps:
        return gap_messages.gap_answer(
            numbers, question.id, shared_by=shared_by, can_share=can_share
        )
    report = report_on(context, tx, question, numbers)
    return answer_messages.answer(report, question.id, shared_by=shared_by, can_share=can_share)


def report_on(context: Context, tx: Transaction, question: Question, numbers: Numbers) -> Report:
    budget = read_analytics_budget(context, tx, question.project)
    return build_report(numbers, context.settings.analytics_zone, budget)


def send_file(
    tx: Transaction, question: Question, to: FileDestination, now: datetime, number: int = 0
) -> None:
    """Put the file with all rows into the outbox. ``number``: how often it was refused before."""
    if to is FileDestination.NOWHERE:
        return
    file = NewDelivery(
        key=f"{file_key(question, to)}:{number}",
        kind=DeliveryKind.FILE,
        channel=question.channel,
        user=question.user if to is FileDestination.PRIVATE else None,
        question=question.id,
    )
    Outbox(tx).add(file, now)


def file_key(question: Question, to: FileDestination) -> str:
    return f"question:{question.id}:file:{to}:{question.user}"


def make_csv_file(context: Context, tx: Transaction, question: Question) -> tuple[str, str]:
    """Return the file with all rows, and the text that accompanies it."""
    numbers = read_numbers(context, tx, question)
    if question.query.report_type.is_gaps:
        return gap_row_messages.gap_file(numbers)
    first = numbers.readings[0]
    return answer_messages.csv_file(question.query, first.pages or {}, complete=first.is_complete)
