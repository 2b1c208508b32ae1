"""Store questions about visitors, and answer them when their numbers have been fetched."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

import structlog
from pydantic import SecretStr

from bot.messages import visitors
from bot.messages import visitors_answers as say
from bot.messages.visitors_extent import ask_extent
from bot.model import (
    Analytics,
    Budget,
    DeliveryKind,
    DeliveryState,
    Extent,
    FileTo,
    Message,
    NewDelivery,
    Origin,
    Priority,
    ProjectId,
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
from bot.work.access.check import AskSlack, decide
from bot.work.access.denied import refuse_question
from bot.work.context import Context, WorkerContext
from bot.work.ports import SlackError
from bot.work.retry import retry_on_db_error
from bot.work.tasks import run_all
from bot.work.visitors.extent import calls_needed, is_over_share
from bot.work.visitors.report import build_report
from bot.work.visitors.snapshots import find_snapshot, request_snapshot

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
_MOST_SHOWN = 3
"""Progress updates per question. The button's own reply and the answer use the same five-post URL."""
_FIRST_SHOWN_SECONDS = 5.0
_SHOWN_FACTOR = 8.0
"""Age of the question at the first progress update, and the factor of the age at each later one."""


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
    """Check the questions that are due: send the answer, or show the progress."""
    if not await context.store.read(lambda tx: tx.questions.any_due(context.clock())):
        return 0
    claimed = await context.store.write(lambda tx: tx.questions.claim(context.claimer(), _AT_ONCE))
    await run_all(*(retry_on_db_error(partial(_advance, context, question)) for question in claimed))
    return 0  # a question that waits becomes due again by itself


@dataclass(frozen=True, slots=True)
class _Status:
    """The status of a question: a report, or why there is none, or neither while its numbers are fetched.

    ``is_partial``: the budget is used up, so the report lacks some of the numbers.
    ``is_announced``: the person is told now that the numbers are being read.
    """

    snapshots: list[Snapshot]
    budget: Budget
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
        status, progress_url = await context.settle(lambda tx: _settle(context, tx, question))
    except LeaseLost:
        log.warning("question_taken_over", question=question.id)
        return
    if status.is_over or status.is_announced:
        context.wake()
    if not status.is_over:
        context.wake_after(context.timeouts.reading_seconds * 1.1)
        await _show_progress(context, question, status, progress_url)


def _settle(context: WorkerContext, tx: Transaction, question: Question) -> tuple[_Status, SecretStr | None]:
    """Answer a question or put it back. Return its status, and the response URL for progress updates."""
    now = context.clock()
    status = _status_of(tx, context.analytics, question, context.budget(tx, question.project), now)
    _, progress_url = tx.questions.urls(question.id)
    if status.is_over and not _is_being_told(tx, question):
        _answer(context, tx, question, status, now)
        return status, None
    is_late = (now - question.asked_at).total_seconds() >= _QUIET_SECONDS
    is_announced = is_late and progress_url is None and _tell_reading(tx, question, now)
    tx.questions.put_back(question.id, context.owner, context.after(context.timeouts.reading_seconds))
    return replace(status, report=None, unreadable=None, is_announced=is_announced), progress_url


def _reading_key(question: Question) -> str:
    return f"question:{question.id}:reading"


def _tell_reading(tx: Transaction, question: Question, now: datetime) -> bool:
    """Add the message that the numbers are being read to the outbox. Return False if it was added before."""
    if tx.outbox.state_of(_reading_key(question)) is not None:
        return False
    response_url, _ = tx.questions.urls(question.id)
    message = say.reading(question.query, question.id)
    note = _private_delivery(_reading_key(question), question, message, response_url)
    tx.outbox.add(note, now)
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
    wait = (budget.free_at - now).total_seconds() if budget.free_at is not None else 0.0
    is_partial = waits and wait > _SOON_SECONDS
    snapshots = [*with_pages, *(chart or [])]
    if waits and not is_partial and question.query.extent is not Extent.ALL:
        needed = calls_needed(with_pages, tx.snapshots.most_rows(question.project), analytics)
        is_held = is_over_share(with_pages, analytics)
        if question.query.extent is Extent.ASK and (is_held or needed > analytics.question_calls):
            asked = ask_extent(question, needed, analytics.calls_an_hour)
            return _Status(snapshots, budget, unreadable=asked, is_partial=True)
        is_partial = is_held
    if waits and not is_partial:
        tx.snapshots.read_on([each.id for each in with_pages], now)
        return _Status(snapshots, budget)
    if current.totals is None:
        return _Status(snapshots, budget, unreadable=_unreadable(question, current, budget))
    if question.chart is None and not is_partial:
        chart = _plan_chart(tx, analytics, question, budget, now)
        snapshots = [*with_pages, *(chart or [])]
    if not is_partial and any(each.state in _UNFETCHED for each in chart or []):
        if budget.free_at is None:
            tx.snapshots.read_on([each.id for each in chart or []], now)
            return _Status(snapshots, budget)
        is_partial = True
    report = build_report(tx, analytics, question.query, current, compared, chart, budget)
    return _Status(snapshots, budget, report, is_partial=is_partial)


