"""Slack's payloads become typed requests with their origin."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.ids import MessageTs, UserId
from bot.slack import message_events
from tests.builders import ANA, BEN, CHANNEL
from tests.talk import Talk

Json = dict[str, Any]
NOW_IS = {"user": ANA, "ts": "1.2", "text": "Add two", "edited": {"user": ANA, "ts": "1.5"}}
SINCE = MessageTs("1.4")


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({}, "Add two"),
        ({"subtype": "tombstone", "user": None}, None),
        ({"edited": None}, "unchanged"),
        ({"edited": {"user": ANA, "ts": "1.4"}}, "unchanged"),
        ({"edited": {"user": BEN, "ts": "1.5"}}, "unchanged"),
        ({"bot_id": "B1"}, "Add two"),
        ({"bot_id": "B1", "app_id": "A0FLOW"}, "unchanged"),
        ({"user": None}, "unchanged"),
        ({"subtype": "channel_join"}, "unchanged"),
    ],
)
def test_change_in_an_outage_is_recognized_by_its_time(
    values: dict[str, Any], text: str | None
) -> None:
    changed = message_events.read_change_after(
        SINCE, {**NOW_IS, "channel": CHANNEL, "thread_ts": "1.1", **values}, {UserId("A0FLOW")}
    )
    assert (changed.text if changed else "unchanged") == text
    if changed:
        assert changed.origin.key == f"message:{CHANNEL}:1.2"


ODD: st.SearchStrategy[Any] = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=5)
    | st.just(["x"])
    | st.just({"x": 1})
)
NAMES = ["user", "bot_id", "app_id", "bot_profile", "edited", "subtype", "text", "blocks", "files"]
PLACE = {"type": "message", "channel": CHANNEL, "ts": "1.2", "thread_ts": "1.1"}


@given(message=st.dictionaries(st.sampled_from(NAMES), ODD), other=ODD)
def test_message_with_fields_of_any_shape_is_read_or_left(message: Json, other: Any) -> None:
    whole = PLACE | message
    for bots in ((), {UserId("A0FLOW")}):
        message_events.read_message(whole, UserId("U0BOT"), bots)
        message_events.read_change_after(SINCE, whole, bots)
        for before, now in ((whole, whole), (other, whole), (whole, other)):
            event = PLACE | {"message": now, "previous_message": before}
            message_events.read_change(
                event | {"subtype": "message_changed"}, UserId("U0BOT"), bots
            )
    message_events.read_said(whole)


async def test_shortcut_asks_about_its_message(talk: Talk) -> None:
    root = await talk.ben.says("The docs lack something")
    reply = await talk.ben.replies("A page about limits is missing", to=root)
    await talk.ana.uses_shortcut("ask_about", on=reply)
    assert "A page about limits is missing" in str(talk.ana.form().message["blocks"])
    assert await talk.ana.fills_in() == {}
    await talk.time.passes()
    assert "A page about limits is missing" in talk.agent_got()[0]
    [status] = talk.thread(root)
    assert "Working on it" in status


def event(talk: Talk, **values: Any) -> dict[str, Any]:
    """Return the payload of a message event in #docs."""
    inside = {"type": "message", "channel": talk.room("docs").id} | values
    return {"type": "event_callback", "event_id": "Ev1", "team_id": "T1", "event": inside}


MENTION = "<@U0DOCSBOT> Add a page on keys"
BY_APP = {"bot_id": "B0FLOW", "app_id": "A0FLOW", "user": "U0FLOW", "text": MENTION}


@pytest.mark.parametrize("listed", ["A0FLOW", "U0FLOW"])
@pytest.mark.parametrize(
    "extra",
    [
        {},
        {"subtype": "bot_message"},
        {"text": "Release 2.4", "attachments": [{"text": MENTION}]},
    ],
)
async def test_mention_by_a_listed_app_counts_under_its_listed_id(
    talk: Talk, listed: str, extra: dict[str, Any]
) -> None:
    await talk.process.starts(allowed_bots=listed)
    message = await talk.ben.says("good morning")
    assert (await talk.receives(event(talk, **BY_APP | extra, ts=message["ts"])))[0] == 200
    await talk.time.passes()
    [prompt] = talk.agent_got()
    assert prompt.endswith("Add a page on keys")
    assert f"<@{listed}>" in talk.thread(message)[0]


@pytest.mark.parametrize(
    "values",
    [
        {"app_id": "A0OTHER", "user": "U0OTHER"},
        {"text": "Add a page on keys"},
        {"user": "U0DOCSBOT"},
        {"subtype": "channel_join"},
    ],
)
async def test_no_other_message_of_an_app_counts(talk: Talk, values: dict[str, Any]) -> None:
    await talk.process.starts(allowed_bots="A0FLOW")
    message = await talk.ben.says("good morning")
    assert (await talk.receives(event(talk, **BY_APP | values, ts=message["ts"])))[0] == 200
    await talk.time.passes()
    assert talk.agent_got() == []


