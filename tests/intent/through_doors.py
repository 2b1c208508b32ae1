"""The labelled texts through the real doors: Slack's payloads go in, and what people see comes out."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from sandbox.workspace.state import BOT_USER, Json
from tests.intent.catalogue import MENTION
from tests.intent.words import Handled, Row
from tests.services import LINK
from tests.talk import Talk
from tests.talk_people import Person, Shown

BATCH = 12
"""Texts of one place that one bot gets, each from a person and in a channel of its own."""
PROMPT = "Fix the introduction"
QUESTION = "How do I rotate an API key?"
_STATUS_MESSAGE = re.compile(r"· Job \d+ ·")
_WORDS = {
    "jobs": r"\d+ (?:needs? you|to review|working|done)\b|^No (?:more )?(?:open )?jobs",
    "status": (
        r"There's no Job \d+ that you can see|hasn't started|, started |Pull request ready|^:x: "
        r"|Not yet\.|^:memo: Yes|Merged"
    ),
    "stop": r"^Taken back|nobody can stop it|nothing to stop|hasn't started yet",
    "retry": r"hasn't failed",
    "merge": r"^I can't merge or close it|no pull request that I could link",
    "reviewed": r"^:\+1: Job",
    "changes": r"^\*Changes\* shows",
    "preview": r"^\*Preview\* shows|^I can't show its pages",
    "limits": r"jobs and follow-ups left this hour",
    "gaps": r"^No open questions here|open questions? here",
    "visitors": r"Reading|No visitors|visitors?\b.*\d|Nothing was (?:searched|read)|found nothing",
    "subscribe": r"^:white_check_mark: .*digest|Every ",
    "subscriptions": r"subscription|no digest here|No digest",
    "digest": r"[Dd]igest",
    "unsubscribe": r"[Uu]nsubscribe|no digest",
    "pause": r"no digest|No digest",
    "resume": r"no digest|No digest",
    "project": r"These prompts go to",
    "replies": r"are follow-ups?",
    "reviewers": r"Reminders of this channel",
    "help": r"^\*?/docs-agent|Lists the channel's jobs|In a job's thread",
}
"""How the answers to the bot's own words read."""
_NO_JOB = "You have no job here yet"
_ABOUT_JOBS = ("status", "stop", "retry", "merge", "reviewed")


@dataclass(frozen=True, slots=True)
class Spot:
    """Where one text is said."""

    person: Person
    channel: str
    thread: Json | None = None


@dataclass(frozen=True, slots=True)
class Seen:
    """What people see after a text."""

    posts: Sequence[Shown]
    notes: Sequence[Shown]
    """Private answers, and posts in direct messages."""
    reactions: Sequence[str]

    @property
    def texts(self) -> Sequence[Shown]:
        return (*self.posts, *self.notes)


def handle_all(rows: Sequence[Row], progress: Callable[[int], None]) -> list[set[Handled]]:
    """Return how each text was handled. Where two handlings look alike, both are returned."""
    order = sorted(range(len(rows)), key=lambda at: rows[at]["context"])
    handled: dict[int, set[Handled]] = {}
    for _, places in groupby(order, key=lambda at: rows[at]["context"]):
        of_context = list(places)
        for start in range(0, len(of_context), BATCH):
            batch = of_context[start : start + BATCH]
            results = asyncio.run(_handle_batch([rows[at] for at in batch]))
            handled |= dict(zip(batch, results, strict=True))
            progress(len(handled))
    return [handled[at] for at in range(len(rows))]


async def _handle_batch(rows: Sequence[Row]) -> list[set[Handled]]:
    """Let a fresh bot hear texts of one place."""
    talk = Talk()
    try:
        return [
            set(classify(seen, row))
            for seen, row in zip(await _hear(talk, rows), rows, strict=True)
        ]
    finally:
        await talk.close()


async def _hear(talk: Talk, rows: Sequence[Row]) -> list[Seen]:
    talk.process.answers_questions()
    await talk.process.starts(github_token="t")
    context = rows[0]["context"]
    spots = [await _prepare(talk, context, number) for number in range(len(rows))]
    await talk.time.passes(30)
    await _let_jobs_end(talk, context)
    spots = [_with_thread(talk, context, spot) for spot in spots]
    before = _all_messages(talk)
    said = [await _say(context, spot, row["text"]) for spot, row in zip(spots, rows, strict=True)]
    await talk.time.passes(minutes=1)
    return [_see(talk, spot, message, before) for spot, message in zip(spots, said, strict=True)]


