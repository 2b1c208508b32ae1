"""A feature: a subject that ``app.py`` adds to the bot, with its hooks."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from bot.access.admit import Allowed
from bot.commands.command import Answer, Command, PressRun, Word
from bot.commands.own_words import Used
from bot.context import Context, WorkerContext
from bot.engine import Worker
from bot.ids import (
    ChannelId,
    JobNumber,
    Message,
    MessageTs,
    ProjectId,
    Recommendation,
    RequestKey,
    SentQuestion,
)
from bot.jobs.ask import Also
from bot.jobs.questions import Answered, DocsQuestion
from bot.outbox.model import CsvFile, Delivery, NotPosted
from bot.ports import ThreadRef
from bot.store import Transaction

AskDocs = Callable[[Context, Allowed, DocsQuestion, Also], Awaitable[Message | None]]


def _do_nothing(*_arguments: object) -> None:
    """Do nothing, as the default of a hook."""


async def _wait_for_nothing(*_arguments: object) -> None:
    """Do nothing, as the default of a hook that is awaited."""


def _tell_nobody(*_arguments: object) -> bool:
    """Tell nobody, as the default of a hook that returns whether somebody is told."""
    return False


def _list_nothing(*_arguments: object) -> tuple[()]:
    return ()


async def _find_nothing(*_arguments: object) -> bool:
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Hooks:
    """The functions of a feature that other subjects call.

    Each does nothing by default.
    """

    on_posted: Callable[[WorkerContext, Transaction, Delivery], None] = _do_nothing
    """Gets each delivery that Slack has taken."""
    on_refused: Callable[[WorkerContext, Transaction, Delivery, NotPosted], None] = _do_nothing
    """Gets each delivery that Slack has refused for good, and the reason."""
    on_blocks_refused: Callable[[WorkerContext, Transaction, Delivery], None] = _do_nothing
    """Gets each delivery that is tried again without its blocks."""
    make_file: Callable[[WorkerContext, Transaction, Delivery], CsvFile | None] = _do_nothing
    """Returns the file of a delivery; None if another feature makes it."""
    on_made_private: Callable[[Transaction, ChannelId], None] = _do_nothing
    """Gets each public channel that is made private."""
    on_merged: Callable[[Context, Transaction, JobNumber], bool] = _tell_nobody
    """Gets a job whose pull request is merged.

    Where the bot cannot see the pull request, people's mark *Reviewed* counts as the merge. Returns
    whether the job's thread will get a message about it.
    """
    run_word: Callable[[Context, Allowed, Used], Awaitable[Answer]] | None = None
    """Runs one of the bot's own words by the command that has it."""
    ask_docs: AskDocs | None = None
    """Takes a question about the docs.

    Returns an immediate reply; None if the answer comes where it was asked.
    """
    find_answered: Callable[[Transaction, ThreadRef], Answered | None] = _do_nothing
    """Returns the newest question of a thread; None if nobody asked one there."""
    did_not_help: Callable[[Context, Allowed, ThreadRef], Awaitable[Message]] | None = None
    """Makes the newest question of a thread a gap."""
    find_sent: Callable[[Transaction, ChannelId, MessageTs, MessageTs], Collection[MessageTs]] = (
        _list_nothing
    )
    """Returns the messages of a channel, between two, that are parts of prompts of open jobs."""
    must_wait: Callable[[WorkerContext, RequestKey, bool], Awaitable[bool]] = _find_nothing
    """Returns whether a message of a request was changed, and is to be decided again first.

    The last argument: Slack is asked, too. Raises a SlackError or TimeoutError.
    """
    list_recommendations: Callable[
        [Transaction, ProjectId, ChannelId, datetime, datetime, bool], Sequence[Recommendation]
    ] = _list_nothing
    """Returns a project's recommendations for a channel's digest, from a time until before
    another. The last argument: only those of the channel's own words.
    """
    list_sent: Callable[
        [Transaction, ProjectId, ChannelId, datetime, datetime], Sequence[SentQuestion]
    ] = _list_nothing
    """Returns a project's questions that were sent to the docs service from a time until before
    another, for a channel that may see some of them.
    """
    refresh_privacy: Callable[[Context, ProjectId], Awaitable[None]] = _wait_for_nothing
    """Asks Slack, before recommendations are listed, which channels are public now."""


def _list_no_workers(_context: WorkerContext) -> Sequence[Worker]:
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Feature:
    """The parts of a feature."""

    workers: Callable[[WorkerContext], Sequence[Worker]] = _list_no_workers
    """Returns its workers."""
    command: Command | None = None
    help_prefix: str = ""
    """The shape of the text before ``help`` after a mention."""
    agent_words: tuple[Word, ...] = ()
    """Its words of ``/docs-agent``."""
    buttons: Mapping[str, PressRun] = field(default_factory=dict)
    """The handlers of its buttons outside of its command."""
    hooks: Hooks = field(default_factory=Hooks)
