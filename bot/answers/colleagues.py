"""Replies of colleagues under an answer: the offer to add them to the docs.

Of a reply only the fact is kept, beside the question.
"""

from __future__ import annotations

import re
from dataclasses import replace

from bot.answers import messages
from bot.answers.gaps import answer_key, is_in_work, shared_key
from bot.answers.model import UNWRITTEN, Inquiry
from bot.answers.store import Inquiries
from bot.context import Context, WorkerContext
from bot.ids import UserId
from bot.jobs.store.jobs import Jobs
from bot.outbox.model import Delivery, DeliveryKind, NewDelivery
from bot.outbox.store import Outbox
from bot.ports import ThreadRef
from bot.store import Transaction

_POST_KEY = re.compile("inquiry:([0-9]{1,9}):(?:answer|shared)")


def awaits_reply(tx: Transaction, thread: ThreadRef, author: UserId) -> bool:
    """Return whether somebody's reply in a thread may be the first answer of a colleague."""
    inquiry = _find_unanswered(tx, thread)
    return inquiry is not None and inquiry.user != author


def _find_unanswered(tx: Transaction, thread: ThreadRef) -> Inquiry | None:
    """Return the newest question of a thread if no colleague has answered it."""
    inquiry = Inquiries(tx).newest_in(thread) or Inquiries(tx).shared_in(thread)
    if inquiry is None or inquiry.is_topic or inquiry.has_reply:
        return None
    return inquiry if inquiry.state in UNWRITTEN else None


def note_reply(context: Context, tx: Transaction, thread: ThreadRef, author: UserId) -> None:
    """Store that a colleague has answered the question of a thread, and offer a page about it.

    ``author``: the colleague. A reply of the asker is no answer.
    """
    inquiry = _find_unanswered(tx, thread)
    if inquiry is None or inquiry.user == author:
        return
    new = replace(inquiry, has_reply=True)
    Inquiries(tx).note_reply(inquiry)
    for key in (answer_key(inquiry), shared_key(inquiry)):
        if Outbox(tx).posted_ts(key) is not None:
            _offer(context, tx, new, key)


def on_posted(context: WorkerContext, tx: Transaction, delivery: Delivery) -> None:
    """Store the place of a shared answer, and offer a page if a colleague has replied before."""
    key = delivery.what.key
    number = _POST_KEY.fullmatch(key)
    if number is None or delivery.what.kind is not DeliveryKind.POST:
        return
    inquiry = Inquiries(tx).get(int(number[1]))
    if inquiry is None:
        return
    if key == shared_key(inquiry) and delivery.posted_ts is not None:
        Inquiries(tx).note_shared(inquiry, delivery.posted_ts)
    if inquiry.has_reply:
        _offer(context, tx, inquiry, key)


def _offer(context: Context, tx: Transaction, inquiry: Inquiry, key: str) -> None:
    """Add the offer of a page to a post, unless a job answers the question already."""
    now = context.clock()
    jobs = Jobs(tx).list_from_gaps(inquiry.project, now)
    keys = {job.gap.key for job in jobs if job.gap and is_in_work(job)}
    if inquiry.answer is None or inquiry.gap_key in keys:
        return
    answer = inquiry.answer
    if key == shared_key(inquiry):
        answer = messages.shared(inquiry, answer)
    edit = NewDelivery(
        f"{key}:offer",
        DeliveryKind.EDIT,
        inquiry.channel,
        message=messages.with_offer(inquiry, answer),
        edited_key=key,
    )
    Outbox(tx).add(edit, now)
