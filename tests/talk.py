"""A conversation: people by name who type, write, press and read, and a bot that Slack reaches.

Of the bot only `bot.app` and `bot.settings` are used: Slack's payloads go in, calls of Slack, of the docs
service and of GitHub come out, and the clock is held. So a test has acts and visible messages only, and the
inside may change. An unread post fails its test; a failed test prints the conversation.
"""

from __future__ import annotations

import asyncio
import io
import json
import re
from collections.abc import Coroutine, Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager, redirect_stderr
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any, TypeVar, cast

import aiohttp
from prometheus_client.parser import text_string_to_metric_families

from bot.app import OPTIONAL_FEATURES, Doors, Limits, SteppedBot, Timeouts, stepped_bot
from bot.commands.feature import Feature
from bot.settings import Settings
from sandbox.workspace.state import BOT_USER, Channel, Json, User
from tests.limits import HANG_SECONDS
from tests.services import ASSISTANT_KEY, DOCS_KEY, DOMAIN, DocsService, Github
from tests.talk_database import (
    DATABASE_URL,
    TEMPLATE_URL,
    columns_with,
    empty_database,
    open_both_stores,
    overwrite_column,
    table_put_away,
)
from tests.talk_people import Person, Shown, controls_of, words_of
from tests.talk_slack import API_URL, BOT_TOKEN, SlackFaults, SlackSession, TalkSlack

START = datetime(2026, 11, 2, 9, 0, tzinfo=UTC)
_ENVIRONMENT = {
    "SLACK_BOT_TOKEN": BOT_TOKEN,
    "SLACK_SIGNING_SECRET": "talk-signing-secret",
    "SLACK_API_URL": API_URL,
    "DOCS_API_URL": "https://docs.example",
    "DOCS_API_KEY": DOCS_KEY,
    "DOCS_PROJECT_ID": "acme-docs",
    "DATABASE_URL": DATABASE_URL,
    "POLL_MIN_SECONDS": "4",
    "PROMPT_SIGNATURE": "false",
    "LOG_LEVEL": "ERROR",
}
_LIMITS = frozenset(limit.name for limit in fields(Limits))
_TIMEOUTS = Timeouts(intake_seconds=60.0, unread_pace_seconds=0.0)
_FEWEST_STEPS, _MOST_STEPS = 20, 100
"""The numbers of steps in which time passes. Work that is due within one step is done together."""
_MOST_WAITS = 2_000
Result = TypeVar("Result")


@dataclass
class Time:
    """The held clock."""

    talk: Talk
    at: datetime = START
    waits: int = 0
    ahead: timedelta = timedelta(0)
    """The lead of the bot's clock."""

    def __call__(self) -> datetime:
        return self.at

    async def passes(self, seconds: float = 10.0, **longer: float) -> None:
        """Let time pass while the bot works: seconds, or ``minutes=``, ``hours=`` or ``days=``."""
        self.waits += 1
        assert self.waits < _MOST_WAITS, "the awaited event does not come"
        length = timedelta(**longer) if longer else timedelta(seconds=seconds)
        self.talk.note(f"… until {self.at + length:%d %b %H:%M:%S} …")
        end, step = self.at + length, max(timedelta(seconds=15), length / _FEWEST_STEPS)
        grain = max(timedelta(milliseconds=1), length / _MOST_STEPS)
        await self.talk.works()
        while self.at < end:
            due_at = self.talk.next_due_at()
            self.at = min(end, self.at + step, max(due_at or end, self.at + grain))
            await self.talk.works()

    def is_set(self, **by: float) -> None:
        """Set the clock ahead, or back if negative, without any work."""
        self.at += timedelta(**by)

    def bot_is_ahead(self, **by: float) -> None:
        """Set only the bot's clock ahead, or back if negative."""
        self.ahead = timedelta(**by)

    def of_bot(self) -> datetime:
        """Return the time of the bot's clock."""
        return self.at + self.ahead


