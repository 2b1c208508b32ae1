"""The dependencies of use cases:

``Context`` for incoming requests, ``WorkerContext`` for workers.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from time import monotonic
from typing import TypeVar

import structlog

from bot.docs_api import DiscoveryClient, DocsClient
from bot.engine import back_off_seconds
from bot.github import GithubClient
from bot.ids import ChannelId, MessageTs, ProjectId, UserId
from bot.intent.vocabulary import Vocabulary
from bot.paces import Paces
from bot.ports import Clock, Messenger, ThreadRef
from bot.projects import Project, Projects
from bot.settings import Settings
from bot.store import Claimer, DatabaseTrouble, Store, Transaction
from bot.store.channels import Channels
from bot.ttl_cache import TtlCache

log = structlog.get_logger(__name__)
Result = TypeVar("Result")
_FIRST_PAUSE_SECONDS = 0.1
"""The pause before a failed write is tried again."""
_LONGEST_PAUSE_SECONDS = 2.0


class Hooks:
    """Functions of one feature that another one calls without importing it.

    The calling feature declares a subclass with a field for each function.
    """

    __slots__ = ()


SomeHooks = TypeVar("SomeHooks", bound=Hooks)


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Waiting times and age limits of the use cases, in seconds."""

    lease_seconds: float = 90.0
    """Length of a lease. Longer than the slowest call to Slack or the docs service."""
    channel_pace_seconds: float = 1.02
    """Pause between two posts in a channel.

    Slack asks for one second; the rest allows for inexact clocks.
    """
    minute_seconds: float = 60.0
    """The minute of limits: Slack's on its methods, and that on previews. Only tests shorten it."""
    poll_seconds: float = 10.0
    """How long a poll may take.

    A job that took longer is given more time when few others are polled.
    """
    stale_seconds: float = 60.0
    """Grace period after a follow-up in which *completed* may still be the previous iteration's."""
    intake_seconds: float = 2.5
    """How long a request may take until it is stored.

    Slack waits three seconds for its acknowledgement.
    """
    database_seconds: float = 20.0
    """How long a worker retries a write: less than a lease minus the slowest remote call.
    """
    hold_seconds: float = 8.0
    """How long an instruction in a message is held after the last word of its author there."""
    hold_most_seconds: float = 30.0
    """How long it is held at most."""
    late_seconds: float = 2.0
    """The age from which on a mention is late: its thread is read again."""
    verified_seconds: float = 60.0
    """How long a prompt may wait before its messages are read again and its author is checked."""
    names_seconds: float = 5.0
    """How long the look-up of the names in a prompt may take.

    Names that are missing then stay ids.
    """
    running_seconds: float = 1_800.0
    """Age at which a running job is announced once in its thread."""
    unwatched_seconds: float = 7 * 86_400.0
    """Age at which a running or unreadable job is no longer polled."""
    not_found_seconds: float = 3_600.0
    """How long a job unknown to the docs service is polled. Then it counts as lost."""
    watch_seconds: float = 86_400.0
    """How long an ended job is polled about an unconfirmed follow-up while it cannot be read."""
    quiet_seconds: float = 600.0
    """How long a job is polled to see whether an unconfirmed follow-up was carried out."""
    doubt_seconds: float = 2.0
    """Pause before the search for a post whose outcome was unclear. It grows with each attempt."""
    reading_seconds: float = 0.5
    """Pause between two checks of a question or a digest whose numbers are being fetched."""
    answer_seconds: float = 60.0
    """How long the docs may be read for an answer. Less than a lease."""
    deaf_seconds: float = 60.0
    """How long Slack's socket may be away.

    Then a new ticket is asked for, and messages are read again.
    """
    look_seconds: float = 600.0
    """Pause between two polls of an open pull request on its first day, and six times that for a
    month.
    """
    build_seconds: float = 10.0
    """Pause between two polls of the build of a preview.

    Users measured builds of 1.5 to 4 minutes.
    """
    live_seconds: float = 10.0
    """First pause between two looks for a merged page in the live docs. The pauses double."""
    live_most_seconds: float = 86_400.0
    """How long a merged page is looked for."""
    unread_pace_seconds: float = 1.5
    """Pause between two conversations that are read again. Slack allows 50 such calls a minute."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Numbers that use cases keep to."""

    waiting_per_person: int = 10
    """Prompts of one person that may wait.

    One hour's uses are shared fairly among so many of each.
    """
    analytics_calls_an_hour: int = 100
    """Calls of the analytics API; the docs service counts all projects with one key together."""


