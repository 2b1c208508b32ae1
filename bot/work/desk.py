"""The desk: what every use case that answers a person works with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from bot.model import ProjectId, UserId
from bot.registry import Registry
from bot.work.ports import Clock


class FollowUps(StrEnum):
    """Which replies in a job's thread are follow-ups."""

    REPLIES = "replies"
    MENTIONS = "mentions"


@dataclass(frozen=True, slots=True)
class Desk:
    """Where requests are taken in: the registry, the time, and a bell that wakes the rounds."""

    registry: Registry
    clock: Clock
    wake: Callable[[], None]
    project: ProjectId
    bot_user: UserId
    bot_name: str = "docs-agent"
    follow_ups: FollowUps = FollowUps.REPLIES
