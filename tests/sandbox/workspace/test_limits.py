"""The workspace rejects what Slack rejects, with Slack's error codes."""

from __future__ import annotations

from typing import Any

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from sandbox.workspace import Workspace
from sandbox.workspace.responses import Tickets
from tests.sandbox.workspace.conftest import Opener, client_of
from tests.sandbox.workspace.small_bot import (
    ANA,
    BEN,
    BUTTON,
    DOCS,
    FORM,
    PRODUCT,
    SECRET,
    HeldClock,
    Json,
)


async def _refusal(client: AsyncWebClient, method: str, **arguments: Any) -> Json:
    with pytest.raises(SlackApiError) as caught:
        await client.api_call(method, json=arguments)
    data: Json = caught.value.response.data
    return data


def _section(text: str) -> Json:
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}}


def _table(rows: list[list[str]], **more: Any) -> Json:
    cells = [[{"type": "raw_text", "text": text} for text in row] for row in rows]
    return {"type": "data_table", "caption": "Pages", "rows": cells, **more}


def _chart(points: list[tuple[str, Any]], categories: list[str]) -> Json:
    series = [
        {"name": "People", "data": [{"label": label, "value": value} for label, value in points]}
    ]
    chart = {"type": "line", "series": series, "axis_config": {"categories": categories}}
    return {"type": "data_visualization", "title": "Readers", "chart": chart}


def _rich(piece: Json) -> Json:
    elements = [{"type": "rich_text_section", "elements": [{"type": "text", **piece}]}]
    return {"type": "rich_text", "elements": elements}


RICH: Json = {
    "type": "rich_text",
    "elements": [{"type": "rich_text_quote", "elements": [{"type": "text", "text": "words"}]}],
}


def _cells(length: int) -> Json:
    return _table([["Page"], ["x" * (length - 4)]])


@pytest.mark.parametrize(
    ("method", "arguments", "error"),
    [
        ("chat.postMessage", {"channel": PRODUCT, "text": "x"}, "not_in_channel"),
        ("chat.postMessage", {"channel": SECRET, "text": "x"}, "channel_not_found"),
        ("chat.postMessage", {"channel": "D07ANABEN", "text": "x"}, "channel_not_found"),
        ("conversations.info", {"channel": "D07ANABEN"}, "channel_not_found"),
        ("chat.postMessage", {"channel": DOCS}, "no_text"),
        (
            "chat.postMessage",
            {"channel": DOCS, "text": "x", "blocks": "words"},
            "invalid_blocks_format",
        ),
        ("chat.update", {"channel": DOCS, "ts": "1.000001", "text": "x"}, "message_not_found"),
        (
            "chat.postEphemeral",
            {"channel": DOCS, "user": "U0NOBODY", "text": "x"},
            "user_not_in_channel",
        ),
        ("conversations.replies", {"channel": DOCS, "ts": "1.000001"}, "thread_not_found"),
        ("users.info", {"user": "U0NOBODY"}, "user_not_found"),
        ("views.open", {"trigger_id": "never", "view": FORM}, "invalid_trigger_id"),
        ("chat.everything", {}, "unknown_method"),
    ],
)
async def test_a_call_is_refused_with_slacks_code(
    client: AsyncWebClient, method: str, arguments: Json, error: str
) -> None:
    assert (await _refusal(client, method, **arguments))["error"] == error


async def test_a_reply_to_a_deleted_message_stands_in_the_channel(client: AsyncWebClient) -> None:
    answer = await client.chat_postMessage(channel=DOCS, text="x", thread_ts="1.000001")
    assert "thread_ts" not in answer["message"]
    [posted] = (await client.conversations_history(channel=DOCS))["messages"]
    assert posted["ts"] == answer["ts"]


