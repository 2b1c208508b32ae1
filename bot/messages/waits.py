"""What a job or a message waits for, and until when, in one line. People read no names of processes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from bot.messages import blocks as b
from bot.model.waits import Wait, Waiting, WaitWhy


def lines(waiting: Sequence[Wait]) -> list[str]:
    """Return what a job waits for, in one line, and a line about the oldest message that Slack lacks."""
    asked = [each for each in waiting if each.what in (Waiting.PROMPT, Waiting.POLL)]
    said = [each for each in waiting if each.what is Waiting.MESSAGE and each.why is not WaitWhy.PROCESS]
    shown = [*asked[:1], *said[:1]]
    return [words(each.why, each.until, what=_what(each)) for each in shown]


def _what(wait: Wait) -> str:
    return "A message about it" if wait.what is Waiting.MESSAGE else "It"


def words(why: WaitWhy, until: datetime | None, *, what: str) -> str:
    """Return why something waits and until when. ``what`` begins the sentence."""
    at = b.moment(until, "{time}") if until else "soon"
    again = f"I'll try again at {at}" if until else "I'll try again soon"
    match why:
        case WaitWhy.WORKER:
            return f"{what} is due: I'm about to take it up"
        case WaitWhy.PROCESS:
            return f"{what} is in hand: I'm at it right now"
        case WaitWhy.BEFORE:
            return f"{what} waits for what goes before it in the thread"
        case WaitWhy.ASKER:
            return f"{what} waits: Slack couldn't tell me who asked or what a name means. {again}"
        case WaitWhy.FACE:
            return f"{what} waits for the first message of its thread, which Slack doesn't have yet"
        case WaitWhy.PERSON:
            return f"{what} waits for somebody to choose *Send again* or *Dismiss* in its thread"
        case WaitWhy.SERVICE:
            return f"{what} waits: I can't reach the docs service. {again}"
        case WaitWhy.KEY:
            return f"{what} waits: the docs service refuses the bot's key. {again}"
        case WaitWhy.LIMIT:
            return f"{what} waits for the shared hourly limit. It goes out at about {at}"
        case WaitWhy.SHARE:
            why_not = "whoever asked has had their share of the hourly limit"
            return f"{what} waits: {why_not}. It goes out at about {at}"
        case WaitWhy.RETRY:
            return f"{what} goes out at {at}"
        case WaitWhy.TIME:
            return f"I'll ask the docs service about it at {at}"
        case WaitWhy.SEARCH:
            return (
                f"{what} may be there or not: Slack didn't say. I'll look for it {'at ' if until else ''}{at}"
            )
        case WaitWhy.PACE:
            return f"{what} waits, because Slack takes only so many a minute. It goes out at {at}"
