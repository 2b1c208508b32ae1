"""Share what conversations about readers of the docs need: days, answers, and what the service reports."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

from tests.talk import Talk
from tests.talk_people import Person, Shown

FIRST, LAST = date(2026, 10, 26), date(2026, 11, 1)
"""The last seven full days before the day on which conversations begin."""
START, TODAY = date(2026, 9, 1), date(2026, 11, 2)
DAY = timedelta(days=1)
MONDAY = TODAY
WEEK = MONDAY - 7 * DAY


async def asked(
    talk: Talk, words: str = "", by: Person | None = None, seconds: float = 20
) -> Shown:
    """Ask, and read the one answer; a note about its reading may come before it, a file after it."""
    person = by or talk.ana
    await person.types(f"/docs-visitors {words}".strip())
    await talk.time.passes(seconds)
    notes = [note for note in person.reads() if not note.message.get("files")]
    [answer] = [note for note in notes if "I'll answer here" not in note]
    return answer


async def pressed(
    talk: Talk, label: str, by: Person | None = None, on: Shown | None = None
) -> list[Shown]:
    """Press a button, and read what is new in private."""
    person = by or talk.ana
    await person.presses(label, on)
    await talk.time.passes(5)
    return person.reads()


async def files(talk: Talk, channel: str = "dm") -> list[tuple[str, str, str]]:
    """Read the files in Ana's direct messages or a channel: words, name and content."""
    posts = talk.slack.state.messages.get(talk.room(channel).id, {}).values()
    shown = [talk.mark_read(each) for each in posts if each["bot_id"] and each["files"]]
    return [(str(each), *item) for each in shown for item in (await talk.files(each)).items()]


async def subscribe(talk: Talk, words: str = "monday 09:00 UTC", channel: str = "docs") -> None:
    """Subscribe the channel, and read the post that proves it."""
    await talk.ana.types(f"/docs-visitors subscribe {words}", channel)
    await talk.time.passes(5)
    talk.ana.reads()
    talk.channel(channel)


async def until(talk: Talk, day: int, hour: int = 9, minute: int = 0) -> None:
    """Let time pass up to a moment of November 2026 and a minute more."""
    at = datetime(2026, 11, 1, hour, minute, tzinfo=UTC) + (day - 1) * DAY
    await talk.time.passes((at - talk.time.at).total_seconds())
    await talk.time.passes(60)


def digests(talk: Talk, channel: str = "docs") -> list[Shown]:
    """Read the digests of a channel."""
    return [post for post in talk.channel(channel) if post.startswith("*Your docs")]


async def all_numbers(talk: Talk, digest: Shown) -> Shown:
    """Let Ben press *All numbers*, and read the reply in the digest's thread."""
    await talk.ben.presses("All numbers", on=digest)
    await talk.time.passes(5)
    return talk.thread(digest.message)[-1]


def searches(*rows: tuple[str, int, float | None], **more: Any) -> dict[str, Any]:
    """Return searches as the service reports them: words, hits and the percentage with a click."""
    found = [
        {
            "searchQuery": words,
            "hits": hits,
            "ctr": ctr,
            "topClickedPage": "https://docs.example/limits?a=b",
        }
        for words, hits, ctr in rows
    ]
    total = sum(hits for _, hits, _ in rows)
    return {"searches": found, "totalSearches": total, "nextCursor": None, **more}


def feedback_of(*rows: tuple[str, str, str | None]) -> dict[str, Any]:
    """Return comments as the service reports them: page, source and text, each newer than the one before.

    A contextual one is of a "not helpful" vote, and ``praise`` one of a "helpful" vote.
    """
    votes = {"contextual": {"helpful": False}, "praise": {"helpful": True}}
    found = [
        {
            "id": str(at),
            "path": page,
            "source": "contextual" if source == "praise" else source,
            "comment": text,
            "createdAt": f"2026-10-28T00:{at:02}:00Z",
            **votes.get(source, {}),
        }
        for at, (page, source, text) in enumerate(rows)
    ]
    return {
        "feedback": [{**each, "contact": "ana@example.com"} for each in found],
        "hasMore": False,
    }


def votes_of(*rows: tuple[str, int, int]) -> dict[str, Any]:
    """Return votes as the service reports them: page, helpful and not helpful."""
    found = [
        {"path": page, "thumbsUp": up, "thumbsDown": down, "code": 0, "total": up + down + 1}
        for page, up, down in rows
    ]
    return {"feedback": found, "hasMore": False}


def turns(*rows: tuple[str, str | None, str]) -> dict[str, Any]:
    """Return questions as the service reports them: text, category and whether it was answered."""
    found = [
        {
            "id": str(at),
            "query": text,
            "queryCategory": category,
            "resolutionStatus": status,
            "pageUrl": None,
        }
        for at, (text, category, status) in enumerate(rows)
    ]
    return {"conversations": found, "hasMore": False}
