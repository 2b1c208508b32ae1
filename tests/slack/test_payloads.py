"""What Slack sends becomes a typed request with its origin: who, where, and how an answer reaches them."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import SecretStr

from bot.commands.command import FormState
from bot.model.access import Origin
from bot.model.ids import MessageTs, RequestKey, UserId
from bot.model.jobs import SharedFile
from bot.slack import payloads
from bot.work.ports import Changed, Mention, Said, ThreadReply
from tests.builders import ANA, BEN, CHANNEL, let_in

URL = SecretStr("https://hooks.slack.com/1")
BOT = UserId("U0BOT")
FIRST, SECOND = MessageTs("1.1"), MessageTs("1.2")
BY_ANA = {"trigger_id": "9", "user": {"id": ANA}, "response_url": URL.get_secret_value()}


def test_a_command_comes_from_the_channel_in_which_it_was_typed() -> None:
    body = {"command": "/docs-agent", "channel_id": CHANNEL, "user_id": ANA, "trigger_id": "9"}
    said = payloads.invocation({**body, "text": "jobs", "response_url": URL.get_secret_value()})
    assert said.origin == Origin(RequestKey("command:9"), ANA, CHANNEL, response_url=URL)
    command = said.request_of(let_in(said.origin))
    assert (command.command, command.text, said.typed) == ("/docs-agent", "jobs", "/docs-agent jobs")


@pytest.mark.parametrize("where", [{"channel": {"id": CHANNEL}}, {}], ids=["with a channel", "without"])
def test_a_press_comes_from_the_message_of_its_button(where: dict[str, Any]) -> None:
    body = {**BY_ANA, **where, "container": {"message_ts": FIRST, "channel_id": CHANNEL}}
    press = payloads.press({**body, "actions": [{"action_id": "withdraw", "value": "1"}]})
    assert press.origin == Origin(RequestKey("press:9"), ANA, CHANNEL, message_ts=FIRST, response_url=URL)
    pressed = press.request_of(let_in(press.origin))
    assert (pressed.action_id, pressed.value) == ("withdraw", "1")


def test_a_form_comes_from_where_it_was_opened() -> None:
    opened = payloads.invocation(
        {"command": "/docs-agent", "channel_id": CHANNEL, "user_id": BEN, "trigger_id": "8"}
    )
    state = FormState.at(opened.origin, thread=FIRST)
    view = {"id": "V1", "callback_id": "ask", "private_metadata": state.dumps()}
    sent = payloads.submission({**BY_ANA, "view": view})
    assert sent.origin == Origin(RequestKey("view:V1"), ANA, CHANNEL, FIRST)


def test_a_form_of_another_version_comes_from_no_channel() -> None:
    view = {"id": "V1", "callback_id": "ask", "private_metadata": "what was this?"}
    assert payloads.submission({**BY_ANA, "view": view}).origin.channel == ""


def test_a_shortcut_comes_from_the_message_on_which_it_was_used() -> None:
    message = {"ts": SECOND, "thread_ts": FIRST, "text": "A page is missing"}
    used = payloads.shortcut_use(
        {**BY_ANA, "callback_id": "ask_about", "channel": {"id": CHANNEL}, "message": message}
    )
    assert used.origin == Origin(RequestKey("shortcut:9"), ANA, CHANNEL, FIRST, SECOND, URL)


def test_a_reply_comes_from_its_thread_and_a_mention_from_none() -> None:
    event = {"type": "app_mention", "channel": CHANNEL, "user": ANA, "ts": SECOND, "text": "more"}
    said = Origin(RequestKey(f"message:{CHANNEL}:1.2"), ANA, CHANNEL, message_ts=SECOND)
    assert payloads.spoken(event, BOT) == Mention(said, "more")
    assert payloads.spoken({**event, "thread_ts": SECOND}, BOT) == Mention(said, "more")
    reply = payloads.spoken(
        {**event, "thread_ts": FIRST, "parent_user_id": BEN, "files": [{"name": "a.png"}]}, BOT
    )
    assert isinstance(reply, ThreadReply)
    assert reply.origin.thread_ref == (CHANNEL, FIRST)
    assert (reply.origin.message_ts, reply.files, reply.parent) == (
        SECOND,
        (SharedFile("a.png", 0, is_text=False),),
        BEN,
    )


@pytest.mark.parametrize(
    ("kind", "text", "is_meant"),
    [
        ("mpim", "<@U0BOT> add a page", True),
        ("mpim", "please, <@U0BOT|docs-agent>, add a page", True),
        ("mpim", "<@U0BEN> add a page", False),
        ("mpim", "add a page", False),
        ("im", "add a page", True),
        ("channel", "<@U0BOT> add a page", False),
        ("group", "<@U0BOT> add a page", False),
    ],
)
def test_a_message_is_meant_for_the_bot_where_no_second_event_may_say_so(
    kind: str, text: str, is_meant: bool
) -> None:
    event = {"type": "message", "channel": CHANNEL, "user": ANA, "ts": SECOND, "channel_type": kind}
    received = payloads.spoken({**event, "text": text}, BOT)
    assert isinstance(received, Mention) is is_meant


@pytest.mark.parametrize(
    ("about", "thread"),
    [
        ({"container": {"message_ts": SECOND, "thread_ts": FIRST}}, FIRST),
        ({"container": {"message_ts": SECOND}, "message": {"ts": SECOND, "thread_ts": FIRST}}, FIRST),
        ({"message": {"ts": SECOND, "thread_ts": FIRST}}, FIRST),
        ({"container": {"message_ts": FIRST, "thread_ts": FIRST}}, None),
        ({"container": {"message_ts": FIRST}}, None),
        ({}, None),
    ],
)
def test_private_words_belong_into_the_thread_of_the_message(
    about: dict[str, Any], thread: MessageTs | None
) -> None:
    body = {**BY_ANA, "channel": {"id": CHANNEL}, "actions": [{"action_id": "read_top"}], **about}
    for origin in (payloads.asker(body), payloads.press(body).origin):
        here = (origin.user, origin.channel, origin.thread, origin.response_url)
        assert here == (ANA, CHANNEL, thread, URL)


def test_what_was_said_in_a_thread_tells_people_from_bots_and_leaves_notices_out() -> None:
    person = {"ts": "1.1", "user": "U1", "text": "Hi"}
    assert payloads.said(person) == Said(MessageTs("1.1"), UserId("U1"), "Hi")
    bot = payloads.said(person | {"bot_id": "B1"})
    assert bot is not None
    assert bot.by_bot
    webhook = payloads.said({"ts": "1.2", "subtype": "bot_message", "text": "Alert"})
    assert webhook == Said(MessageTs("1.2"), None, "Alert", by_bot=True)
    assert payloads.said(person | {"subtype": "channel_join"}) is None


@pytest.mark.parametrize("about", [{"thread_ts": FIRST}, {"channel_type": "im"}, {"type": "app_mention"}])
def test_the_bot_does_not_hear_itself(about: dict[str, Any]) -> None:
    """Slack marks a bot's message with its id, but not every file that a bot shares."""
    event = {"type": "message", "user": ANA, "channel": CHANNEL, "ts": SECOND, "text": f"<@{BOT}> Hi"} | about
    assert payloads.spoken(event, BOT) is not None
    assert payloads.spoken(event | {"user": BOT}, BOT, {BOT}) is None


