"""Questions about visitors: taken in at once, answered when their numbers have been read."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import datetime

import structlog
from pydantic import SecretStr

from bot.messages import visitors
from bot.messages import visitors_answers as say
from bot.model import (
    Analytics,
    Budget,
    DeliveryKind,
    FileTo,
    Message,
    NewDelivery,
    Origin,
    Priority,
    Question,
    QuestionId,
    QuestionState,
    ReadingProblem,
    Report,
    Snapshot,
    SnapshotState,
    VisitorsQuery,
)
from bot.store import AlreadyStored, LeaseLost, Transaction
from bot.work.access.check import decide
from bot.work.access.decision import AskSlack
from bot.work.access.denied import refuse_question
from bot.work.context import Context, WorkerContext
from bot.work.ports import SlackError
from bot.work.visitors.report import gather
from bot.work.visitors.windows import find_snapshot, request_snapshot

log = structlog.get_logger(__name__)
_AT_ONCE = 20
_CHART_RESERVE = 10
"""So many calls of the hour a chart leaves for the next question."""
_UNREAD = (SnapshotState.REQUESTED, SnapshotState.RESTING)
"""What rests does so for somebody else's sake: whoever waits for it has it read on."""
_SOON_SECONDS = 20.0
"""A budget that frees so soon is waited for."""
_MOST_SHOWN = 3
"""With the button's own answer and the final one, the five posts of a response URL."""
_FIRST_SHOWN_SECONDS = 5.0
_SHOWN_FACTOR = 8.0


@dataclass(frozen=True, slots=True)
class VisitorsAsked:
    """What is said at once; ``answered`` when that is all, else the answer comes later."""

    message: Message
    answered: bool = False


async def ask_visitors(context: Context, origin: Origin, query: VisitorsQuery) -> VisitorsAsked:
    """Store a question; answers with the report if all of it is known already, else that it is being read."""
    try:
        question = await context.store.write(lambda tx: _store(context, tx, origin, query))
    except AlreadyStored:
        known = await context.store.read(lambda tx: tx.questions.with_key(origin.key))
        if known is None:
            raise
        return VisitorsAsked(say.reading(query.period, known))
    message = await context.store.write(lambda tx: _at_once(context, tx, question))
    context.wake()
    if message is not None:
        return VisitorsAsked(message, answered=True)
    return VisitorsAsked(say.reading(query.period, question))


def _store(context: Context, tx: Transaction, origin: Origin, query: VisitorsQuery) -> QuestionId:
    known = tx.questions.with_key(origin.key)
    if known is not None:
        return known
    now, analytics = context.clock(), context.analytics
    window = request_snapshot(tx, analytics, context.project, query.period, Priority.ASKED, now)
    compared = (
        request_snapshot(tx, analytics, context.project, query.compared, Priority.COMPARED, now)
        if query.compared
        else None
    )
    return tx.questions.add(
        origin,
        query,
        project=context.project,
        now=window.id,
        was=compared.id if compared else None,
        asked_at=now,
    )


def _at_once(context: Context, tx: Transaction, number: QuestionId) -> Message | None:
    """The report, when everything that it takes was read for somebody else before."""
    question = tx.questions.get(number)
    if question is None or question.query.file_to is not FileTo.NOWHERE:
        return None
    now = context.clock()
    status = _look(tx, context.analytics, question, now)
    if status.report is None or status.is_partial:
        return None
    tx.questions.answered(number)
    return visitors.report(status.report, number)


async def answer_questions(context: WorkerContext) -> int:
    """Look at every question that is not answered: answer it, or show how far it is."""
    if not await context.store.read(lambda tx: tx.questions.any_due(context.clock())):
        return 0
    claimed = await context.store.write(lambda tx: tx.questions.claim(context.claimer(), _AT_ONCE))
    await asyncio.gather(*(_advance(context, question) for question in claimed))
    return 0  # one that waits is looked at again a moment later, not at once


@dataclass(frozen=True, slots=True)
class _Status:
    """What is known: a report, or why there is none, or neither while it is read."""

    parts: list[Snapshot]
    budget: Budget
    report: Report | None = None
    unreadable: Message | None = None
    is_partial: bool = False

    @property
    def is_over(self) -> bool:
        """Whether there is something to answer with."""
        return self.report is not None or self.unreadable is not None


async def _advance(context: WorkerContext, question: Question) -> None:
    try:
        denied = (await decide(context, question.user, ask=AskSlack.FINAL)).denied
        if denied is not None:
            await context.store.write(lambda tx: refuse_question(context, tx, question, denied))
            context.wake()
            return
        status, progress_url = await context.store.write(lambda tx: _settle(context, tx, question))
    except LeaseLost:
        log.warning("question_taken_over", question=question.id)
        return
    if status.is_over:
        context.wake()
    else:
        context.wake_after(context.timeouts.reading_seconds * 1.1)
        await _show_progress(context, question, status, progress_url)


def _settle(context: WorkerContext, tx: Transaction, question: Question) -> tuple[_Status, SecretStr | None]:
    """Answer a question, or put it back; return its status, and where its progress is shown."""
    now = context.clock()
    status = _look(tx, context.analytics, question, now)
    if status.is_over:
        _answer(context, tx, question, status, now)
    else:
        due_at = context.after(context.timeouts.reading_seconds)
        tx.questions.put_back(question.id, context.owner, due_at)
    _, progress_url = tx.questions.urls(question.id)
    return status, progress_url


