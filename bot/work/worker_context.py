"""The workshop: what every round works with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from bot.docs_api import DocsClient
from bot.model import Admission, PollPace, ProjectId
from bot.store import Claimer, Registry
from bot.work.once import Once
from bot.work.ports import Clock, Messenger
from bot.work.visitors.windows import Analytics


@dataclass(frozen=True, slots=True)
class Patience:
    """How long the work waits for what, in seconds."""

    lease_seconds: float = 90.0
    """A claim outlives the slowest call to either side, and frees what a dead process held."""
    channel_pace_seconds: float = 1.02
    """Between two posts in a channel; Slack asks for one second, and clocks are not exact."""
    stale_seconds: float = 60.0
    """After a follow-up an answer may still show the round before; so long it is not believed."""
    running_seconds: float = 1_800.0
    """A job that runs so long is mentioned once."""
    unwatched_seconds: float = 7 * 86_400.0
    """After so long we stop looking."""
    quiet_seconds: float = 600.0
    """How long we look whether a follow-up in doubt was carried out."""
    doubt_seconds: float = 2.0
    """Before looking whether a post of unclear outcome is there."""
    reading_seconds: float = 0.5
    """Between two looks at a question or a digest whose numbers are being read."""
    digest_seconds: float = 3 * 3_600.0
    """So long a digest waits for pages; then it is told with those that are there."""
    curve_seconds: float = 120.0
    """So long it waits for the weeks of its curve."""


@dataclass(frozen=True, slots=True)
class Workshop:
    """The registry, both far sides, the time, and who we are among several processes."""

    registry: Registry
    docs: DocsClient
    messenger: Messenger
    clock: Clock
    chance: Callable[[], float]
    owner: str
    bot_name: str
    project: ProjectId
    wake: Callable[[], None]
    wake_after: Callable[[float], None] = field(default=lambda _seconds: None)
    pace: PollPace = field(default_factory=PollPace)
    patience: Patience = field(default_factory=Patience)
    uses_an_hour: int = 100
    analytics: Analytics = field(default_factory=Analytics)
    admission: Admission = field(default_factory=Admission)
    once: Once = field(default_factory=Once)
    count: Callable[[str, str], None] = field(default=lambda _what, _how: None)

    def claimer(self) -> Claimer:
        """Us, now."""
        return Claimer(self.owner, self.clock(), self.patience.lease_seconds)

    def after(self, seconds: float) -> datetime:
        """The time so many seconds from now."""
        return self.clock() + timedelta(seconds=seconds)
