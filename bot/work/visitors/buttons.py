"""What the buttons under an answer about visitors do: share it, send it as a file, say how it was counted."""

from __future__ import annotations

from bot.messages import visitors
from bot.messages import visitors_answers as say
from bot.model import (
    DeliveryKind,
    DeliveryState,
    FileTo,
    Message,
    NewDelivery,
    Question,
    QuestionId,
    QuestionState,
    UserId,
)
from bot.store import Tables
from bot.work.context import Desk
from bot.work.visitors.question import file_key, send_file
from bot.work.visitors.report import gather

_MOST_TRIES = 50


async def share(desk: Desk, number: QuestionId, user: UserId) -> Message | None:
    """Post an answer into the channel in which it was asked for; a word when there is nothing to do."""
    now = desk.clock()
    async with desk.registry.transaction() as tables:
        question = await tables.questions.get(number)
        if question is None:
            return say.not_kept()
        if question.state is not QuestionState.ANSWERED:
            return say.still_reading()
        key = await _free_key(tables, f"question:{number}:shared")
        if key is None:
            return say.shared_before()
        message = await _again(desk, tables, question, user)
        if message is None:
            return say.not_kept()
        post = NewDelivery(
            key, DeliveryKind.POST, question.channel, user=user, message=message, question=number
        )
        await tables.deliveries.add(post, now)
    desk.wake()
    return None


async def _free_key(tables: Tables, what: str) -> str | None:
    """A key for doing this once; another after Slack refused; None when it is done or on its way."""
    for count in range(_MOST_TRIES):
        key = f"{what}:{count}"
        state = await tables.deliveries.state_of(key)
        if state is None:
            return key
        if state is not DeliveryState.DEAD:
            return None
    return None


async def _again(desk: Desk, tables: Tables, question: Question, user: UserId) -> Message | None:
    """The answer once more, from the same stored numbers; None when they are not kept any more."""
    ids = [question.now, *([question.was] if question.was else []), *(question.chart or ())]
    known = await tables.snapshots.get(ids)
    window = known.get(question.now)
    if window is None or window.totals is None or not window.with_pages:
        return None
    was = known.get(question.was) if question.was else None
    chart = [known[each] for each in question.chart] if question.chart else None
    now = desk.clock()
    budget = await tables.budget.look(question.project, desk.analytics.calls_an_hour, now)
    report = await gather(tables, desk.analytics, question.wish, window, was, chart, budget, now)
    return visitors.report(report, question.id, shared_by=user)


async def send_csv(desk: Desk, number: QuestionId) -> Message:
    """Send every page as a file to who asked, once; again only after Slack refused it."""
    async with desk.registry.transaction() as tables:
        question = await tables.questions.get(number)
        if question is None:
            return say.not_kept()
        if question.state is not QuestionState.ANSWERED:
            return say.still_reading()
        window = (await tables.snapshots.get([question.now])).get(question.now)
        if window is None or not window.with_pages:
            return say.not_kept()
        key = await _free_key(tables, file_key(number, FileTo.PRIVATE))
        if key is None:
            return say.file_sent_before()
        await send_file(tables, question, FileTo.PRIVATE, desk.clock(), key=key)
    desk.wake()
    return say.file_follows(to_channel=False)


async def how_counted(desk: Desk, number: QuestionId) -> Message:
    """What the numbers of an answer mean."""
    async with desk.registry.look() as tables:
        question = await tables.questions.get(number)
        if question is None:
            return say.not_kept()
        now = (await tables.snapshots.get([question.now]))[question.now]
    return say.how_counted(question, now, desk.analytics.zone.key)
