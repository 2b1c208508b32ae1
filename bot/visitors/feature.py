"""The feature *visitors*: its command, its workers, and the hooks of its posts and files."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from operator import attrgetter

from bot.commands.feature import Feature, queue_worker
from bot.context import WorkerContext
from bot.engine import Worker, single_worker
from bot.jobs.store.jobs import Jobs
from bot.outbox.hooks import OutboxHooks
from bot.outbox.model import CsvFile, Delivery, DeliveryKind, NewDelivery, NotPosted
from bot.outbox.store import Outbox
from bot.store import Transaction
from bot.visitors.answer import answer_question, claim_questions, make_csv_file
from bot.visitors.commands import COMMAND
from bot.visitors.digests import show_asked
from bot.visitors.messages import digests as digest_messages
from bot.visitors.reading import Reader, drop_old_pages
from bot.visitors.store import Questions
from bot.visitors.subscriptions import on_posted, on_refused, plan_digests

_PLAN_SECONDS = 60.0
_SWEEP_SECONDS = 3_600.0


def _list_workers(context: WorkerContext) -> Sequence[Worker]:
    answer = partial(answer_question, reader=Reader())
    return [
        queue_worker(context, "questions", "answer", claim_questions, answer, key=attrgetter("id")),
        single_worker(
            "digest", partial(plan_digests, context), queue="digests", every_seconds=_PLAN_SECONDS
        ),
        single_worker("readings", partial(drop_old_pages, context), every_seconds=_SWEEP_SECONDS),
    ]


def _on_posted(context: WorkerContext, tx: Transaction, delivery: Delivery) -> None:
    """Store that a digest was posted, or show in a digest that a job was asked for at it."""
    number = delivery.content.job if delivery.content.kind is DeliveryKind.STATUS else None
    job = Jobs(tx).get(number) if number else None
    if job and job.gap:
        show_asked(context, tx, job)
    on_posted(context, tx, delivery)


def _on_refused(
    context: WorkerContext, tx: Transaction, delivery: Delivery, refusal: NotPosted
) -> None:
    """Handle a refused post: pause the subscription, or inform the person who asked for it."""
    draft = delivery.content
    if draft.subscription is not None:
        on_refused(context, tx, delivery, refusal)
    elif draft.user is not None and draft.kind in (DeliveryKind.POST, DeliveryKind.FILE):
        is_file = draft.kind is DeliveryKind.FILE
        message = digest_messages.answer_undelivered(refusal, context.bot_name, is_file=is_file)
        notice = NewDelivery.private(f"{draft.key}:undelivered", draft.channel, draft.user, message)
        Outbox(tx).add(notice, refusal.at)


def _make_file(context: WorkerContext, tx: Transaction, delivery: Delivery) -> CsvFile | None:
    number = delivery.content.question
    question = Questions(tx).get(number) if number else None
    if question is None:
        return None
    period = question.query.period
    report_type = question.query.report_type
    # The name is unique to the delivery, so that an earlier upload can be found by it.
    name = f"docs-{report_type}-{period.first}-to-{period.last}-{delivery.id[:8]}.csv"
    return CsvFile(name, *make_csv_file(context, tx, question))


VISITORS = Feature(
    command=COMMAND,
    help_prefix=r"visitors\s+",
    workers=_list_workers,
    hooks=(OutboxHooks(on_posted=_on_posted, on_refused=_on_refused, make_file=_make_file),),
)
