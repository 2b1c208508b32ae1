"""What every use case works with: ``Context`` where requests are taken in, ``WorkerContext`` in workers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from bot.docs_api import DocsClient
from bot.logs import LogOnce
from bot.model import AccessPolicy, Analytics, MemberCache, PollPace, ProjectId, ThreadRef, UserId
from bot.store import Claimer, Store
from bot.work.batching import Batches
from bot.work.ports import Clock, Messenger


class FollowUps(StrEnum):
    """Which replies in a job's thread are follow-ups."""

    REPLIES = "replies"
    MENTIONS = "mentions"


@dataclass(frozen=True, slots=True)
class Timeouts:
    """How long the work waits for what, in seconds."""

    lease_seconds: float = 90.0
    """Length of a lease. Longer than the slowest call to Slack or the docs service."""
    channel_pace_seconds: float = 1.02
    """Between two posts in a channel; Slack asks for one second, and clocks are not exact."""
    stale_seconds: float = 60.0
    """Grace period after a follow-up in which *completed* may still be the previous iteration's."""
    running_seconds: float = 1_800.0
    """Age at which the thread is told once that a job is still running."""
    unwatched_seconds: float = 7 * 86_400.0
    """Age at which a running job is no longer polled."""
    quiet_seconds: float = 600.0
    """How long a job is polled to see whether an unconfirmed follow-up was carried out."""
    doubt_seconds: float = 2.0
    """Before looking whether a post of unclear outcome is there."""
    reading_seconds: float = 0.5
    """Between two looks at a question or a digest whose numbers are being fetched."""
    digest_seconds: float = 3 * 3_600.0
    """How long a digest waits for pages; then it is posted with those that are there."""
    curve_seconds: float = 120.0
    """How long a digest waits for the weeks of its curve."""


@dataclass(frozen=True, slots=True)
class Context:
    """The store, Slack, the time and the settings that use cases share.

    ``wake`` tells the workers that there is something to do. ``workspace_url`` is the address of the
    Slack workspace, for links to its messages.
    """

    store: Store
    messenger: Messenger
    clock: Clock
    wake: Callable[[], None]
    project: ProjectId
    bot_user: UserId
    bot_name: str = "docs-agent"
    workspace_url: str = ""
    follow_ups: FollowUps = FollowUps.REPLIES
    analytics: Analytics = field(default_factory=Analytics)
    access_policy: AccessPolicy = field(default_factory=AccessPolicy)
    member_cache: MemberCache = field(default_factory=MemberCache)
    uses_an_hour: int = 100
    batches: Batches = field(default_factory=Batches)

    def permalink(self, thread: ThreadRef) -> str:
        """The address of a message in Slack: https://docs.slack.dev/reference/methods/chat.getPermalink"""
        return f"{self.workspace_url.rstrip('/')}/archives/{thread.channel}/p{thread.ts.replace('.', '')}"


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerContext(Context):
    """What workers need besides: the docs service, and a name among several processes.

    ``owner`` is that name; leases are held under it. ``chance`` returns a random number in [0, 1).
    ``count`` counts an event for the metrics: what happened, and how it went.
    """

    docs: DocsClient
    chance: Callable[[], float]
    owner: str
    wake_after: Callable[[float], None] = field(default=lambda _seconds: None)
    pace: PollPace = field(default_factory=PollPace)
    timeouts: Timeouts = field(default_factory=Timeouts)
    log_once: LogOnce = field(default_factory=LogOnce)
    count: Callable[[str, str], None] = field(default=lambda _what, _how: None)

    def claimer(self) -> Claimer:
        """Return who claims: this process, now."""
        return Claimer(self.owner, self.clock(), self.timeouts.lease_seconds)

    def after(self, seconds: float) -> datetime:
        """Return the time in that many seconds."""
        return self.clock() + timedelta(seconds=seconds)
