"""Deliveries to the bot: redelivery, waiting for a socket, signatures and ordered faults."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from slack_sdk.errors import SlackApiError
from slack_sdk.signature import SignatureVerifier

from sandbox.ports import free_port
from sandbox.workspace import Workspace
from sandbox.workspace.bot_connection import signature_headers
from tests.limits import HANG_SECONDS
from tests.sandbox.workspace.conftest import Opener, Served, client_of
from tests.sandbox.workspace.small_bot import ANA, DOCS, Json, listening, small_app, until


@asynccontextmanager
async def _socket(workspace: Workspace) -> AsyncIterator[aiohttp.ClientWebSocketResponse]:
    """Open a raw Socket Mode connection that acknowledges nothing by itself."""
    url = workspace.bot_connection.sockets.new_url()
    async with aiohttp.ClientSession() as session, session.ws_connect(url) as socket:
        assert (await socket.receive_json())["type"] == "hello"
        yield socket


async def _nothing_more(workspace: Workspace, socket: aiohttp.ClientWebSocketResponse) -> None:
    """Wait until the workspace has stopped delivering, and check that it sent nothing meanwhile."""
    await until(lambda: not workspace.bot_connection.has_pending_events() or None)
    with pytest.raises(TimeoutError):
        await socket.receive_json(timeout=0.05)


async def test_an_event_comes_again_with_the_same_id_until_it_is_acknowledged(
    open_workspace: Opener,
) -> None:
    workspace = await open_workspace(ack_seconds=1.0, redeliver_after_seconds=(0.01, 0.01, 0.01))
    async with _socket(workspace) as socket:
        workspace.people.say(ANA, DOCS, "hello")
        frames = [await socket.receive_json(timeout=HANG_SECONDS) for _ in range(3)]
        await socket.send_json({"envelope_id": frames[-1]["envelope_id"]})
        await _nothing_more(workspace, socket)
    assert len({frame["payload"]["event_id"] for frame in frames}) == 1
    assert len({frame["envelope_id"] for frame in frames}) == 3
    assert [frame.get("retry_attempt", 0) for frame in frames] == [0, 1, 2]


async def test_an_event_that_nobody_acknowledges_is_given_up_after_three_retries(
    open_workspace: Opener,
) -> None:
    workspace = await open_workspace(ack_seconds=0.03, redeliver_after_seconds=(0.01, 0.01, 0.01))
    async with _socket(workspace) as socket:
        workspace.people.say(ANA, DOCS, "hello")
        for _ in range(4):
            await socket.receive_json(timeout=HANG_SECONDS)
        await _nothing_more(workspace, socket)


async def test_an_event_waits_for_a_connection_and_comes_as_a_retry(workspace: Workspace) -> None:
    workspace.people.say(ANA, DOCS, "hello")
    await asyncio.sleep(0.05)
    async with _socket(workspace) as socket:
        frame = await socket.receive_json(timeout=HANG_SECONDS)
        await socket.send_json({"envelope_id": frame["envelope_id"]})
    assert (frame["type"], frame["retry_attempt"]) == ("events_api", 1)


async def test_two_connections_share_what_comes(workspace: Workspace) -> None:
    async with _socket(workspace) as one, _socket(workspace) as two:
        for _ in range(2):
            workspace.people.say(ANA, DOCS, "hello")
        for socket in (one, two):
            frame = await socket.receive_json(timeout=HANG_SECONDS)
            await socket.send_json({"envelope_id": frame["envelope_id"]})


async def test_a_command_fails_to_its_person_when_the_bot_is_away_or_slow(open_workspace: Opener) -> None:
    workspace = await open_workspace(ack_seconds=0.05)
    notices: list[Json] = []
    workspace.state.watchers.add(notices.append)
    away = await workspace.people.command(ANA, DOCS, "/docs-agent", "x")
    async with _socket(workspace):
        slow = await workspace.people.command(ANA, DOCS, "/docs-agent", "x")
    assert [away["error"], slow["error"]] == ["dispatch_failed", "operation_timeout"]
    assert [notice["user"] for notice in notices if notice["type"] == "notice"] == [ANA, ANA]


@pytest.mark.parametrize("warn", [True, False])
async def test_bolt_comes_back_after_a_disconnect(open_workspace: Opener, warn: bool) -> None:
    workspace = await open_workspace(redeliver_after_seconds=(0.1, 0.2, 0.4))
    app, heard = small_app(client_of(workspace), workspace.options.signing_secret)
    async with listening(app, workspace):
        await workspace.bot_connection.sockets.disconnect(warn=warn)
        workspace.people.say(ANA, DOCS, "hello")
        await until(lambda: heard.of("message") or None)


async def test_http_deliveries_are_signed_as_slack_signs_and_retried_with_their_number(
    open_workspace: Opener,
) -> None:
    port = free_port()
    workspace = await open_workspace(
        events_url=f"http://127.0.0.1:{port}/slack/events", redeliver_after_seconds=(0.01, 0.01, 0.01)
    )
    seen: list[tuple[bool, str | None]] = []
    verifier = SignatureVerifier(workspace.options.signing_secret)

    async def receive(request: web.Request) -> web.Response:
        valid = verifier.is_valid_request(await request.read(), dict(request.headers))
        seen.append((valid, request.headers.get("x-slack-retry-num")))
        return web.Response(status=200 if len(seen) == 3 else 500)

    app = web.Application()
    app.router.add_post("/slack/events", receive)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    workspace.people.say(ANA, DOCS, "hello")
    await until(lambda: not workspace.bot_connection.has_pending_events() or None)
    await runner.cleanup()
    assert seen == [(True, None), (True, "1"), (True, "2")]


def test_a_signature_depends_on_every_part() -> None:
    base = signature_headers("secret", "body", 1.0)["X-Slack-Signature"]
    others = [
        signature_headers("other", "body", 1.0),
        signature_headers("secret", "bodY", 1.0),
        signature_headers("secret", "body", 2.0),
    ]
    assert base not in [other["X-Slack-Signature"] for other in others]


async def _order(workspace: Workspace, **fault: Any) -> None:
    async with aiohttp.ClientSession() as session:
        await session.post(f"{workspace.base_url}/sandbox/faults", json={"next": [fault]})


@pytest.mark.parametrize(
    ("fault", "status", "error"),
    [
        ("429", 429, "ratelimited"),
        ("500", 500, "internal_error"),
        ("502_html", 502, None),
        ("error:is_archived", 200, "is_archived"),
    ],
)
async def test_an_ordered_fault_comes_once_and_nothing_is_posted(
    workspace: Workspace, fault: str, status: int, error: str | None
) -> None:
    await _order(workspace, method="chat.postMessage", fault=fault)
    client = client_of(workspace)
    with pytest.raises(SlackApiError) as caught:
        await client.chat_postMessage(channel=DOCS, text="x")
    assert caught.value.response.status_code == status
    assert caught.value.response.get("error") == error
    assert not list(workspace.state.history(DOCS))
    assert (await client.chat_postMessage(channel=DOCS, text="x"))["ok"]


async def test_a_lost_answer_leaves_its_message(workspace: Workspace) -> None:
    await _order(workspace, method="chat.postMessage", fault="lost_answer")
    client = client_of(workspace)
    client.retry_handlers.clear()
    with pytest.raises(aiohttp.ClientError):
        await client.chat_postMessage(channel=DOCS, text="x")
    assert len(list(workspace.state.history(DOCS))) == 1


async def test_the_log_keeps_places_and_acknowledgements_but_no_words(served: Served) -> None:
    await served.people.command(ANA, DOCS, "/docs-agent", "hi")
    metadata = {"event_type": "told", "event_payload": {"job": 7}}
    posted = await served.client.chat_postMessage(channel=DOCS, text="a secret word", metadata=metadata)
    async with (
        aiohttp.ClientSession() as session,
        session.get(f"{served.workspace.base_url}/sandbox/log") as answer,
    ):
        log, text = await answer.json(), await answer.text()
    assert "a secret word" not in text
    (command,) = [entry for entry in log if entry.get("kind") == "command"]
    assert command["acked"]
    (post,) = [entry for entry in log if entry.get("method") == "chat.postMessage"]
    assert (post["ok"], post["ts_made"], post["metadata"]) == (True, posted["ts"], {"job": 7})
