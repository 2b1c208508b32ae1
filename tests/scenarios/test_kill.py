"""SIGKILL at places on the way of a request, and a restart.

At any moment: nothing is done or posted twice, and every acknowledged request gets an answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import aiohttp
import pytest

from sandbox.workspace import WorkspaceOptions
from sandbox.world import WorldOptions
from tests.bots import Zygote
from tests.scenarios.clocks import working_day_ahead
from tests.scenarios.kills import Tale, kill_everywhere, requests
from tests.scenarios.story import ANA, BEN, DOCS, Json, Story

pytestmark = pytest.mark.slow
BOT = Path(__file__).parents[2] / "bot"
PROMPT = "Add a quickstart for the Python SDK"
_DOUBT = "none there?"
_DONE = ("is done", "New page")
"""The words of a good end, before and after the pull request is read."""
_TALK = "The quickstart lacks Python"
_REMINDED = "has been ready"
_QUESTION, _GAP, _WRITTEN = "What are the kinds of keys?", "Didn't help", "in the docs now"
INBOX = tuple(f"inbox/{name}" for name in ("receive", "hear", "act", "requests", "send", "release"))
"""The modules between a message's event and its request."""
_LATER = 6
"""Days until the review. The reminder comes after three, or after up to five over a weekend."""


@dataclass(frozen=True)
class PersistentWorld(WorldOptions):
    """A world whose workspace soon delivers an unacknowledged event again."""

    def workspace(self) -> WorkspaceOptions:
        return replace(super().workspace(), redeliver_after_seconds=(0.3,) * 400)


def replies(story: Story, *phrases: str) -> list[str]:
    """Return the texts of the bot's replies with one of these phrases, or of all."""
    texts = [reply["text"] for root in story.roots() for reply in story.replies_in(root)]
    return [text for text in texts if not phrases or any(phrase in text for phrase in phrases)]


def _is_end(text: str) -> bool:
    return any(phrase in text for phrase in (*_DONE, _DOUBT))


async def merge(story: Story) -> None:
    """Merge the pull request on the page of its host."""
    page = f"{story.world.docs_service_url}/acme/acme-docs/pull/1/merge"
    async with aiohttp.ClientSession() as session, session.post(page) as answer:
        assert answer.ok


class AskedForAJob(Tale):
    """A person asks for a job."""

    watched = (
        *("jobs/ask", "jobs/prepare", "jobs/submit", "jobs/poll"),
        *("jobs/settle_prompt", "jobs/deliveries", "outbox/deliver"),
    )

    async def act(self, story: Story) -> Sequence[Json]:
        return [await story.command("/docs-agent", PROMPT)]

    def is_over(self, story: Story) -> bool:
        return bool(replies(story, *_DONE, _DOUBT))

    def is_settled(self, story: Story, answers: Sequence[Json]) -> bool:
        """Return whether the job is over; an unacknowledged command may have no job."""
        return self.is_over(story) or not (answers[0]["ok"] or story.roots())

    async def check(self, story: Story, answers: Sequence[Json]) -> None:
        """Insist on one root and one end or doubt, or fewer if the command failed."""
        calls, ends = await requests(story.world), replies(story, *_DONE, _DOUBT)
        state = f"{dict(calls)} {replies(story)}"
        assert calls["create"] <= 1, state
        assert len(story.roots()) <= 1, state
        assert len(ends) <= 1, state
        assert not answers[0]["ok"] or (len(story.roots()), len(ends)) == (1, 1), state


class Steered(Tale):
    """A person replies in the thread of a job that has ended."""

    watched = (
        *INBOX,
        *(
            "jobs/ask",
            "jobs/prepare",
            "jobs/submit",
            "jobs/poll",
        ),
        *("jobs/settle_prompt", "jobs/deliveries", "outbox/deliver"),
    )
    world = PersistentWorld

    async def begin(self, story: Story) -> None:
        await story.finished(PROMPT)

    async def act(self, story: Story) -> Sequence[Json]:
        return [story.reply(story.roots()[0], "Mention retries")]

    def is_over(self, story: Story) -> bool:
        """Return whether a second end or a doubt has been posted."""
        return len(self._ends(story)) > 1 or bool(replies(story, _DOUBT))

    async def check(self, story: Story, answers: Sequence[Json]) -> None:
        """Insist on one call at most, and on an end or a doubt, which may turn into an end."""
        calls, ends, doubts = await requests(story.world), self._ends(story), replies(story, _DOUBT)
        state = f"{dict(calls)} {replies(story)}"
        assert calls["create"] == 0, state
        assert calls["follow_up"] <= 1, state
        assert len(story.roots()) == 1, state
        assert len(ends) == 2 or (len(ends) == 1 and len(doubts) == 1), state
        assert len(doubts) <= 1, state

    def _ends(self, story: Story) -> list[str]:
        return replies(story, *_DONE)


