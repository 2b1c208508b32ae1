"""Private answers after the acknowledgement survive faults of Slack."""

from __future__ import annotations

import json

import pytest
from pydantic import SecretStr

from bot.ids import ChannelId, Message, RequestKey, UserId
from bot.ports import Origin
from bot.slack.intake import say_privately
from bot.slack.messenger import SlackMessenger
from sandbox.workspace import Workspace
from tests.talk import Talk

ANA, DOCS = UserId("U01ANA"), ChannelId("C01DOCS")


async def greetings(
    workspace: Workspace, messenger: SlackMessenger, fault: str, times: int = 1
) -> list[str]:
    """Greet Ana through a response URL with these faults; return her private messages."""
    workspace.faults.order(
        [{"method": "response_url", "fault": fault, "times": times, "seconds": 1}]
    )
    url = SecretStr(workspace.people.tickets.response_url(ANA, DOCS))
    asker = Origin(RequestKey("1"), ANA, DOCS, response_url=url)
    await say_privately(messenger, asker, Message("Hello"), pause_seconds=0.01)
    return [note["text"] for note in workspace.state.ephemerals.values()]


@pytest.mark.parametrize(
    ("fault", "times", "received"),
    [
        *((fault, 3, ["Hello"]) for fault in ("500", "502_html", "error:internal_error")),
        ("500", 40, []),
    ],
)
async def test_private_message_is_tried_four_times(
    workspace: Workspace, messenger: SlackMessenger, fault: str, times: int, received: list[str]
) -> None:
    assert await greetings(workspace, messenger, fault, times) == received
    assert len(workspace.log) == 4


async def test_retry_after_of_slack_is_kept(
    workspace: Workspace, messenger: SlackMessenger
) -> None:
    assert await greetings(workspace, messenger, "429") == ["Hello"]
    tries = [entry["at"] for entry in workspace.log if entry["method"] == "response_url"]
    assert tries[1] - tries[0] >= 0.9


async def press_in_thread(talk: Talk) -> None:
    """Let Ben press a button of Ana's job in a thread."""
    await talk.process.starts(uses_an_hour=1, log_level="INFO")
    root = await talk.ana.says("The docs lack a page")
    await talk.started()
    await talk.ana.replies("@docs-agent Add a page on keys", to=root)
    await talk.time.passes()
    talk.everything()
    await talk.ben.presses("Withdraw")


@pytest.mark.parametrize(
    ("refusals", "in_thread", "errors"),
    [
        ({}, True, set()),
        ({"chat.postEphemeral": "invalid_blocks"}, True, {"blocks_refused"}),
        ({"chat.postEphemeral": "user_not_in_channel"}, False, set()),
        (
            {"chat.postEphemeral": "user_not_in_channel", "response_url": "expired_url"},
            False,
            set(),
        ),
    ],
)
async def test_answer_to_a_button_appears_where_slack_accepts_it(
    talk: Talk, refusals: dict[str, str], in_thread: bool, errors: set[str]
) -> None:
    for method, code in refusals.items():
        talk.faults.refuses(method, code)
    await press_in_thread(talk)
    [note] = talk.ben.reads()
    assert "Only <@U01ANA>" in note
    assert (note.message["channel"], note.message["thread_ts"] is not None) == (DOCS, in_thread)
    assert talk.errors() == errors


async def test_undeliverable_answer_is_logged_once(talk: Talk) -> None:
    talk.faults.refuses("chat.postEphemeral", "user_not_in_channel", times=2)
    talk.faults.refuses("response_url", "expired_url")
    await press_in_thread(talk)
    assert talk.ben.reads() == []
    lines = [json.loads(line) for line in talk.log()]
    ways = [(line["level"], line["way"]) for line in lines if "way" in line]
    assert ways == [("info", "thread"), ("info", "response_url"), ("warning", "channel")]


async def test_replacing_answer_has_the_id_of_the_first(talk: Talk) -> None:
    await talk.ana.asks("Say that the token is sk_live_51HqLyjWDarjtT1zdp7dc")
    [answer] = talk.ana.reads()
    await talk.ana.presses("Send it anyway", on=answer)
    assert len(talk.slack.state.ephemerals) == 1
    [sent] = talk.ana.reads()
    assert sent.message["id"] == answer.message["id"]