@dataclass
class Process:
    """The process of the bot. The database outlives it."""

    talk: Talk
    settings: dict[str, str] = field(default_factory=dict)
    bot: SteppedBot | None = None
    timeouts: Timeouts = _TIMEOUTS
    limits: dict[str, int] = field(default_factory=dict)
    features: Sequence[Feature] = OPTIONAL_FEATURES
    """The features of the bot besides jobs."""
    store: Any = None
    """Replaces the store of the conversation's database."""
    _session: SlackSession | None = None
    _started: list[AsyncExitStack] = field(default_factory=list)

    @property
    def has_started(self) -> bool:
        return bool(self._started)

    def answers_questions(self) -> None:
        """Let the bot answer questions from the docs, from its next start on."""
        self.settings |= {"ASSISTANT_KEY": ASSISTANT_KEY, "ASSISTANT_DOMAIN": DOMAIN}

    async def starts(self, **changes: object) -> None:
        """Start the bot, with more settings and other limits by their lower-case names."""
        for name, value in changes.items():
            if name in _LIMITS:
                self.limits |= {name: cast("int", value)}
            else:
                self.settings |= {name.upper(): str(value)}
        talk, chosen = self.talk, _settings(frozenset(self.settings.items()))
        self._session = SlackSession(talk.slack)
        doors = Doors(
            cast("aiohttp.ClientSession", self._session),
            *(talk.service.transport(), talk.github.transport()),
            chance=lambda: 0.5,
        )
        url = _settings(frozenset()).sqlalchemy_url
        is_own = "DATABASE_URL" not in self.settings
        own = open_both_stores(url)[len(self._started) % 2] if is_own else None
        if own and not self._started:
            await empty_database(_settings(frozenset({("DATABASE_URL", TEMPLATE_URL)})))
        stack = AsyncExitStack()
        stack.enter_context(redirect_stderr(talk.log_stream))
        self._started.append(stack)
        opened = stepped_bot(
            *(chosen, doors),
            clock=talk.time.of_bot,
            store=self.store or own,
            timeouts=self.timeouts,
            limits=Limits(**self.limits),
            features=self.features,
        )
        self.bot = await stack.enter_async_context(opened)
        talk.slack.line.take = self.bot.take

    def dies(self) -> None:
        """Kill the process in the middle of its work."""
        self.talk.note("the process dies")
        assert self._session is not None
        self._session.is_dead = True
        self.bot = self.talk.slack.line.take = None

    async def stops(self) -> None:
        """Stop the process as an operator does. Work that hangs is cancelled."""
        self.talk.note("the process stops")
        self.bot = self.talk.slack.line.take = None
        await self.talk.cancel_work()
        await self._started[-1].aclose()

    async def close(self) -> None:
        """Close the resources of every process."""
        for stack in reversed(self._started):
            await stack.aclose()


def _is_error_of_the_bot(line: str) -> bool:
    return '"level": "error"' in line and '"logger": "bot.' in line


@cache
def _settings(chosen: frozenset[tuple[str, str]]) -> Settings:
    return Settings.load({**_ENVIRONMENT, **dict(chosen)}, env_file=None)


