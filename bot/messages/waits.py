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
    return [
        *(words(each.why, each.until, what="It") for each in asked[:1]),
        *(words(each.why, each.until, what="A message about it") for each in said[:1]),
    ]


_WORDS = {
    WaitWhy.WORKER: "{what} is due: I'm about to take it up",
    WaitWhy.PROCESS: "{what} is in hand: I'm at it right now",
    WaitWhy.BEFORE: "{what} waits for what goes before it in the thread",
    WaitWhy.ASKER: (
        "{what} waits: Slack couldn't tell me who asked or what a name means. I'll try again {soon}"
    ),
    WaitWhy.FACE: "{what} waits for the first message of its thread, which Slack doesn't have yet",
    WaitWhy.PERSON: "{what} waits for somebody to choose *Send again* or *Dismiss* in its thread",
    WaitWhy.SERVICE: "{what} waits: I can't reach the docs service. I'll try again {soon}",
    WaitWhy.KEY: "{what} waits: the docs service refuses the bot's key. I'll try again {soon}",
    WaitWhy.LIMIT: "{what} waits for the shared hourly limit. It goes out {about}",
    WaitWhy.SHARE: "{what} waits: whoever asked has had their share of the hourly limit. It goes out {about}",
    WaitWhy.RETRY: "{what} goes out {soon}",
    WaitWhy.TIME: "I'll ask the docs service about it {soon}",
    WaitWhy.SEARCH: "{what} may be there or not: Slack didn't say. I'll look for it {soon}",
    WaitWhy.PACE: "{what} waits, because Slack takes only so many a minute. It goes out {soon}",
}


def words(why: WaitWhy, until: datetime | None, *, what: str) -> str:
    """Return why something waits and until when. ``what`` begins the sentence."""
    at = f"at {b.moment(until, '{time}')}" if until else "soon"
    return _WORDS[why].format(what=what, soon=at, about=f"at about {at.removeprefix('at ')}" if until else at)