@dataclass(frozen=True, slots=True)
class Context:
    """The store, Slack, the time and the settings that use cases share."""

    store: Store
    messenger: Messenger
    clock: Clock
    wake: Callable[[], None]
    """Wakes the workers for new rows of a queue."""
    projects: Projects
    settings: Settings
    bot_user: UserId
    bot_name: str = "docs-agent"
    workspace_url: str = ""
    """The address of the Slack workspace, for links to its messages."""
    member_cache: TtlCache[UserId, bool] = field(default_factory=lambda: TtlCache(10_000))
    page_size: int = 250
    """Rows of one call for visitor numbers. Only tests shorten it."""
    timeouts: Timeouts = field(default_factory=Timeouts)
    limits: Limits = field(default_factory=Limits)
    github: GithubClient | None = None
    """Reads pull requests; None where the bot may not."""
    discovery: Mapping[ProjectId, DiscoveryClient] = field(default_factory=dict)
    """Searches the docs and asks their assistant, for the projects that have a key for it."""
    vocabulary: Vocabulary = field(default_factory=lambda: Vocabulary(()))
    """The bot's own words, by which the decision knows them."""
    hooks: Sequence[Hooks] = ()
    """The hooks of all features of this bot."""

    def hooks_of(self, kind: type[SomeHooks]) -> Sequence[SomeHooks]:
        """Return the hooks of a kind, in the order of the features."""
        return [hooks for hooks in self.hooks if isinstance(hooks, kind)]

    async def write(self, change: Callable[[Transaction], Result]) -> Result:
        """Run ``change`` in a transaction, and wake the workers."""
        result = await self.store.write(change)
        self.wake()
        return result

    def project_of(self, tx: Transaction, channel: ChannelId) -> Project:
        """Return the project for a channel's requests without a project's name.

        It is the channel's own, or else the default.

        A chosen project that is no longer served is ignored.
        """
        if not self.projects.are_several:
            return self.projects.default
        chosen = Channels(tx).project(channel)
        if chosen is None:
            return self.projects.default
        return self.projects.with_id(chosen) or self.projects.default

    def today(self, at: datetime | None = None) -> date:
        """Return the analytics API's day at a time, by default now."""
        return (at or self.clock()).astimezone(self.settings.analytics_zone).date()

    def permalink(self, thread: ThreadRef, ts: MessageTs) -> str:
        """Return the address of a message of a thread in Slack.

        Slack documents the form at https://docs.slack.dev/reference/methods/chat.getPermalink
        """
        workspace = self.workspace_url.rstrip("/")
        address = f"{workspace}/archives/{thread.channel}/p{ts.replace('.', '')}"
        if ts == thread.ts:
            return address
        return f"{address}?thread_ts={thread.ts}&cid={thread.channel}"


def _wake_nobody(_seconds: float) -> None:
    """Do nothing, as the default of ``wake_after``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerContext(Context):
    """A context for workers, with the docs service and this process."""

    docs: DocsClient
    chance: Callable[[], float]
    """Returns a random number in [0, 1)."""
    owner: str
    """The name of this process, under which leases are held."""
    wake_after: Callable[[float], None] = _wake_nobody
    """Wakes the workers after that many seconds."""
    answered: dict[ProjectId, datetime] = field(default_factory=dict)
    """The times of the last polls that were answered."""
    failing: set[ProjectId] = field(default_factory=set)
    """The projects whose last poll failed."""
    paces: Paces = field(default_factory=Paces)
    """When Slack may be called."""
    under_way: dict[str, set[object]] = field(default_factory=dict)
    """The keys of the rows that this process works on, by the name of their table."""

    def claimer(self) -> Claimer:
        """Return the claimer for a lease that this process takes now."""
        return Claimer(self.owner, self.clock(), self.timeouts.lease_seconds, self.under_way)

    async def settle(self, change: Callable[[Transaction], Result]) -> Result:
        """Write the outcome for a claimed row and free its lease.

        The write is tried again while the database is unavailable.

        An outcome that is not written waits until the lease has run out. Raises LeaseLost, also
        when an earlier try was committed although it failed, and DatabaseTrouble when the database
        stays away.
        """
        return await self.retry(lambda: self.store.write(change))

    async def retry(self, write: Callable[[], Awaitable[Result]]) -> Result:
        """Call ``write``, and again while the database is unavailable.

        It must be harmless to repeat, because an earlier try may have been committed although it
        failed. One transaction that frees a lease under its owner's name is: the next try raises
        LeaseLost and writes nothing. Raises DatabaseTrouble when the database stays away.
        """
        until = monotonic() + self.timeouts.database_seconds
        failures = 0
        while True:
            try:
                return await write()
            except DatabaseTrouble as error:
                failures += 1
                pause_seconds = back_off_seconds(
                    failures, 1.0, first=_FIRST_PAUSE_SECONDS, cap=_LONGEST_PAUSE_SECONDS
                )
                if monotonic() + pause_seconds > until:
                    raise
                log.warning("write_retried", reason=type(error).__name__)
            await asyncio.sleep(pause_seconds)

    def after(self, seconds: float) -> datetime:
        """Return the time that many seconds from now."""
        return self.clock() + timedelta(seconds=seconds)


Claim = Callable[[WorkerContext, int, Collection[str]], Awaitable[Sequence[Result]]]
"""Claims rows: as many as this at most, and none of these groups."""


def make_claim(claim: Callable[[Transaction, Claimer, int], Sequence[Result]]) -> Claim[Result]:
    """Return a claim in one transaction, for rows without groups."""

    async def claim_rows(
        context: WorkerContext, limit: int, _full: Collection[str] = ()
    ) -> Sequence[Result]:
        return await context.store.write(lambda tx: claim(tx, context.claimer(), limit))

    return claim_rows