class AddedTo(Tale):
    """A person adds to a reply while it is held."""

    watched = (
        *INBOX,
        "jobs/ask",
        "jobs/prepare",
        "jobs/submit",
        "jobs/settle_prompt",
        "jobs/deliveries",
    )
    world = PersistentWorld

    async def begin(self, story: Story) -> None:
        await story.finished(PROMPT)

    async def act(self, story: Story) -> Sequence[Json]:
        root = story.roots()[0]
        return [story.reply(root, text) for text in ("Mention retries", "Mention timeouts, too")]

    def is_over(self, story: Story) -> bool:
        return 0 not in self._received(story) or bool(replies(story, _DOUBT))

    async def check(self, story: Story, answers: Sequence[Json]) -> None:
        """Insist that both replies arrive once, joined or apart, or are in doubt."""
        received = self._received(story)
        assert max(received) <= 1, replies(story)
        assert min(received) == 1 or replies(story, _DOUBT), replies(story)

    def _received(self, story: Story) -> list[int]:
        [job] = story.world.docs_service._backend.jobs
        topics = ("retries", "timeouts")
        return [sum(topic in message.prompt for message in job.messages) for topic in topics]


class Mentioned(Tale):
    """A person mentions the bot in a thread of people."""

    watched = (*INBOX, "jobs/ask", "jobs/prepare", "outbox/deliver")
    world = PersistentWorld

    async def begin(self, story: Story) -> None:
        story.people.say(ANA, DOCS, _TALK)

    async def act(self, story: Story) -> Sequence[Json]:
        return [story.reply(self._talk(story), f"@docs-agent {PROMPT}")]

    def is_over(self, story: Story) -> bool:
        return any(_is_end(text) for text in self._texts(story))

    async def check(self, story: Story, answers: Sequence[Json]) -> None:
        """Insist on one job at most, and on its messages in the thread only."""
        calls, texts = await requests(story.world), self._texts(story)
        state = f"{dict(calls)} {texts}"
        assert calls["create"] <= 1, state
        assert sum("· Job " in text.partition("\n")[0] for text in texts) == 1, state
        assert sum(_is_end(text) for text in texts) == 1, state
        assert story.roots() == [], state

    def _talk(self, story: Story) -> Json:
        messages = story.state.messages[DOCS].values()
        return next(message for message in messages if message["text"] == _TALK)

    def _texts(self, story: Story) -> list[str]:
        return [reply["text"] for reply in story.replies_in(self._talk(story))]


class TakenBack(Tale):
    """A person deletes a mention soon after its status message is there."""

    watched = (*INBOX, "jobs/decisions", "jobs/submit")
    world = PersistentWorld

    async def act(self, story: Story) -> Sequence[Json]:
        said = story.people.say(ANA, DOCS, f"@docs-agent {PROMPT}")
        await story.until(lambda: self._texts(story) or None, "the status message")
        story.people.delete(ANA, DOCS, said["ts"])
        return []

    def is_over(self, story: Story) -> bool:
        return bool(self._ends(story) or self._notes(story))

    async def check(self, story: Story, answers: Sequence[Json]) -> None:
        """Insist that nothing was sent, or that the author reads once that the agent has it."""
        calls = await requests(story.world)
        notes = self._notes(story)
        state = f"{dict(calls)} {self._texts(story)} {notes}"
        assert calls["create"] <= 1, state
        assert len(notes) <= 1, state
        if calls["create"] == 0:
            assert self._ends(story), state

    def _ends(self, story: Story) -> list[str]:
        """Return the posts of a request that is taken back: unsent, or in doubt."""
        ends = ("Withdrawn", "Its words are taken back")
        return [text for text in self._texts(story) if any(end in text for end in ends)]

    def _texts(self, story: Story) -> list[str]:
        posts = story.state.messages.get(DOCS, {}).values()
        return [post["text"] for post in posts if post["bot_id"]]

    def _notes(self, story: Story) -> list[str]:
        notes = [note["text"] for note in story.private()]
        return [note for note in notes if "already has the message" in note]