@pytest.mark.parametrize(
    ("blocks", "complaint"),
    [
        (
            [_section("x" * 3001)],
            "must be less than 3001 characters [json-pointer:/blocks/0/text/text]",
        ),
        ([_section("x")] * 51, "no more than 50 items"),
        ([{"type": "sparkles"}], "unsupported type: sparkles"),
        ([{"type": "markdown", "text": ""}], "must be more than 0 characters"),
        (
            [{"type": "markdown", "text": "x" * 6_001}] * 2,
            "markdown must be less than 12001 characters",
        ),
        (
            [{"type": "alert", "text": {"type": "plain_text", "text": "x"}}],
            "unsupported type: alert",
        ),
        (
            [_rich({"text": ""})],
            "must be more than 0 characters [json-pointer:/blocks/0/elements/0/elements/0",
        ),
        ([_rich({"text": "x", "style": {"blink": True}})], "unsupported style"),
        ([BUTTON, BUTTON], "`block_id` must be unique"),
        (
            [{"type": "header", "text": {"type": "plain_text", "text": "x"}}],
            "unsupported type: header",
        ),
        ([_table([["Page"]])], "must have 2 to 201 rows"),
        ([_table([["Page"], ["/"]], page_size=101)], "must be 1 to 100"),
        (
            [_table([["Page"], [""]])],
            "must be more than 0 characters [json-pointer:/blocks/0/rows/1/0/text]",
        ),
        ([_chart([("Mon", 1), ("Tue", 2)], ["Mon"])], "must have one point for each category"),
        ([_chart([("Mon", None)], ["Mon"])], "must be numbers"),
        ([_chart([("Mon", 1)], ["Mon"])] * 3, "no more than 2 data_visualization blocks"),
    ],
)
async def test_blocks_are_refused_with_the_place(
    client: AsyncWebClient, blocks: list[Json], complaint: str
) -> None:
    refused = await _refusal(client, "chat.postMessage", channel=DOCS, text="x", blocks=blocks)
    assert refused["error"] == "invalid_blocks"
    assert complaint in refused["response_metadata"]["messages"][0]


async def test_a_message_of_much_rendered_text_is_too_long(client: AsyncWebClient) -> None:
    blocks = [_section("x" * 2900) for _ in range(5)]
    refused = await _refusal(client, "chat.postMessage", channel=DOCS, text="x", blocks=blocks)
    assert refused["error"] == "msg_blocks_too_long"


async def test_an_update_takes_4000_bytes_and_a_post_is_cut_at_40000(
    client: AsyncWebClient,
) -> None:
    posted = await client.chat_postMessage(channel=DOCS, text="x" * 41_000)
    assert len(posted["message"]["text"]) == 40_000
    ts = str(posted["ts"])
    assert (await client.chat_update(channel=DOCS, ts=ts, text="é" * 2000))["ok"]
    assert (await _refusal(client, "chat.update", channel=DOCS, ts=ts, text="é" * 2001))[
        "error"
    ] == ("msg_too_long")


async def test_a_trigger_opens_one_dialogue_within_three_seconds(
    workspace: Workspace, client: AsyncWebClient, clock: HeldClock
) -> None:
    tickets: Tickets = workspace.people.tickets
    used, old = tickets.trigger(ANA), tickets.trigger(BEN)
    await client.views_open(trigger_id=used, view=FORM)
    again = await _refusal(client, "views.open", trigger_id=used, view=FORM)
    assert again["error"] == "exchanged_trigger_id"
    clock.forward(3.1)
    late = await _refusal(client, "views.open", trigger_id=old, view=FORM)
    assert late["error"] == "expired_trigger_id"


async def test_an_open_form_is_changed_by_its_id_and_its_newest_hash(
    workspace: Workspace, client: AsyncWebClient
) -> None:
    trigger = workspace.people.tickets.trigger(ANA)
    opened = (await client.views_open(trigger_id=trigger, view=FORM))["view"]
    changed = (await client.views_update(view_id=opened["id"], view=FORM))["view"]
    assert changed["id"] == opened["id"]
    stale = {"view_id": opened["id"], "view": FORM, "hash": opened["hash"]}
    assert (await _refusal(client, "views.update", **stale))["error"] == "hash_conflict"
    assert (await client.views_update(**stale | {"hash": changed["hash"]}))["ok"]
    gone = await _refusal(client, "views.update", view_id="V0GONE", view=FORM)
    assert gone["error"] == "not_found"


