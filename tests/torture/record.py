"""The record of a finished run: everything that the checker reads, as plain values."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from tests.torture.plan import Act, Plan
from tests.torture.rows import Row, Rows

Json = dict[str, Any]


@dataclass
class Done:
    """The result of an act.

    ``acknowledged``: the bot acknowledged the request. ``broken``: its answer was that something went wrong
    and nothing was started. ``ts``: the message of a mention or reply, or the event of an edit or deletion.
    ``acknowledged_at``: when the bot acknowledged an event, None for other requests. ``pressed``: the marker
    of the job whose button was pressed, or the id of the inquiry.
    """

    act: Act
    at: datetime
    made: bool = True
    acknowledged: bool = False
    broken: bool = False
    ts: str | None = None
    acknowledged_at: datetime | None = None
    pressed: str = ""
    ended_at: datetime | None = None


@dataclass
class Record:
    """A finished run.

    ``slack`` and ``docs``: request logs of both services. ``notices``: messages of Slackbot. ``moving``: rows
    that were still open at the time limit.
    """

    plan: Plan
    done: list[Done] = field(default_factory=list)
    messages: list[Json] = field(default_factory=list)
    private: list[Json] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    slack: list[Json] = field(default_factory=list)
    docs: list[Json] = field(default_factory=list)
    rows: Rows = field(default_factory=dict)
    service: Rows = field(default_factory=lambda: {"jobs": [], "messages": [], "builds": []})
    log: str = ""
    secrets: tuple[str, ...] = ()
    complaints: list[str] = field(default_factory=list)
    moving: list[str] = field(default_factory=list)
    kills: int = 0
    starts: int = 0
    failed_starts: int = 0
    wall_seconds: float = 0.0

    def of(self, table: str) -> list[Row]:
        """Return the rows of one of the bot's tables."""
        return self.rows.get(table, [])

    def thread(self, channel: str, ts: str) -> list[Json]:
        """Return the bot's messages in a thread, without its root."""
        return [
            each
            for each in self.messages
            if each["channel"] == channel and each["thread_ts"] == ts and each["ts"] != ts and each["bot_id"]
        ]

    def faults(self) -> list[tuple[str, str]]:
        """Return the faults that occurred, each with its side, without those that no call met."""
        met = [("slack", str(each["fault"])) for each in self.slack if each.get("fault")]
        return [*met, *(("docs", str(each["fault"])) for each in self.docs if each.get("fault"))]
