"""Store questions about visitors, and answer them when their numbers have been fetched."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

import structlog

from bot.messages import visitors
from bot.messages import visitors_answers as say
from bot.model.ids import ProjectId, QuestionId
from bot.model.message import Message
from bot.model.origin import Origin
from bot.model.outbox import DeliveryKind, DeliveryState, NewDelivery
from bot.model.questions import FileTo, Question, VisitorsQuery
from bot.model.report import Report
from bot.model.visitors import Analytics, Budget, Priority, ReadingProblem, Snapshot, SnapshotState
from bot.store import AlreadyStored, LeaseLost, Transaction
from bot.work.access.check import AskSlack, decide
from bot.work.access.denied import refuse_question
from bot.work.context import Context, WorkerContext
from bot.work.retry import retry_on_db_error
from bot.work.tasks import run_all
from bot.work.visitors.report import build_report
from bot.work.visitors.snapshots import chart_calls, has_had_share, request_snapshot

log = structlog.get_logger(__name__)
_AT_ONCE = 20
_CHART_RESERVE = 10
"""The number of calls that a chart must leave in the hourly budget for the next question."""
_UNFETCHED = (SnapshotState.REQUESTED, SnapshotState.RESTING)
"""States before the numbers are there. Another request may leave a snapshot *resting*; it is resumed."""
_SOON_SECONDS = 20.0
"""A question waits for the budget if the next call frees within this time."""
_QUIET_SECONDS = 3.0
"""How long a question is read without a word. Most answers come sooner."""


async def ask_visitors(
    context: Context, origin: Origin, query: VisitorsQuery, project: ProjectId | None = None
) -> None:
    """Store a question. A worker answers it; after three seconds without an answer it says so first.

    ``project``: None for that of the channel.
    """
    try:
        await context.store.write(lambda tx: _store(context, tx, origin, query, project))
    except AlreadyStored:
        log.info("question_repeated", user=origin.user)
    context.wake()


def _store(
    context: Context, tx: Transaction, origin: Origin, query: VisitorsQuery, named: ProjectId | None
) -> None:
    if tx.questions.with_key(origin.key) is not None:
        return
    now, analytics = context.clock(), context.analytics
    project = named or context.project_of(tx, origin.channel).id
    shown = context.projects.shown(project)
    current = request_snapshot(tx, analytics, project, query.period, Priority.ASKED, now)
    compared = _request_compared(context, tx, project, query, now)
    tx.questions.add(
        origin,
        replace(query, label=shown.label if shown else None),
        project=project,
        now=current.id,
        was=compared.id if compared else None,
        calls_before=current.calls + (compared.calls if compared else 0),
        asked_at=now,
    )


def _request_compared(
    context: Context, tx: Transaction, project: ProjectId, query: VisitorsQuery, now: datetime
) -> Snapshot | None:
    """Request the period compared with; its totals only, if pages could not be compared."""
    if query.compared is None:
        return None
    zone = context.analytics.zone
    fair = query.compared.days == query.period.days and query.period.is_over(now, zone)
    return request_snapshot(
        tx,
        context.analytics,
        project,
        query.compared,
        Priority.COMPARED,
        now,
        with_pages=fair and query.compared.is_over(now, zone),
    )


async def answer_questions(context: WorkerContext) -> int:
    """Check the questions that are due: send the answer, or say that their numbers are being read."""
    if not await context.store.read(lambda tx: tx.questions.any_due(context.clock())):
        return 0
    claimed = await context.store.write(lambda tx: tx.questions.claim(context.claimer(), _AT_ONCE))
    await run_all(*(retry_on_db_error(partial(_advance, context, question)) for question in claimed))
    return 0  # a question that waits becomes due again by itself


@dataclass(frozen=True, slots=True)
class _Status:
    """The status of a question: a report, or why there is none, or neither while its numbers are fetched.

    ``is_partial``: no calls are left for it, so the report lacks some of the numbers.
    ``is_announced``: the person is told now that the numbers are being read.
    """

    snapshots: list[Snapshot]
    report: Report | None = None
    unreadable: Message | None = None
    is_partial: bool = False
    is_announced: bool = False

    @property
    def is_over(self) -> bool:
        """Return whether the question can be answered."""
        return self.report is not None or self.unreadable is not None


async def _advance(context: WorkerContext, question: Question) -> None:
    try:
        denied = (await decide(context, question.user, ask=AskSlack.FINAL)).denied
        if denied is not None:
            await context.settle(lambda tx: refuse_question(context, tx, question, denied))
            context.wake()
            return
        status = await context.settle(lambda tx: _settle(context, tx, question))
    except LeaseLost:
        log.warning("question_taken_over", question=question.id)
        return
    if status.is_over or status.is_announced:
        context.wake()
    if not status.is_over:
        context.wake_after(context.timeouts.reading_seconds * 1.1)


def _settle(context: WorkerContext, tx: Transaction, question: Question) -> _Status:
    """Answer a question or put it back. Return its status."""
    now = context.clock()
    status = _status_of(tx, context.analytics, question, context.budget(tx, question.project), now)
    if status.is_over and not _is_being_told(tx, question):
        _answer(context, tx, question, status, now)
        return status
    is_late = (now - question.asked_at).total_seconds() >= _QUIET_SECONDS
    is_announced = is_late and _tell_reading(tx, question, now)
    tx.questions.put_back(question.id, context.owner, context.after(context.timeouts.reading_seconds))
    return replace(status, report=None, unreadable=None, is_announced=is_announced)


def _reading_key(question: Question) -> str:
    return f"question:{question.id}:reading"


def _tell_reading(tx: Transaction, question: Question, now: datetime) -> bool:
    """Add the message that the numbers are being read to the outbox. Return False if it was added before."""
    if tx.outbox.state_of(_reading_key(question)) is not None:
        return False
    tx.outbox.add(_private_delivery(tx, _reading_key(question), question, say.reading(question.query)), now)
    return True


def _is_being_told(tx: Transaction, question: Question) -> bool:
    """Return whether the message about the reading is under way, so that the answer must follow it."""
    tx.outbox.drop_pending(_reading_key(question))
    return tx.outbox.state_of(_reading_key(question)) is DeliveryState.SENDING


def _status_of(
    tx: Transaction, analytics: Analytics, question: Question, budget: Budget, now: datetime
) -> _Status:
    """Return the status of a question. Plan its chart when its pages have been fetched."""
    current, compared, chart = _snapshots_of(tx, question)
    with_pages = [current, *([compared] if compared else [])]
    waits = any(each.state in _UNFETCHED for each in with_pages)
    snapshots = [*with_pages, *(chart or [])]
    wait = (budget.free_at - now).total_seconds() if budget.free_at is not None else 0.0
    is_used_up = waits and wait > _SOON_SECONDS
    has_had_pages = question.chart is not None or has_had_share(tx, analytics, question, now)
    is_partial = is_used_up or (waits and current.totals is not None and has_had_pages)
    if waits and not is_partial:
        tx.snapshots.read_on(question.windows, now)
        return _Status(snapshots)
    if current.totals is None:
        return _Status(snapshots, unreadable=_unreadable(question, current, budget))
    if question.chart is None and not is_used_up:
        chart = _plan_chart(tx, analytics, question, budget, now)
        snapshots = [*with_pages, *(chart or [])]
    if not is_used_up and any(each.state in _UNFETCHED for each in chart or []):
        if budget.free_at is None:
            tx.snapshots.read_on([each.id for each in chart or []], now)
            return _Status(snapshots)
        is_partial = True
    report = build_report(tx, analytics, question.query, current, compared, chart, budget)
    return _Status(snapshots, report, is_partial=is_partial)


def _snapshots_of(
    tx: Transaction, question: Question
) -> tuple[Snapshot, Snapshot | None, list[Snapshot] | None]:
    """Return a question's snapshots: of its period, of the compared period, and of the chart."""
    ids = [*question.windows, *(question.chart or ())]
    known = tx.snapshots.get(ids)
    # An empty list means no chart, None means that the chart is not decided.
    chart = [known[each] for each in question.chart] if question.chart else None
    return known[question.now], known[question.was] if question.was else None, chart


