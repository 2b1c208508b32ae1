"""The record of a finished run: everything that the checker reads, as plain values."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from tests.torture.plan import BEGINNINGS, Act, Plan
from tests.torture.rows import Row, Rows

Json = dict[str, Any]


@dataclass
class Done:
    """The result of an act."""

    act: Act
    at: datetime
    made: bool = True
    acknowledged: bool = False
    broken: bool = False
    """The bot answered that something went wrong and nothing was started."""
    ts: str | None = None
    """The message of a mention or reply, or the event of an edit or deletion."""
    acknowledged_at: datetime | None = None
    """None for requests other than events."""
    pressed: str = ""
    """The id of the inquiry whose button was pressed."""
    ended_at: datetime | None = None


@dataclass
class Record:
    """A finished run."""

    plan: Plan
    done: list[Done] = field(default_factory=list)
    messages: list[Json] = field(default_factory=list)
    private: list[Json] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    """Messages of Slackbot."""
    slack: list[Json] = field(default_factory=list)
    """The request log of the workspace."""
    docs: list[Json] = field(default_factory=list)
    """The request log of the docs service."""
    rows: Rows = field(default_factory=dict)
    service: Rows = field(default_factory=lambda: {"jobs": [], "messages": [], "builds": []})
    log: str = ""
    secrets: tuple[str, ...] = ()
    complaints: list[str] = field(default_factory=list)
    moving: list[str] = field(default_factory=list)
    """Rows that were still open at the time limit."""
    kills: int = 0
    starts: int = 0
    failed_starts: int = 0
    wall_seconds: float = 0.0

    def beginnings(self) -> list[Act]:
        """Return the acts that may have begun a job, before those that may join its thread."""
        acts = [done.act for done in self.done if done.made and done.act.kind in BEGINNINGS]
        return sorted(acts, key=lambda act: BEGINNINGS.index(act.kind))

    def of(self, table: str) -> list[Row]:
        """Return the rows of one of the bot's tables."""
        return self.rows.get(table, [])

    def thread(self, channel: str, ts: str) -> list[Json]:
        """Return the bot's messages in a thread, without its root."""
        replies = [
            message for message in self.messages if message["bot_id"] and message["ts"] != ts
        ]
        return [
            reply for reply in replies if (reply["channel"], reply["thread_ts"]) == (channel, ts)
        ]

    def faults(self) -> list[tuple[str, str]]:
        """Return the side and kind of each fault that a call met."""
        calls = [*(("slack", call) for call in self.slack), *(("docs", call) for call in self.docs)]
        return [(side, str(call["fault"])) for side, call in calls if call.get("fault")]