class Reviewed(Tale):
    """A reminder comes due, and a person marks the pull request as reviewed."""

    watched = ("pulls/reminders", "jobs/reviews")
    polls_pull_requests = False

    def __init__(self) -> None:
        self.ahead = working_day_ahead(_LATER)

    async def begin(self, story: Story) -> None:
        await story.finished(PROMPT)

    async def act(self, story: Story) -> Sequence[Json]:
        """Mark the pull request as reviewed after the reminder."""
        await story.until(lambda: replies(story, _REMINDED) or None, "the reminder")
        # Without Ben's cached profile the bot may answer his press with an error.
        while not any("Starts a job" in note["text"] for note in story.private(BEN)):
            await story.command("/docs-agent", "help", BEN)
            await asyncio.sleep(0.1)
        return [await story.press(self._status_message(story), "reviewed", BEN)]

    def is_over(self, story: Story) -> bool:
        return bool(replies(story, _REMINDED)) and self._is_reviewed(story)

    def is_settled(self, story: Story, answers: Sequence[Json]) -> bool:
        """Return whether the reminder and an acknowledged review are shown."""
        return bool(replies(story, _REMINDED)) and (
            self._is_reviewed(story) or not answers[0]["ok"]
        )

    async def check(self, story: Story, answers: Sequence[Json]) -> None:
        """Insist on one reminder and on an acknowledged review."""
        assert len(replies(story, _REMINDED)) == 1, replies(story)
        assert self._is_reviewed(story) or not answers[0]["ok"], replies(story)

    def _status_message(self, story: Story) -> Json:
        return next(root for root in story.roots() if PROMPT in root["text"])

    def _is_reviewed(self, story: Story) -> bool:
        return f"marked by <@{BEN}>" in self._status_message(story)["text"]


class Merged(Tale):
    """A person merges a pull request, which the bot polls."""

    watched = ("pulls/pull_requests",)

    async def act(self, story: Story) -> Sequence[Json]:
        while not (await story.command("/docs-agent", PROMPT))["ok"]:
            await asyncio.sleep(0.1)  # the bot was killed at its start
        await story.until(lambda: replies(story, *_DONE) or None, "the end")
        await merge(story)
        return []

    def is_over(self, story: Story) -> bool:
        return bool(replies(story, "was merged") and "*Merged*" in story.roots()[0]["text"])

    async def check(self, story: Story, answers: Sequence[Json]) -> None:
        """Insist on one report, in the status message and in the only end."""
        reports, ends = replies(story, "was merged"), replies(story, *_DONE, "is merged")
        assert len(reports) == len(ends) == 1, replies(story)
        assert "*Merged*" in story.roots()[0]["text"], story.roots()[0]["text"]
        assert "New page <" in ends[0], ends


class Previewed(Tale):
    """A person presses *Preview* at the end of a job."""

    watched = ("pulls/previews",)

    def options(self, folder: Path) -> WorldOptions:
        """Return a world with fast builds of previews."""
        return replace(super().options(folder), build_seconds=0.4)

    async def begin(self, story: Story) -> None:
        await story.finished(PROMPT)
        # With Ben's profile cached, the bot stores his press before it acknowledges it.
        await story.command("/docs-agent", "help", BEN)
        await story.answer("/docs-agent", BEN)

    async def act(self, story: Story) -> Sequence[Json]:
        return [await story.press(self._end(story), "preview", BEN)]

    def is_over(self, story: Story) -> bool:
        return "Preview: " in self._end(story)["text"]

    def is_settled(self, story: Story, answers: Sequence[Json]) -> bool:
        """Return whether the preview is shown; an unacknowledged press may be lost."""
        return self.is_over(story) or (
            not answers[0]["ok"] and "building" not in self._end(story)["text"]
        )

    async def check(self, story: Story, answers: Sequence[Json]) -> None:
        """Insist on two calls at most, and on a preview in the only end."""
        calls = await requests(story.world)
        assert calls["preview"] <= 2, calls
        assert self.is_over(story) or not answers[0]["ok"], replies(story)
        assert len(replies(story, *_DONE)) == 1, replies(story)

    def _end(self, story: Story) -> Json:
        [root] = story.roots()
        return next(reply for reply in story.replies_in(root) if _is_end(reply["text"]))