def _unreadable(question: Question, current: Snapshot, budget: Budget) -> Message:
    if current.state is SnapshotState.FAILED:
        return say.not_readable(question.query, current.problem or ReadingProblem.UNWELL)
    return say.budget_used_up(question.query, budget)


def _plan_chart(
    tx: Transaction, analytics: Analytics, question: Question, budget: Budget, now: datetime
) -> list[Snapshot] | None:
    """Request the snapshots of the chart if the share and the reserve allow it; otherwise return None."""
    missing = chart_calls(tx, analytics, question, now)
    if missing is None or (missing and missing > budget.free - _CHART_RESERVE):
        tx.questions.update(question.id, chart=[])
        return None
    chart = [
        request_snapshot(tx, analytics, question.project, step, Priority.CHART, now, with_pages=False)
        for step in question.query.period.steps()
    ]
    tx.questions.update(question.id, chart=[each.id for each in chart])
    return chart


def _answer(
    context: WorkerContext, tx: Transaction, question: Question, status: _Status, now: datetime
) -> None:
    """Add the answer to the outbox, and mark the question as answered."""
    message = status.unreadable
    if status.report is not None:
        message = visitors.report(status.report, question.id)
    if message is None:
        raise ValueError(f"question {question.id} has no answer yet")
    answer = _private_delivery(tx, f"question:{question.id}:answer", question, message)
    tx.questions.answered(question.id, context.owner)
    if status.is_partial:
        tx.snapshots.rest([each.id for each in status.snapshots])
    tx.outbox.add(answer, now)
    if status.report is not None:
        send_file(tx, question, question.query.file_to, now)


def _private_delivery(tx: Transaction, key: str, question: Question, message: Message) -> NewDelivery:
    """Return the delivery of a private message, to where the person wrote to the bot."""
    channel, user, thread, about = question.channel, question.user, question.thread_ts, question.id
    url = tx.questions.response_url(question.id)
    if url is None:
        return NewDelivery.whisper(key, channel, user, message, thread=thread, question=about)
    note = NewDelivery.private(key, channel, user, message, response_url=url, thread=thread)
    return replace(note, question=about)


def file_key(number: QuestionId, to: FileTo) -> str:
    """Return the prefix of the delivery keys of an answer's file for one destination."""
    return f"question:{number}:file:{to}"


def send_file(
    tx: Transaction, question: Question, to: FileTo, now: datetime, *, key: str | None = None
) -> None:
    """Add the file with all pages to the outbox, once for each key."""
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