async def test_post_of_an_app_with_a_persons_token_is_that_persons(talk: Talk) -> None:
    message = await talk.ana.says("good morning")
    posted = BY_APP | {"user": talk.ana.id, "ts": message["ts"], "type": "app_mention"}
    await talk.receives(event(talk, **posted))
    await talk.time.passes(20)
    assert talk.agent_got() == ["Add a page on keys"]
    assert f"<@{talk.ana.id}>" in talk.thread(message)[0]
    [row] = csv.DictReader(io.StringIO(await talk.operator("audit")))
    assert (row["user"], row["app"]) == (talk.ana.id, "A0FLOW")


async def test_post_of_an_app_with_a_guests_token_is_refused_to_the_guest(talk: Talk) -> None:
    message = await talk.gus.says("good morning")
    posted = BY_APP | {"user": talk.gus.id, "ts": message["ts"], "type": "app_mention"}
    await talk.receives(event(talk, **posted))
    await talk.time.passes(20)
    assert talk.agent_got() == []
    assert "Guests can't" in talk.gus.reads()[0]


async def test_mention_by_an_unlisted_bot_is_refused_without_a_word(talk: Talk) -> None:
    await talk.process.starts(log_level="INFO")
    flow = talk.newcomer("Flow", is_bot=True)
    message = await talk.ana.says("good morning")
    posted = BY_APP | {"user": flow.id, "ts": message["ts"], "type": "app_mention"}
    await talk.receives(event(talk, **posted))
    await talk.time.passes(20)
    assert talk.agent_got() == talk.thread(message) == flow.reads() == []
    assert [line for line in talk.log() if "not_allowed" in line and "bot" in line]


async def after_change(talk: Talk, change: dict[str, Any]) -> list[str]:
    """Let Ana ask for a page, change her message while it waits, and return the agent's prompts."""
    talk.service.says("create", 429, seconds=60)
    asked = await talk.ana.says("@docs-agent Add a page on keys")
    await talk.time.passes()
    was = {"user": talk.ana.id, "ts": asked["ts"], "text": MENTION}
    parts = ("message", "previous_message")
    filled = {name: was | change[name] if change.get(name) else change.get(name) for name in parts}
    if "deleted_ts" in change:
        filled["deleted_ts"] = asked["ts"]
    values = (
        {"ts": "1.6"}
        | change
        | {name: value for name, value in filled.items() if value is not None}
    )
    assert (await talk.receives(event(talk, **values)))[0] == 200
    await talk.time.passes(120)
    talk.everything()
    return talk.agent_got()


BY_AUTHOR = {"user": "U01ANA"}
NEW = {"text": "<@U0DOCSBOT> Add two", "edited": {"user": "U01ANA", "ts": "1.5"}}
EDITED: dict[str, Any] = {
    "subtype": "message_changed",
    "message": NEW,
    "previous_message": BY_AUTHOR,
}


NO_CHANGES: list[dict[str, Any]] = [
    EDITED | {"message": NEW | {"text": MENTION, "attachments": [{"title": "A preview"}]}},
    EDITED | {"message": {"text": NEW["text"]}},
    EDITED | {"message": NEW | {"edited": {"user": "U02BEN"}}},
    EDITED | {"message": NEW | {"user": "U0DOCSBOT", "edited": {"user": "U0DOCSBOT"}}},
    {"subtype": "message_deleted", "deleted_ts": "", "previous_message": {"user": "U0DOCSBOT"}},
    {"subtype": "message_changed"},
    {"subtype": "message_deleted"},
    EDITED | {"subtype": None},
]
DELETIONS: list[dict[str, Any]] = [
    {"subtype": "message_deleted", "deleted_ts": "", "previous_message": BY_AUTHOR},
    {"subtype": "message_deleted", "deleted_ts": ""},
    {"subtype": "message_changed", "message": {"subtype": "tombstone", "user": None}},
]


@pytest.mark.parametrize(
    ("change", "prompts"),
    [
        (EDITED, ["Add two"]),
        *((change, ["Add a page on keys"]) for change in NO_CHANGES),
        *((change, []) for change in DELETIONS),
    ],
)
async def test_only_edits_and_deletions_by_the_author_count(
    talk: Talk, change: dict[str, Any], prompts: list[str]
) -> None:
    assert await after_change(talk, change) == prompts


async def test_preview_of_a_link_in_a_sent_prompt_is_no_edit(talk: Talk) -> None:
    asked = await talk.ana.says("@docs-agent Add a page on keys")
    await talk.time.passes()
    was = {"user": talk.ana.id, "ts": asked["ts"], "text": MENTION}
    now = was | {"attachments": [{"title": "A preview"}], "edited": NEW["edited"]}
    await talk.receives(
        event(talk, subtype="message_changed", ts="1.6", message=now, previous_message=was)
    )
    await talk.time.passes()
    assert talk.ana.reads() == []
    assert "Working on it" in talk.thread(asked)[0]
