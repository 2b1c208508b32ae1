"""Questions about visitors: stored, and answered when their numbers have been fetched.

A person's question and a digest, which a subscription asks each week, go the same way. They differ in how
long they wait for which numbers, and in who is told.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import structlog

from bot.access.admit import Allowed
from bot.context import Context, WorkerContext
from bot.engine import unless_taken_over
from bot.ids import Message, ProjectId, QuestionId, SubscriptionId, UserId, is_direct_message
from bot.messages import misses, visitors
from bot.messages import visitors_answers as say
from bot.model.misses import Source
from bot.model.questions import (
    FileTo,
    Numbers,
    Question,
    QuestionKind,
    QuestionState,
    SubscriptionState,
    VisitorsQuery,
)
from bot.model.visitors import ReadingProblem, Snapshot, SnapshotState
from bot.outbox.model import Delivery, DeliveryKind, DeliveryState, NewDelivery
from bot.outbox.store import Outbox
from bot.ports import Origin
from bot.store import Transaction
from bot.store.questions import Questions, Subscriptions
from bot.store.snapshots import Snapshots
from bot.work.visitors.report import CURVE_WEEKS, build_report, misses_report, tell_digest

log = structlog.get_logger(__name__)
_CHART_RESERVE = 10
"""The number of calls that a chart must leave in the hourly budget for the next question."""
_SOON_SECONDS = 20.0
"""A question waits for the budget if the next call frees within this time."""
_QUIET = timedelta(seconds=3)
"""How long a question is read without a word. Most answers come sooner."""
_NEWS = timedelta(minutes=1)
"""For how long it is news that a question is being read."""
_READING = ":reading"
_DIGEST_NOW_SECONDS = 600.0
"""How long a digest that somebody asked for waits for its pages."""
LATEST = timedelta(hours=24)
"""How late a digest may still be posted, for example after a stop of the bot."""
WANTED = timedelta(minutes=1)
"""For how long after its next check a question wants its snapshots. Nobody fetches for one that is gone."""


async def ask_visitors(
    context: Context, allowed: Allowed, query: VisitorsQuery, project: ProjectId | None = None
) -> None:
    """Store a question. A worker answers it; after three seconds without an answer it says so first.

    ``project``: None for that of the channel.
    """

    def add(tx: Transaction) -> bool:
        about = project or context.project_of(tx, allowed.origin.channel).id
        return ask(context, tx, allowed.origin, query, about, QuestionKind.VISITORS)

    if not await context.store.write(add):
        log.info("question_repeated", user=allowed.user)
    context.wake()


def ask(
    context: Context,
    tx: Transaction,
    origin: Origin,
    query: VisitorsQuery,
    project: ProjectId,
    kind: QuestionKind,
    subscription: SubscriptionId | None = None,
) -> bool:
    """Store a question and request its first snapshot. Return False if its key is stored already."""
    if Questions(tx).has_key(origin.key):
        return False
    now, analytics, compared = context.clock(), context.analytics, query.compared
    is_digest = kind is QuestionKind.DIGEST
    points = query.period.earlier(CURVE_WEEKS)[:-2] if is_digest else analytics.chart_parts(query.period, now)
    with_pages, older = dict.fromkeys(points, False), None
    if compared is not None:
        lead = min(query.period, compared).lead()
        older = None if Snapshots(tx).has_visits(project, lead.end, now) else lead
        # Only its totals, if pages could not be compared.
        is_over = query.period.is_over(now, analytics.zone) and compared.is_over(now, analytics.zone)
        with_pages[compared] = is_over and compared.days == query.period.days
    if older is not None:
        with_pages.setdefault(older, False)
    with_pages[query.period] = True
    # In one order, or PostgreSQL ends one of two transactions that add the same snapshots.
    found = {
        period: Snapshots(tx).request(
            project,
            period,
            with_pages=with_pages[period],
            is_final=analytics.is_final(period, now),
            now=now,
        )
        for period in sorted(with_pages)
    }
    chart = [found[point] for point in points]
    if kind is QuestionKind.VISITORS and _unread(chart) >= analytics.question_calls:
        chart = []
    current = found[query.period]
    missed = request_missed(context, tx, project, query, now) if is_digest else []
    added = Questions(tx).add(
        origin,
        with_label(context, query, project),
        kind=kind,
        subscription=subscription,
        project=project,
        now=current,
        was=found[compared] if compared else None,
        older=found[older] if older else None,
        chart=chart,
        asked_at=now,
        missed=missed,
    )
    if origin.user:
        Snapshots(tx).try_again([each.id for each in (*found.values(), *missed)], now)
    Snapshots(tx).want([current.id], kind, now + WANTED)
    return added


def request_missed(
    context: Context, tx: Transaction, project: ProjectId, query: VisitorsQuery, now: datetime
) -> list[Snapshot]:
    """Request what readers missed in a digest's week, and in the week before where one call tells that.

    Without what the service does not give here: it is asked again a day later. Words that were searched
    belong to no section.
    """
    weeks, is_final = (query.period.before(), query.period), context.analytics.is_final
    wanted = {Source.SEARCHES: weeks, Source.VOTES: weeks[1:], Source.COMMENTS: weeks[1:]}
    wanted |= {Source.QUESTIONS: weeks}
    return [
        Snapshots(tx).request(
            project, week, with_pages=False, is_final=is_final(week, now), now=now, source=source
        )
        for source, periods in sorted(wanted.items())
        if not (query.section and source is Source.SEARCHES)
        and not Snapshots(tx).is_not_here(project, source, now)
        for week in periods
    ]


def with_label(context: Context, query: VisitorsQuery, project: ProjectId) -> VisitorsQuery:
    """Return the query with how people read its project."""
    shown = context.projects.shown(project)
    return replace(query, label=shown.label if shown else None)


def _unread(parts: Sequence[Snapshot]) -> int:
    return sum(part.totals is None for part in parts)


async def claim_questions(
    context: WorkerContext, limit: int, _full: Collection[str] = ()
) -> Sequence[Question]:
    """Claim the questions that are due, people's before digests."""
    return await context.store.write(lambda tx: Questions(tx).claim(context.claimer(), limit))


