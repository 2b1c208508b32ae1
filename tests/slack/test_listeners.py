"""What is acknowledged has been stored, Slack is asked nothing before it, and nothing stays unanswered."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, cast
from urllib.parse import urlencode

import pytest
import structlog
from pydantic import SecretStr
from slack_bolt.async_app import AsyncApp
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse
from sqlalchemy import event, select, text, update

from bot.commands import COMMANDS
from bot.commands.command import Answer, Command, Invocation
from bot.commands.spoken import heard
from bot.logs import reference
from bot.model import (
    Access,
    AccessPolicy,
    ChannelId,
    DeliveryKind,
    JobState,
    Message,
    NewDelivery,
    Profile,
    Projects,
    UserId,
    ts_at,
)
from bot.slack.background import Background
from bot.slack.client import open_session, web_client
from bot.slack.listeners import Listeners, build_app
from bot.slack.messenger import SlackMessenger
from bot.store import Store, schema
from bot.store.deadline import Deadline, current, within
from bot.work.context import Context
from bot.work.jobs.missed import Gap
from sandbox.workspace.bot_connection import signature_headers
from tests.builders import (
    ANA,
    BEN,
    CHANNEL,
    NOW,
    PROJECT,
    HeldClock,
    add_job,
    claimer,
    execute,
    new_store,
    rows_of,
)
from tests.fakes import FakeSlack
from tests.pause import Pause

SECRET = "signing-secret"
RESPONSE_URL = "https://hooks.slack.com/commands/1/2/3"
NOWHERE = "http://127.0.0.1:9/api/"
"""Nobody listens there: a listener that asked Slack something before it acknowledges would fail."""


@dataclass
class Everybody(FakeSlack):
    """As when Slack says of each that they are a member; ``broken`` comes instead, once."""

    broken: list[Exception] = field(default_factory=list)

    async def profile(self, user: UserId) -> Profile:
        if self.broken:
            raise self.broken.pop()
        return await super().profile(user)


class Intake:
    """Bolt's app on a real registry."""

    def __init__(
        self, app: AsyncApp, store: Store, background: Background, everybody: Everybody, gap: Gap
    ) -> None:
        self.app, self.store, self.background, self.everybody = app, store, background, everybody
        self.gap = gap

    async def send(self, body: str, content_type: str = "application/x-www-form-urlencoded") -> BoltResponse:
        """As Slack sends it."""
        headers: dict[str, Any] = {**signature_headers(SECRET, body), "Content-Type": content_type}
        with within(current() or Deadline.after(10)):
            return await self.app.async_dispatch(AsyncBoltRequest(body=body, headers=headers))

    async def command(self, text: str, name: str = "/docs-agent", trigger: str = "1.2.3") -> BoltResponse:
        fields = {"command": name, "text": text, "trigger_id": trigger, "channel_id": CHANNEL, "user_id": ANA}
        return await self.send(urlencode(fields | {"response_url": RESPONSE_URL}))

    async def interaction(self, **payload: Any) -> BoltResponse:
        about = {"user": {"id": ANA}, "trigger_id": "1.2.3", "team": {"id": "T1"}}
        return await self.send(urlencode({"payload": json.dumps({**about, **payload})}))

    async def event(self, **event: Any) -> BoltResponse:
        whole = {"type": "event_callback", "event_id": "Ev1", "team_id": "T1", "event": event}
        return await self.send(json.dumps(whole), "application/json")

    async def stored(self) -> int:
        """How many jobs stand in the registry."""
        return len(await self.store.read(lambda tx: tx.jobs.newest(100)))


@pytest.fixture
async def intake() -> AsyncIterator[Intake]:
    async with open_intake(COMMANDS) as intake:
        yield intake


@asynccontextmanager
async def open_intake(commands: Sequence[Command]) -> AsyncIterator[Intake]:
    store, background, everybody = await new_store(), Background(), Everybody()
    await store.write(lambda tx: tx.members.note(ANA, Access.MEMBER, AccessPolicy().rule, NOW))
    async with open_session() as session:
        client = web_client(SecretStr("xoxb-1"), NOWHERE, session)
        context = Context(
            store, everybody, HeldClock(), lambda: None, Projects.only(PROJECT), UserId("U0BOT")
        )
        listeners = Listeners(
            context=context,
            gap=(gap := Gap(context)),
            client=client,
            messenger=cast("SlackMessenger", everybody),
            background=background,
            on_message=heard,
            count=lambda _what, _how: None,
        )
        app = build_app(
            client=client,
            signing_secret=SecretStr(SECRET),
            listeners=listeners,
            commands=commands,
        )
        yield Intake(app, store, background, everybody, gap)
        await background.drain(2)
    await store.close()


