"""A text of a megabyte at each door: Slack sends 40,000 characters, and no more are read or kept."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox.workspace.state import BOT_USER
from tests.talk import Talk

MEGABYTE = 1_000_000
LIMIT = 40_000
TEXTS = [sign * (MEGABYTE // len(sign)) for sign in ("word ", "> ", "<@U1> ")]
COMMANDS = ("/docs-agent", "/docs-agent ask", "/docs-followup 1", "/docs-visitors")


async def receives(talk: Talk, **fields: Any) -> None:
    """Pass a message of Ana's to the bot as Slack writes it, however long."""
    ts = talk.slack.state.new_ts()
    event = {"type": "message", "user": talk.ana.id, "channel": talk.room("docs").id, "ts": ts}
    event |= {"channel_type": "channel", **fields}
    await talk.receives(
        {"type": "event_callback", "event_id": f"Ev{ts}", "team_id": "T1", "event": event}
    )


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
async def test_command_of_a_megabyte_is_too_long(talk: Talk, command: str, text: str) -> None:
    await talk.started()
    talk.everything()
    name, _, begin = command.partition(" ")
    payload = {"command": name, "text": f"{begin} Add {text}", "user_id": talk.ana.id}
    payload |= {"channel_id": talk.room("docs").id, "trigger_id": "1", "response_url": "https://x"}
    status, body = await talk.receives(payload)
    assert status == 200
    assert "longer than 40,000 characters" in body
    assert len(body) < 1_000
    await talk.time.passes(30)
    assert len(talk.agent_got()) == 1
    assert talk.errors() == set()


async def test_form_of_a_megabyte_stays_open(talk: Talk) -> None:
    await talk.ana.types("/docs-agent")
    errors = await talk.ana.fills_in(prompt=TEXTS[0])
    assert "longer than 40,000 characters" in errors["prompt"]
    await talk.time.passes(30)
    assert talk.agent_got() == []


@pytest.mark.parametrize("door", ["mention", "reply", "direct message", "edit"])
@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
async def test_message_of_a_megabyte_is_read_up_to_slacks_limit(
    talk: Talk, door: str, text: str
) -> None:
    await talk.started()
    talk.everything()
    whole = f"<@{BOT_USER}> Add a page on limits {text}"
    match door:
        case "mention":
            await receives(talk, text=whole, type="app_mention")
        case "reply":
            await receives(talk, text=whole, thread_ts=talk.root()["ts"])
        case "direct message":
            room = talk.room("dm", talk.ana).id
            await receives(talk, text=whole, channel=room, channel_type="im")
        case _:
            before = {"type": "app_mention", "user": talk.ana.id, "ts": talk.slack.state.new_ts()}
            before["text"] = f"<@{BOT_USER}> Add a page on plans"
            await receives(talk, **before)
            edited = {"user": talk.ana.id, "ts": talk.slack.state.new_ts()}
            after = {**before, "text": whole, "edited": edited}
            changed = {"subtype": "message_changed", "message": after}
            await receives(talk, **changed, previous_message=before)
    await talk.time.passes(40)
    assert max(map(len, talk.agent_got())) <= LIMIT
    assert not talk.kept(text[: LIMIT + 1])
    assert "the end of the text" in talk.everything(), "its author is told"
    assert talk.errors() == set()