async def answer_question(context: WorkerContext, question: Question) -> None:
    """Send the answer to a question, or say that its numbers are being read."""
    with unless_taken_over("question", question.id):
        await context.settle(lambda tx: _settle(context, tx, question))
        context.wake()
        context.wake_after(context.timeouts.reading_seconds * 1.1)


def _settle(context: WorkerContext, tx: Transaction, question: Question) -> None:
    """Answer a question, or put it back and say for how long which of its snapshots are wanted."""
    if _is_ended(tx, question):
        _finish(context, tx, question, QuestionState.MISSED)
        return
    now, numbers = context.clock(), numbers_of(context, tx, question)
    awaited = _awaited(context, question, numbers, now)
    if awaited or _is_being_told(tx, question):
        checked_at = context.after(context.timeouts.reading_seconds)
        failed = [each.due_at for each in awaited if each.state is SnapshotState.FAILED]
        checked_at = max(checked_at, *failed) if failed else checked_at
        Snapshots(tx).want([each.id for each in awaited], question.kind, checked_at + WANTED)
        _tell_reading(tx, question, now)
        Questions(tx).put_back(question.id, context.owner, checked_at)
        return
    if question.kind is QuestionKind.DIGEST:
        told = tell_digest(context, tx, question, numbers)
        _finish(context, tx, question, QuestionState.ANSWERED if told else QuestionState.MISSED)
    else:
        _answer(context, tx, question, numbers, now)
        _finish(context, tx, question, QuestionState.ANSWERED)


def _finish(context: WorkerContext, tx: Transaction, question: Question, state: QuestionState) -> None:
    Snapshots(tx).want(question.snapshots, question.kind, None)
    Questions(tx).settle(question.id, context.owner, state)


def _is_ended(tx: Transaction, question: Question) -> bool:
    """Return whether a digest's subscription was ended while its numbers were being fetched."""
    subscription = Subscriptions(tx).get(question.subscription) if question.subscription else None
    return subscription is not None and subscription.state is SubscriptionState.ENDED


def numbers_of(context: Context, tx: Transaction, question: Question) -> Numbers:
    """Return the snapshots of a question as they are stored."""
    known = Snapshots(tx).get(question.snapshots)
    chart = tuple(known[each] for each in question.chart)
    older, was = (known[each] if each else None for each in (question.older, question.was))
    missed = tuple(known[each] for each in question.missed)
    return Numbers(known[question.now], was, older, chart, context.budget(tx, question.project), missed)


