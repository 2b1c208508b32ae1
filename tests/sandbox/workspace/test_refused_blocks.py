"""Blocks that a workspace does not have, that an edit may not change, and that are too much together."""

from __future__ import annotations

from typing import Any

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from sandbox.workspace.bot_connection import BotConnection
from tests.sandbox.workspace.conftest import Opener, client_of
from tests.sandbox.workspace.small_bot import ANA, DOCS, Json

CHART: Json = {
    "type": "data_visualization",
    "title": "Readers",
    "chart": {
        "type": "line",
        "series": [{"name": "People", "data": [{"label": "Mon", "value": 1}]}],
        "axis_config": {"categories": ["Mon"]},
    },
}
SECTION: Json = {"type": "section", "text": {"type": "mrkdwn", "text": "words"}}
RICH: Json = {
    "type": "rich_text",
    "elements": [{"type": "rich_text_quote", "elements": [{"type": "text", "text": "words"}]}],
}


def _table(length: int) -> Json:
    cells = [[{"type": "raw_text", "text": "Page"}], [{"type": "raw_text", "text": "x" * (length - 4)}]]
    return {"type": "data_table", "caption": "Pages", "rows": cells}


async def _refusal(client: AsyncWebClient, method: str, **arguments: Any) -> str:
    with pytest.raises(SlackApiError) as caught:
        await client.api_call(method, json=arguments)
    return str(caught.value.response["error"])


@pytest.mark.parametrize("code", ["invalid_blocks", "feature_disabled"])
async def test_a_workspace_without_charts_refuses_them_with_its_code(
    open_workspace: Opener, code: str
) -> None:
    workspace = await open_workspace(
        refused_blocks=frozenset({"data_visualization"}), refused_blocks_error=code
    )
    client = client_of(workspace)
    said: Json = {"text": "x", "blocks": [SECTION, CHART]}
    assert await _refusal(client, "chat.postMessage", channel=DOCS, **said) == code
    url = workspace.people.tickets.response_url(ANA, DOCS)
    async with aiohttp.ClientSession() as session, session.post(url, json=said) as answer:
        assert (answer.status, (await answer.json())["error"]) == (400, code)
    assert (await client.chat_postMessage(channel=DOCS, text="x", blocks=[SECTION]))["ok"]


async def test_an_acknowledgement_with_a_chart_vanishes_without_a_word(open_workspace: Opener) -> None:
    class Acknowledging(BotConnection):
        """A bot whose acknowledgement has a chart."""

        async def deliver(self, kind: str, payload: Json, *, attempt: int = 0, reason: str = "") -> Json:
            return {"text": "12 readers", "blocks": [dict(CHART)]}

    for refused, shown in ((frozenset({"data_visualization"}), 0), (frozenset[str](), 1)):
        workspace = await open_workspace(refused_blocks=refused)
        workspace.people.bot_connection = Acknowledging(
            workspace.options, workspace.log, workspace.state.clock
        )
        assert await workspace.people.command(ANA, DOCS, "/docs-agent", "jobs") == {"ok": True}
        assert len(workspace.state.ephemerals) == shown


async def test_rich_text_is_edited_into_rich_text_only(client: AsyncWebClient) -> None:
    rich = str((await client.chat_postMessage(channel=DOCS, text="x", blocks=[SECTION, RICH]))["ts"])
    assert await _refusal(client, "chat.update", channel=DOCS, ts=rich, text="y", blocks=[SECTION]) == (
        "block_mismatch"
    )
    assert (await client.chat_update(channel=DOCS, ts=rich, text="y", blocks=[RICH]))["ok"]
    plain = str((await client.chat_postMessage(channel=DOCS, text="x", blocks=[SECTION]))["ts"])
    assert (await client.chat_update(channel=DOCS, ts=plain, text="y", blocks=[RICH]))["ok"]


async def test_the_cells_of_all_tables_have_a_total(client: AsyncWebClient) -> None:
    pieces = [_table(2_500) for _ in range(8)]
    refused = await _refusal(client, "chat.postMessage", channel=DOCS, text="x", blocks=[*pieces, _table(5)])
    assert refused == "invalid_blocks"
    # Without the last piece, the message is refused as a whole.
    assert await _refusal(client, "chat.postMessage", channel=DOCS, text="x", blocks=pieces) == (
        "msg_blocks_too_long"
    )