class AskedForNumbers(Tale):
    """A person asks for numbers, a file with them and a digest, all at once."""

    watched = (
        *("visitors/ask", "visitors/answer", "visitors/reading", "outbox/deliver"),
        *("visitors/digests", "visitors/subscriptions"),
    )

    def options(self, folder: Path) -> WorldOptions:
        """Return a world with a small site and few visits."""
        return WorldOptions(folder, pages=40, days=30)

    async def act(self, story: Story) -> Sequence[Json]:
        return await asyncio.gather(
            story.command("/docs-visitors", "last week compare none csv here"),
            story.command("/docs-visitors", "digest now"),
        )

    def is_over(self, story: Story) -> bool:
        return _is_answered(story) and bool(_files(story)) and bool(story.digests())

    def is_settled(self, story: Story, answers: Sequence[Json]) -> bool:
        """Return whether each acknowledged request is answered."""
        question, digest = (answer["ok"] for answer in answers)
        is_answered = not question or (_is_answered(story) and bool(_files(story)))
        return is_answered and (not digest or bool(story.digests()))

    async def check(self, story: Story, answers: Sequence[Json]) -> None:
        """Insist on one file and one digest at most, and on the calls that they need."""
        posts = [post["text"][:60] for post in story.roots()]
        assert len(story.digests()) <= 1, posts
        assert len(_files(story)) <= 1, posts
        # Two windows of the digest, six weeks before them, the first day of data, the chart. A call may be
        # repeated after a kill, and where a slow machine lets a lease run out.
        assert (await requests(story.world))["visitors"] <= 2 + 6 + 1 + 7 + 8


def _is_answered(story: Story) -> bool:
    """Return whether the person got the answer, privately or as a direct message."""
    texts = [note["text"] for note in story.private()] + [
        post["text"] for post in story.roots("D01ANA")
    ]
    return any("Who read the docs, " in text and " people" in text for text in texts)


def _files(story: Story) -> list[str]:
    return [post["files"][0]["name"] for post in story.roots() if post["files"]]


class Inquired(Tale):
    """A person asks the docs; another notes a gap and drafts the answer, and it is merged."""

    watched = (*INBOX, "answers/ask", "answers/gaps", "answers/publications")
    world = PersistentWorld

    async def begin(self, story: Story) -> None:
        # With both profiles cached, the bot stores their presses before it acknowledges them.
        for user in (ANA, BEN):
            await story.command("/docs-agent", "limits", user)
            await story.answer("this hour", user)

    async def act(self, story: Story) -> Sequence[Json]:
        story.people.say(ANA, DOCS, f"@docs-agent {_QUESTION}")
        answer = await story.until(
            lambda: next(iter(self._replies(story, _GAP)), None), "the answer"
        )
        while not (await story.press(answer, "did_not_help", BEN))["ok"]:
            await asyncio.sleep(0.1)
        while story.view(BEN) is None:
            await story.press(answer, "change_docs", BEN)
            await asyncio.sleep(0.1)
        prompt = {"prompt": {"prompt": {"type": "plain_text_input", "value": PROMPT}}}
        while view := story.view(BEN):
            await story.people.submit_view(BEN, view["id"], prompt)
            await asyncio.sleep(0.1)
        await story.until(lambda: self._replies(story, *_DONE, _DOUBT) or None, "the end")
        if not self._replies(story, _DOUBT):
            await merge(story)
        return []

    def is_over(self, story: Story) -> bool:
        return bool(self._replies(story, _WRITTEN, _DOUBT))

    async def check(self, story: Story, answers: Sequence[Json]) -> None:
        """Insist on one answer, one job at most, and one notice of its merge."""
        texts = str([reply["text"] for reply in self._replies(story)])
        assert len(self._replies(story, _GAP)) == 1, texts
        assert len(self._replies(story, _WRITTEN, _DOUBT)) == 1, texts
        assert (await requests(story.world))["create"] <= 1, texts

    def _replies(self, story: Story, *phrases: str) -> list[Json]:
        messages = story.state.messages.get(DOCS, {}).values()
        question = next((message for message in messages if _QUESTION in message["text"]), None)
        replies = story.replies_in(question) if question else []
        return [
            reply
            for reply in replies
            if not phrases or any(phrase in str(reply) for phrase in phrases)
        ]


@pytest.mark.timeout(3_000)
@pytest.mark.parametrize(
    "tale",
    [
        AskedForAJob,
        Steered,
        AddedTo,
        Mentioned,
        TakenBack,
        Reviewed,
        Merged,
        Previewed,
        AskedForNumbers,
        Inquired,
    ],
)
async def test_kill_anywhere_loses_and_repeats_nothing(
    zygote: Zygote, tmp_path: Path, most_kills: int | None, tale: type[Tale]
) -> None:
    assert [name for name in tale.watched if not list(BOT.rglob(f"{name}.py"))] == []
    await kill_everywhere(tale(), zygote, tmp_path, most=most_kills)
