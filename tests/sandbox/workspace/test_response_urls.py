"""What a response URL accepts, rejects and replaces, and its error codes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import aiohttp
import pytest
from slack_sdk.web.async_client import AsyncWebClient

from sandbox.workspace import Workspace
from sandbox.workspace.state import State
from tests.sandbox.workspace.small_bot import ANA, BUTTON, DOCS, HeldClock

Post = Callable[..., Awaitable[tuple[int, str]]]


@pytest.fixture
async def post() -> AsyncIterator[Post]:
    """Post to a URL; return the status and the text."""
    async with aiohttp.ClientSession() as session:

        async def posted(url: str, **said: Any) -> tuple[int, str]:
            async with session.post(url, json=said) as answer:
                return answer.status, await answer.text()

        yield posted


def texts(state: State) -> list[str]:
    return [note["text"] for note in state.ephemerals.values()]


async def test_a_used_url_and_an_expired_one_are_told_apart(
    workspace: Workspace, clock: HeldClock, post: Post
) -> None:
    tickets = workspace.people.tickets
    used, old = tickets.response_url(ANA, DOCS), tickets.response_url(ANA, DOCS)
    answers = [await post(used, text="x") for _ in range(6)]
    assert answers[:5] == [(200, "ok")] * 5
    assert answers[5][0] == 404
    assert "used_url" in answers[5][1]
    clock.forward(1801)
    status, text = await post(old, text="x")
    assert status == 404
    assert "expired_url" in text


async def test_refused_blocks_are_no_dead_url(workspace: Workspace, post: Post) -> None:
    url = workspace.people.tickets.response_url(ANA, DOCS)
    status, text = await post(url, text="x", blocks=[{"type": "sparkles"}])
    assert status == 400
    assert "invalid_blocks" in text
    assert "unsupported type: sparkles" in text
    assert await post(url, text="plainer") == (200, "ok")
    assert texts(workspace.state) == ["plainer"]


@pytest.mark.parametrize("body", ["words", "[]"])
async def test_what_is_no_object_is_refused(workspace: Workspace, body: str) -> None:
    url = workspace.people.tickets.response_url(ANA, DOCS)
    async with aiohttp.ClientSession() as session, session.post(url, data=body) as answer:
        assert (answer.status, (await answer.json())["error"]) == (400, "invalid_payload")


async def test_a_buttons_url_replaces_where_it_stood_if_it_is_told_to_and_a_commands_url_never(
    workspace: Workspace, client: AsyncWebClient, post: Post
) -> None:
    tickets, state = workspace.people.tickets, workspace.state
    command = tickets.response_url(ANA, DOCS)
    await post(command, text="Working on it")
    await post(command, text="Done", replace_original=True)
    note = state.add_ephemeral(DOCS, ANA, text="Fetching", blocks=[BUTTON])
    button = tickets.response_url(
        ANA, DOCS, {"type": "ephemeral", "channel": DOCS, "id": note["id"]}
    )
    await post(button, text="Shared", response_type="in_channel", replace_original=False)
    await post(button, text="More", replace_original=False)
    assert texts(state) == ["Working on it", "Done", "Fetching", "More"]
    await post(button, text="Fetched", replace_original=True)
    assert texts(state) == ["Working on it", "Done", "Fetched", "More"]
    assert state.ephemerals[note["id"]]["blocks"] is None
    ts = str((await client.chat_postMessage(channel=DOCS, text="Go?", blocks=[BUTTON]))["ts"])
    public = tickets.response_url(ANA, DOCS, {"type": "message", "channel": DOCS, "ts": ts})
    await post(public, text="Gone", replace_original=True)
    assert [one["text"] for one in state.history(DOCS)] == ["Gone", "Shared"]