async def test_a_reaction_of_the_bots_is_removed_once(client: AsyncWebClient) -> None:
    posted = await client.chat_postMessage(channel=DOCS, text="x")
    place = {"channel": DOCS, "timestamp": str(posted["ts"]), "name": "eyes"}
    await client.reactions_add(**place)
    await client.reactions_remove(**place)
    assert (await _refusal(client, "reactions.remove", **place))["error"] == "no_reaction"


async def test_what_was_said_is_kept_before_it_is_answered(open_workspace: Opener) -> None:
    first = await open_workspace()
    said = first.people.say(ANA, DOCS, "first")
    gone = first.people.say(ANA, DOCS, "gone")
    answered = await client_of(first).chat_postMessage(channel=DOCS, text="kept")
    first.people.react(ANA, said, "eyes")
    first.people.delete(ANA, DOCS, gone["ts"])
    first.people.invite(ANA, SECRET, "@docs-agent")
    # The first one is not stopped: what a killed process leaves is what is there now.
    second = await open_workspace()
    kept = await client_of(second).conversations_history(channel=DOCS)
    assert [one["ts"] for one in kept["messages"]] == [answered["ts"], said["ts"]]
    assert second.state.message(DOCS, said["ts"]) == first.state.message(DOCS, said["ts"])
    assert (await client_of(second).conversations_info(channel=SECRET))["channel"]["is_member"]
    assert float(second.state.new_ts()) > float(str(answered["ts"]))
    assert second.state.seq >= first.state.seq, "open pages load anew"


@pytest.mark.parametrize("code", ["invalid_blocks", "feature_disabled"])
async def test_a_workspace_without_charts_refuses_them_with_its_code(
    open_workspace: Opener, code: str
) -> None:
    workspace = await open_workspace(
        refused_blocks=frozenset({"data_visualization"}), refused_blocks_error=code
    )
    client = client_of(workspace)
    said: Json = {"text": "x", "blocks": [_section("words"), _chart([("Mon", 1)], ["Mon"])]}
    assert (await _refusal(client, "chat.postMessage", channel=DOCS, **said))["error"] == code
    url = workspace.people.tickets.response_url(ANA, DOCS)
    async with aiohttp.ClientSession() as session, session.post(url, json=said) as answer:
        assert (answer.status, (await answer.json())["error"]) == (400, code)
    assert (await client.chat_postMessage(channel=DOCS, text="x", blocks=[_section("words")]))["ok"]


async def test_rich_text_is_edited_into_rich_text_only(client: AsyncWebClient) -> None:
    posted = await client.chat_postMessage(channel=DOCS, text="x", blocks=[_section("words"), RICH])
    edit: Json = {"channel": DOCS, "ts": posted["ts"], "text": "y"}
    refused = await _refusal(client, "chat.update", **edit, blocks=[_section("words")])
    assert refused["error"] == "block_mismatch"
    assert (await client.chat_update(**edit, blocks=[RICH]))["ok"]


async def test_the_cells_of_all_tables_have_a_total(client: AsyncWebClient) -> None:
    pieces = [_cells(2_500) for _ in range(8)]
    refused = await _refusal(
        client, "chat.postMessage", channel=DOCS, text="x", blocks=[*pieces, _cells(5)]
    )
    assert refused["error"] == "invalid_blocks"
    # Without the last piece, the message is refused as a whole.
    refused = await _refusal(client, "chat.postMessage", channel=DOCS, text="x", blocks=pieces)
    assert refused["error"] == "msg_blocks_too_long"
