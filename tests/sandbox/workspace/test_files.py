"""A file is uploaded in three steps and shared as an ordinary message."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from sandbox.workspace import Workspace
from tests.sandbox.workspace.conftest import Opener, Served, client_of
from tests.sandbox.workspace.small_bot import ANA, ANAS_DM, DOCS, HeldClock, Json, until

CSV = "path,human,ai,total\n" + "".join(f"/page-{n},{n},1,{n + 1}\n" for n in range(20))
NAME = "visitors-acme-docs.csv"


@pytest.fixture
async def session() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as opened:
        yield opened


async def uploaded(
    client: AsyncWebClient, session: aiohttp.ClientSession, content: str = CSV
) -> str:
    """Do the first two steps and return the file's id."""
    got = await client.files_getUploadURLExternal(filename=NAME, length=len(content))
    async with session.post(str(got["upload_url"]), data=content.encode()) as answer:
        assert (answer.status, await answer.text()) == (200, f"OK - {len(content)}")
    return str(got["file_id"])


async def refused(client: AsyncWebClient, file_id: str, **where: Any) -> str:
    """Return the error code of the third step."""
    with pytest.raises(SlackApiError) as caught:
        await client.files_completeUploadExternal(files=[{"id": file_id}], **where)
    return str(caught.value.response["error"])


async def files_in(client: AsyncWebClient, channel: str) -> list[Json]:
    history = await client.conversations_history(channel=channel)
    return [file for message in history["messages"] for file in message.get("files", [])]


@pytest.mark.parametrize("channel", [DOCS, ANAS_DM])
async def test_a_file_stands_in_the_history_with_its_name(
    client: AsyncWebClient, session: aiohttp.ClientSession, channel: str
) -> None:
    file_id = await uploaded(client, session)
    await client.files_completeUploadExternal(
        files=[{"id": file_id, "title": "All pages"}], channel_id=channel, initial_comment="Here"
    )
    (file,) = await files_in(client, channel)
    assert (file["id"], file["name"], file["title"], file["size"]) == (
        file_id,
        NAME,
        "All pages",
        len(CSV),
    )
    assert file["preview"].splitlines() == CSV.splitlines()[:6]
    assert (file["lines"], file["lines_more"]) == (21, 15)
    async with session.get(file["permalink"]) as answer:
        assert await answer.text() == CSV
        assert answer.content_type == "text/csv"
        assert NAME in answer.headers["Content-Disposition"]


async def test_a_file_is_completed_once_and_only_with_its_bytes(
    client: AsyncWebClient, session: aiohttp.ClientSession
) -> None:
    got = await client.files_getUploadURLExternal(filename=NAME, length=5)
    assert await refused(client, str(got["file_id"]), channel_id=DOCS) == "file_not_found"
    file_id = await uploaded(client, session)
    await client.files_completeUploadExternal(files=[{"id": file_id}], channel_id=DOCS)
    assert await refused(client, file_id, channel_id=DOCS) == "file_not_found"
    assert len(await files_in(client, DOCS)) == 1


async def test_a_file_counts_as_a_post_and_can_be_sent_again_later(
    open_workspace: Opener, clock: HeldClock, session: aiohttp.ClientSession
) -> None:
    client = client_of(await open_workspace(enforce_rates=True, channel_burst=1))
    file_id = await uploaded(client, session)
    await client.chat_postMessage(channel=DOCS, text="x")
    assert await refused(client, file_id, channel_id=DOCS) == "ratelimited"
    clock.forward(1)
    await client.files_completeUploadExternal(files=[{"id": file_id}], channel_id=DOCS)
    assert len(await files_in(client, DOCS)) == 1


async def test_a_file_in_a_shared_channel_comes_as_an_id_and_is_described_when_asked(
    served: Served,
) -> None:
    served.people.say(ANA, "C05PARTNERS", "Look", files=[("notes.md", "One")])
    await until(lambda: served.heard.of("message") or None)
    [event] = served.heard.of("message")
    [file] = event["files"]
    assert file == {"id": file["id"], "mode": "file_access", "file_access": "check_file_info"}
    described = (await served.client.files_info(file=file["id"]))["file"]
    assert (described["name"], described["file_access"]) == ("notes.md", "visible")


async def test_a_file_where_the_bot_is_not_is_neither_described_nor_returned(
    workspace: Workspace, client: AsyncWebClient, session: aiohttp.ClientSession
) -> None:
    said = workspace.people.say(ANA, "C02GENERAL", "Look", files=[("notes.md", "One")])
    shared = workspace.people.say(ANA, DOCS, "this", forwards=said)
    [file] = shared["attachments"][0]["files"]
    with pytest.raises(SlackApiError) as caught:
        await client.files_info(file=file["id"])
    assert caught.value.response["error"] == "file_not_found"
    headers = {"Authorization": f"Bearer {workspace.options.bot_token}"}
    async with session.get(file["url_private"], headers=headers) as answer:
        assert answer.status == 404


async def test_a_file_of_the_bots_is_deleted_once_and_gone_from_its_message(
    workspace: Workspace, client: AsyncWebClient, session: aiohttp.ClientSession
) -> None:
    file_id = await uploaded(client, session)
    await client.files_completeUploadExternal(files=[{"id": file_id}], channel_id=DOCS)
    await client.files_delete(file=file_id)
    assert await files_in(client, DOCS) == []
    said = workspace.people.say(ANA, DOCS, "Look", files=[("notes.md", "One")])
    for file, error in ((file_id, "file_not_found"), (said["files"][0]["id"], "cant_delete_file")):
        with pytest.raises(SlackApiError) as caught:
            await client.files_delete(file=file)
        assert caught.value.response["error"] == error