def _snapshots_of(
    tx: Transaction, question: Question
) -> tuple[Snapshot, Snapshot | None, list[Snapshot] | None]:
    """Return a question's snapshots: of its period, of the compared period, and of the chart."""
    ids = [question.now, *([question.was] if question.was else []), *(question.chart or ())]
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
    """Request the snapshots of the chart if the calls for them leave the reserve; otherwise return None."""
    steps = question.query.period.steps()
    known = [find_snapshot(tx, analytics, question.project, step, now) for step in steps]
    missing = sum(1 for each in known if each is None or each.totals is None)
    left = analytics.question_calls if question.query.extent is not Extent.ALL else missing
    if missing and missing > min(left, budget.free - _CHART_RESERVE):
        tx.questions.update(question.id, chart=[])
        return None
    chart = [
        request_snapshot(tx, analytics, question.project, step, Priority.CHART, now, with_pages=False)
        for step in steps
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
    response_url, progress_url = tx.questions.urls(question.id)
    tx.questions.answered(question.id, context.owner)
    if status.is_partial:
        tx.snapshots.rest([each.id for each in status.snapshots])
    tx.outbox.add(_answer_delivery(question, message, response_url, progress_url), now)
    if status.report is not None:
        send_file(tx, question, question.query.file_to, now)


def _answer_delivery(
    question: Question, message: Message, response_url: SecretStr | None, progress_url: SecretStr | None
) -> NewDelivery:
    """Return the delivery of an answer: in place of its progress, or where the person wrote to the bot."""
    key = f"question:{question.id}:answer"
    if progress_url is None:
        return _private_delivery(key, question, message, response_url)
    note = NewDelivery.private(key, question.channel, question.user, message, response_url=progress_url)
    return replace(note, question=question.id, replaces=True)


def _private_delivery(key: str, question: Question, message: Message, url: SecretStr | None) -> NewDelivery:
    channel, user, thread, about = question.channel, question.user, question.thread_ts, question.id
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


async def _show_progress(
    context: WorkerContext, question: Question, status: _Status, url: SecretStr | None
) -> None:
    """Show the progress in the message whose button was pressed. An error is logged and not retried."""
    age_seconds = (context.clock() - question.asked_at).total_seconds()
    if url is None or question.shown >= _MOST_SHOWN or age_seconds < next_shown_seconds(question.shown):
        return
    try:
        await context.messenger.answer(
            url, say.progress(question, status.snapshots, status.budget), replaces=True
        )
    except SlackError as error:
        log.info("progress_not_shown", question=question.id, reason=str(error))
    await context.store.write(lambda tx: tx.questions.update(question.id, shown=question.shown + 1))


def next_shown_seconds(shown: int) -> float:
    """Return the age of a question, in seconds, at its next progress update after ``shown`` of them."""
    return _FIRST_SHOWN_SECONDS * _SHOWN_FACTOR**shown


async def show_progress(context: Context, number: QuestionId, url: SecretStr | None) -> Message | None:
    """Return the progress of a question. Updates and the answer then replace the message at ``url``."""
    return await context.store.write(lambda tx: _follow_progress(context, tx, number, url))


def _follow_progress(
    context: Context, tx: Transaction, number: QuestionId, url: SecretStr | None
) -> Message | None:
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
    current, compared, chart = _snapshots_of(tx, question)
    budget = context.budget(tx, question.project)
    return say.progress(question, [current, *([compared] if compared else []), *(chart or [])], budget)
