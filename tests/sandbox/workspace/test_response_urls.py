"""What a response URL accepts, rejects and replaces, and its error codes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import aiohttp
import pytest
from slack_sdk.web.async_client import AsyncWebClient

from sandbox.workspace import Workspace
from sandbox.workspace.state import State
from tests.sandbox.workspace.small_bot import ANA, BUTTON, DOCS, HeldClock, Json

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


def private_url(workspace: Workspace, note: Json) -> str:
    """Return the response URL of a button in an ephemeral message."""
    container = {"type": "ephemeral", "channel": DOCS, "id": note["id"]}
    return workspace.people.tickets.response_url(ANA, DOCS, container)


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


async def test_a_commands_url_never_replaces(workspace: Workspace, post: Post) -> None:
    url = workspace.people.tickets.response_url(ANA, DOCS)
    await post(url, text="Working on it")
    await post(url, text="Done", replace_original=True)
    assert texts(workspace.state) == ["Working on it", "Done"]


async def test_a_buttons_url_replaces_the_private_answer_it_stood_in(
    workspace: Workspace, post: Post
) -> None:
    other = workspace.state.add_ephemeral(DOCS, ANA, text="another")
    note = workspace.state.add_ephemeral(DOCS, ANA, text="Fetching", blocks=[BUTTON])
    await post(private_url(workspace, note), text="Fetched", replace_original=True)
    assert workspace.state.ephemerals[note["id"]]["text"] == "Fetched"
    assert workspace.state.ephemerals[note["id"]]["blocks"] is None
    assert texts(workspace.state) == ["another", "Fetched"]
    assert workspace.state.ephemerals[other["id"]] is other


async def test_a_buttons_url_replaces_nothing_unless_it_is_told_to(workspace: Workspace, post: Post) -> None:
    note = workspace.state.add_ephemeral(DOCS, ANA, text="Shall I?", blocks=[BUTTON])
    await post(private_url(workspace, note), text="More", replace_original=False)
    assert texts(workspace.state) == ["Shall I?", "More"]


async def test_a_buttons_url_can_show_something_to_the_channel(
    workspace: Workspace, client: AsyncWebClient, post: Post
) -> None:
    note = workspace.state.add_ephemeral(DOCS, ANA, text="Only you", blocks=[BUTTON])
    url = private_url(workspace, note)
    assert await post(url, text="Shared", response_type="in_channel", replace_original=False) == (200, "ok")
    history = await client.conversations_history(channel=DOCS)
    assert [one["text"] for one in history["messages"]] == ["Shared"]
    assert texts(workspace.state) == ["Only you"]


async def test_a_buttons_url_replaces_the_channel_message_it_stood_in(
    workspace: Workspace, client: AsyncWebClient, post: Post
) -> None:
    ts = str((await client.chat_postMessage(channel=DOCS, text="Go?", blocks=[BUTTON]))["ts"])
    container = {"type": "message", "channel": DOCS, "ts": ts}
    url = workspace.people.tickets.response_url(ANA, DOCS, container)
    await post(url, text="Gone", replace_original=True)
    assert [one["text"] for one in workspace.state.history(DOCS)] == ["Gone"]
    assert not workspace.state.ephemerals
