"""The actions of the buttons under an answer about visitors: share, send as a file, explain the numbers."""

from __future__ import annotations

from dataclasses import replace

from bot.messages import visitors
from bot.messages import visitors_answers as say
from bot.model.ids import QuestionId
from bot.model.message import Message
from bot.model.outbox import DeliveryState, NewDelivery
from bot.model.questions import FileTo, Numbers, Question, QuestionState
from bot.store import Transaction
from bot.work.access.admit import Allowed
from bot.work.context import Context
from bot.work.visitors.question import file_key, numbers_of, send_file
from bot.work.visitors.report import build_report

_MOST_KEYS = 50
"""Maximum repetitions of a post or a file that Slack keeps refusing."""


def _answered(context: Context, tx: Transaction, number: QuestionId) -> tuple[Question, Numbers] | Message:
    """Return an answered question with its numbers, or a message why they are not there (any more)."""
    question = tx.questions.get(number)
    if question is None:
        return say.not_kept()
    if question.state is QuestionState.WAITING:
        return say.still_reading()
    numbers = numbers_of(context, tx, question)
    is_kept = numbers.now.totals is not None and numbers.now.with_pages
    return (question, numbers) if is_kept else say.not_kept()


def _free_key(tx: Transaction, what: str) -> str | None:
    """Return an unused delivery key, also after a dead letter; None if the delivery is made or pending."""
    for count in range(_MOST_KEYS):
        key = f"{what}:{count}"
        state = tx.outbox.state_of(key)
        if state is None:
            return key
        if state is not DeliveryState.DEAD:
            return None
    return None


async def share(context: Context, allowed: Allowed, number: QuestionId) -> Message | None:
    """Post an answer into the channel of its question. Return None, or a message why it is not posted."""
    user = allowed.user

    def post(tx: Transaction) -> Message | None:
        found = _answered(context, tx, number)
        if isinstance(found, Message):
            return found
        key, (question, numbers) = _free_key(tx, f"question:{number}:shared"), found
        if key is None:
            return say.shared_before()
        report = build_report(context, tx, question.query, numbers)
        shared = NewDelivery.post(
            key, question.channel, user, visitors.report(report, number, shared_by=user)
        )
        tx.outbox.add(replace(shared, question=number), context.clock())
        return None

    refusal = await context.store.write(post)
    context.wake()
    return refusal


async def more(context: Context, number: QuestionId) -> Message:
    """Return the rest of an answer."""

    def rest(tx: Transaction) -> Message:
        found = _answered(context, tx, number)
        if isinstance(found, Message):
            return found
        query = found[0].query
        query = replace(query, top=max(query.top, visitors.MOST_PAGES))
        return visitors.more(build_report(context, tx, query, found[1]), number)

    return await context.store.read(rest)


async def send_csv(context: Context, number: QuestionId) -> Message:
    """Send all pages as a file to the person who asked, once unless Slack refuses it. Return the reply."""

    def send(tx: Transaction) -> Message:
        found = _answered(context, tx, number)
        if isinstance(found, Message):
            return found
        key = _free_key(tx, file_key(number, FileTo.PRIVATE))
        if key is None:
            return say.file_sent_before()
        send_file(tx, found[0], FileTo.PRIVATE, context.clock(), key=key)
        return say.file_follows(to_channel=False)

    reply = await context.store.write(send)
    context.wake()
    return reply
