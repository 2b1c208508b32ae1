"""SIGKILL at places on the way of what people ask for, and a start after it.

Whatever the moment: nothing is done or said twice, and nobody who was acknowledged is left without a word.
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
from tests.scenarios.test_visitors import digests

pytestmark = pytest.mark.slow
BOT = Path(__file__).parents[2] / "bot"
PROMPT = "Add a quickstart for the Python SDK"
_DOUBT = "none there?"
_TALK = "The quickstart lacks Python"
_REMINDED = "has been ready"
_QUESTION, _GAP, _WRITTEN = "What are the kinds of keys?", "That didn't help", "It is written now"
_LATER = 5
"""Days after which the tale of a review is told. A reminder comes after three."""


@dataclass(frozen=True)
class PersistentWorld(WorldOptions):
    """A world whose workspace delivers an event again soon, for as long as nobody acknowledges it."""

    def workspace(self) -> WorkspaceOptions:
        """Return the options of the workspace."""
        return replace(super().workspace(), redeliver_after_seconds=(0.3,) * 400)


def said(story: Story, *words: str) -> list[str]:
    """The bot's replies that contain one of these words; all without any."""
    texts = [one["text"] for root in story.roots() for one in story.said(root)]
    return [text for text in texts if not words or any(word in text for word in words)]


class AskedForAJob(Tale):
    """A person asks for a job."""

    watched = (
        *("jobs/ask", "jobs/prepare", "jobs/submit", "jobs/poll", "jobs/settle_prompt"),
        "outbox/deliver",
    )

    async def act(self, story: Story) -> Sequence[Json]:
        return [await story.command("/docs-agent", PROMPT)]

    def is_over(self, story: Story) -> bool:
        return bool(said(story, "is done", _DOUBT))

    def is_settled(self, story: Story, answers: Sequence[Json]) -> bool:
        """Asked but not acknowledged: the person was told so, and may or may not see the job."""
        return self.is_over(story) or not (answers[0]["ok"] or story.roots())

    async def check(self, story: Story, answers: Sequence[Json]) -> None:
        """At most one job; one root, one end or one doubt; and a word for whoever asked."""
        asked, ends = await requests(story.world), said(story, "is done", _DOUBT)
        told = f"{dict(asked)} {said(story)}"
        assert asked["create"] <= 1, told
        assert len(story.roots()) <= 1, told
        assert len(ends) <= 1, told
        assert not answers[0]["ok"] or (len(story.roots()), len(ends)) == (1, 1), told


class Steered(Tale):
    """A person replies in the thread of a job that has ended."""

    watched = (
        *("jobs/thread_events", "jobs/ask", "jobs/prepare", "jobs/submit", "jobs/poll"),
        *("jobs/settle_prompt", "outbox/deliver"),
    )
    world = PersistentWorld

    async def begin(self, story: Story) -> None:
        await story.finished(PROMPT)

    async def act(self, story: Story) -> Sequence[Json]:
        return [story.reply(story.roots()[0], "Mention retries")]

    def is_over(self, story: Story) -> bool:
        """Return whether an end has been told that is not the job's first, or that it is in doubt."""
        return len(self._ends(story)) > 1 or bool(said(story, _DOUBT))

    async def check(self, story: Story, answers: Sequence[Json]) -> None:
        """Sent once at most, and told: its end, or a doubt, which may turn into an end."""
        asked, ends, doubts = await requests(story.world), self._ends(story), said(story, _DOUBT)
        told = f"{dict(asked)} {said(story)}"
        assert asked["create"] == 0, told
        assert asked["follow_up"] <= 1, told
        assert len(story.roots()) == 1, told
        assert len(ends) == 2 or (len(ends) == 1 and len(doubts) == 1), told
        assert len(doubts) <= 1, told

    def _ends(self, story: Story) -> list[str]:
        return said(story, "is done", "follow-up done")


