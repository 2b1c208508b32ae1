"""The actions of the buttons under an answer about visitors: share, send as a file, explain the numbers."""

from __future__ import annotations

from dataclasses import replace

from bot.messages import visitors, visitors_more
from bot.messages import visitors_answers as say
from bot.model.ids import QuestionId, UserId
from bot.model.message import Message
from bot.model.outbox import DeliveryState, NewDelivery
from bot.model.questions import FileTo, Question, QuestionState
from bot.model.report import Report
from bot.store import Transaction
from bot.work.context import Context
from bot.work.visitors.question import file_key, send_file
from bot.work.visitors.report import build_report

_MOST_KEYS = 50
"""Maximum repetitions of a post or a file that Slack keeps refusing."""


async def share(context: Context, number: QuestionId, user: UserId) -> Message | None:
    """Post an answer into the channel of its question. Return None, or a message why it is not posted."""
    refusal = await context.store.write(lambda tx: _share(context, tx, number, user))
    if refusal is None:
        context.wake()
    return refusal


def _share(context: Context, tx: Transaction, number: QuestionId, user: UserId) -> Message | None:
    question = tx.questions.get(number)
    if question is None:
        return say.not_kept()
    if question.state is not QuestionState.ANSWERED:
        return say.still_reading()
    key = _free_key(tx, f"question:{number}:shared")
    if key is None:
        return say.shared_before()
    report = _report_again(context, tx, question)
    if report is None:
        return say.not_kept()
    post = NewDelivery.post(key, question.channel, user, visitors.report(report, question.id, shared_by=user))
    tx.outbox.add(replace(post, question=number), context.clock())
    return None


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


def _report_again(context: Context, tx: Transaction, question: Question) -> Report | None:
    """Build a report again from the same snapshots; None if they have been deleted meanwhile."""
    ids = [*question.windows, *(question.chart or ())]
    known = tx.snapshots.get(ids)
    current = known.get(question.now)
    if current is None or current.totals is None or not current.with_pages:
        return None
    was = known.get(question.was) if question.was else None
    chart = [known[each] for each in question.chart] if question.chart else None
    budget = context.budget(tx, question.project)
    return build_report(tx, context.analytics, question.query, current, was, chart, budget)


async def more(context: Context, number: QuestionId) -> Message:
    """Return the rest of an answer."""
    return await context.store.read(lambda tx: _more(context, tx, number))


def _more(context: Context, tx: Transaction, number: QuestionId) -> Message:
    question = tx.questions.get(number)
    if question is None:
        return say.not_kept()
    if question.state is not QuestionState.ANSWERED:
        return say.still_reading()
    top = max(question.query.top, visitors_more.MOST_PAGES)
    report = _report_again(context, tx, replace(question, query=replace(question.query, top=top)))
    return say.not_kept() if report is None else visitors_more.more(report, number)


async def send_csv(context: Context, number: QuestionId) -> Message:
    """Send all pages as a file to the person who asked, once unless Slack refuses it. Return the reply."""
    refusal = await context.store.write(lambda tx: _send_csv(context, tx, number))
    if refusal is not None:
        return refusal
    context.wake()
    return say.file_follows(to_channel=False)


def _send_csv(context: Context, tx: Transaction, number: QuestionId) -> Message | None:
    """Add the file to the outbox. Return None, or a message why it is not sent."""
    question = tx.questions.get(number)
    if question is None:
        return say.not_kept()
    if question.state is not QuestionState.ANSWERED:
        return say.still_reading()
    current = tx.snapshots.get([question.now]).get(question.now)
    if current is None or not current.with_pages:
        return say.not_kept()
    key = _free_key(tx, file_key(number, FileTo.PRIVATE))
    if key is None:
        return say.file_sent_before()
    send_file(tx, question, FileTo.PRIVATE, context.clock(), key=key)
    return None
