"""Questions about the docs: the door to the feature that answers them."""

from __future__ import annotations

from bot.access.admit import Allowed
from bot.context import Context
from bot.ids import Message
from bot.jobs.ask import write_nothing
from bot.jobs.hooks import Also, JobHooks
from bot.jobs.messages.unsent import cannot_answer
from bot.jobs.model.questions import Answered, DocsQuestion
from bot.ports import ThreadRef
from bot.store import Transaction


def can_ask_docs(context: Context) -> bool:
    """Return whether the bot has a feature that answers questions."""
    return any(hooks.ask_docs is not None for hooks in context.hooks_of(JobHooks))


def find_answered(context: Context, tx: Transaction, thread: ThreadRef) -> Answered | None:
    """Return the newest question that was answered in a thread; None if there is none."""
    for hooks in context.hooks_of(JobHooks):
        answered = hooks.find_answered(tx, thread)
        if answered is not None:
            return answered
    return None


async def ask_docs(
    context: Context, allowed: Allowed, question: DocsQuestion, also: Also = write_nothing
) -> Message | None:
    """Have a question answered. Return an immediate reply; None if the answer comes by itself.

    ``also`` is written with the question.
    """
    for hooks in context.hooks_of(JobHooks):
        if hooks.ask_docs is not None:
            return await hooks.ask_docs(context, allowed, question, also)
    return cannot_answer(question.draft)


async def note_no_help(context: Context, allowed: Allowed, thread: ThreadRef) -> Message | None:
    """Make the newest question of a thread a gap.

    Return the answer; None in a bot that answers none.
    """
    for hooks in context.hooks_of(JobHooks):
        if hooks.did_not_help is not None:
            return await hooks.did_not_help(context, allowed, thread)
    return None
