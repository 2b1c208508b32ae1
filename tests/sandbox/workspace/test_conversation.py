"""People's actions reach a bot made with Slack's libraries, over Socket Mode and over signed HTTP."""

from __future__ import annotations

from tests.sandbox.workspace.conftest import Served
from tests.sandbox.workspace.small_bot import ANA, ANAS_DM, BOT, DOCS, PRODUCT, Json, until


def _private(served: Served) -> list[Json]:
    return list(served.state.ephemerals.values())


async def test_blocks_that_slack_refuses_vanish_from_an_acknowledgement(served: Served) -> None:
    assert (await served.people.command(ANA, DOCS, "/docs-agent", "sparkles"))["ok"]
    assert not _private(served)
    assert [entry["error"] for entry in served.workspace.log if entry["to"] == "person"] == [
        "unsupported type: sparkles [json-pointer:/blocks/0/type]"
    ]


async def test_a_command_is_answered_through_its_response_url(served: Served) -> None:
    await served.people.command(ANA, DOCS, "/docs-agent", "a page & more for @ben")
    note = await until(lambda: next(iter(_private(served)), None))
    assert (note["user"], note["channel"]) == (ANA, DOCS)
    assert served.heard.commands[0]["text"] == "a page &amp; more for <@U02BEN|ben>"


async def test_a_dialogue_stays_with_its_errors_and_closes_when_it_is_right(served: Served) -> None:
    await served.people.command(ANA, DOCS, "/docs-agent", "")
    view = await until(lambda: next(iter(served.state.views.values()), None))

    def values(text: str) -> Json:
        return {"prompt": {"prompt": {"type": "plain_text_input", "value": text}}}

    refused = await served.people.submit_view(ANA, view["id"], values("bad"))
    assert refused["errors"] == {"prompt": "Say more."}
    assert served.state.views
    assert (await served.people.submit_view(ANA, view["id"], values("good")))["ok"]
    assert not served.state.views
    assert served.heard.interactions[-1]["view"]["callback_id"] == "form"


async def test_a_mention_comes_twice_with_two_ids(served: Served) -> None:
    said = served.people.say(ANA, DOCS, "@docs-agent write a page")
    await until(lambda: len(served.heard.events) == 2 or None)
    assert {each["event"]["type"] for each in served.heard.events} == {"message", "app_mention"}
    assert {each["event"]["ts"] for each in served.heard.events} == {said["ts"]}
    assert len({each["event_id"] for each in served.heard.events}) == 2


async def test_a_reply_says_whose_thread_it_is_in(served: Served) -> None:
    root = await served.client.chat_postMessage(channel=DOCS, text="A job")
    served.people.say(ANA, DOCS, "shorter please", thread_ts=str(root["ts"]))
    await until(lambda: served.heard.of("message") or None)
    (heard,) = served.heard.of("message")
    assert (heard["thread_ts"], heard["parent_user_id"]) == (root["ts"], BOT)
    assert heard["channel_type"] == "channel"


async def test_the_bot_hears_only_where_it_is(served: Served) -> None:
    served.people.say(ANA, PRODUCT, "not for the bot")
    said = served.people.say(ANA, ANAS_DM, "for the bot")
    await until(lambda: served.heard.of("message") or None)
    assert [(one["ts"], one["channel_type"]) for one in served.heard.of("message")] == [(said["ts"], "im")]


async def test_a_changed_and_a_deleted_message_are_told(served: Served) -> None:
    said = served.people.say(ANA, DOCS, "frist")
    served.people.edit(ANA, DOCS, said["ts"], "first")
    served.people.delete(ANA, DOCS, said["ts"])
    await until(lambda: len(served.heard.events) == 3 or None)
    by_kind = {one.get("subtype"): one for one in served.heard.of("message")}
    assert by_kind["message_changed"]["message"]["text"] == "first"
    assert by_kind["message_changed"]["previous_message"]["text"] == "frist"
    assert by_kind["message_deleted"]["deleted_ts"] == said["ts"]


async def test_a_deleted_message_with_replies_stays_as_a_tombstone(served: Served) -> None:
    said = served.people.say(ANA, DOCS, "Wrong place")
    served.people.say(ANA, DOCS, "A reply", thread_ts=said["ts"])
    served.people.delete(ANA, DOCS, said["ts"])
    await until(lambda: len(served.heard.events) == 3 or None)
    [changed] = [one for one in served.heard.of("message") if one.get("subtype") == "message_changed"]
    assert changed["message"]["subtype"] == "tombstone"
    assert changed["previous_message"]["text"] == "Wrong place"


async def test_a_shortcut_carries_its_message(served: Served) -> None:
    said = served.people.say(ANA, DOCS, "this is wrong")
    assert (await served.people.shortcut(ANA, "ask_about", DOCS, said["ts"]))["ok"]
    (heard,) = served.heard.interactions
    assert heard["type"] == "message_action"
    assert heard["message"]["text"] == "this is wrong"
