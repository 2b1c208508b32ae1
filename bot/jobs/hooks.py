"""What jobs call of the subjects above them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field

from bot.access.admit import Allowed
from bot.context import Context, Hooks, WorkerContext
from bot.ids import ChannelId, JobNumber, Message, MessageTs
from bot.jobs.access import Readable
from bot.jobs.model.jobs import TrackedJob
from bot.jobs.model.prompts import VersionRequest
from bot.jobs.model.questions import Answered, DocsQuestion
from bot.ports import ThreadRef
from bot.store import Transaction

Also = Callable[[Transaction], None]
"""What is written in the transaction of a request."""
AnswerWord = Callable[[Context, Readable], Awaitable[Message]]
AskDocs = Callable[[Context, Allowed, DocsQuestion, Also], Awaitable[Message | None]]
DrawEnd = Callable[[Context, Transaction, TrackedJob, VersionRequest], Message | None]


def _tell_nobody(*_arguments: object) -> bool:
    """Tell nobody, as the default of a hook that returns whether somebody is told."""
    return False


def _find_nothing(*_arguments: object) -> None:
    """Do and find nothing, as the default of a hook."""


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
    on_ended: Callable[[WorkerContext, Transaction, TrackedJob], None] = _find_nothing
    """Gets each job whose iteration has ended, before its thread reads the end."""
    draw_end: DrawEnd = _find_nothing
    """Returns the end of an iteration, which its request has made; None for a plain one."""
    draw_outdated_end: Callable[[TrackedJob, str], Message | None] = _find_nothing
    """Returns the end of a job that goes on, without its buttons; None for a plain one."""
    on_overtaken: Callable[[Context, Transaction, TrackedJob], None] = _find_nothing
    """Gets each job that goes on, as it was at its last end."""
    answer_words: Mapping[str, AnswerWord] = field(default_factory=dict)
    """Answers to words about a job, and to questions that mean them; else its status is told."""
    on_merged: Callable[[Context, Transaction, JobNumber], bool] = _tell_nobody
    """Gets a job whose pull request is merged.

    Where the bot cannot see the pull request, people's mark *Reviewed* counts as the merge. Returns
    whether the job's thread will get a message about it.
    """