async def break_the_database(intake: Intake) -> None:
    await execute(intake.store, text("DROP TABLE prompts"))


async def test_a_command_is_stored_when_it_is_acknowledged(intake: Intake) -> None:
    answer = await intake.command("Add a page")
    assert (answer.status, answer.body) == (200, "")
    assert await intake.stored() == 1


async def test_a_command_that_could_not_be_stored_says_so_with_a_reference(intake: Intake) -> None:
    await break_the_database(intake)
    answer = await intake.command("Add a page")
    said = json.loads(answer.body)
    assert answer.status == 200
    assert said["response_type"] == "ephemeral"
    assert f"reference `{reference('command:1.2.3')}`" in said["text"], "the same as in the log"
    assert "DROP" not in said["text"]
    assert "Traceback" not in answer.body


@pytest.fixture
async def pause(intake: Intake) -> AsyncIterator[Pause]:
    """The database does not answer until the pause ends."""
    pause = Pause()
    hanging = asyncio.create_task(intake.store.write(lambda _tx: pause()))
    await pause.reached()
    yield pause
    pause.end()
    await hanging


async def test_a_command_that_the_database_does_not_take_in_time_is_not_carried_out_later(
    intake: Intake, pause: Pause
) -> None:
    with within(Deadline.after(0.1)):
        answer = await intake.command("Add a page")
    said = json.loads(answer.body)["text"]
    assert "nothing was started" in said
    assert "/docs-agent Add a page" in said
    pause.end()
    assert await intake.stored() == 0


async def test_commands_that_wait_for_one_transaction_are_told_in_time(intake: Intake) -> None:
    """The first is being stored; the others wait to be stored together after it."""
    pause = Pause()
    event.listen(intake.store.database._writer, "commit", lambda _connection: pause(), once=True)

    async def types(number: int, seconds: float) -> str:
        with within(Deadline.after(seconds)):
            return (await intake.command(f"Add page {number}", trigger=str(number))).body or "taken"

    first = asyncio.create_task(types(1, 10))
    await pause.reached()
    others = asyncio.gather(*(types(number, 10) for number in (2, 3)), types(4, 0.0))
    await asyncio.sleep(0)
    pause.end()
    assert await first == "taken"
    *taken, late = await others
    assert taken == ["taken", "taken"]
    assert "nothing was started" in late
    assert await intake.stored() == 3


async def test_a_command_whose_commit_is_not_confirmed_may_have_been_taken(intake: Intake) -> None:
    pause = Pause()
    event.listen(intake.store.database._writer, "commit", lambda _connection: pause(), once=True)
    with within(Deadline.after(0.1)):
        answer = await intake.command("Add a page")
    pause.end()
    assert "I may have taken this; see `/docs-agent jobs`" in json.loads(answer.body)["text"]
    assert await intake.stored() == 1


async def test_an_event_that_is_not_stored_in_time_is_left_for_slack_to_deliver_again(
    intake: Intake, pause: Pause
) -> None:
    with within(Deadline.after(0.1)):
        assert (await intake.event(**MENTION)).status == 500
    pause.end()
    assert await intake.stored() == 0
    assert (await intake.event(**MENTION)).status == 200
    assert await intake.stored() == 1


async def test_what_goes_on_after_the_acknowledgement_has_time(intake: Intake) -> None:
    await execute(intake.store, text("DELETE FROM people"))
    with within(Deadline.after(0.2)):
        assert (await intake.command("jobs")).body == ""
        await asyncio.sleep(0.3)
        await intake.background.drain(2)
    [(_, told)] = intake.everybody.private
    assert "No jobs" in told.text


async def test_a_follow_up_that_is_stored_is_not_said_to_be_nothing(intake: Intake) -> None:
    """Whether the person may see the job is looked up later, which fails; the worker looks up again."""
    number = await add_job(intake.store, state=JobState.WORKING)
    await execute(intake.store, text("DELETE FROM people"))
    intake.everybody.broken.append(RuntimeError("Slack is away"))
    assert (await intake.command(f"{number} Delete it", "/docs-followup")).body == ""
    await intake.background.drain(2)
    [row] = await rows_of(intake.store, select(schema.prompts))
    assert row["raw"] == "Delete it"
    [(_, told)] = intake.everybody.private
    assert "nothing was started" not in told.text
    assert "I may have taken this" in told.text
    assert f"/docs-followup {number} Delete it" in told.text


