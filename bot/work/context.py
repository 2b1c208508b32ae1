"""The desk: what every use case that answers a person works with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from bot.model import Admission, ProjectId, ThreadRef, UserId
from bot.store import Registry
from bot.work.access.check import Acquaintances
from bot.work.batching import Together
from bot.work.ports import Clock
from bot.work.visitors.windows import Analytics

if TYPE_CHECKING:
    from bot.work.jobs.ask import Asked, AskRequest


class FollowUps(StrEnum):
    """Which replies in a job's thread are follow-ups."""

    REPLIES = "replies"
    MENTIONS = "mentions"


@dataclass(frozen=True, slots=True)
class Desk:
    """Where requests are taken in: the registry, the time, and a bell that wakes the rounds.

    ``asking`` stores requests that arrive at the same moment together.
    ``workspace_url`` is where this Slack workspace is, for links to its messages.
    """

    registry: Registry
    clock: Clock
    wake: Callable[[], None]
    project: ProjectId
    bot_user: UserId
    bot_name: str = "docs-agent"
    workspace_url: str = ""
    follow_ups: FollowUps = FollowUps.REPLIES
    analytics: Analytics = field(default_factory=Analytics)
    admission: Admission = field(default_factory=Admission)
    acquaintances: Acquaintances = field(default_factory=Acquaintances)
    uses_an_hour: int = 100
    asking: Together[AskRequest, Asked | Exception] = field(default_factory=lambda: Together(100, turns=3))

    def permalink(self, thread: ThreadRef) -> str:
        """The address of a message in Slack: https://docs.slack.dev/reference/methods/chat.getPermalink"""
        return f"{self.workspace_url.rstrip('/')}/archives/{thread.channel}/p{thread.ts.replace('.', '')}"