WAS = {"user": ANA, "ts": SECOND, "text": "Add a page"}
NOW_IS = WAS | {"text": "Add two", "edited": {"user": ANA, "ts": "1.5"}}
EDITED = {
    "subtype": "message_changed",
    "channel": CHANNEL,
    "ts": "1.6",
    "message": NOW_IS,
    "previous_message": WAS,
}


def test_an_edit_names_its_message_its_author_and_the_new_text() -> None:
    said = Origin(RequestKey(f"message:{CHANNEL}:1.2"), ANA, CHANNEL, FIRST, SECOND)
    in_thread = EDITED | {"message": NOW_IS | {"thread_ts": FIRST}}
    assert payloads.changed(in_thread, BOT) == Changed(said, "Add two", "1.6", "Add a page")


@pytest.mark.parametrize(
    "event",
    [
        EDITED | {"message": NOW_IS | {"text": "Add a page", "attachments": [{"title": "A preview"}]}},
        EDITED | {"message": WAS | {"text": "Add two"}},
        EDITED | {"message": NOW_IS | {"edited": {"user": BEN}}},
        EDITED | {"message": NOW_IS | {"bot_id": "B1"}},
        EDITED | {"message": NOW_IS | {"user": BOT, "edited": {"user": BOT}}, "previous_message": {}},
        {
            "subtype": "message_deleted",
            "channel": CHANNEL,
            "deleted_ts": SECOND,
            "previous_message": WAS | {"user": BOT},
        },
        {"subtype": "message_changed", "channel": CHANNEL, "ts": "1.6"},
        {"subtype": "message_deleted", "channel": CHANNEL, "ts": "1.6"},
        EDITED | {"subtype": None},
    ],
)
def test_previews_edits_of_others_and_of_bots_are_no_edits(event: dict[str, Any]) -> None:
    assert payloads.changed(event, BOT) is None