async def _prepare(talk: Talk, context: str, number: int) -> Spot:
    """Return a person and a channel of their own, and begin what the place needs."""
    person = talk.newcomer(f"Person{number}")
    channel = f"room{number}"
    # In private channels nobody is asked about the page of another text.
    is_private = context in ("mention", "command")
    talk.opens_channel(channel, person, talk.ben, is_private=is_private)
    if context.startswith("job"):
        await person.asks(PROMPT, channel)
    elif context == "answer":
        return Spot(person, channel, await person.says(f"{MENTION} {QUESTION}", channel))
    elif context == "answer-dm":
        return Spot(person, "dm", await person.says(QUESTION, "dm"))
    elif context == "people":
        return Spot(person, channel, await talk.ben.says("The limits differ by plan", channel))
    return Spot(person, "dm" if context == "dm" else channel)


async def _let_jobs_end(talk: Talk, context: str) -> None:
    if context in ("job done", "job merged"):
        await talk.ends(pr_link=LINK)
    if context == "job merged":
        talk.github.merge(talk.time.at)
        await talk.time.passes(minutes=15)
    if context == "job failed":
        await talk.ends("failed", pr_link=None)


def _with_thread(talk: Talk, context: str, spot: Spot) -> Spot:
    if not context.startswith("job"):
        return spot
    return Spot(spot.person, spot.channel, talk.root(channel=spot.channel))


async def _say(context: str, spot: Spot, text: str) -> Json | None:
    if context == "command":
        await spot.person.types(f"/docs-agent {text}", spot.channel)
        return None
    if spot.thread is not None:
        return await spot.person.replies(text, to=spot.thread)
    return await spot.person.says(text, spot.channel)


def _all_messages(talk: Talk) -> set[str]:
    state = talk.slack.state
    posts = {f"{room} {ts}" for room, messages in state.messages.items() for ts in messages}
    return posts | set(state.ephemerals)


def _see(talk: Talk, spot: Spot, message: Json | None, before: set[str]) -> Seen:
    """Return what is new for a person and in their channel."""
    state = talk.slack.state

    def new_posts(channel: str) -> list[Shown]:
        room = talk.room(channel, spot.person).id
        messages = state.messages.get(room, {})
        return [
            Shown.of(post)
            for ts, post in messages.items()
            if post["bot_id"] and f"{room} {ts}" not in before
        ]

    notes = [
        Shown.of(note)
        for key, note in state.ephemerals.items()
        if note["user"] == spot.person.id and key not in before
    ]
    in_dm = new_posts("dm")
    reactions = [] if message is None else _reactions(message)
    return Seen([] if spot.channel == "dm" else new_posts(spot.channel), notes + in_dm, reactions)


def _reactions(message: Json) -> list[str]:
    return [reaction["name"] for reaction in message["reactions"] if BOT_USER in reaction["users"]]


def classify(seen: Seen, row: Row) -> Iterator[Handled]:
    """Yield the handlings that what people see may be."""
    status = next((text for text in seen.texts if _STATUS_MESSAGE.search(text)), None)
    if status is not None and row["context"] == "job failed" and PROMPT in status:
        yield Handled("word", "retry")
    elif status is not None:
        yield Handled("send")
    elif any("Didn't help" in text.buttons for text in seen.texts):
        yield Handled("answer")
    elif "eyes" in seen.reactions and row["context"].startswith("job"):
        yield Handled("send")
    elif any("Answer it" in text.buttons for text in seen.texts):
        yield Handled("ask")
    elif seen.texts:
        for text in seen.texts:
            yield from _classify_text(text)
    elif seen.reactions:
        yield Handled("talk")
        yield Handled("word", "reviewed")
    else:
        yield Handled("talk")


def _classify_text(text: Shown) -> Iterator[Handled]:
    meant = re.match(r"Did you mean `(\w+)", text)
    if meant:
        yield Handled("word", meant[1])
    elif text.startswith(("What should I do", "Shall I send", "I don't understand that")):
        yield Handled("ask")
    elif text.startswith(("What should change?", "Noted as a gap")):
        yield Handled("no")
    elif text.startswith(("Hi!", ":+1:")):
        yield Handled("talk")
        yield Handled("word", "reviewed")
    elif text.startswith(("I can't answer here", "The agent gives no reasons", "I can't see")):
        yield Handled("tell")
    elif text.startswith(_NO_JOB):
        yield from (Handled("word", word) for word in _ABOUT_JOBS)
    else:
        words = [word for word, shape in _WORDS.items() if re.search(shape, text, re.MULTILINE)]
        yield from (Handled("word", word) for word in words)
        if {"status", "changes", "preview", "help"}.intersection(words):
            yield Handled("tell")
        if not words:
            yield Handled("unknown", str(text)[:60])
