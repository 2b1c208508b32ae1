"""The hooks by which jobs call the features above them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field

from bot.access.admit import Allowed
from bot.context import Context, Hooks, WorkerContext
from bot.ids import ChannelId, JobNumber, Message, MessageTs
from bot.jobs.access import Readable
from bot.jobs.model.jobs import TrackedJob
from bot.jobs.model.prompts import VersionRequest
from bot.jobs.model.questions import AnsweredQuestion, DocsQuestion
from bot.ports import ThreadRef
from bot.store import Transaction

Also = Callable[[Transaction], None]
"""A write in the transaction of a request."""
AnswerWord = Callable[[Context, Readable], Awaitable[Message]]
AskDocs = Callable[[Context, Allowed, DocsQuestion, Also], Awaitable[Message | None]]
FormatEnd = Callable[[Context, Transaction, TrackedJob, VersionRequest], Message | None]


def _tell_nobody(*_arguments: object) -> bool:
    """Tell nobody, as the default of a hook that returns whether somebody is told."""
    return False


def _find_nothing(*_arguments: object) -> None:
    """Do and find nothing, as the default of a hook."""


def _list_nothing(*_arguments: object) -> tuple[()]:
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class JobHooks(Hooks):
    """The functions of a feature that jobs call at these events."""

    ask_docs: AskDocs | None = None
    """Takes a question about the docs.

    Returns an immediate reply; None if a worker answers.
    """
    find_answered: Callable[[Transaction, ThreadRef], AnsweredQuestion | None] = _find_nothing
    """Returns the newest question of a thread; None for a thread without questions."""
    did_not_help: Callable[[Context, Allowed, ThreadRef], Awaitable[Message]] | None = None
    """Makes the newest question of a thread a gap."""
    list_sent_messages: Callable[
        [Transaction, ChannelId, MessageTs, MessageTs], Collection[MessageTs]
    ] = _list_nothing
    """Returns the messages of a channel, between two times, that are parts of open jobs'
    prompts."""
    on_iteration_ended: Callable[[WorkerContext, Transaction, TrackedJob], None] = _find_nothing
    """Receives each job whose iteration has ended, before the message about the end is written."""
    format_end: FormatEnd = _find_nothing
    """Returns the message about the end of an iteration; None for the message of jobs alone.

    The last argument: the request that made the job's current version.
    """
    format_outdated_end: Callable[[TrackedJob, str], Message | None] = _find_nothing
    """Returns the message about an outdated end, without buttons; None for the message of jobs alone."""
    on_end_outdated: Callable[[Context, Transaction, TrackedJob], None] = _find_nothing
    """Receives each job whose last end is outdated by a new iteration, as it was at that end."""
    answer_words: Mapping[str, AnswerWord] = field(default_factory=dict)
    """The answers to words about a job, by word. A word without one is answered with the status."""
    on_merged: Callable[[Context, Transaction, JobNumber], bool] = _tell_nobody
    """Receives a job whose pull request is merged.

    Where the bot cannot read the pull request, people's mark *Reviewed* counts as the merge.
    Returns whether the job's thread will get a message about the merge.
    """
