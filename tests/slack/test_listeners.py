"""Listeners store a request before they acknowledge it, call nothing before, and answer everything."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from bot.commands.command import Answer, Invocation
from bot.context import Context
from bot.features import COMMANDS
from bot.ids import Message
from bot.messages.blocks import LINKS
from bot.visitors.commands import COMMAND as VISITORS
from tests.slack.intake import open_intake
from tests.talk import Talk


async def test_button_that_leads_to_an_address_has_no_answer(talk: Talk) -> None:
    await talk.finished()
    await talk.ana.presses("Review #1 · code.example")
    await talk.time.passes()
    assert talk.ana.reads() == []


def test_no_listener_hides_another() -> None:
    """Bolt silently uses the first of two listeners with one name."""
    names = [("event", "message"), ("event", "app_mention"), *(("button", name) for name in LINKS)]
    for command in COMMANDS:
        names += [("command", command.name), *(("button", name) for name in command.buttons)]
        names += [("form", name) for name in command.forms]
        names += [("shortcut", name) for name in command.shortcuts]
    assert len(names) == len(set(names))


async def test_acknowledgement_has_no_table() -> None:
    """A workspace without tables silently drops the whole answer."""

    async def run(_context: Context, invocation: Invocation, _match: object) -> Answer:
        kind = invocation.full_text
        return Answer(message=Message("Read by 12 people", ({"type": kind, "text": "words"},)))

    command = replace(VISITORS, words=(replace(VISITORS.fallback_word, shape=".*", run=run),))
    async with open_intake([command]) as intake:
        for kind in ("data_table", "data_visualization"):
            answer = await intake.command(kind, "/docs-visitors")
            assert (answer.status, answer.body) == (200, "")
        for kind in ("section", "rich_text"):
            assert "Read by 12 people" in (await intake.command(kind, "/docs-visitors")).body


def by_ana(talk: Talk, **payload: Any) -> dict[str, Any]:
    """Return the payload of an action of Ana's in #docs."""
    common = {
        "user": {"id": talk.ana.id},
        "trigger_id": "1.2.3",
        "channel": {"id": talk.room("docs").id},
    }
    return common | payload


def mention(talk: Talk, **values: Any) -> dict[str, Any]:
    """Return the event of Ana mentioning the bot in #docs, with these values."""
    event = {
        "channel": talk.room("docs").id,
        "user": talk.ana.id,
        "text": "<@U0DOCSBOT> Add a page on keys",
    }
    event |= {"type": "app_mention", "ts": "1.1"} | values
    return {"type": "event_callback", "event_id": "Ev1", "team_id": "T1", "event": event}


def form(**view: Any) -> dict[str, Any]:
    return {"type": "view_submission", "view": {"id": "V1", "type": "modal"} | view}


@pytest.mark.parametrize("table", ["prompts", "members"])
async def test_answer_to_an_unstored_command_has_a_reference(talk: Talk, table: str) -> None:
    await talk.process.starts()
    with talk.database_fails(table):
        answer = await talk.ana.answer_to("/docs-agent Add a page on keys")
    with talk.database_fails("inbox"):
        await talk.receives(mention(talk))
    [command, *event] = map(json.loads, talk.log())
    assert f"reference `{command['reference']}`" in answer
    assert "/docs-agent Add a page on keys" in answer
    assert f"no such table: {table}" in command["reason"]
    assert "Traceback" not in answer
    assert command["request"] == command["reference"]
    assert [line["event"] for line in event] == ["event_not_stored"]
    assert not [line for line in (command, *event) if "exception" in line or len(str(line)) > 600]


@pytest.mark.parametrize("where", ["im", "mpim"])
@pytest.mark.parametrize(
    "kinds", [("message",), ("message", "app_mention", "message"), ("app_mention", "message")]
)
async def test_mention_with_several_events_is_one_request(
    talk: Talk, kinds: tuple[str, ...], where: str
) -> None:
    talk.slack.line.drops_events = True
    message = await talk.ana.says("@docs-agent Add a page on keys")
    for kind in kinds:
        extra = {"channel_type": where} if kind == "message" else {}
        assert (await talk.receives(mention(talk, type=kind, ts=message["ts"], **extra)))[0] == 200
    await talk.time.passes()
    assert talk.agent_got() == ["Add a page on keys"]
    talk.everything()


@pytest.mark.parametrize(
    "event",
    [
        {"subtype": "message_changed"},
        {"subtype": "channel_join"},
        {"bot_id": "B9"},
        {"text": "good morning"},
        {"text": "hi", "channel_type": "mpim"},
        {"text": "<@U02BEN> add a page", "channel_type": "mpim"},
        {"channel_type": "channel"},
        {"channel_type": "group"},
        {"user": "U0DOCSBOT", "channel_type": "im"},
        {"user": "U0DOCSBOT", "type": "app_mention"},
        {"type": "team_join", "user": {"id": "U01ANA"}},
    ],
)
async def test_other_events_are_acknowledged_without_an_answer(
    talk: Talk, event: dict[str, Any]
) -> None:
    assert (await talk.receives(mention(talk, **{"type": "message"} | event)))[0] == 200
    await talk.time.passes()
    assert talk.agent_got() == []


async def test_elements_of_another_version_are_answered(talk: Talk) -> None:
    unknown = "I don't know that one"
    command = {
        "command": "/docs-future",
        "channel_id": "C01DOCS",
        "user_id": talk.ana.id,
        "trigger_id": "1",
    }
    assert unknown in (await talk.receives(command))[1]
    sent = form(callback_id="future", state={"values": {}})
    answer = json.loads((await talk.receives(by_ana(talk, **sent)))[1])
    assert unknown in answer["errors"]["prompt"], "it stays open with what was written"
    button = {"type": "block_actions", "actions": [{"action_id": "future", "value": "1"}]}
    for offered in (button, {"type": "message_action", "callback_id": "future"}):
        assert (await talk.receives(by_ana(talk, **offered)))[0] == 200
    assert [unknown in note for note in talk.ana.reads()] == [True, True]


