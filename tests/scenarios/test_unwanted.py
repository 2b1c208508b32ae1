"""Requests that Slack does not send: refused, and nothing is stored."""

from __future__ import annotations

import asyncio
import json
import time
from urllib.parse import urlencode

import aiohttp
import pytest

from sandbox.workspace.bot_connection import signature_headers
from tests.command_line import docs_bot
from tests.scenarios.story import ANA, DOCS, Story

FORM = "application/x-www-form-urlencoded"


pytestmark = pytest.mark.parametrize("http_mode", [True])


def command(text: str = "Add a page on keys") -> str:
    """Return the body of a slash command."""
    fields = {
        "command": "/docs-agent",
        "text": text,
        "trigger_id": "1.2.abc",
        "team_id": "T0SANDBOX",
    }
    return urlencode({**fields, "channel_id": DOCS, "user_id": ANA})


async def post(
    story: Story, body: str | bytes, headers: dict[str, str], content_type: str = FORM
) -> int:
    """Send a body to the bot; return the status."""
    url = story.world.workspace.options.events_url
    assert url is not None
    async with (
        aiohttp.ClientSession() as session,
        session.post(url, data=body, headers={"Content-Type": content_type, **headers}) as answer,
    ):
        return answer.status


async def stored(story: Story) -> int:
    """Return the number of stored requests."""
    url = story.world.settings.sqlalchemy_url
    listed = await asyncio.to_thread(docs_bot, "jobs", DATABASE_URL=url)
    return listed.stdout.count("#")


def secret(story: Story) -> str:
    return story.world.workspace.options.signing_secret


async def test_command_may_contain_word_payload(story: Story) -> None:
    """Bolt's own parser treats a form with this word as empty."""
    body = command("Document the webhook payload")
    assert await post(story, body, signature_headers(secret(story), body)) == 200
    assert await stored(story) == 1


async def test_request_with_wrong_or_old_signature_is_refused(story: Story) -> None:
    body, right = command(), signature_headers(secret(story), command())
    old = signature_headers(secret(story), body, time.time() - 400)
    wrong = signature_headers("another secret", body)
    for text, headers in ((body, wrong), (body, {}), (body, old), (body + "&x=1", right)):
        assert await post(story, text, headers) == 401
    assert await stored(story) == 0


async def test_repeated_command_is_stored_once(story: Story) -> None:
    headers = signature_headers(secret(story), command())
    statuses = await asyncio.gather(*(post(story, command(), headers) for _ in range(8)))
    statuses.append(await post(story, command(), headers))
    assert set(statuses) == {200}
    assert await stored(story) == 1


async def test_too_large_body_is_refused(story: Story) -> None:
    body = command() + "&padding=" + "x" * 1_020_000
    assert await post(story, body, signature_headers(secret(story), body)) == 413
    assert await stored(story) == 0


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (b"\xff\xfe\x00", FORM),
        (b"{broken", "application/json"),
        (b'"just a text"', "application/json"),
        (b"[1, 2]", "application/json"),
        (b"payload=%7Bbroken", FORM),
        (b"payload=7", FORM),
    ],
)
async def test_malformed_body_is_refused(story: Story, body: bytes, content_type: str) -> None:
    headers = signature_headers(secret(story), body.decode("utf-8", "replace"))
    status = await post(story, body, headers, content_type)
    assert 400 <= status < 500
    assert await stored(story) == 0


async def test_other_content_type_is_refused(story: Story) -> None:
    assert (
        await post(story, command(), signature_headers(secret(story), command()), "text/plain")
        == 415
    )


async def test_get_request_is_refused(story: Story) -> None:
    url = story.world.workspace.options.events_url or ""
    async with aiohttp.ClientSession() as session, session.get(url) as answer:
        assert answer.status == 405


async def test_url_verification_and_ssl_check_are_answered(story: Story) -> None:
    body = json.dumps({"type": "url_verification", "challenge": "c", "token": "t"})
    assert (
        await post(story, body, signature_headers(secret(story), body), "application/json") == 200
    )
    check = urlencode({"ssl_check": "1", "token": "t"})
    assert await post(story, check, signature_headers(secret(story), check)) == 200


async def test_health_port_serves_checks_and_metrics(story: Story) -> None:
    base = f"http://127.0.0.1:{story.world.settings.health_port}"
    await story.finished("Add a quickstart for the Python SDK")
    async with aiohttp.ClientSession() as session:
        async with session.get(f"{base}/readyz") as answer:
            assert answer.status == 200
            health = await answer.json()
        async with session.get(f"{base}/metrics") as answer:
            metrics = await answer.text()
    assert set(health["checks"]) == {"database", "slack", "runs", "signatures"}
    for check in health["checks"]:
        assert f'docs_bot_check_ok{{check="{check}"}} 1.0' in metrics


@pytest.mark.parametrize("path", ["/livez", "/readyz", "/metrics"])
async def test_slack_port_serves_no_health(story: Story, path: str) -> None:
    base = (story.world.workspace.options.events_url or "").removesuffix("/slack/events")
    async with aiohttp.ClientSession() as session, session.get(base + path) as answer:
        assert answer.status == 404