class AddedTo(Tale):
    """A person adds to a reply while it is held."""

    watched = ("jobs/ask", "jobs/prepare", "jobs/submit", "jobs/settle_prompt")
    world = PersistentWorld

    async def begin(self, story: Story) -> None:
        await story.finished(PROMPT)

    async def act(self, story: Story) -> Sequence[Json]:
        root = story.roots()[0]
        return [story.reply(root, words) for words in ("Mention retries", "Mention timeouts, too")]

    def is_over(self, story: Story) -> bool:
        return self._arrived(story, "retries") > 0 < self._arrived(story, "timeouts") or bool(
            said(story, _DOUBT)
        )

    async def check(self, story: Story, answers: Sequence[Json]) -> None:
        """Each of both arrives once, or is in doubt; joined or, after a kill between them, by itself."""
        arrived = {words: self._arrived(story, words) for words in ("retries", "timeouts")}
        told = f"{arrived} {said(story)}"
        assert max(arrived.values()) <= 1, told
        assert min(arrived.values()) == 1 or said(story, _DOUBT), told

    def _arrived(self, story: Story, words: str) -> int:
        [job] = story.world.docs_service._backend.jobs
        return sum(words in each.prompt for each in job.messages)


class Mentioned(Tale):
    """A person mentions the bot in a thread of people."""

    watched = ("jobs/thread_events", "jobs/ask", "jobs/prepare", "outbox/deliver")
    world = PersistentWorld

    async def begin(self, story: Story) -> None:
        story.people.say(ANA, DOCS, _TALK)

    async def act(self, story: Story) -> Sequence[Json]:
        return [story.reply(self._talk(story), f"@docs-agent {PROMPT}")]

    def is_over(self, story: Story) -> bool:
        return any("is done" in text or _DOUBT in text for text in self._said(story))

    async def check(self, story: Story, answers: Sequence[Json]) -> None:
        """At most one job; one face in the thread, one end or one doubt, and nothing elsewhere."""
        asked, texts = await requests(story.world), self._said(story)
        told = f"{dict(asked)} {texts}"
        assert asked["create"] <= 1, told
        assert sum("· Job " in text.partition("\n")[0] for text in texts) == 1, told
        assert sum("is done" in text or _DOUBT in text for text in texts) == 1, told
        assert story.roots() == [], told

    def _talk(self, story: Story) -> Json:
        return next(each for each in story.state.messages[DOCS].values() if each["text"] == _TALK)

    def _said(self, story: Story) -> list[str]:
        return [each["text"] for each in story.said(self._talk(story))]


class Reviewed(Tale):
    """A reminder comes due, and somebody says that the pull request was reviewed."""

    watched = ("jobs/decisions",)
    sees_pull_requests = False

    def __init__(self) -> None:
        self.ahead = working_day_ahead(_LATER)

    async def begin(self, story: Story) -> None:
        await story.finished(PROMPT)

    async def act(self, story: Story) -> Sequence[Json]:
        """Say what became of the pull request, once its thread was reminded."""
        await story.until(lambda: said(story, _REMINDED) or None, "the reminder")
        # Until the bot knows Ben, it may answer his press that Slack didn't tell in time who he is.
        while not any("Starts a job" in note["text"] for note in story.private(BEN)):
            await story.command("/docs-agent", "help", BEN)
            await asyncio.sleep(0.1)
        return [await story.press(self._face(story), "reviewed", BEN)]

    def is_over(self, story: Story) -> bool:
        return bool(said(story, _REMINDED)) and self._is_reviewed(story)

    def is_settled(self, story: Story, answers: Sequence[Json]) -> bool:
        """Return whether all that came due has been told, and the review if it was acknowledged."""
        return bool(said(story, _REMINDED)) and (self._is_reviewed(story) or not answers[0]["ok"])

    async def check(self, story: Story, answers: Sequence[Json]) -> None:
        """One reminder, and no review lost."""
        assert len(said(story, _REMINDED)) == 1, said(story)
        assert self._is_reviewed(story) or not answers[0]["ok"], said(story)

    def _face(self, story: Story) -> Json:
        return next(root for root in story.roots() if PROMPT in root["text"])

    def _is_reviewed(self, story: Story) -> bool:
        return f"marked by <@{BEN}>" in self._face(story)["text"]