def _look(tx: Transaction, analytics: Analytics, question: Question, now: datetime) -> _Status:
    """Where a question stands; decides about its chart once its pages are read."""
    budget = tx.budget.read(question.project, analytics.calls_an_hour, now)
    window, compared, chart = _parts(tx, question)
    pages = [window, *([compared] if compared else [])]
    waits = any(part.state in _UNREAD for part in pages)
    out = waits and budget.free_at is not None and (budget.free_at - now).total_seconds() > _SOON_SECONDS
    parts = [*pages, *(chart or [])]
    if waits and not out:
        tx.snapshots.read_on([part.id for part in pages], now)
        return _Status(parts, budget)
    if window.totals is None:
        return _Status(parts, budget, unreadable=_unreadable(question, window, budget))
    if question.chart is None and not out:
        chart = _plan_chart(tx, analytics, question, budget, now)
        parts = [*pages, *(chart or [])]
    if not out and any(part.state in _UNREAD for part in chart or []):
        if budget.free_at is None:
            tx.snapshots.read_on([part.id for part in chart or []], now)
            return _Status(parts, budget)
        out = True
    report = gather(tx, analytics, question.query, window, compared, chart, budget, now)
    return _Status(parts, budget, report, is_partial=out)


def _parts(tx: Transaction, question: Question) -> tuple[Snapshot, Snapshot | None, list[Snapshot] | None]:
    ids = [question.now, *([question.was] if question.was else []), *(question.chart or ())]
    known = tx.snapshots.get(ids)
    # No chart is stored as an empty list, "not decided" as None.
    chart = [known[each] for each in question.chart] if question.chart else None
    return known[question.now], known[question.was] if question.was else None, chart


def _unreadable(question: Question, window: Snapshot, budget: Budget) -> Message:
    if window.state is SnapshotState.FAILED:
        return say.not_readable(question.query.period, window.problem or ReadingProblem.UNWELL)
    return say.budget_used_up(question.query.period, budget)


def _plan_chart(
    tx: Transaction, analytics: Analytics, question: Question, budget: Budget, now: datetime
) -> list[Snapshot] | None:
    """The windows of the chart, when the calls they still take leave enough for others."""
    steps = question.query.period.steps()
    known = [find_snapshot(tx, analytics, question.project, step, now) for step in steps]
    missing = sum(1 for part in known if part is None or part.totals is None)
    if missing and missing > budget.free - _CHART_RESERVE:
        tx.questions.update(question.id, chart=[])
        return None
    chart = [
        request_snapshot(tx, analytics, question.project, step, Priority.CHART, now, with_pages=False)
        for step in steps
    ]
    tx.questions.update(question.id, chart=[part.id for part in chart])
    return chart


def _answer(
    context: WorkerContext, tx: Transaction, question: Question, status: _Status, now: datetime
) -> None:
    """The answer and the state that says so, together."""
    message = status.unreadable or (
        visitors.report(status.report, question.id) if status.report is not None else None
    )
    response_url, progress_url = tx.questions.urls(question.id)
    tx.questions.answered(question.id, context.owner)
    if status.is_partial:
        tx.snapshots.rest([part.id for part in status.parts])
    answer = NewDelivery(
        f"question:{question.id}:answer",
        DeliveryKind.PRIVATE,
        question.channel,
        user=question.user,
        message=message,
        response_url=progress_url or response_url,
        replaces=progress_url is not None,
        question=question.id,
    )
    tx.outbox.add(answer, now)
    if status.report is not None:
        send_file(tx, question, question.query.file_to, now)


def file_key(number: QuestionId, to: FileTo) -> str:
    """What the keys of files with an answer's pages begin with, for one place."""
    return f"question:{number}:file:{to}"


def send_file(
    tx: Transaction, question: Question, to: FileTo, now: datetime, *, key: str | None = None
) -> None:
    """Put the file with all pages into the outbox, once for each key."""
    if to is FileTo.NOWHERE:
        return
    file = NewDelivery(
        key or f"{file_key(question.id, to)}:0",
        DeliveryKind.FILE,
        question.channel,
        user=question.user if to is FileTo.PRIVATE else None,
        question=question.id,
    )
    tx.outbox.add(file, now)


async def _show_progress(
    context: WorkerContext, question: Question, status: _Status, url: SecretStr | None
) -> None:
    """In the message whose button was pressed, a few times at growing intervals. A nicety."""
    age_seconds = (context.clock() - question.asked_at).total_seconds()
    if url is None or question.shown >= _MOST_SHOWN or age_seconds < next_shown_seconds(question.shown):
        return
    try:
        await context.messenger.answer(
            url, say.progress(question, status.parts, status.budget), replaces=True
        )
    except SlackError as error:
        log.info("progress_not_shown", question=question.id, reason=str(error))
    await context.store.write(lambda tx: tx.questions.update(question.id, shown=question.shown + 1))


def next_shown_seconds(shown: int) -> float:
    """At what age of a question progress is shown the next time."""
    return _FIRST_SHOWN_SECONDS * _SHOWN_FACTOR**shown


async def show_progress(context: Context, number: QuestionId, url: SecretStr | None) -> Message | None:
    """How far a question is; from now on the pressed message follows it and becomes the answer."""
    return await context.store.write(lambda tx: _follow(context, tx, number, url))


def _follow(context: Context, tx: Transaction, number: QuestionId, url: SecretStr | None) -> Message | None:
    now, question = context.clock(), tx.questions.get(number)
    if question is None:
        return None
    if question.state is QuestionState.ANSWERED:
        return say.moved_on()
    if url is not None:
        age_seconds, shown = (now - question.asked_at).total_seconds(), 0
        while shown < _MOST_SHOWN and next_shown_seconds(shown) <= age_seconds:
            shown += 1
        tx.questions.update(number, progress_url=url.get_secret_value(), shown=shown)
    window, compared, chart = _parts(tx, question)
    budget = tx.budget.read(question.project, context.analytics.calls_an_hour, now)
    return say.progress(question, [window, *([compared] if compared else []), *(chart or [])], budget)
