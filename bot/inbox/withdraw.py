"""Taking requests back: by ``stop`` and "never mind", and when their author is forgotten."""

from __future__ import annotations

from datetime import datetime
from functools import partial

from bot.access.admit import Allowed
from bot.answers.ask import take_back_question
from bot.answers.store import Inquiries
from bot.consequences import CONSEQUENCES, Consequence, Event, Stage
from bot.context import Context
from bot.ids import Message, RequestKey, UserId
from bot.inbox import messages as say
from bot.inbox.model import InboxMessage
from bot.inbox.requests import stage_of, stage_of_prompt
from bot.inbox.store import SETTLED, Inbox
from bot.jobs.decisions import take_back
from bot.jobs.messages import unsent
from bot.jobs.store.jobs import Jobs
from bot.jobs.store.prompts import Prompts
from bot.store import Transaction


class BeingSent(Exception):
    """A request cannot be taken back, since it is being sent."""


async def take_back_last(
    context: Context, allowed: Allowed, message: InboxMessage
) -> Message | None:
    """Take back the last request that a message's author has made in its conversation.

    Return the answer; None if there is none to take back. Raises BeingSent.
    """
    return await context.write(partial(_take_back_last, context, allowed.user, message))


def _take_back_last(
    context: Context, user: UserId, message: InboxMessage, tx: Transaction
) -> Message | None:
    for key in Inbox(tx).requests_of(message):
        stage = stage_of(tx, key)
        consequence = CONSEQUENCES[stage][Event.WITHDRAWN]
        if consequence is Consequence.WAIT:
            raise BeingSent
        if consequence is Consequence.TAKE_BACK:
            # Direct messages go on for ever, so an answer there is over.
            is_over = stage is Stage.ANSWERED and message.conversation_ts == ""
            return None if is_over else _take_back(context, tx, key, user)
        if stage not in (Stage.WITHDRAWN, Stage.REFUSED):
            return None
    return None


def _take_back(context: Context, tx: Transaction, key: RequestKey, user: UserId) -> Message:
    prompt = Prompts(tx).with_key(key)
    if prompt is not None:
        job = Jobs(tx).get_or_raise(prompt.job)
        take_back(tx, prompt, job, user, context.clock())
        return unsent.TAKEN_BACK
    is_open = stage_of(tx, key) is Stage.OPEN_QUESTION
    take_back_question(tx, key)
    return say.QUESTION_TAKEN_BACK if is_open else say.QUESTION_DROPPED


def forget_open_requests(tx: Transaction, user: UserId, now: datetime) -> None:
    """Take back the waiting requests of a forgotten person. The agent's work goes on."""
    for message in Inbox(tx).undecided_of(user):
        Inbox(tx).change(message, **SETTLED)
    for prompt in Prompts(tx).waiting_of(user):
        consequence = CONSEQUENCES[stage_of_prompt(prompt)][Event.AUTHOR_FORGOTTEN]
        if consequence is Consequence.TAKE_BACK:
            take_back(tx, prompt, Jobs(tx).get_or_raise(prompt.job), user, now)
    for inquiry in Inquiries(tx).open_of(user):
        take_back_question(tx, inquiry.key)