class Merged(Tale):
    """Somebody merges a pull request, which the bot knows only by looking at it."""

    watched = ("jobs/pull_requests",)

    async def act(self, story: Story) -> Sequence[Json]:
        while not (await story.command("/docs-agent", PROMPT))["ok"]:
            await asyncio.sleep(0.1)  # the bot was killed at its start
        await story.until(lambda: said(story, "is done") or None, "the end")
        page = f"{story.world.docs_service_url}/acme/acme-docs/pull/1/merge"
        async with aiohttp.ClientSession() as session, session.post(page) as merged:
            assert merged.ok
        return []

    def is_over(self, story: Story) -> bool:
        return bool(said(story, "was merged") and "*Merged*" in story.roots()[0]["text"])

    async def check(self, story: Story, answers: Sequence[Json]) -> None:
        """Told once, and shown in the face and in the end, which is no other one."""
        told, ends = said(story, "was merged"), said(story, "is done", "is merged")
        assert len(told) == len(ends) == 1, said(story)
        assert "*Merged*" in story.roots()[0]["text"], story.roots()[0]["text"]
        assert "+46" in ends[0], ends


class Previewed(Tale):
    """Somebody presses *Preview* at the end of a job."""

    watched = ("jobs/previews",)

    def options(self, folder: Path) -> WorldOptions:
        """Return a world in which previews are soon built."""
        return replace(super().options(folder), build_seconds=0.4)

    async def begin(self, story: Story) -> None:
        await story.finished(PROMPT)
        # The bot knows Ben from now on, so that it stores his press before it acknowledges it.
        await story.command("/docs-agent", "help", BEN)
        await story.answer("/docs-agent", BEN)

    async def act(self, story: Story) -> Sequence[Json]:
        return [await story.press(self._end(story), "preview", BEN)]

    def is_over(self, story: Story) -> bool:
        return "Preview: " in self._end(story)["text"]

    def is_settled(self, story: Story, answers: Sequence[Json]) -> bool:
        """Return whether the preview is shown; if the press was not acknowledged, it may not have counted."""
        return self.is_over(story) or (not answers[0]["ok"] and "building" not in self._end(story)["text"])

    async def check(self, story: Story, answers: Sequence[Json]) -> None:
        """Asked for twice at most, and shown in the one end."""
        asked = await requests(story.world)
        assert asked["preview"] <= 2, asked
        assert self.is_over(story) or not answers[0]["ok"], said(story)
        assert len(said(story, "is done")) == 1, said(story)

    def _end(self, story: Story) -> Json:
        [root] = story.roots()
        return next(each for each in story.said(root) if "is done" in each["text"])


class AskedForNumbers(Tale):
    """A person asks for numbers, a file with them and a digest, all at once."""

    watched = (
        *("visitors/questions", "visitors/reading", "outbox/deliver"),
        *("visitors/report", "visitors/subscriptions"),
    )

    def options(self, folder: Path) -> WorldOptions:
        """Return a world with a small site that is read a little."""
        return WorldOptions(folder, pages=40, days=30)

    async def act(self, story: Story) -> Sequence[Json]:
        return await asyncio.gather(
            story.command("/docs-visitors", "last week compare none csv here"),
            story.command("/docs-visitors", "digest now"),
        )

    def is_over(self, story: Story) -> bool:
        return _is_answered(story) and bool(_files(story)) and bool(digests(story))

    def is_settled(self, story: Story, answers: Sequence[Json]) -> bool:
        """Return whether what was acknowledged has been told."""
        question, digest = (answer["ok"] for answer in answers)
        asked = not question or (_is_answered(story) and bool(_files(story)))
        return asked and (not digest or bool(digests(story)))

    async def check(self, story: Story, answers: Sequence[Json]) -> None:
        """One file and one digest at most, and no more calls than they take."""
        told = [post["text"][:60] for post in story.roots()]
        assert len(digests(story)) <= 1, told
        assert len(_files(story)) <= 1, told
        # Two windows of the digest, six weeks before them, where the data begins, the chart; a call may be
        # made again after a kill.
        assert (await requests(story.world))["visitors"] <= 2 + 6 + 1 + 7 + 4