class Talk:
    """The workspace, the docs service, the time and the process of one conversation."""

    def __init__(self) -> None:
        self._history: list[tuple[datetime, str | Json]] = []
        self._read: dict[str, tuple[object, ...]] = {}
        self._printed: set[str] = set()
        self._stuck: set[asyncio.Task[Any]] = set()
        self._lines_read = 0
        self.log_stream = io.StringIO()
        self.time = Time(self)
        self.faults = SlackFaults(self.note, lambda seconds: self.time.is_set(seconds=seconds))
        self.slack = TalkSlack(self.time, self.faults)
        self.slack.state.watchers.add(self._on_event)
        self.service = DocsService(self.time, self.faults.hung)
        self.github = Github()
        self.process = Process(self)
        self.ana, self.ben, self.chika, self.gus, self.sol, self.pia = (
            Person(self, user.id, user.real_name.split()[0])
            for user in self.slack.state.users.values()
            if not user.is_bot
        )

    def __repr__(self) -> str:
        return "<the conversation below>"

    # Events

    async def works(self) -> None:
        """Deliver the events of people, and let the bot do all due work."""
        has_events = True
        while has_events:
            await self.hears()
            if self._bot:
                await self.until_it_hangs(self._bot.run_due())
            has_events = self.slack.line.has_events()

    async def hears(self) -> bool:
        """Start the bot if necessary, deliver its events, and return whether it got any."""
        await self._begin()
        return bool(await self.until_it_hangs(self.slack.line.deliver_events()))

    async def receives(self, payload: Json) -> tuple[int, str]:
        """Pass a request to the bot, and return the status and body of its response."""
        await self._begin()
        assert self._bot is not None
        return await self._bot.take(payload)

    @contextmanager
    def database_fails(self, table: str = "prompts") -> Iterator[None]:
        """Let all statements on a table fail until the block ends."""
        self.note(f"the database fails at {table}")
        with table_put_away(table):
            yield

    async def _begin(self) -> None:
        if not self.process.has_started:
            await self.process.starts()

    @property
    def _bot(self) -> SteppedBot | None:
        return self.process.bot

    def next_due_at(self) -> datetime | None:
        """Return the next due time of the bot's work and events."""
        of_bot = self._bot.next_due_at() if self._bot else None
        due_at = [self.slack.line.next_event_at(), of_bot and of_bot - self.time.ahead]
        return min((at for at in due_at if at is not None), default=None)

    async def until_it_hangs(self, work: Coroutine[Any, Any, Result]) -> Result | None:
        """Wait for the end of some work, or until a call of it hangs."""
        await self._begin()
        task, hung = asyncio.ensure_future(work), asyncio.ensure_future(self.faults.hung.wait())
        await asyncio.wait({task, hung}, return_when=asyncio.FIRST_COMPLETED)
        hung.cancel()
        if task.done():
            return task.result()
        self.faults.hung.clear()
        self._stuck.add(task)
        return None

    async def started(self, prompt: str = "Add a quickstart", by: Person | None = None) -> None:
        """Let a person ask for a job, and the agent begin it."""
        await (by or self.ana).asks(prompt)
        await self.time.passes()

    async def finished(self, prompt: str = "Add a quickstart") -> None:
        """Let Ana ask for a job that ends with a pull request, and read all messages."""
        await self.started(prompt)
        await self.ends()
        self.everything()

    async def ends(self, status: str = "completed", **options: Any) -> None:
        """Let the service end every job, or ``job``, with a status and ``pr_link``, and the bot poll."""
        self.note(f"the service: {status} {options or ''}")
        self.service.finish(status, **options)
        await self.time.passes()

    # Messages

    def channel(self, name: str = "docs") -> list[Shown]:
        """Read the bot's posts outside threads."""
        return [self.mark_read(post) for post in self._roots(name)]

    def root(self, nth: int = 1, channel: str = "docs") -> Json:
        """Return the bot's nth post outside threads."""
        roots = self._roots(channel)
        assert len(roots) >= nth, f"only {len(roots)} posts in {channel}"
        return roots[nth - 1]

    def _roots(self, channel: str) -> list[Json]:
        posts = self.slack.state.messages.get(self.room(channel).id, {}).values()
        return [
            post for post in posts if post["bot_id"] and post["thread_ts"] in (None, post["ts"])
        ]

    def status(self, nth: int = 1, channel: str = "docs") -> Shown:
        """Read the present state of the bot's nth post outside threads."""
        return self.mark_read(self.root(nth, channel))

    def job(self, number: int) -> Shown:
        """Read the status message of a job, in any channel or thread."""
        heading = re.compile(rf"· Job {number}\b")
        posts = [post for room in self.slack.state.messages.values() for post in room.values()]
        [status] = [
            post
            for post in posts
            if post["bot_id"] and heading.search(post["text"].splitlines()[0])
        ]
        return self.mark_read(status)

    def all_replies(self) -> list[Shown]:
        """Read the bot's messages in all threads of channels, in order."""
        rooms = [room.id for room in self.slack.state.channels.values() if not room.is_im]
        posts = [
            post for room in rooms for post in self.slack.state.messages.get(room, {}).values()
        ]
        replies = [
            post for post in posts if post["bot_id"] and post["thread_ts"] not in (None, post["ts"])
        ]
        return [self.mark_read(post) for post in sorted(replies, key=lambda post: str(post["ts"]))]

    def replies(self, nth: int = 1, channel: str = "docs") -> list[Shown]:
        """Read the bot's messages in the thread of its nth post."""
        return self.thread(self.root(nth, channel))

    def thread(self, root: Json) -> list[Shown]:
        """Read the bot's messages in the thread under a message."""
        posts = self.slack.state.thread(root["channel"], root["ts"])
        return [self.mark_read(post) for post in posts if post["bot_id"] and post is not root]

    def reactions(self, message: Json) -> list[str]:
        """Read the bot's reactions to a message."""
        names = [
            reaction["name"] for reaction in message["reactions"] if BOT_USER in reaction["users"]
        ]
        self._read |= {f"{message['ts']} {name}": () for name in names}
        return names

    async def files(self, message: Shown) -> dict[str, str]:
        """Read the files of a message, by name."""
        files = {
            file["name"]: await self.slack.content(file["id"]) for file in message.message["files"]
        }
        return {name: await response.text() for name, response in files.items()}

    def agent_got(self) -> list[str]:
        """Return the prompts that reached the docs service, in order."""
        return [prompt for _, prompt in self.service.prompts]

    async def metrics(self) -> dict[str, float]:
        """Return the bot's metrics, by name without prefix and values of labels."""
        await self._begin()
        assert self._bot is not None
        families = text_string_to_metric_families(await self._bot.metrics())
        samples = [sample for family in families for sample in family.samples]
        return {
            " ".join([sample.name.removeprefix("docs_bot_"), *sample.labels.values()]): sample.value
            for sample in samples
        }

    def log(self) -> list[str]:
        """Read the lines of the log; ``starts(log_level="INFO")`` sets their level."""
        lines = self._log_lines()
        self._lines_read = len(lines)
        return lines

    def errors(self) -> set[str]:
        """Read the log, and return the errors in it; unread ones fail the test."""
        return {json.loads(line)["event"] for line in self.log() if _is_error_of_the_bot(line)}

    def _log_lines(self) -> list[str]:
        return self.log_stream.getvalue().splitlines()

    def kept(self, text: str) -> list[str]:
        """Return the columns, as ``table.column``, with this text."""
        return columns_with(text)

    def newer_version_writes(self, column: str, value: str, *, all_rows: bool = False) -> None:
        """Write an unknown value into the oldest row of a table's column, or into all rows."""
        self.note(f"a newer version writes into {column}: {value}")
        overwrite_column(column, value, all_rows=all_rows)

    async def operator(self, *arguments: object, exit_code: int = 0) -> str:
        """Type ``docs-bot`` with these arguments, and return its output."""
        from tests.command_line import docs_bot

        self.note(f"the operator types: docs-bot {' '.join(map(str, arguments))}")
        done = await asyncio.to_thread(docs_bot, *arguments, DATABASE_URL=DATABASE_URL)
        self.note(done.output)
        assert done.exit_code == exit_code, done.output
        return done.output

    def room(self, name: str, person: Person | None = None) -> Channel:
        """Return a channel by its name, or a person's direct messages with the bot, ``dm``."""
        state = self.slack.state
        if name == "dm":
            return state.im_of((person or self.ana).id)
        return next(
            channel
            for channel in state.channels.values()
            if channel.name == name and not channel.user
        )

    def opens_channel(self, name: str, *members: Person, bot: bool = True, **options: Any) -> None:
        """Add a channel with these members, by default all people."""
        there = [member.id for member in members] or [
            user.id for user in self.slack.state.users.values()
        ]
        inside = [member for member in there if member != BOT_USER] + [BOT_USER] * bot
        self.slack.state.channels[f"C{name.upper()}"] = Channel(
            f"C{name.upper()}", name, inside, **options
        )

    def newcomer(self, name: str, **options: Any) -> Person:
        """Add a person to the workspace and to #docs."""
        user = User(f"U{name.upper()}", name.lower(), name, **options)
        self.slack.state.users[user.id] = user
        self.slack.state.channels[f"D{name.upper()}"] = Channel(
            f"D{name.upper()}", name.lower(), [user.id, BOT_USER], is_im=True, user=user.id
        )
        self.room("docs").members.append(user.id)
        return Person(self, user.id, name)

    # Reading and printing

    def mark_read(self, message: Json) -> Shown:
        """Record that a message was read in its present state."""
        self._read[_key(message)] = _content(message)
        return Shown.of(message)

    def is_unread(self, message: Json) -> bool:
        """Return whether a message is new or changed since it was read."""
        return self._read.get(_key(message)) != _content(message)

    def unread(self) -> list[str]:
        """Return the unread posts, edits, forms, reactions and errors of the bot."""
        state, items = self.slack.state, []
        posts = [item for room in state.messages.values() for item in room.values()]
        items += [item for item in posts if item["bot_id"] and self.is_unread(item)]
        items += [
            item
            for item in (*state.ephemerals.values(), *state.views.values())
            if self.is_unread(item)
        ]
        lines = [self._line(item) for item in items]
        # An earlier test's sandbox may still log in this process; only the bot's lines count.
        lines += [
            line for line in self._log_lines()[self._lines_read :] if _is_error_of_the_bot(line)
        ]
        return lines + [
            f":{item['name']}: on {message['text']!r}"
            for message in posts
            for item in message["reactions"]
            if BOT_USER in item["users"] and f"{message['ts']} {item['name']}" not in self._read
        ]

    def everything(self) -> str:
        """Read all messages and reactions, and return the transcript."""
        state = self.slack.state
        for message in (*state.ephemerals.values(), *state.views.values()):
            self.mark_read(message)
        for message in (message for room in state.messages.values() for message in room.values()):
            self.mark_read(message)
            self.reactions(message)
        return self.transcript()

    def note(self, act: str) -> None:
        """Add an act to the transcript; of successive waits only the last one."""
        if act.startswith("…") and self._history and str(self._history[-1][1]).startswith("…"):
            del self._history[-1]
        self._history.append((self.time.at, act))

    def transcript(self) -> str:
        """Return the conversation so far: acts and messages with their places."""
        lines = [
            f"{at:%H:%M:%S}  {event if isinstance(event, str) else self._line(event)}"
            for at, event in self._history
        ]
        return "\n".join(
            [
                *lines,
                *(f"the agent got: {prompt}" for prompt in self.agent_got()),
                *self._log_lines(),
            ]
        )

    def _on_event(self, event: Json) -> None:
        message = event.get("message") or event.get("ephemeral") or event.get("view")
        if message and (event["type"] != "message" or message["bot_id"]):
            self._history.append(
                (self.time.at, {**message, "is_new": _key(message) not in self._printed})
            )
            self._printed.add(_key(message))

    def _line(self, message: Json) -> str:
        names = {user.id: user.real_name.split()[0] for user in self.slack.state.users.values()}
        room = self.slack.state.channels.get(message.get("channel", ""))
        where = f"#{room.name}" if room and not room.is_im else "direct" if room else "form"
        is_reply = message.get("thread_ts") not in (None, message.get("ts"))
        where += " (thread)" if is_reply else ""
        where += f", for {names[message['user']]} alone" if "id" in message else ""
        where += "" if message.get("is_new", True) else ", edited"
        text = message.get("text") or words_of(message.get("title"))
        buttons = " ".join(f"[{label}]" for label, _ in controls_of(message["blocks"]))
        return f"  {where}: {text} {buttons}".replace("\n", "\n              ")

    async def stuck_work_ends(self) -> None:
        """Wait until the work that hung has ended, after its test let it go on."""
        async with asyncio.timeout(HANG_SECONDS):
            await asyncio.gather(*self._stuck)
        self._stuck.clear()

    async def cancel_work(self) -> None:
        """Cancel the work that hangs, and wait for its end."""
        for task in self._stuck:
            task.cancel()
        await asyncio.gather(*self._stuck, return_exceptions=True)

    async def close(self) -> None:
        """End all work of the test."""
        await self.cancel_work()
        await self.process.close()
        self.service.close()
        self.slack.close()


def _key(message: Json) -> str:
    return str(message.get("id") or f"{message['channel']} {message['ts']}")


def _content(message: Json) -> tuple[object, ...]:
    return message.get("text"), message["blocks"], message.get("edited")