@pytest.mark.parametrize(
    "event",
    [
        {"subtype": "message_deleted", "deleted_ts": SECOND, "previous_message": WAS},
        {"subtype": "message_deleted", "deleted_ts": SECOND},
        {
            "subtype": "message_changed",
            "message": {"subtype": "tombstone", "ts": SECOND},
            "previous_message": WAS,
        },
    ],
)
def test_a_deleted_message_is_known_with_and_without_replies(event: dict[str, Any]) -> None:
    gone = payloads.changed(event | {"channel": CHANNEL, "ts": "1.6"}, BOT)
    assert gone is not None
    assert (gone.origin.key, gone.text) == (f"message:{CHANNEL}:1.2", None)
    assert gone.before == ("Add a page" if "previous_message" in event else None)


SINCE = MessageTs("1.4")


def test_an_edit_that_was_not_heard_is_known_by_its_time() -> None:
    said = Origin(RequestKey(f"message:{CHANNEL}:1.2"), ANA, CHANNEL, FIRST, SECOND)
    message = NOW_IS | {"channel": CHANNEL, "thread_ts": FIRST}
    assert payloads.changed_after(SINCE, message) == Changed(said, "Add two", "1.5")
    gone = payloads.changed_after(SINCE, {"subtype": "tombstone", "ts": SECOND, "channel": CHANNEL})
    assert gone is not None
    assert (gone.origin.key, gone.text) == (f"message:{CHANNEL}:1.2", None)


@pytest.mark.parametrize(
    "values",
    [
        {"edited": None},
        {"edited": {"user": ANA, "ts": "1.4"}},
        {"edited": {"user": BEN, "ts": "1.5"}},
        {"bot_id": "B1"},
        {"user": None},
        {"subtype": "channel_join"},
    ],
)
def test_no_other_message_that_is_read_again_has_changed(values: dict[str, Any]) -> None:
    assert payloads.changed_after(SINCE, {**NOW_IS, "channel": CHANNEL, **values}) is None


BY_APP = {
    "type": "message",
    "channel": CHANNEL,
    "ts": SECOND,
    "text": f"<@{BOT}> Add a page",
    "bot_id": "B0FLOW",
    "app_id": "A0FLOW",
    "user": "U0FLOW",
}


@pytest.mark.parametrize("listed", ["A0FLOW", "U0FLOW"])
def test_a_mention_by_a_listed_app_counts_under_the_id_that_is_listed(listed: str) -> None:
    said = Origin(RequestKey(f"message:{CHANNEL}:1.2"), UserId(listed), CHANNEL, message_ts=SECOND)
    received = payloads.spoken(BY_APP, BOT, {UserId(listed)})
    assert received == Mention(said, f"<@{BOT}> Add a page")
    workflow = {**BY_APP, "subtype": "bot_message", "user": None, "thread_ts": FIRST}
    found = payloads.spoken(workflow, BOT, {UserId("A0FLOW")})
    assert isinstance(found, Mention)
    assert found.origin.thread == FIRST


@pytest.mark.parametrize(
    "values",
    [
        {"app_id": "A0OTHER", "user": "U0OTHER"},
        {"text": "Add a page"},
        {"user": BOT},
        {"subtype": "channel_join"},
    ],
)
def test_no_other_message_of_an_app_counts(values: dict[str, Any]) -> None:
    assert payloads.spoken(BY_APP | values, BOT, {UserId("A0FLOW")}) is None
    assert payloads.spoken(BY_APP | values, BOT) is None
