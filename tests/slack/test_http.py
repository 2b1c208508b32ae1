"""The route for Slack's requests: refusals, deadlines and their logs."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, suppress
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from pydantic import SecretStr

from bot.commands.command import Answer, Invocation
from bot.context import Context, Timeouts
from bot.jobs.commands.agent import COMMAND as AGENT
from bot.slack.http import MAX_BODIES_BYTES, PATH, Signature, add_slack_routes
from bot.store.deadline import current_deadline
from sandbox.workspace.bot_connection import signature_headers
from tests.limits import HANG_SECONDS
from tests.slack.intake import SECRET, Intake, open_intake

Json = dict[str, Any]

COMMAND: Json = {
    "command": "/docs-agent",
    "text": "x",
    "trigger_id": "1",
    "user_id": "U1",
    "channel_id": "C1",
}
SAID: Json = {
    "type": "app_mention",
    "user": "U1",
    "channel": "C1",
    "ts": "1.2",
    "text": "x",
    "team": "T1",
}
MENTION: Json = {"type": "event_callback", "event_id": "Ev1", "team_id": "T1", "event": SAID}
BY: Json = {"trigger_id": "1", "team": {"id": "T1"}, "user": {"id": "U1", "team_id": "T1"}}
CONTAINER: Json = {"type": "message", "channel_id": "C1", "message_ts": "1.2"}
BUTTON: Json = {"action_id": "again", "block_id": "b", "type": "button", "value": "1"}
PRESS: Json = BY | {"type": "block_actions", "container": CONTAINER, "actions": [BUTTON]}
VALUES: Json = {"prompt": {"prompt": {"type": "plain_text_input", "value": "x"}}}
VIEW: Json = {"type": "modal", "id": "V1", "callback_id": "ask", "private_metadata": ""}
VIEW |= {"blocks": [{"type": "input", "block_id": "prompt"}], "state": {"values": VALUES}}
FORM: Json = BY | {"type": "view_submission", "view": VIEW}
SHORTCUT: Json = BY | {"type": "message_action", "callback_id": "ask", "channel": {"id": "C1"}}
SHORTCUT |= {"message": {"ts": "1.2", "text": "x"}}
KINDS = (COMMAND, MENTION, PRESS, FORM, SHORTCUT)


def well_formed() -> dict[str, str]:
    """Return headers of the form of Slack's, with the present time."""
    return {
        "X-Slack-Request-Timestamp": str(int(time.time())),
        "X-Slack-Signature": f"v0={'a' * 64}",
    }


class Door:
    """Raw connections to the route on a port."""

    def __init__(self, port: int) -> None:
        self.port = port

    async def send(
        self, headers: dict[str, str], body: bytes = b"", length: int | None = None
    ) -> int:
        """Send a request, perhaps with less body than it announces; return the response's status."""
        lines = [f"{name}: {text}" for name, text in headers.items()]
        size = len(body) if length is None else length
        head = "\r\n".join(
            [f"POST {PATH} HTTP/1.1", "Host: bot", f"Content-Length: {size}", *lines, "", ""]
        )
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            async with asyncio.timeout(HANG_SECONDS):
                writer.write(head.encode("latin-1") + body)
                return int((await reader.readline()).split()[1])
        finally:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

    async def signed(self, body: str) -> int:
        """Send a signed JSON body."""
        headers = {**signature_headers(SECRET, body), "Content-Type": "application/json"}
        return await self.send(headers, body.encode())


@pytest.fixture
async def open_door(intake: Intake) -> AsyncIterator[Callable[..., Any]]:
    async with AsyncExitStack() as stack:

        async def opened(**options: Any) -> Door:
            server = web.Application()
            add_slack_routes(server, intake.app, SecretStr(SECRET), intake_seconds=2.5, **options)
            site = await stack.enter_async_context(TestServer(server))
            assert site.port is not None
            return Door(site.port)

        yield opened


async def test_request_has_two_and_a_half_seconds() -> None:
    seconds: list[float] = []

    async def run(_context: Context, _invocation: Invocation, _match: object) -> Answer:
        request = current_deadline()
        assert request is not None
        seconds.append(request.left_seconds())
        return Answer()

    command = replace(AGENT, words=(replace(AGENT.fallback_word, shape=".*", run=run),))
    async with open_intake([command]) as intake:
        server = web.Application()
        add_slack_routes(server, intake.app, SecretStr(SECRET), intake_seconds=2.5)
        async with TestServer(server) as site:
            assert site.port is not None
            assert await Door(site.port).signed(json.dumps(COMMAND)) == 200
    assert 0 < seconds[0] < Timeouts().intake_seconds


async def test_only_signatures_of_the_workspace_are_reported(open_door: Callable[..., Any]) -> None:
    noted: list[Signature] = []
    door: Door = await open_door(workspace="T1", on_signature=noted.append)
    forged = well_formed() | {"Content-Type": "application/json"}
    stranger = b'{"team_id": "T2"}'
    assert await door.send(forged, stranger) == 401
    assert noted == []
    assert await door.send(forged, json.dumps(MENTION).encode()) == 401
    assert await door.signed(json.dumps(MENTION)) == 200
    assert noted == [Signature.WRONG, Signature.ACCEPTED]


