"""What is known about a run when it is over: all that the checker looks at, as plain values."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from tests.torture.plan import Act, Plan
from tests.torture.rows import Row, Rows

Json = dict[str, Any]


@dataclass
class Done:
    """An act as it went.

    ``acknowledged``: Slack had the bot's word for it. ``broken``: that word was that something went wrong
    and nothing was started. ``ts`` is the message of a mention or reply, ``pressed`` the marker of the job
    whose button it was.
    """

    act: Act
    at: datetime
    made: bool = True
    acknowledged: bool = False
    broken: bool = False
    ts: str | None = None
    pressed: str = ""


@dataclass
class Record:
    """One run, over. ``slack`` and ``docs`` are the two sides' logs; ``notices`` what Slackbot said.

    ``moving`` is what was still open when the run's time was up. ``leaps``: so often what was put off for
    long was made due. ``cpu_seconds``: of bots that ended in order.
    """

    plan: Plan
    done: list[Done] = field(default_factory=list)
    messages: list[Json] = field(default_factory=list)
    private: list[Json] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    slack: list[Json] = field(default_factory=list)
    docs: list[Json] = field(default_factory=list)
    rows: Rows = field(default_factory=dict)
    service: Rows = field(default_factory=lambda: {"jobs": [], "messages": []})
    log: str = ""
    secrets: tuple[str, ...] = ()
    complaints: list[str] = field(default_factory=list)
    moving: list[str] = field(default_factory=list)
    leaps: int = 0
    over_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    kills: int = 0
    starts: int = 0
    failed_starts: int = 0
    cpu_seconds: float = 0.0
    wall_seconds: float = 0.0

    def of(self, table: str) -> list[Row]:
        """The rows of one of the bot's tables."""
        return self.rows.get(table, [])

    def thread(self, channel: str, ts: str) -> list[Json]:
        """What the bot said in a thread."""
        return [
            each
            for each in self.messages
            if each["channel"] == channel and each["thread_ts"] == ts and each["ts"] != ts and each["bot_id"]
        ]

    def roots(self, marker: str) -> list[Json]:
        """The bot's messages outside threads that quote this prompt and are numbered."""
        return [
            each
            for each in self.messages
            if each["bot_id"] and not each["thread_ts"] and marker in each["text"] and "· #" in each["text"]
        ]

    def faults(self) -> list[tuple[str, str]]:
        """Which faults came, each with its side; those ordered and never met are not among them."""
        met = [("slack", str(each["fault"])) for each in self.slack if each.get("fault")]
        return [*met, *(("docs", str(each["fault"])) for each in self.docs if each.get("fault"))]
