"""What is acknowledged has been stored, Slack is asked nothing before it, and nothing stays unanswered."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
import structlog
from sqlalchemy import text

from bot.commands import COMMANDS
from bot.commands.command import Answer, Invocation
from bot.commands.visitors import COMMAND as VISITORS
from bot.logs import configure, reference
from bot.messages.blocks import LINKS, Action
from bot.messages.job_answers import FORM_WITHOUT_JOB
from bot.model.ids import Message
from bot.model.jobs import JobState
from bot.model.outbox import DeliveryKind, NewDelivery
from bot.work.context import Context
from tests.builders import ANA, CHANNEL, NOW, add_job, claim_deliveries, claimer, execute
from tests.limits import HANG_SECONDS
from tests.slack.intake import MENTION, RESPONSE_URL, Intake, break_the_database, open_intake


async def test_a_command_that_could_not_be_stored_says_so_with_a_reference(intake: Intake) -> None:
    await break_the_database(intake)
    answer = await intake.command("Add a page")
    said = json.loads(answer.body)
    assert answer.status == 200
    assert said["response_type"] == "ephemeral"
    assert f"reference `{reference('command:1.2.3')}`" in said["text"], "the same as in the log"
    assert "DROP" not in said["text"]
    assert "Traceback" not in answer.body


async def test_database_trouble_is_one_line_for_each_request(
    intake: Intake, capsys: pytest.CaptureFixture[str]
) -> None:
    configure("INFO", "json")
    await break_the_database(intake)
    await intake.command("Add a page")
    await intake.event(**MENTION)
    logged = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    events = {each["event"] for each in logged}
    assert {"request_failed", "event_not_stored"} <= events
    assert not [each for each in logged if "exception" in each or len(str(each)) > 600]
    assert "no such table: prompts" in {each.get("reason") for each in logged}


@pytest.mark.parametrize("where", ["im", "mpim"])
@pytest.mark.parametrize(
    "kinds", [("message",), ("message", "app_mention", "message"), ("app_mention", "message")]
)
async def test_a_mention_is_one_request_however_slack_tells_it(
    intake: Intake, kinds: tuple[str, ...], where: str
) -> None:
    for kind in kinds:
        about = {"channel_type": where} if kind == "message" else {}
        assert (await intake.event(**MENTION | {"type": kind} | about)).status == 200
    assert await intake.stored() == 1


@pytest.mark.parametrize(
    "event",
    [
        {"type": "message", "subtype": "message_changed", "channel": CHANNEL, "ts": "1.1"},
        MENTION | {"type": "message", "subtype": "channel_join"},
        MENTION | {"type": "message", "bot_id": "B9"},
        MENTION | {"type": "message", "text": "good morning"},
        MENTION | {"type": "message", "text": "hi", "channel_type": "mpim"},
        {"type": "team_join", "user": {"id": ANA}},
    ],
)
async def test_what_does_not_concern_us_is_acknowledged_and_stored_nowhere(
    intake: Intake, event: dict[str, Any]
) -> None:
    assert (await intake.event(**event)).status == 200
    assert await intake.stored() == 0


_PRESSED = {name for command in COMMANDS for name in command.buttons}


@pytest.mark.parametrize("name", [action for action in Action if action not in _PRESSED])
async def test_a_button_that_only_leads_to_an_address_is_acknowledged_without_a_word(
    intake: Intake, name: Action
) -> None:
    action = {"type": "button", "action_id": name, "value": "1"}
    body = {"type": "block_actions", "actions": [action], "response_url": RESPONSE_URL}
    assert (await intake.interaction(**body)).status == 200
    await intake.background.drain(2)
    assert intake.everybody.private == []


async def test_what_another_version_offered_is_answered(intake: Intake) -> None:
    said = "I don't know that one"
    assert said in json.loads((await intake.command("x", name="/docs-future")).body)["text"]
    view = {"id": "V1", "type": "modal", "callback_id": "future", "state": {"values": {}}}
    form = json.loads((await intake.interaction(type="view_submission", view=view)).body)
    assert said in form["errors"]["prompt"], "it stays open with what was written"
    button = {"type": "block_actions", "actions": [{"action_id": "future", "value": "1"}]}
    for offered in (button, {"type": "message_action", "callback_id": "future"}):
        assert (await intake.interaction(**offered, response_url=RESPONSE_URL)).status == 200
    await intake.background.drain(2)
    assert [said in told.text for _, told in intake.everybody.private] == [True, True]


async def test_answer_to_button_without_response_url_comes_in_its_channel(intake: Intake) -> None:
    pressed = {
        "actions": [{"type": "button", "action_id": "withdraw", "value": "99"}],
        "channel": {"id": CHANNEL},
    }
    assert (await intake.interaction(type="block_actions", **pressed)).status == 200
    await intake.background.drain(HANG_SECONDS)
    [(channel, _, user, answer)] = intake.everybody.whispers
    assert (channel, user, "no Job 99" in answer.text) == (CHANNEL, ANA, True)


def test_no_listener_hides_another() -> None:
    """Bolt takes the first of two listeners with one name, without a word."""
    names = [("event", "message"), ("event", "app_mention"), *(("button", name) for name in LINKS)]
    for each in COMMANDS:
        names += [("command", each.name), *(("button", name) for name in each.buttons)]
        names += [("form", name) for name in each.forms]
        names += [("shortcut", name) for name in each.shortcuts]
    assert len(names) == len(set(names))


def form(text: str) -> dict[str, Any]:
    """The form of a prompt with this text."""
    values = {"prompt": {"prompt": {"type": "plain_text_input", "value": text}}}
    private = json.dumps({"channel": CHANNEL})
    about = {"id": "V1", "type": "modal", "callback_id": "ask", "private_metadata": private}
    return {"type": "view_submission", "view": about | {"state": {"values": values}}}


async def test_an_empty_form_keeps_open_and_says_why(intake: Intake) -> None:
    answer = json.loads((await intake.interaction(**form(" "))).body)
    assert answer["response_action"] == "errors"
    assert set(answer["errors"]) == {"prompt"}


async def test_what_is_wrong_with_a_form_without_inputs_is_said_where_it_was_opened(intake: Intake) -> None:
    """Slack shows errors only at inputs."""
    private = json.dumps({"channel": CHANNEL, "response_url": RESPONSE_URL, "job": 9})
    about = {"id": "V1", "type": "modal", "callback_id": "run_again", "private_metadata": private}
    view = about | {"blocks": [{"type": "section"}], "state": {"values": {}}}
    answer = await intake.interaction(type="view_submission", view=view)
    await intake.background.drain(2)
    assert answer.body in ("", "{}")
    assert [told.text for _, told in intake.everybody.private] == [FORM_WITHOUT_JOB]


async def test_a_form_sent_twice_is_one_request(intake: Intake) -> None:
    for _ in range(2):
        assert (await intake.interaction(**form("Add a page"))).status == 200
    assert await intake.stored() == 1


@pytest.mark.parametrize("text", ["", "   ", "\u200b", "&nbsp"[:0]])
async def test_a_blank_prompt_opens_a_form_and_stores_nothing(intake: Intake, text: str) -> None:
    assert (await intake.command(text)).status == 200
    assert await intake.stored() == 0


@pytest.mark.parametrize("text", ["help", "jobs", "status 1", "HELP", "Jobs"])
async def test_our_own_words_are_answered_at_once_and_privately(intake: Intake, text: str) -> None:
    await add_job(intake.store)
    said = json.loads((await intake.command(text)).body)
    assert said["response_type"] == "ephemeral"
    assert await intake.stored() == 1


async def test_a_table_is_no_part_of_an_acknowledgement() -> None:
    """A workspace that has no tables would drop the whole answer without a word."""

    async def run(_context: Context, invocation: Invocation) -> Answer:
        kind = invocation.text
        return Answer(message=Message("Read by 12 people", ({"type": kind, "text": "words"},)))

    command = replace(VISITORS, run=run)
    async with open_intake([command]) as intake:
        for kind in ("data_table", "data_visualization"):
            answer = await intake.command(kind, "/docs-visitors")
            assert (answer.status, answer.body) == (200, "")
        for kind in ("section", "rich_text"):
            assert "Read by 12 people" in (await intake.command(kind, "/docs-visitors")).body


async def test_what_a_job_cannot_take_is_given_back_with_the_acknowledgement(intake: Intake) -> None:
    """A crash between the two would leave a person with neither a follow-up nor a word about it."""
    number = await add_job(intake.store, state=JobState.ARCHIVED)
    said = json.loads((await intake.command(f"{number} Mention Python 3.11", "/docs-followup")).body)
    assert "has been archived" in said["text"]
    assert "Mention Python 3.11" in said["text"]
    assert await intake.stored() == 1


@pytest.mark.parametrize(
    "text",
    ["help people install it: add a page", "jobs page is out of date", "status codes are missing: add"],
)
async def test_a_prompt_that_only_begins_with_our_words_is_a_prompt(intake: Intake, text: str) -> None:
    assert (await intake.command(text)).body == ""
    assert await intake.stored() == 1


async def test_what_breaks_while_slack_is_asked_who_may_is_told_under_a_reference(intake: Intake) -> None:
    await execute(intake.store, text("DELETE FROM members"))
    intake.everybody.broken.append(RuntimeError("the database is away"))
    with structlog.testing.capture_logs() as logs:
        assert "the reference" in (await intake.command("")).body
    told = [(line["event"], "reference" in line) for line in logs]
    assert told == [("request", False), ("request_failed", True)]


async def test_a_stored_command_is_one_line_in_the_log(
    intake: Intake, capsys: pytest.CaptureFixture[str]
) -> None:
    configure("INFO", "json")
    await intake.command("Add a page")
    [line] = capsys.readouterr().err.splitlines()
    assert json.loads(line) | {"event": "prompt_stored", "job": 1, "repeated": False} == json.loads(line)


async def test_a_reply_that_comes_too_early_is_no_error(intake: Intake) -> None:
    root = NewDelivery("root", DeliveryKind.ROOT, CHANNEL, message=Message("#1"))
    await intake.store.write(lambda tx: tx.outbox.add(root, NOW))
    await intake.store.write(lambda tx: claim_deliveries(tx, claimer("one")))
    event = MENTION | {"type": "message", "text": "more", "ts": "2.1", "thread_ts": "1.1"}
    with structlog.testing.capture_logs() as logs:
        answer = await intake.event(**event, parent_user_id="U0BOT")
    assert answer.status == 500
    assert [line["log_level"] for line in logs] == ["info"]


async def test_bolt_takes_no_token_and_no_client_id_from_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With these it would ask Slack, or look for an installation, before it lets a listener run."""
    for name in ("SLACK_BOT_TOKEN", "SLACK_CLIENT_ID", "SLACK_CLIENT_SECRET"):
        monkeypatch.setenv(name, "xoxb-another")
    async with open_intake(COMMANDS) as intake:
        assert (await intake.command("Add a page")).status == 200
        assert await intake.stored() == 1


ABOUT = {"user": {"id": ANA}, "trigger_id": "1.2.3"}


@pytest.mark.parametrize(
    "payload",
    [
        {"type": "event_callback", "event": {"type": "message", "user": ANA, "ts": "1.1"}},
        {
            "type": "event_callback",
            "event": {"type": "message", "subtype": "message_changed", "message": {"ts": 1}},
        },
        {"type": "block_actions", "actions": [{"action_id": "withdraw"}], **ABOUT, "user": None},
        {"type": "block_actions", "actions": [{"action_id": "withdraw"}], "user": {"id": ANA}},
        {"type": "view_submission", "view": {"callback_id": "ask", "type": "modal"}, **ABOUT},
        {"type": "message_action", "callback_id": "ask_about", **ABOUT},
        {"command": "/docs-agent", "text": "Add a page"},
    ],
    ids=lambda payload: str(payload.get("type", "command")),
)
async def test_signed_request_without_slacks_fields_is_refused_in_one_line(
    intake: Intake, payload: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    configure("INFO", "json")
    assert (await intake.send(json.dumps(payload), "application/json")).status == 400
    [line] = capsys.readouterr().err.splitlines()
    logged = json.loads(line)
    assert (logged["event"], "exception" in logged) == ("request_malformed", False)