@pytest.mark.parametrize("seconds", [-400, 400, -86_400 * 400])
async def test_signature_of_another_time_is_told_from_a_wrong_one(
    open_door: Callable[..., Any], seconds: int
) -> None:
    noted: list[Signature] = []
    door: Door = await open_door(
        workspace="T1", on_signature=noted.append, clock=lambda: time.time() + seconds
    )
    assert await door.signed(json.dumps(MENTION)) == 401
    forged = well_formed() | {"Content-Type": "application/json"}
    assert await door.send(forged, json.dumps(MENTION).encode()) == 401
    assert noted == [Signature.AT_ANOTHER_TIME, Signature.WRONG]


@pytest.mark.parametrize(
    "wrong",
    [
        {"X-Slack-Signature": ""},
        {"X-Slack-Signature": "v0=\xff" + "a" * 63},
        {"X-Slack-Signature": "v0=" + "a" * 63},
        {"X-Slack-Signature": "v1=" + "a" * 64},
        {"X-Slack-Signature": "v0=" + "a" * 65},
        {"X-Slack-Request-Timestamp": ""},
        {"X-Slack-Request-Timestamp": "9" * 5_000},
        {"X-Slack-Request-Timestamp": "1e9"},
        {"X-Slack-Request-Timestamp": "-5"},
        {"X-Slack-Request-Timestamp": "\xb2\xb2"},
    ],
)
async def test_request_without_slacks_headers_is_refused_before_its_body(
    open_door: Callable[..., Any], wrong: dict[str, str]
) -> None:
    door: Door = await open_door()
    headers = well_formed() | {"Content-Type": "application/json"} | wrong
    assert await door.send(headers, length=100_000) == 401


@pytest.mark.parametrize(
    ("headers", "length", "status"),
    [
        ({"Content-Type": "text/plain"}, 100, 415),
        ({"Content-Type": "application/json", "Content-Encoding": "gzip"}, 100, 415),
        ({"Content-Type": "application/json", "Content-Encoding": "br, identity"}, 100, 415),
        ({"Content-Type": "application/json"}, 1_000_001, 413),
    ],
)
async def test_body_of_another_type_or_size_is_not_read(
    open_door: Callable[..., Any], headers: dict[str, str], length: int, status: int
) -> None:
    door: Door = await open_door()
    assert await door.send(well_formed() | headers, length=length) == status


async def test_missing_body_is_a_timeout(open_door: Callable[..., Any]) -> None:
    door: Door = await open_door(body_seconds=0.1)
    headers = well_formed() | {"Content-Type": "application/json"}
    assert await door.send(headers, b"{", length=100) == 408


async def test_signed_body_in_parts_outlasts_many_larger_ones(
    open_door: Callable[..., Any],
) -> None:
    door: Door = await open_door()
    body = json.dumps(MENTION | {"padding": "x" * 30_000}).encode()
    signed = signature_headers(SECRET, body.decode()) | {"Content-Type": "application/json"}
    reader, writer = await begun(door, signed, len(body), body[:7_500])
    forged = well_formed() | {"Content-Type": "application/json"}
    strangers = [
        await begun(door, forged, 1_000_000, b"x" * 100_000)
        for _ in range(MAX_BODIES_BYTES // 100_000 + 5)
    ]
    async with asyncio.timeout(HANG_SECONDS):
        for at in range(7_500, len(body), 7_500):
            writer.write(body[at : at + 7_500])
            await writer.drain()
        assert (await reader.readline()).split()[1] == b"200"
        closed = [stream for stream, _ in strangers if stream.at_eof()]
        assert len(closed) >= 5, "they are closed without a word"
    for _, stranger in [(reader, writer), *strangers]:
        stranger.close()
        with suppress(ConnectionError):
            await stranger.wait_closed()


async def begun(
    door: Door, headers: dict[str, str], length: int, part: bytes
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Begin a request with a part of its body, and return its connection."""
    lines = [f"{name}: {text}" for name, text in headers.items()]
    head = "\r\n".join(
        [f"POST {PATH} HTTP/1.1", "Host: bot", f"Content-Length: {length}", *lines, "", ""]
    )
    reader, writer = await asyncio.open_connection("127.0.0.1", door.port)
    writer.write(head.encode() + part)
    await writer.drain()
    return reader, writer


@pytest.mark.parametrize(
    "body",
    [
        "",
        "[]",
        '{"type": []}',
        '{"type": "event_callback", "event": null}',
        '{"type": "event_callback", "event": "message"}',
        "{broken",
        "{" + '"a":{' * 100_000,
        json.dumps(MENTION | {"event": MENTION["event"] | {"text": "\ud800"}}),
    ],
)
async def test_signed_body_without_a_payload_is_refused(
    open_door: Callable[..., Any], body: str
) -> None:
    door: Door = await open_door()
    assert await door.signed(body) == 400


def broken(seed: int) -> Json:
    """Return a payload with a random part replaced or removed."""
    chance = Random(seed)
    payload: Json = json.loads(json.dumps(chance.choice(KINDS)))
    part: Any = payload
    while True:
        key = chance.choice(range(len(part)) if isinstance(part, list) else sorted(part))
        if not part[key] or not isinstance(part[key], dict | list) or chance.random() < 0.5:
            break
        part = part[key]
    if chance.random() < 0.5:
        del part[key]
    else:
        part[key] = chance.choice([None, True, 7, "", "x", [], [None], {}, {"x": [{}]}])
    return payload


async def test_intake_goes_on_after_broken_payloads(open_door: Callable[..., Any]) -> None:
    door: Door = await open_door()
    statuses = {await door.signed(json.dumps(broken(seed))) for seed in range(300)}
    assert statuses == {200, 400, 500}
    for payload in KINDS:
        assert await door.signed(json.dumps(payload)) == 200
