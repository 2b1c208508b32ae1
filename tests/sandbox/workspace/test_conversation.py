"""People's actions reach a bot made with Slack's libraries, over Socket Mode and over signed HTTP."""

from __future__ import annotations

from tests.sandbox.workspace.conftest import Served
from tests.sandbox.workspace.small_bot import ANA, ANAS_DM, DOCS, PRODUCT, Json, until


def _private(served: Served) -> list[Json]:
    return list(served.state.ephemerals.values())


async def test_blocks_that_slack_refuses_vanish_from_an_acknowledgement(served: Served) -> None:
    assert (await served.people.command(ANA, DOCS, "/docs-agent", "sparkles"))["ok"]
    assert not _private(served)
    assert [entry["error"] for entry in served.workspace.log if entry["to"] == "person"] == [
        "unsupported type: sparkles [json-pointer:/blocks/0/type]"
    ]


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
    [changed] = [
        one for one in served.heard.of("message") if one.get("subtype") == "message_changed"
    ]
    assert changed["message"]["subtype"] == "tombstone"
    assert changed["previous_message"]["text"] == "Wrong place"


async def test_the_bot_hears_only_where_it_is(served: Served) -> None:
    served.people.say(ANA, PRODUCT, "not for the bot")
    said = served.people.say(ANA, ANAS_DM, "for the bot")
    await until(lambda: served.heard.of("message") or None)
    assert [(one["ts"], one["channel_type"]) for one in served.heard.of("message")] == [
        (said["ts"], "im")
    ]
