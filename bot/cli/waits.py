"""What something waits for, and until when, in one line for the operator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from bot.messages.plain_text import one_line
from bot.model.waits import Wait, WaitWhy
from bot.ops.checks import Finding
from bot.store import Transaction

_MOST = timedelta(minutes=10)
"""How long something may be due before the doctor calls it stuck."""
_WORDS: Mapping[WaitWhy, str] = {
    WaitWhy.WORKER: "the next free worker",
    WaitWhy.PROCESS: "the process {cause}, which has its lease",
    WaitWhy.BEFORE: "what goes first in its job or thread",
    WaitWhy.ASKER: "Slack, which could not tell who asked or what a name means",
    WaitWhy.FACE: "the first message of its thread",
    WaitWhy.PERSON: "a person's decision: Send again or Dismiss",
    WaitWhy.SERVICE: "the docs service: a back-off after {cause}",
    WaitWhy.KEY: "a key that the docs service accepts: a back-off after {cause}",
    WaitWhy.LIMIT: "the hourly limit",
    WaitWhy.SHARE: "the hourly limit: whoever asked has had their share",
    WaitWhy.RETRY: "its next try",
    WaitWhy.TIME: "its time",
    WaitWhy.SEARCH: "a search in Slack, which did not say whether it took it",
    WaitWhy.PACE: "Slack's pace",
}


def words(wait: Wait) -> str:
    """Return what waits, for what, until when and since when."""
    reason = _WORDS[wait.why].format(cause=one_line(wait.cause or "unknown", 100))
    until = f", until {_at(wait.until)}" if wait.until else ""
    return f"{wait.what} waits for {reason}{until} (since {_at(wait.since)})"


def _at(when: datetime) -> str:
    return f"{when:%Y-%m-%d %H:%M:%S} UTC"


def oldest(tx: Transaction, now: datetime) -> Finding:
    """Return the doctor's finding about the oldest prompt and the oldest message that wait."""
    found = [*tx.waits.all_prompts(now), tx.waits.oldest_message(now)]
    waiting = [each for each in found if each is not None]
    stuck = [each for each in waiting if each.stuck_since and now - each.stuck_since > _MOST]
    advice = "Is a `docs-bot run` or `work` up? See its log, and docs/operating.md, Alerts." if stuck else ""
    return Finding("waiting", not stuck, _told(stuck or waiting), advice)


def _told(waiting: Sequence[Wait]) -> str:
    if not waiting:
        return "nothing waits"
    oldest = min(waiting, key=lambda each: each.since)
    return f"{f'job {oldest.job}, ' if oldest.job else ''}{words(oldest)}"
