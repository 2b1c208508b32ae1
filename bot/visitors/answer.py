"""The worker of questions: it reads the windows of a question, and answers it."""

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
from bot.jobs.service_health import analytics_budget
from bot.outbox.model import DeliveryKind, NewDelivery
from bot.outbox.store import Outbox
from bot.store import Transaction
from bot.visitors.ask import list_windows, max_calls_of_question
from bot.visitors.digests import answer_key, read_numbers, send_digest
from bot.visitors.messages import answers as answer_messages
from bot.visitors.messages import gap_rows as gap_row_messages
from bot.visitors.messages import gaps as gap_messages
from bot.visitors.model.questions import FileTo, Numbers, Question, QuestionKind, QuestionState
from bot.visitors.model.readings import Reading, ReadingProblem
from bot.visitors.model.reports import Report, build_report
from bot.visitors.reading import Purse, Reader
from bot.visitors.recommendations import refresh_recommendations
from bot.visitors.store import Questions

_SOON = timedelta(seconds=20)
"""A question waits for the budget if the next call is possible within this time."""
_PATIENCE = timedelta(minutes=10)


_WEEKLY_PATIENCE, _WEEKLY_LATEST = timedelta(hours=3), timedelta(hours=24)
"""Waiting times of a weekly digest: for the rest of its numbers, and for any at all."""
_RUN_SECONDS = 45.0
"""Longest time of one run, which is less than a lease. At its end the readings are stored."""
_NO_ROOM_SECONDS = 60.0
"""Pause before a digest looks again for a call that is not kept for people."""
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
        lambda tx: list_windows(
            context, tx, question.project, question.kind, question.query, question.asked_at
        )
    )
    calls = math.inf if question.is_weekly else max_calls_of_question(context) - question.calls
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
        is_patient = free_at - now <= _SOON and question.calls < max_calls_of_question(context)
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
        message = build_answer(context, tx, question, numbers)
        send_file(tx, question, query.file_to, context.clock())
    elif problem == ReadingProblem.NOT_HERE:
        message = gap_messages.not_offered(query)
    elif problem:
        message = answer_messages.not_readable(query, problem)
    else:
        message = answer_messages.budget_used_up(
            query, analytics_budget(context, tx, question.project)
        )
    key, channel, thread = answer_key(question.id), question.channel, question.thread_ts
    if question.response_url is None:
        answer = NewDelivery.whisper(key, channel, question.user, message, thread=thread)
    else:
        url = question.response_url
        answer = NewDelivery.private(
            key, channel, question.user, message, response_url=url, thread=thread
        )
    Outbox(tx).add(replace(answer, question=question.id), context.clock())


def build_answer(
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
    report = report_on(context, tx, question, numbers)
    return answer_messages.answer(report, question.id, shared_by=shared_by, can_share=can_share)


def report_on(context: Context, tx: Transaction, question: Question, numbers: Numbers) -> Report:
    budget = analytics_budget(context, tx, question.project)
    return build_report(numbers, context.settings.analytics_zone, budget)


def send_file(
    tx: Transaction, question: Question, to: FileTo, now: datetime, number: int = 0
) -> None:
    """Put the file with all rows into the outbox."""
    if to is not FileTo.NOWHERE:
        key, user = (
            f"{file_key(question, to)}:{number}",
            question.user if to is FileTo.PRIVATE else None,
        )
        file = NewDelivery(
            key, DeliveryKind.FILE, question.channel, user=user, question=question.id
        )
        Outbox(tx).add(file, now)


def file_key(question: Question, to: FileTo) -> str:
    return f"question:{question.id}:file:{to}:{question.user}"


def make_csv_file(context: Context, tx: Transaction, question: Question) -> tuple[str, str]:
    """Return the file with all rows, and the text that accompanies it."""
    numbers = read_numbers(context, tx, question)
    if question.query.topic.is_gaps:
        return gap_row_messages.gap_file(numbers)
    first = numbers.readings[0]
    return answer_messages.csv_file(question.query, first.pages or {}, complete=first.complete)
