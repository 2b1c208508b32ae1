"""Questions about the docs: the door to the feature that answers them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from bot.access.admit import Allowed
from bot.context import Context
from bot.ids import Message
from bot.jobs.ask import Also
from bot.jobs.messages.unsent import cannot_answer
from bot.jobs.model.inbox import InboxMessage
from bot.jobs.model.jobs import About
from bot.jobs.model.prompts import Unsent
from bot.ports import ThreadRef
from bot.store import Transaction


@dataclass(frozen=True, slots=True)
class DocsQuestion:
    """A text to answer from the docs."""

    draft: Unsent
    """The text, and the request that it came by."""
    is_topic: bool = False
    """It names a topic and asks nothing: pages about it are shown, which costs nothing."""
    is_private: bool = False
    """Only its author sees the answer, where they wrote."""


@dataclass(frozen=True, slots=True)
class Answered:
    """The newest question that was answered in a thread."""

    about: About
    """The question as a row of the content gaps, whose askers are told when the docs answer it."""
    conversation: str
    """Question and answer, as background of a prompt."""


@dataclass(frozen=True, slots=True)
class AskDocs:
    """Answers questions from the docs."""

    ask: Callable[[Context, Allowed, DocsQuestion, Also], Awaitable[Message | None]]
    """Takes a question. Returns an immediate reply; None if the answer comes where it was asked."""
    take_back: Callable[[Transaction, InboxMessage], bool]
    """Takes back the question of a message. False if it says the same as before, or is over."""
    find_answered: Callable[[Transaction, ThreadRef], Answered | None]
    """Returns the newest question of a thread; None if nobody asked one there."""
    did_not_help: Callable[[Context, Allowed, ThreadRef], Awaitable[Message]]
    """Makes the newest question of a thread a gap."""


def find_docs(context: Context) -> AskDocs | None:
    """Return the feature that answers questions; None in a bot without it."""
    return next(iter(context.hooks_of(AskDocs)), None)


def find_answered(context: Context, tx: Transaction, thread: ThreadRef) -> Answered | None:
    """Return the newest question that was answered in a thread; None if there is none."""
    docs = find_docs(context)
    return docs.find_answered(tx, thread) if docs else None


async def ask_docs(
    context: Context, allowed: Allowed, question: DocsQuestion, also: Also = lambda _tx: None
) -> Message | None:
    """Have a question answered. Return an immediate reply; None if the answer comes by itself.

    ``also`` is written with the question.
    """
    docs = find_docs(context)
    if docs is None:
        return cannot_answer(question.draft)
    return await docs.ask(context, allowed, question, also)
