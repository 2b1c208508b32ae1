"""The socket is reopened after silence, reports gaps, and answers every command before it closes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from pydantic import SecretStr
from slack_bolt.async_app import AsyncAck, AsyncApp
from slack_sdk.web.async_client import AsyncWebClient
from structlog.testing import capture_logs

from bot.context import Timeouts
from bot.health.listening import listening
from bot.slack.client import make_web_client, open_session
from bot.slack.socket import DEAF_SECONDS, SocketIntake
from bot.store.deadline import current_deadline
from sandbox.doors import HOST
from sandbox.workspace import Workspace, WorkspaceOptions
from tests.limits import HANG_SECONDS
from tests.sandbox.workspace.small_bot import ANA, DOCS, Heard, HeldClock, small_app, until

OFTEN = 0.05
"""Seconds between two pings, so that silence shows in a moment."""


class Line:
    """A workspace and the bot's intake, with clocks that stand still."""

    def __init__(self, workspace: Workspace, clock: HeldClock) -> None:
        self.workspace, self.clock = workspace, clock
        self.sockets = workspace.bot_connection.sockets
        self.seconds, self.gaps = 0.0, 0
        self.intake: SocketIntake
        self.app: AsyncApp
        self.received: Heard

    def pass_seconds(self, seconds: float) -> None:
        """Let time pass for both."""
        self.seconds += seconds
        self.clock.forward(seconds)

    def note_gap(self) -> None:
        self.gaps += 1

    async def connected(self, *, yes: bool) -> None:
        """Wait until the intake is connected, or disconnected."""
        async with asyncio.timeout(HANG_SECONDS):
            while await self.intake.is_connected() is not yes:
                await asyncio.sleep(0.01)

    async def hears(self) -> None:
        """Post a message and wait until the bot receives its event."""
        ts = self.workspace.people.say(ANA, DOCS, "hello")["ts"]
        await until(lambda: next((e for e in self.received.of("message") if e["ts"] == ts), None))


Opener = Callable[..., Awaitable[Line]]


@pytest.fixture
async def opened(tmp_path: Path) -> AsyncIterator[Opener]:
    async with AsyncExitStack() as stack:
        session = await stack.enter_async_context(open_session())

        async def open_line(
            *, ping_seconds: float = 10.0, deaf_seconds: float = DEAF_SECONDS, **choices: Any
        ) -> Line:
            clock = HeldClock()
            options = (
                dict[str, Any](ack_seconds=HANG_SECONDS, redeliver_after_seconds=(0.05,) * 9)
                | choices
            )
            workspace = Workspace(WorkspaceOptions(tmp_path, **options), clock)
            await workspace.start()
            stack.push_async_callback(workspace.stop)
            line = Line(workspace, clock)
            client = make_web_client(
                SecretStr(workspace.options.bot_token), workspace.api_url, session
            )
            line.app, line.received = small_app(client, workspace.options.signing_secret)
            line.intake = SocketIntake(
                line.app,
                client,
                SecretStr(workspace.options.app_token),
                intake_seconds=Timeouts().intake_seconds,
                on_gap=line.note_gap,
                clock=lambda: line.seconds,
                deaf_seconds=deaf_seconds,
                ping_seconds=ping_seconds,
            )
            stack.push_async_callback(line.intake.close, 1.0)
            await line.intake.open()
            return line

        yield open_line


async def _deaf(line: Line) -> None:
    """Close the connection and refuse handshakes until the ticket of the next one is dead."""
    refusals: dict[str, Any] = {"method": "socket", "fault": "500", "times": 1_000}
    line.workspace.faults.order([refusals])
    await line.sockets.disconnect(warn=False)
    await until(lambda: [e for e in line.workspace.log if e.get("fault") == "500"] or None)
    line.pass_seconds(line.workspace.options.ticket_seconds + 1)
    line.workspace.faults.clear()


async def test_dead_ticket_is_replaced_and_its_gap_reported(opened: Opener) -> None:
    line = await opened(ping_seconds=OFTEN)
    await _deaf(line)
    await until(lambda: [e for e in line.workspace.log if e.get("ok") is False] or None)
    assert not await line.intake.is_connected()
    await line.intake.check()
    assert line.intake.deaf_seconds() < DEAF_SECONDS
    line.pass_seconds(DEAF_SECONDS)
    await line.intake.check()
    await line.connected(yes=True)
    await line.hears()
    assert line.gaps == 1
    await line.intake.check()
    assert line.gaps == 1