async def test_answer_to_button_without_response_url_comes_in_its_channel(talk: Talk) -> None:
    actions = [{"type": "button", "action_id": "withdraw", "value": "99"}]
    assert (await talk.receives(by_ana(talk, type="block_actions", actions=actions)))[0] == 200
    [note] = talk.ana.reads()
    assert "no Job 99" in note
    assert note.message["channel"] == talk.room("docs").id


async def test_empty_form_stays_open_with_its_error(talk: Talk) -> None:
    await talk.ana.types("/docs-agent \u200b")
    errors = await talk.ana.fills_in(prompt=" ")
    assert set(errors) == {"prompt"}
    await talk.time.passes()
    assert talk.agent_got() == talk.channel() == []


async def test_error_of_a_form_without_inputs_is_a_message(talk: Talk) -> None:
    """Slack shows errors only at inputs."""
    private = json.dumps({"channel": talk.room("docs").id, "job": 9})
    view = form(
        callback_id="run_again", private_metadata=private, blocks=[{"type": "section"}], state={}
    )
    assert await talk.receives(by_ana(talk, **view)) in ((200, ""), (200, "{}"))
    [note] = talk.ana.reads()
    assert "couldn't tell which job this is for" in note


async def test_form_sent_twice_is_one_request(talk: Talk) -> None:
    private = json.dumps({"channel": talk.room("docs").id})
    values = {"prompt": {"prompt": {"type": "plain_text_input", "value": "Add a page on keys"}}}
    view = form(callback_id="ask", private_metadata=private, state={"values": values})
    for _ in range(2):
        assert (await talk.receives(by_ana(talk, **view)))[0] == 200
    await talk.time.passes()
    assert talk.agent_got() == ["Add a page on keys"]
    talk.status()


async def test_refused_follow_up_is_returned_with_the_acknowledgement(talk: Talk) -> None:
    """A crash between the two would lose the follow-up silently."""
    await talk.started()
    await talk.ends("archived", pr_link=None)
    command = {"command": "/docs-followup", "text": "1 Mention Python 3.11", "user_id": talk.ana.id}
    _, body = await talk.receives({**command, "channel_id": "C01DOCS", "trigger_id": "1"})
    answer = json.loads(body)["text"]
    assert "has been archived" in answer
    assert "Mention Python 3.11" in answer
    talk.everything()


@pytest.mark.parametrize(
    "prompt",
    [
        "help people install it: add a page",
        "jobs page is out of date",
        "status codes are missing: add",
    ],
)
async def test_prompt_may_begin_with_a_word_of_the_bot(talk: Talk, prompt: str) -> None:
    await talk.started(prompt)
    assert talk.agent_got() == [prompt]
    talk.status()


async def test_stored_command_is_one_line_in_the_log(talk: Talk) -> None:
    await talk.process.starts(log_level="INFO")
    await talk.ana.asks("Add a page on keys")
    [line] = map(json.loads, talk.log())
    assert (line["event"], line["job"], line["repeated"]) == ("prompt_stored", 1, False)


async def test_reply_to_an_unconfirmed_status_is_no_error(talk: Talk) -> None:
    await talk.process.starts(log_level="INFO")
    talk.faults.loses_the_answer("chat.postMessage")
    talk.faults.goes_down("conversations.history")
    await talk.started("Add a page on keys")
    await talk.ben.replies("Make it shorter")
    talk.faults.comes_back()
    await talk.time.passes(minutes=2)
    assert talk.agent_got() == ["Add a page on keys", "Make it shorter"]
    talk.everything()


async def test_bolt_ignores_credentials_of_the_environment(
    talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With them Bolt would call Slack, or look for an installation, before it runs a listener."""
    for name in ("SLACK_BOT_TOKEN", "SLACK_CLIENT_ID", "SLACK_CLIENT_SECRET"):
        monkeypatch.setenv(name, "xoxb-another")
    await talk.process.starts()
    calls = list(talk.slack.calls)
    await talk.ana.types("/docs-agent help")
    assert talk.ana.reads()
    assert set(talk.slack.calls[len(calls) :]) <= {"users.info"}


BY_ANA = {"user": {"id": "U01ANA"}, "trigger_id": "1.2.3"}
BROKEN_EDIT = {"type": "message", "subtype": "message_changed", "message": {"ts": 1}}


@pytest.mark.parametrize(
    "payload",
    [
        {"type": "event_callback", "event": {"type": "message", "user": "U01ANA", "ts": "1.1"}},
        {"type": "event_callback", "event": BROKEN_EDIT},
        {"type": "block_actions", "actions": [{"action_id": "withdraw"}], **BY_ANA, "user": None},
        {"type": "block_actions", "actions": [{"action_id": "withdraw"}], "user": {"id": "U01ANA"}},
        {"type": "view_submission", "view": {"callback_id": "ask", "type": "modal"}, **BY_ANA},
        {"type": "message_action", "callback_id": "ask_about", **BY_ANA},
        {"command": "/docs-agent", "text": "Add a page on keys"},
    ],
    ids=lambda payload: str(payload.get("type", "command")),
)
async def test_signed_request_without_slacks_fields_is_refused_in_one_line(
    talk: Talk, payload: dict[str, Any]
) -> None:
    await talk.process.starts(log_level="INFO")
    assert (await talk.receives(payload))[0] == 400
    [line] = map(json.loads, talk.log())
    assert (line["event"], "exception" in line) == ("request_malformed", False)