def _awaited(
    context: WorkerContext, question: Question, numbers: Numbers, now: datetime
) -> Sequence[Snapshot]:
    """Return the snapshots that a question waits for next: its windows with their pages, then all others.

    None if it is to be told what there is.
    """
    awaited = _awaited_by_digest if question.kind is QuestionKind.DIGEST else _awaited_by_person
    return awaited(context, question, numbers, now)


def _awaited_by_digest(
    context: WorkerContext, question: Question, numbers: Numbers, now: datetime
) -> Sequence[Snapshot]:
    # It does not wait long for the week that shows where the data begins: mostly its curve does.
    windows = [each for each in numbers.windows if each is not numbers.older]
    parts = [*numbers.missed, *([numbers.older] if numbers.older else []), *numbers.chart]
    age_seconds = (now - question.asked_at).total_seconds()
    pages = [each for each in windows if _comes(question, each)][:1]
    if pages and age_seconds < _patience_seconds(context, question, numbers):
        return pages
    has_room = context.analytics.background_room(numbers.budget) > 0
    if numbers.now.totals is None or age_seconds >= context.timeouts.curve_seconds or not has_room:
        return []
    return [each for each in parts if not each.is_read and _comes(question, each)]


def _awaited_by_person(
    context: WorkerContext, question: Question, numbers: Numbers, now: datetime
) -> Sequence[Snapshot]:
    pages = [each for each in numbers.windows if _comes(question, each)][:1]
    chart = [each for each in numbers.chart if not each.is_read and _comes(question, each)]
    free_at = numbers.budget.free_at
    if (pages or chart) and free_at is not None and (free_at - now).total_seconds() > _SOON_SECONDS:
        return []
    if pages and (numbers.now.totals is None or not _has_had_share(context, question, numbers)):
        return pages
    has_room = len(chart) <= numbers.budget.free - _CHART_RESERVE
    return chart if numbers.now.totals is not None and has_room else []


def _comes(question: Question, snapshot: Snapshot) -> bool:
    """Return whether a snapshot is still to be fetched.

    For a digest, visitors that were not read are read again. What readers missed keeps none waiting.
    """
    is_again = question.is_standing and snapshot.source is Source.VISITORS
    failed = snapshot.state is SnapshotState.FAILED and snapshot.problem != ReadingProblem.NOT_SERVED
    return snapshot.state is SnapshotState.REQUESTED or (failed and is_again)


def _patience_seconds(context: WorkerContext, question: Question, numbers: Numbers) -> float:
    """Return how long a digest waits for its pages, and for any numbers at all."""
    if not question.is_standing:
        return _DIGEST_NOW_SECONDS
    return LATEST.total_seconds() if numbers.now.totals is None else context.timeouts.digest_seconds


def _has_had_share(context: Context, question: Question, numbers: Numbers) -> bool:
    """Return whether the pages of a question have had their calls: its share without those of its chart."""
    made = sum(each.calls for each in (*numbers.windows, *numbers.chart)) - question.calls_before
    calls: int = made + _unread(numbers.chart)
    return calls >= context.analytics.question_calls


def _reading_key(question: Question) -> str:
    return f"question:{question.id}{_READING}"


def is_stale(delivery: Delivery, now: datetime) -> bool:
    """Return whether a delivery says that a question is being read, and comes too late to be news."""
    return delivery.what.key.endswith(_READING) and now - delivery.created_at > _NEWS


def _tell_reading(tx: Transaction, question: Question, now: datetime) -> None:
    """Tell a person once, after a moment, that the numbers are being read."""
    age = now - question.asked_at
    if question.kind is QuestionKind.VISITORS and _QUIET <= age <= _NEWS:
        reading = _private_delivery(_reading_key(question), question, say.reading(question.query))
        Outbox(tx).add(reading, now)


def _is_being_told(tx: Transaction, question: Question) -> bool:
    """Return whether the message about the reading is under way, so that the answer must follow it.

    If it waits, also for another try, the answer takes its place.
    """
    Outbox(tx).drop_waiting(_reading_key(question))
    return Outbox(tx).state_of(_reading_key(question)) in (DeliveryState.SENDING, DeliveryState.UNCLEAR)


