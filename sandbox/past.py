"""The workspace's history before it is opened for the first time.

People and the real bot act it out on the sandbox's own clock, which is set back for it: a digest on Monday, a
thread an hour and a half ago, talk about a mistake in the docs, a job now. Their uses of the hourly
limits is over when the clock returns.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from sandbox.waiting import DidNotCome, Found, until
from sandbox.workspace.options import utcnow
from sandbox.workspace.state import Json
from sandbox.world import World

ANA, BEN, CHIKA = "U01ANA", "U02BEN", "U03CHIKA"
DOCS, GENERAL, PRODUCT = "C01DOCS", "C02GENERAL", "C03PRODUCT"
PROMPT = (
    "@docs-agent add a guide on rotating API keys, and mention that the old key works for 24 hours"
)
FOLLOW_UP = "@docs-agent mention that only admins can make keys"
WRONG_PAGE = (
    "The rate limits page says 60 requests a minute on the free plan. It is 100 since Monday."
)
RUNNING = "Add a page on testing webhooks on your own machine. Take your time"
_STORY_BEGAN = timedelta(minutes=100)
_TALK_BEGAN = timedelta(minutes=20)
_FEWEST_USES = 10
"""With a smaller hourly limit no job is running at the start, so that the limit is the person's own."""
_WAIT_SECONDS = 20.0


def is_untouched(world: World) -> bool:
    """Return whether the workspace has no messages yet."""
    return not any(world.workspace.state.messages.values())


def begins_at(now: datetime) -> datetime:
    """Return when the past begins: on the latest Monday at nine in Berlin that is well before the thread."""
    latest = (now - _STORY_BEGAN - timedelta(minutes=30)).astimezone(ZoneInfo("Europe/Berlin"))
    monday = (latest - timedelta(days=latest.weekday())).replace(
        hour=9, minute=0, second=0, microsecond=0
    )
    return monday if monday <= latest else monday - timedelta(days=7)


async def tell_past(world: World, uses_an_hour: int) -> None:
    """Act it out with the bot that runs in this world; raise DidNotCome if the bot does not do its part."""
    past, takes_part = _Past(world), world.workspace.page.takes_part
    takes_part.clear()
    try:
        await past.digest()
        await past.thread()
        past.talk()
    finally:
        world.clock.catch_up()
        takes_part.set()
    if uses_an_hour >= _FEWEST_USES:
        await past.running_job()


class _Past:
    def __init__(self, world: World) -> None:
        self._clock = world.clock
        self._state = world.workspace.state
        self._people = world.workspace.people
        self._docs_service = world.docs_service

    async def digest(self) -> None:
        at = begins_at(utcnow())
        self._clock.set(at)
        self._people.say(
            CHIKA, GENERAL, "Good morning! Version 2.3 of the API goes out on Thursday."
        )
        asked = await self._people.command(CHIKA, DOCS, "/docs-visitors", "digest now")
        if not asked["ok"]:
            raise DidNotCome("the order of a digest")
        digest = await self._until("the digest", self._newest_of_bot)
        self._later(minutes=6)
        self._people.react(ANA, digest, "eyes")

    async def thread(self) -> None:
        say, people = self._people.say, self._people
        self._clock.set(utcnow() - _STORY_BEGAN)
        root = say(
            BEN,
            DOCS,
            "Two customers asked how to change an API key without an outage. Is that written down?",
        )
        ts = str(root["ts"])
        self._later(minutes=2)
        say(
            CHIKA,
            DOCS,
            "Only how to make one. Nothing says that two keys can work at the same time.",
            ts,
        )
        self._later(minutes=1)
        old = say(BEN, DOCS, "They can: the old key keeps working for 24 hours.", ts)
        self._later(minutes=1)
        people.react(CHIKA, old, "bulb")
        say(ANA, DOCS, PROMPT, ts)
        await self._iteration(ts, 1, minutes=4)
        say(CHIKA, DOCS, FOLLOW_UP, ts)
        await self._iteration(ts, 2, minutes=3)
        thanks = say(ANA, DOCS, "@docs-agent thanks!", ts)
        await self._until("the reaction to thanks", lambda: thanks["reactions"] or None)

    def talk(self) -> None:
        """Let people find a mistake in the docs, for the page's user to ask the bot about."""
        self._clock.set(utcnow() - _TALK_BEGAN)
        root = self._people.say(CHIKA, DOCS, WRONG_PAGE)
        self._later(minutes=2)
        self._people.say(
            BEN, DOCS, "Right, I raised it for the launch. The page should say so.", str(root["ts"])
        )

    async def running_job(self) -> None:
        self._people.say(BEN, PRODUCT, "The page about webhooks is next on my list.")
        asked = await self._people.command(BEN, DOCS, "/docs-agent", RUNNING)
        if not asked["ok"]:
            raise DidNotCome("a job's start")

    async def _iteration(self, ts: str, number: int, minutes: float) -> None:
        """Let the agent work for some minutes on the thread's job, and wait for the end."""
        await self._until("the agent's work", lambda: self._is_watched(number) or None)
        self._later(minutes=minutes)
        await self._until("the job's end", lambda: self._said(ts)[number:] or None)
        self._later(minutes=1)

    def _is_watched(self, number: int) -> bool:
        """Return whether the bot has asked for the state of its prompt with this number, counted from 1.

        It does so once it has noted that the prompt was taken, so that nothing is under way when time passes.
        """
        asked = [one["operation"] for one in self._docs_service.log]
        prompts = [at for at, one in enumerate(asked) if one in ("create", "follow_up")]
        return len(prompts) >= number and "get" in asked[prompts[number - 1] :]

    def _said(self, ts: str) -> list[Json]:
        return [one for one in self._state.thread(DOCS, ts) if one["bot_id"]]

    def _newest_of_bot(self) -> Json | None:
        return next((one for one in self._state.history(DOCS) if one["bot_id"]), None)

    def _later(self, minutes: float) -> None:
        self._clock.set(self._clock() + timedelta(minutes=minutes))

    async def _until(self, event: str, find: Callable[[], Found | None]) -> Found:
        return await until(event, find, _WAIT_SECONDS)
