"""What the buttons under an answer about visitors do: share it, send it as a file, say how it was counted."""

from __future__ import annotations

from dataclasses import replace

from bot.messages import visitors
from bot.messages import visitors_answers as say
from bot.model import (
    DeliveryState,
    FileTo,
    Message,
    NewDelivery,
    Question,
    QuestionId,
    QuestionState,
    UserId,
)
from bot.store import Transaction
from bot.work.context import Context
from bot.work.visitors.question import file_key, send_file
from bot.work.visitors.report import gather

_MOST_TRIES = 50


async def share(context: Context, number: QuestionId, user: UserId) -> Message | None:
    """Post an answer into the channel in which it was asked for; a word when there is nothing to do."""
    told = await context.store.write(lambda tx: _share(context, tx, number, user))
    if told is None:
        context.wake()
    return told


def _share(context: Context, tx: Transaction, number: QuestionId, user: UserId) -> Message | None:
    question = tx.questions.get(number)
    if question is None:
        return say.not_kept()
    if question.state is not QuestionState.ANSWERED:
        return say.still_reading()
    key = _free_key(tx, f"question:{number}:shared")
    if key is None:
        return say.shared_before()
    message = _again(context, tx, question, user)
    if message is None:
        return say.not_kept()
    post = NewDelivery.post(key, question.channel, user, message)
    tx.outbox.add(replace(post, question=number), context.clock())
    return None


def _free_key(tx: Transaction, what: str) -> str | None:
    """A key for doing this once; another after Slack refused; None when it is done or on its way."""
    for count in range(_MOST_TRIES):
        key = f"{what}:{count}"
        state = tx.outbox.state_of(key)
        if state is None:
            return key
        if state is not DeliveryState.DEAD:
            return None
    return None


def _again(context: Context, tx: Transaction, question: Question, user: UserId) -> Message | None:
    """The answer once more, from the same stored numbers; None when they are not kept any more."""
    ids = [question.now, *([question.was] if question.was else []), *(question.chart or ())]
    known = tx.snapshots.get(ids)
    window = known.get(question.now)
    if window is None or window.totals is None or not window.with_pages:
        return None
    was = known.get(question.was) if question.was else None
    chart = [known[each] for each in question.chart] if question.chart else None
    now = context.clock()
    budget = tx.budget.read(question.project, context.analytics.calls_an_hour, now)
    report = gather(tx, context.analytics, question.query, window, was, chart, budget, now)
    return visitors.report(report, question.id, shared_by=user)


async def send_csv(context: Context, number: QuestionId) -> Message:
    """Send every page as a file to who asked, once; again only after Slack refused it."""
    told = await context.store.write(lambda tx: _send_csv(context, tx, number))
    if told is not None:
        return told
    context.wake()
    return say.file_follows(to_channel=False)


def _send_csv(context: Context, tx: Transaction, number: QuestionId) -> Message | None:
    """Put the file into the outbox; or return why not."""
    question = tx.questions.get(number)
    if question is None:
        return say.not_kept()
    if question.state is not QuestionState.ANSWERED:
        return say.still_reading()
    window = tx.snapshots.get([question.now]).get(question.now)
    if window is None or not window.with_pages:
        return say.not_kept()
    key = _free_key(tx, file_key(number, FileTo.PRIVATE))
    if key is None:
        return say.file_sent_before()
    send_file(tx, question, FileTo.PRIVATE, context.clock(), key=key)
    return None


async def how_counted(context: Context, number: QuestionId) -> Message:
    """What the numbers of an answer mean."""
    zone = context.analytics.zone.key

    def look(tx: Transaction) -> Message:
        question = tx.questions.get(number)
        if question is None:
            return say.not_kept()
        return say.how_counted(question, tx.snapshots.get([question.now])[question.now], zone)

    return await context.store.read(look)