def _answer(
    context: WorkerContext, tx: Transaction, question: Question, numbers: Numbers, now: datetime
) -> None:
    """Add the answer to the outbox, and the file if one is wanted."""
    current, query = numbers.now, question.query
    is_read = any(each.is_read for each in numbers.windows) if query.topic.is_missed else current.is_read
    if is_read:
        message = _told(context, tx, question, numbers)
    elif current.state is SnapshotState.FAILED:
        problem = current.problem or ReadingProblem.UNWELL
        is_here = problem != ReadingProblem.NOT_HERE
        message = say.not_readable(query, problem) if is_here else misses.not_here(query)
    else:
        message = say.budget_used_up(query, numbers.budget)
    Outbox(tx).add(_private_delivery(f"question:{question.id}:answer", question, message), now)
    if is_read:
        send_file(tx, question, query.file_to, now)


def _told(
    context: Context,
    tx: Transaction,
    question: Question,
    numbers: Numbers,
    *,
    shared_by: UserId | None = None,
) -> Message:
    """Return the answer to a question whose numbers were read."""
    can_share = not is_direct_message(question.channel)
    if question.query.topic.is_missed:
        missed = misses_report(context, question, numbers)
        return misses.report(missed, question.id, shared_by=shared_by, can_share=can_share)
    report = build_report(context, tx, question.query, numbers)
    return visitors.report(report, question.id, shared_by=shared_by, can_share=can_share)


def _private_delivery(key: str, question: Question, message: Message) -> NewDelivery:
    """Return the delivery of a private message, to where the person wrote to the bot."""
    channel, user, thread, about = question.channel, question.user, question.thread_ts, question.id
    url = question.response_url
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
    Outbox(tx).add(file, now)


# ---- the buttons under an answer

_MOST_KEYS = 50
"""Maximum repetitions of a post or a file that Slack keeps refusing."""


def answered(context: Context, tx: Transaction, number: QuestionId) -> tuple[Question, Numbers] | Message:
    """Return an answered question with its numbers, or a message why they are not there (any more)."""
    question = Questions(tx).get(number)
    if question is None:
        return say.not_kept()
    if question.state is QuestionState.WAITING:
        return say.still_reading()
    numbers = numbers_of(context, tx, question)
    is_kept = numbers.now.totals is not None and numbers.now.with_pages
    is_kept = is_kept or any(each.words is not None for each in numbers.windows)
    return (question, numbers) if is_kept else say.not_kept()


def _free_key(tx: Transaction, what: str) -> str | None:
    """Return an unused delivery key, also after a dead letter; None if the delivery is made or pending."""
    for count in range(_MOST_KEYS):
        key = f"{what}:{count}"
        state = Outbox(tx).state_of(key)
        if state is None:
            return key
        if state is not DeliveryState.DEAD:
            return None
    return None


async def share(context: Context, allowed: Allowed, number: QuestionId) -> Message | None:
    """Post an answer into the channel of its question. Return None, or a message why it is not posted."""
    user = allowed.user

    def post(tx: Transaction) -> Message | None:
        found = answered(context, tx, number)
        if isinstance(found, Message):
            return found
        key, (question, numbers) = _free_key(tx, f"question:{number}:shared"), found
        if key is None:
            return say.shared_before()
        message = _told(context, tx, question, numbers, shared_by=user)
        shared = NewDelivery.post(key, question.channel, user, message)
        Outbox(tx).add(replace(shared, question=number), context.clock())
        return None

    refusal = await context.store.write(post)
    context.wake()
    return refusal


async def more(context: Context, number: QuestionId) -> Message:
    """Return the rest of an answer."""

    def rest(tx: Transaction) -> Message:
        found = answered(context, tx, number)
        if isinstance(found, Message):
            return found
        query = found[0].query
        if query.topic.is_missed:
            return misses.more(misses_report(context, *found), number)
        query = replace(query, top=max(query.top, visitors.MOST_PAGES))
        return visitors.more(build_report(context, tx, query, found[1]), number)

    return await context.store.read(rest)


async def send_csv(context: Context, number: QuestionId) -> Message:
    """Send all pages as a file to the person who asked, once unless Slack refuses it. Return the reply."""

    def send(tx: Transaction) -> Message:
        found = answered(context, tx, number)
        if isinstance(found, Message):
            return found
        key = _free_key(tx, file_key(number, FileTo.PRIVATE))
        if key is None:
            return say.file_sent_before()
        send_file(tx, found[0], FileTo.PRIVATE, context.clock(), key=key)
        return say.file_follows()

    reply = await context.store.write(send)
    context.wake()
    return reply
