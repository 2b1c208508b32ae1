"""The buttons of an answer: *Share*, the file and *More*; and *All numbers* of a digest."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from itertools import takewhile
from typing import TypeVar

from bot.access.admit import Allowed, is_reader, limit_slack_time
from bot.context import Context
from bot.ids import Message, QuestionId
from bot.outbox.model import DeliveryState, NewDelivery
from bot.outbox.store import Outbox
from bot.ports import ThreadRef
from bot.store import Transaction
from bot.visitors.answer import build_answer, file_key, report_on, send_file
from bot.visitors.digests import answer_key, read_numbers
from bot.visitors.messages import answers as answer_messages
from bot.visitors.messages import digests as digest_messages
from bot.visitors.messages import gaps as gap_messages
from bot.visitors.model.questions import (
    FileDestination,
    Numbers,
    Question,
    QuestionKind,
    QuestionState,
)
from bot.visitors.recommendations import refresh_recommendations
from bot.visitors.store import Questions

_MAX_DEAD = 50
"""Dead letters of one post that are counted."""
Result = TypeVar("Result")
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

    An answer is as private as its channel: it is for who asked, and for the people in its channel.
    """
    question = await context.store.read(lambda tx: Questions(tx).get(number))
    if question is None or not is_reader(allowed, question.user, question.channel):
        return answer_messages.NOT_KEPT
    if question.state is QuestionState.WAITING:
        return answer_messages.STILL_READING
    if question.has_gaps:
        with suppress(TimeoutError):
            async with limit_slack_time():
                await refresh_recommendations(context, question.project)

    def run(tx: Transaction) -> Result | Message:
        numbers = read_numbers(context, tx, question)
        is_kept = any(
            part.gap_rows or (part.totals and part.pages is not None) for part in numbers.readings
        )
        return act(context, tx, allowed, question, numbers) if is_kept else answer_messages.NOT_KEPT

    return await (context.write if writes else context.store.read)(run)


def _next_number(tx: Transaction, key: str) -> int | None:
    """Return the number of a delivery to make, after dead letters; None if one was made."""
    number = _count_dead(tx, key)
    return number if Outbox(tx).state_of(f"{key}:{number}") is None else None


def _count_dead(tx: Transaction, key: str) -> int:
    """Return the number of dead letters with a key, each with its number after it."""
    states = (Outbox(tx).state_of(f"{key}:{number}") for number in range(_MAX_DEAD))
    return sum(1 for _ in takewhile(lambda state: state is DeliveryState.DEAD, states))


def share_numbers(
    context: Context, tx: Transaction, allowed: Allowed, question: Question, numbers: Numbers
) -> Message | None:
    """Post an answer into its channel, once. Return the reason if it isn't posted."""
    key = f"question:{question.id}:shared"
    if (count := _next_number(tx, key)) is None:
        return answer_messages.SHARED_BEFORE
    message = build_answer(context, tx, question, numbers, shared_by=allowed.user)
    post = NewDelivery.post(f"{key}:{count}", question.channel, allowed.user, message)
    Outbox(tx).add(replace(post, question=question.id), context.clock())
    return None


def send_csv(
    context: Context, tx: Transaction, allowed: Allowed, question: Question, _numbers: Numbers
) -> Message:
    """Send the file to the person who presses, once unless Slack refuses it. Return the reply."""
    question = replace(question, user=allowed.user)
    if (count := _next_number(tx, file_key(question, FileDestination.PRIVATE))) is None:
        return answer_messages.FILE_SENT_BEFORE
    send_file(tx, question, FileDestination.PRIVATE, context.clock(), count)
    return answer_messages.FILE_FOLLOWS


def show_further_rows(
    context: Context, tx: Transaction, _allowed: Allowed, question: Question, numbers: Numbers
) -> Message:
    """Return the rows that the answer has left out."""
    if question.query.report_type.is_gaps:
        return gap_messages.more_gaps(numbers, question.id)
    return answer_messages.format_more(report_on(context, tx, question, numbers), question.id)


def post_all_numbers(
    context: Context, tx: Transaction, allowed: Allowed, question: Question, numbers: Numbers
) -> Message | None:
    """Post all numbers of a digest into its thread, once. Return the reply if they are there."""
    key = f"question:{question.id}:numbers"
    digest_ts = Outbox(tx).posted_ts(answer_key(question.id))
    if question.kind is not QuestionKind.DIGEST or digest_ts is None:
        return answer_messages.NOT_KEPT
    count = _next_number(tx, key)
    if count is None:
        ts = Outbox(tx).posted_ts(f"{key}:{_count_dead(tx, key)}")
        thread = ThreadRef(question.channel, digest_ts)
        return digest_messages.numbers_posted_before(context.permalink(thread, ts) if ts else None)
    report = report_on(context, tx, question, numbers)
    message = answer_messages.all_numbers(report, question.id)
    post = NewDelivery.post(f"{key}:{count}", question.channel, allowed.user, message)
    post = replace(post, message_ts=digest_ts, question=question.id)
    Outbox(tx).add(post, context.clock())
    return None
