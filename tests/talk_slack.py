"""Slack within the process: the sandbox's workspace without sockets, server and files.

Web API calls of the bot come in through `SlackSession`, which stands in for ``aiohttp.ClientSession``.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any

import aiohttp

from sandbox.shelf import Shelf
from sandbox.workspace.blocks import BlocksRefused
from sandbox.workspace.bot_connection import BotConnection, NotAcknowledged
from sandbox.workspace.messages import content_path
from sandbox.workspace.methods import METHODS
from sandbox.workspace.options import App, WorkspaceOptions, read_app
from sandbox.workspace.people import People
from sandbox.workspace.responses import BadResponseUrl
from sandbox.workspace.state import Json, State
from sandbox.workspace.web_api import ApiError, Throttled, WebApi, decode_arguments

API_URL = "https://slack.com/api/"
HOOKS_URL = "https://hooks.slack.com"
BOT_TOKEN = "xoxb-talk"
_REDELIVERED_AFTER = (timedelta(seconds=0.5), timedelta(minutes=1), timedelta(minutes=5))
Take = Callable[[Json], Awaitable[tuple[int, str]]]


@dataclass(frozen=True, slots=True)
class Fault:
    """The fault of a call: an error code, a status with its Retry-After, silence, or a lost answer."""

    kind: str
    code: str = ""
    seconds: float = 0.0


@dataclass
class SlackFaults:
    """The faults of the next calls, by the name of Slack's method.

    Other calls are named ``response_url``, ``upload`` and ``file``.
    """

    note: Callable[[str], None]
    passes: Callable[[float], None]
    """Lets so many seconds pass without any work."""
    _next: defaultdict[str, deque[Fault]] = field(default_factory=lambda: defaultdict(deque))
    _down: frozenset[str] | None = None
    hung: asyncio.Event = field(default_factory=asyncio.Event)
    """Set while a call hangs."""
    _late: list[asyncio.Event] = field(default_factory=list)

    def refuses(self, method: str, code: str, times: int = 1) -> None:
        """Refuse the next calls with an error code of Slack's."""
        self._order(method, Fault("code", code), times)

    def limits(self, method: str, seconds: float, times: int = 1) -> None:
        """Answer the next calls with 429 and a Retry-After."""
        self._order(method, Fault("429", seconds=seconds), times)

    def fails(self, method: str, times: int = 1) -> None:
        """Answer the next calls with 503, without any effect."""
        self._order(method, Fault("503"), times)

    def cannot_be_reached(self, method: str, times: int = 1) -> None:
        """Refuse the connections of the next calls."""
        self._order(method, Fault("unreachable"), times)

    def loses_the_answer(self, method: str, times: int = 1, code: str = "") -> None:
        """Carry the next calls out, and lose their answers or return this error code."""
        self._order(method, Fault("lost", code), times)

    def hangs(self, method: str, times: int = 1) -> None:
        """Never answer the next calls; they are not carried out."""
        self._order(method, Fault("hang"), times)

    def breaks(self, method: str, times: int = 1) -> None:
        """Raise in the next calls an error that the bot does not know."""
        self._order(method, Fault("broken"), times)

    def is_late(self, method: str) -> None:
        """Carry the next call out only when `answers` is called."""
        self._order(method, Fault("late"), 1)

    def answers(self) -> None:
        """Carry out the calls that are late."""
        self.note("Slack answers the calls that hang")
        for late in self._late:
            late.set()

    def takes(self, method: str, seconds: float) -> None:
        """Let so many seconds pass before the next call is carried out."""
        self._order(method, Fault("slow", seconds=seconds), 1)

    def goes_down(self, *methods: str) -> None:
        """Answer all calls of these methods with 503, of every method without any, until ``comes_back``."""
        self.note(f"Slack goes down {' '.join(methods)}".strip())
        self._down = frozenset(methods)

    def comes_back(self) -> None:
        """End the outage, and cancel all faults of next calls."""
        self.note("Slack comes back")
        self._down = None
        self._next.clear()

    def _order(self, method: str, fault: Fault, times: int) -> None:
        self.note(
            f"Slack: {method} will meet {fault.kind} {fault.code} {fault.seconds or ''}".rstrip()
        )
        self._next[method].extend([fault] * times)

    async def wait(self) -> None:
        """Hang until `answers` is called."""
        self._late.append(late := asyncio.Event())
        self.hung.set()
        await late.wait()

    def take(self, method: str) -> Fault | None:
        """Return the fault of this call, or None."""
        if self._down is not None and (not self._down or method in self._down):
            return Fault("503")
        waiting = self._next[method]
        return waiting.popleft() if waiting else None

    def left(self) -> list[str]:
        """Return the methods with faults of next calls."""
        return [method for method, waiting in self._next.items() if waiting]