def _is_answered(story: Story) -> bool:
    """Whether the question's answer has been read, privately or as a direct message."""
    texts = [note["text"] for note in story.private()] + [post["text"] for post in story.roots("D01ANA")]
    return any("Who read the docs, " in text and " people" in text for text in texts)


def _files(story: Story) -> list[str]:
    """The names of the files in the channel."""
    return [post["files"][0]["name"] for post in story.roots() if post["files"]]


class Inquired(Tale):
    """A person asks the docs; another notes a gap and drafts the answer, and it is merged."""

    watched = ("answers/ask", "answers/gaps")
    world = PersistentWorld

    async def begin(self, story: Story) -> None:
        # The bot knows both from now on, so that it stores what they press before it acknowledges it.
        for user in (ANA, BEN):
            await story.command("/docs-agent", "limits", user)
            await story.answer("this hour", user)

    async def act(self, story: Story) -> Sequence[Json]:
        story.people.say(ANA, DOCS, f"@docs-agent {_QUESTION}")
        answer = await story.until(lambda: next(iter(self._replies(story, _GAP)), None), "the answer")
        while not (await story.press(answer, "did_not_help", BEN))["ok"]:
            await asyncio.sleep(0.1)
        while story.view(BEN) is None:
            await story.press(answer, "change_docs", BEN)
            await asyncio.sleep(0.1)
        prompt = {"prompt": {"prompt": {"type": "plain_text_input", "value": PROMPT}}}
        while view := story.view(BEN):
            await story.people.submit_view(BEN, view["id"], prompt)
            await asyncio.sleep(0.1)
        await story.until(lambda: self._replies(story, "is done", _DOUBT) or None, "the end")
        if not self._replies(story, _DOUBT):
            page = f"{story.world.docs_service_url}/acme/acme-docs/pull/1/merge"
            async with aiohttp.ClientSession() as session, session.post(page) as merged:
                assert merged.ok
        return []

    def is_over(self, story: Story) -> bool:
        return bool(self._replies(story, _WRITTEN, _DOUBT))

    async def check(self, story: Story, answers: Sequence[Json]) -> None:
        """One answer, one job at most, and one notice once it is merged."""
        told = str([one["text"] for one in self._replies(story)])
        assert len(self._replies(story, _GAP)) == 1, told
        assert len(self._replies(story, _WRITTEN, _DOUBT)) == 1, told
        assert (await requests(story.world))["create"] <= 1, told

    def _replies(self, story: Story, *words: str) -> list[Json]:
        asked = [each for each in story.state.messages.get(DOCS, {}).values() if _QUESTION in each["text"]]
        replies = story.said(asked[0]) if asked else []
        return [one for one in replies if not words or any(word in str(one) for word in words)]


@pytest.mark.timeout(3_000)
@pytest.mark.parametrize(
    "tale",
    [AskedForAJob, Steered, AddedTo, Mentioned, Reviewed, Merged, Previewed, AskedForNumbers, Inquired],
)
async def test_a_kill_anywhere_loses_nothing_and_says_nothing_twice(
    zygote: Zygote, tmp_path: Path, most_kills: int | None, tale: type[Tale]
) -> None:
    assert [name for name in tale.watched if not list(BOT.rglob(f"{name}.py"))] == []
    await kill_everywhere(tale(), zygote, tmp_path, most=most_kills)