async def test_an_event_that_could_not_be_stored_is_left_for_slack_to_deliver_again(intake: Intake) -> None:
    mention = {
        "type": "app_mention",
        "channel": CHANNEL,
        "ts": "1.1",
        "user": ANA,
        "text": "<@U0BOT> Add a page",
    }
    assert (await intake.event(**mention)).status == 200
    await break_the_database(intake)
    assert (await intake.event(**{**mention, "ts": "1.2"})).status == 500


async def listening(intake: Intake) -> None:
    """A job has a thread, and nothing is to be read again."""
    await add_job(intake.store, root_ts=ts_at(NOW))
    await intake.gap.end()
    await execute(intake.store, update(schema.heard).values(due_at=None, missed_since=None))


async def is_read_again(intake: Intake) -> bool:
    await intake.gap.end()
    [row] = await rows_of(intake.store, select(schema.heard))
    return row["due_at"] is not None


MENTION = {"type": "app_mention", "channel": CHANNEL, "ts": "1.1", "user": ANA, "text": "<@U0BOT> Add a page"}
CHANGED = {"type": "message", "subtype": "message_changed", "channel": CHANNEL, "ts": "1.2"}


@pytest.mark.parametrize(
    "event",
    [
        MENTION,
        CHANGED
        | {
            "message": {"ts": "1.1", "user": ANA, "text": "Add two pages", "edited": {"user": ANA}},
            "previous_message": {"ts": "1.1", "user": ANA, "text": "Add a page"},
        },
        CHANGED
        | {
            "subtype": "message_deleted",
            "deleted_ts": "1.1",
            "previous_message": {"ts": "1.1", "user": ANA, "text": "Add a page"},
        },
    ],
    ids=["said", "edited", "deleted"],
)
async def test_what_the_database_could_not_take_is_read_again(intake: Intake, event: dict[str, Any]) -> None:
    await listening(intake)
    await break_the_database(intake)
    assert (await intake.event(**event)).status == 500
    assert await is_read_again(intake)


async def test_that_slack_drops_events_is_acknowledged_and_what_was_missed_is_read(intake: Intake) -> None:
    await listening(intake)
    limited = {"type": "app_rate_limited", "team_id": "T1", "minute_rate_limited": 1518467820}
    assert (await intake.send(json.dumps(limited), "application/json")).status == 200
    assert await is_read_again(intake)


async def test_a_mention_and_its_message_are_one_request(intake: Intake) -> None:
    said = {"channel": CHANNEL, "ts": "1.1", "user": ANA, "text": "<@U0BOT> Add a page", "channel_type": "im"}
    for kind in ("message", "app_mention", "message"):
        assert (await intake.event(type=kind, **said)).status == 200
    assert await intake.stored() == 1


@pytest.mark.parametrize("kinds", [("message",), ("message", "app_mention"), ("app_mention", "message")])
async def test_a_mention_in_a_group_direct_message_is_one_request_however_it_is_told(
    intake: Intake, kinds: tuple[str, ...]
) -> None:
    said = {"channel": CHANNEL, "ts": "1.1", "user": ANA, "text": "<@U0BOT> Add a page"}
    for kind in kinds:
        about = {"channel_type": "mpim"} if kind == "message" else {}
        assert (await intake.event(type=kind, **said, **about)).status == 200
    assert await intake.stored() == 1


@pytest.mark.parametrize(
    "event",
    [
        {"type": "message", "subtype": "message_changed", "channel": CHANNEL, "ts": "1.1"},
        {
            "type": "message",
            "subtype": "channel_join",
            "channel": CHANNEL,
            "ts": "1.1",
            "user": ANA,
            "text": "x",
        },
        {"type": "message", "bot_id": "B9", "channel": CHANNEL, "ts": "1.1", "user": "U9", "text": "x"},
        {"type": "message", "channel": CHANNEL, "ts": "1.1", "user": ANA, "text": "good morning"},
        {
            "type": "message",
            "channel": CHANNEL,
            "channel_type": "mpim",
            "ts": "1.1",
            "user": ANA,
            "text": "hi",
        },
        {"type": "team_join", "user": {"id": ANA}},
    ],
)
async def test_what_does_not_concern_us_is_acknowledged_and_stored_nowhere(
    intake: Intake, event: dict[str, Any]
) -> None:
    assert (await intake.event(**event)).status == 200
    assert await intake.stored() == 0