class InProcess(BotConnection):
    """Hands requests to a bot in this process. Events wait for `deliver_events`."""

    def __init__(self, options: WorkspaceOptions, clock: Callable[[], datetime]) -> None:
        super().__init__(options, [], clock)
        self.take: Take | None = None
        self._now = clock
        self._events: list[tuple[datetime, int, Json]] = []
        self.drops_events = False
        self.sent: list[Json] = []
        """All events, in order; one can be sent again with `send_event`."""

    async def deliver(
        self, kind: str, payload: Json, *, attempt: int = 0, reason: str = ""
    ) -> Json:
        if self.take is None:
            raise NotAcknowledged("dispatch_failed", "connection_failed")
        status, body = await self.take(json.loads(json.dumps(payload)))
        if status != 200:
            raise NotAcknowledged("dispatch_failed", "http_error")
        read = json.loads(body) if body.startswith("{") else {"text": body}
        return read if isinstance(read, dict) else {}

    def send_event(self, payload: Json) -> None:
        self.sent.append(payload)
        if not self.drops_events:
            self._events.append((self._now(), 0, payload))

    async def deliver_events(self) -> bool:
        """Deliver the due events, and return whether there were any.

        An unacknowledged event is repeated as often as Slack repeats it.
        """
        due = [event for event in self._events if event[0] <= self._now()]
        self._events = [event for event in self._events if event not in due]
        for _, attempt, payload in due:
            try:
                await self.deliver("event", payload, attempt=attempt)
            except NotAcknowledged:
                if attempt < len(_REDELIVERED_AFTER):
                    again_at = self._now() + _REDELIVERED_AFTER[attempt]
                    self._events.append((again_at, attempt + 1, payload))
        return bool(due)

    def has_events(self) -> bool:
        """Return whether events are due."""
        return any(at <= self._now() for at, _, _ in self._events)

    def next_event_at(self) -> datetime | None:
        """Return the time of the next event, or None."""
        return min((at for at, _, _ in self._events), default=None)


@cache
def _app() -> App:
    return read_app(Path(__file__).parents[1] / "manifest.yml")


class TalkSlack:
    """A workspace: its people, its state, and its Web API."""

    def __init__(self, clock: Callable[[], datetime], faults: SlackFaults, **options: Any) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="talk-")
        self.options = WorkspaceOptions(Path(self._folder.name), **options)
        self.state = State(clock, Shelf(None))
        self.line = InProcess(self.options, clock)
        self.people = People(self.state, self.options, self.line, _app())
        self.people.tickets.base_url = HOOKS_URL
        self.web_api = WebApi(self.people, METHODS)
        self.faults = faults
        self.calls: list[str] = []

    def close(self) -> None:
        """Remove the shared files and the state."""
        self.state.shelf.close()
        self._folder.cleanup()

    async def call(self, name: str, arguments: Json) -> SlackResponse:
        """Carry out a method of the Web API."""
        try:
            answer = await self.web_api.call(
                name, decode_arguments(json.loads(json.dumps(arguments)))
            )
        except ApiError as error:
            return SlackResponse(200, {"ok": False, "error": error.code, **error.about})
        except Throttled as error:
            return _limited(error.seconds)
        return SlackResponse(200, {"ok": True, **answer})

    async def respond(self, token: str, body: Json) -> SlackResponse:
        """Handle a post to a response URL."""
        try:
            self.people.respond(token, json.loads(json.dumps(body)))
        except (BadResponseUrl, BlocksRefused) as error:
            return SlackResponse(404, {"ok": False, "error": str(error)})
        return SlackResponse(200, "ok")

    async def store(self, file_id: str, content: bytes) -> SlackResponse:
        """Store the content of an uploaded file."""
        path = content_path(self.options.folder, self.state.files[file_id])
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
        return SlackResponse(200, "OK")

    async def content_for_bot(self, file_id: str) -> SlackResponse:
        """Return the content of a file that was shared with the bot."""
        if not self.state.is_file_seen_by_bot(file_id) or file_id not in self.state.files:
            return SlackResponse(404, "")
        return await self.content(file_id)

    async def content(self, file_id: str) -> SlackResponse:
        """Return the content of a file."""
        path = content_path(self.options.folder, self.state.files[file_id])
        return SlackResponse(200, path.read_text(encoding="utf-8"))


