"""What jobs call of the subjects above them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass

from bot.access.admit import Allowed
from bot.context import Context, Hooks
from bot.ids import ChannelId, Message, MessageTs
from bot.jobs.model.questions import Answered, DocsQuestion
from bot.ports import ThreadRef
from bot.store import Transaction

Also = Callable[[Transaction], None]
"""What is written in the transaction of a request."""
AskDocs = Callable[[Context, Allowed, DocsQuestion, Also], Awaitable[Message | None]]


def _find_nothing(*_arguments: object) -> None:
    """Find nothing, as the default of a hook."""


def _list_nothing(*_arguments: object) -> tuple[()]:
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class JobHooks(Hooks):
    """The functions of a subject that jobs know by these names alone."""

    ask_docs: AskDocs | None = None
    """Takes a question about the docs.

    Returns an immediate reply; None if the answer comes where it was asked.
    """
    find_answered: Callable[[Transaction, ThreadRef], Answered | None] = _find_nothing
    """Returns the newest question of a thread; None if nobody asked one there."""
    did_not_help: Callable[[Context, Allowed, ThreadRef], Awaitable[Message]] | None = None
    """Makes the newest question of a thread a gap."""
    find_sent: Callable[[Transaction, ChannelId, MessageTs, MessageTs], Collection[MessageTs]] = (
        _list_nothing
    )
    """Returns the messages of a channel, between two, that are parts of prompts of open jobs."""