async def test_a_channels_new_id_is_stored_or_told_again(intake: Intake) -> None:
    await add_job(intake.store)
    change = {"type": "channel_id_changed", "old_channel_id": CHANNEL, "new_channel_id": "C0NEW"}
    assert (await intake.event(**change)).status == 200
    assert len(await intake.store.read(lambda tx: tx.jobs.in_channel(ChannelId("C0NEW"), 10, ANA))) == 1
    await break_the_database(intake)
    assert (await intake.event(**change)).status == 500


async def test_a_button_that_only_leads_to_an_address_is_acknowledged(intake: Intake) -> None:
    action = {"type": "button", "action_id": "view_pull_request", "value": "1"}
    assert (await intake.interaction(type="block_actions", actions=[action])).status == 200


async def test_what_another_version_offered_is_answered(intake: Intake) -> None:
    answer = await intake.command("x", name="/docs-future")
    assert "I don't know that one" in json.loads(answer.body)["text"]
    view = {"id": "V1", "type": "modal", "callback_id": "future", "state": {"values": {}}}
    assert (await intake.interaction(type="view_submission", view=view)).status == 200


async def test_an_empty_form_keeps_open_and_says_why(intake: Intake) -> None:
    values = {"prompt": {"prompt": {"type": "plain_text_input", "value": " "}}}
    view = {
        "id": "V1",
        "type": "modal",
        "callback_id": "ask",
        "private_metadata": "{}",
        "state": {"values": values},
    }
    answer = json.loads((await intake.interaction(type="view_submission", view=view)).body)
    assert answer["response_action"] == "errors"
    assert set(answer["errors"]) == {"prompt"}


async def test_a_form_sent_twice_is_one_request(intake: Intake) -> None:
    values = {"prompt": {"prompt": {"type": "plain_text_input", "value": "Add a page"}}}
    private = json.dumps({"channel": CHANNEL})
    view = {
        "id": "V1",
        "type": "modal",
        "callback_id": "ask",
        "private_metadata": private,
        "state": {"values": values},
    }
    for _ in range(2):
        assert (await intake.interaction(type="view_submission", view=view)).status == 200
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

    command = Command(
        "/docs-visitors", "", "", (), run, lambda _context, _text: None, buttons={}, forms={}, shortcuts={}
    )
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


@pytest.mark.parametrize("number", [1, 7], ids=["of another channel", "of nothing"])
@pytest.mark.parametrize("text", ["status {}", "{}", "{} Delete everything"])
async def test_an_acknowledgement_does_not_tell_which_numbers_are_jobs(
    intake: Intake, text: str, number: int
) -> None:
    await add_job(intake.store, channel=ChannelId("D0BEN"), requester=BEN)
    name = "/docs-agent" if text.startswith("status") else "/docs-followup"
    answer = await intake.command(text.format(number), name)
    assert (answer.status, answer.body) == (200, "")


@pytest.mark.parametrize(
    "text", ["help people install it", "jobs page is out of date", "status codes are missing: add"]
)
async def test_a_prompt_that_only_begins_with_our_words_is_a_prompt(intake: Intake, text: str) -> None:
    assert (await intake.command(text)).body == ""
    assert await intake.stored() == 1


async def test_what_breaks_while_slack_is_asked_who_may_is_told_under_a_reference(intake: Intake) -> None:
    await execute(intake.store, text("DELETE FROM people"))
    intake.everybody.broken.append(RuntimeError("the database is away"))
    with structlog.testing.capture_logs() as logs:
        assert (await intake.command("")).body == ""
        await intake.background.drain(2)
    told = [(line["event"], "reference" in line) for line in logs]
    assert told == [("request", False), ("access_check_failed", True)]


async def test_a_reply_that_comes_too_early_is_no_error(intake: Intake) -> None:
    root = NewDelivery("root", DeliveryKind.ROOT, CHANNEL, message=Message("#1"))
    await intake.store.write(lambda tx: tx.outbox.add(root, NOW))
    await intake.store.write(lambda tx: tx.outbox.claim(claimer("one"), 1, 1))
    event = {
        "type": "message",
        "channel": CHANNEL,
        "user": ANA,
        "text": "more",
        "ts": "2.1",
        "thread_ts": "1.1",
    }
    with structlog.testing.capture_logs() as logs:
        answer = await intake.event(**event, parent_user_id="U0BOT")
    assert answer.status == 500
    assert [line["log_level"] for line in logs] == ["info"]