async def test_refused_ticket_is_requested_again_a_minute_later(opened: Opener) -> None:
    line = await opened(ping_seconds=OFTEN)
    await _deaf(line)
    line.workspace.faults.order([{"method": "apps.connections.open", "fault": "500", "times": 1}])
    for _ in range(2):
        line.pass_seconds(DEAF_SECONDS)
        await line.intake.check()
        await line.intake.check()
    await line.connected(yes=True)
    asked = [e for e in line.workspace.log if e.get("method") == "apps.connections.open"]
    assert len(asked) == 4, "the start, the library's own, one that failed, and the one that helped"


async def test_silent_connection_is_replaced(opened: Opener) -> None:
    line = await opened(ping_seconds=OFTEN, ack_seconds=0.2)
    line.sockets.silence()
    await line.hears()
    assert await line.intake.is_connected()


@pytest.mark.parametrize("deaf_seconds", [DEAF_SECONDS, 5.0])
async def test_gap_is_reported_before_the_next_event(opened: Opener, deaf_seconds: float) -> None:
    line = await opened(deaf_seconds=deaf_seconds)
    line.pass_seconds(deaf_seconds - 1)
    await line.intake.check()
    await line.hears()
    assert line.gaps == 0
    line.pass_seconds(deaf_seconds)
    await line.hears()
    assert line.gaps == 1


async def test_number_of_the_apps_sockets_is_known_once_slack_reports_it(opened: Opener) -> None:
    line = await opened()
    assert line.intake.sockets == 0
    await line.hears()
    assert line.intake.sockets == 1


async def test_closing_socket_answers_commands_but_no_events(opened: Opener) -> None:
    line = await opened(redeliver_after_seconds=())
    begun, gate = asyncio.Event(), asyncio.Event()

    @line.app.command("/docs-followup")
    async def slow(ack: AsyncAck) -> None:
        begun.set()
        await gate.wait()
        await ack()

    command = line.workspace.people.command
    first = asyncio.create_task(command(ANA, DOCS, "/docs-followup", "slow"))
    await begun.wait()
    closing = asyncio.create_task(line.intake.close(HANG_SECONDS))
    await asyncio.sleep(0)
    line.workspace.people.say(ANA, DOCS, "hello")
    assert await command(ANA, DOCS, "/docs-agent", "hi") == {"ok": True}
    gate.set()
    assert await first == {"ok": True}
    await closing
    assert line.received.of("message") == []
    assert not line.workspace.bot_connection.is_reachable()


async def test_answer_on_another_connection_is_logged(opened: Opener) -> None:
    line = await opened(ping_seconds=OFTEN, ack_seconds=1.0)
    begun, gate = asyncio.Event(), asyncio.Event()

    @line.app.command("/docs-followup")
    async def slow(ack: AsyncAck) -> None:
        begun.set()
        await gate.wait()
        await ack("Sent to Job 1.")

    asking = asyncio.create_task(line.workspace.people.command(ANA, DOCS, "/docs-followup", "slow"))
    await begun.wait()
    with capture_logs() as logged:
        handler = line.intake._handler
        assert handler is not None
        before = await handler.client.session_id()
        await line.sockets.disconnect(warn=False)
        async with asyncio.timeout(HANG_SECONDS):
            while await handler.client.session_id() == before:
                await asyncio.sleep(0.01)
        gate.set()
        await until(
            lambda: [entry for entry in logged if entry["event"] == "answer_may_be_lost"] or None
        )
    await asking


class Ticketing(AsyncWebClient):
    """A client that gets a ticket without a call."""

    async def apps_connections_open(self, **_arguments: Any) -> Any:
        return {"ok": True, "url": f"{self.base_url}link"}


async def test_session_closes_without_slacks_answer_to_the_close() -> None:
    stopped = asyncio.Event()

    async def link(request: web.Request) -> web.StreamResponse:
        socket = web.WebSocketResponse(autoclose=False)
        await socket.prepare(request)
        await socket.receive()
        await stopped.wait()
        return socket

    server = web.Application()
    server.router.add_get("/link", link)
    async with listening(server, HOST, 0, idle_seconds=5.0) as port:
        client = Ticketing("xoxb-1", f"ws://{HOST}:{port}/")
        intake = SocketIntake(
            small_app(client, "secret")[0], client, SecretStr("xapp-1"), intake_seconds=2.5
        )
        await intake.open()
        handler = intake._handler
        assert handler is not None
        await intake.close(1.0)
        assert handler.client.aiohttp_client_session.closed
        stopped.set()


async def test_request_has_two_and_a_half_seconds(opened: Opener) -> None:
    line, seconds = await opened(), list[float]()

    async def see(next: Callable[[], Awaitable[None]]) -> None:  # noqa: A002 - Bolt's name
        request = current_deadline()
        assert request is not None
        seconds.append(request.left_seconds())
        await next()

    line.app.middleware(see)
    await line.hears()
    assert 0 < seconds[0] < Timeouts().intake_seconds
