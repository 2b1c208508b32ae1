"""The subject as ``subjects.py`` lists it: its workers, its buttons, and its hooks."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from operator import attrgetter

from bot.answers.hooks import AnswerHooks
from bot.commands.feature import Feature, queue_worker
from bot.context import WorkerContext
from bot.engine import Worker, alone
from bot.ids import ChannelId, MessageTs
from bot.inbox.commands import BUTTONS
from bot.inbox.hear import claim_messages, hear, tidy_inbox
from bot.inbox.outage import Reader
from bot.inbox.release import claim_held, must_wait, release
from bot.inbox.store import Inbox
from bot.jobs.hooks import JobHooks
from bot.store import Transaction

_HOUR_SECONDS = 3_600.0


def _workers(context: WorkerContext) -> Sequence[Worker]:
    reader = Reader()
    by_id = attrgetter("id")
    worker = partial(queue_worker, context)
    return [
        worker("inbox", "hear", claim_messages, hear, key=by_id, places=50),
        worker("held", "release", claim_held, release, key=by_id, places=50),
        worker(
            "missed_messages", "read again", reader.claim, reader.read_again, key=by_id, places=1
        ),
        alone("inbox", partial(tidy_inbox, context), every_seconds=_HOUR_SECONDS),
    ]


def _find_sent(
    tx: Transaction, channel: ChannelId, first: MessageTs, last: MessageTs
) -> Collection[MessageTs]:
    return Inbox(tx).sent_from(channel, first, last)


INBOX = Feature(
    workers=_workers,
    buttons=BUTTONS,
    hooks=(JobHooks(find_sent=_find_sent), AnswerHooks(must_wait=must_wait)),
)