class SlackSession:
    """The connections of one process of the bot to Slack, as an aiohttp session.

    Once ``is_dead``, calls hang: the process was killed.
    """

    closed = False

    def __init__(self, slack: TalkSlack) -> None:
        self._slack = slack
        self.is_dead = False

    def request(self, _verb: str, url: str, **arguments: Any) -> _Exchange:
        fields = {**(arguments.get("params") or {}), **(arguments.get("data") or {})}
        fields |= arguments.get("json") or {}
        name = url.removeprefix(API_URL)
        return _Exchange(self._carry_out(name, lambda: self._slack.call(name, fields)))

    def post(self, url: str, *, json: Json | None = None, data: Any = None, **_: Any) -> _Exchange:
        token = url.rpartition("/")[2]
        if "/upload/" in url:
            content = data.read()
            return _Exchange(self._carry_out("upload", lambda: self._slack.store(token, content)))
        return _Exchange(
            self._carry_out("response_url", lambda: self._slack.respond(token, json or {}))
        )

    def get(self, url: str, **_: Any) -> _Exchange:
        file_id = url.removesuffix("/download").rpartition("-")[2]
        return _Exchange(self._carry_out("file", lambda: self._slack.content_for_bot(file_id)))

    async def _carry_out(
        self, name: str, carry_out: Callable[[], Awaitable[SlackResponse]]
    ) -> SlackResponse:
        faults = self._slack.faults
        if self.is_dead:
            await asyncio.Event().wait()
        self._slack.calls.append(name)
        match faults.take(name):
            case None:
                return await carry_out()
            case Fault("code", code):
                return SlackResponse(200, {"ok": False, "error": code})
            case Fault("429", _, seconds):
                return _limited(seconds)
            case Fault("broken"):
                raise KeyError(name)
            case Fault("unreachable"):
                raise aiohttp.ConnectionTimeoutError
            case Fault("hang"):
                faults.hung.set()
                await asyncio.Event().wait()
            case Fault("late"):
                await faults.wait()
                return await carry_out()
            case Fault("slow", _, seconds):
                faults.passes(seconds)
                return await carry_out()
            case Fault("lost", code):
                await carry_out()
                if code:
                    return SlackResponse(200, {"ok": False, "error": code})
                raise aiohttp.ServerDisconnectedError
        return SlackResponse(503, {"ok": False, "error": "service_unavailable"})


def _limited(seconds: float) -> SlackResponse:
    return SlackResponse(
        429, {"ok": False, "error": "ratelimited"}, {"Retry-After": f"{seconds:g}"}
    )


@dataclass
class SlackResponse:
    """A response of Slack, with the fields for the bot and Slack's library."""

    status: int
    body: Json | str
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def content_type(self) -> str:
        return "text/plain" if isinstance(self.body, str) else "application/json"

    @property
    def content(self) -> SlackResponse:
        return self

    async def json(self) -> Json | str:
        return self.body

    async def text(self) -> str:
        return self.body if isinstance(self.body, str) else json.dumps(self.body)

    async def read(self, _most: int = -1) -> bytes:
        return (await self.text()).encode()

    async def iter_any(self) -> AsyncIterator[bytes]:
        yield await self.read()


class _Exchange:
    """A call and its response, as aiohttp's sessions return them."""

    def __init__(self, response: Awaitable[SlackResponse]) -> None:
        self._response = response

    async def __aenter__(self) -> SlackResponse:
        return await self._response

    async def __aexit__(
        self,
        _type: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        pass
