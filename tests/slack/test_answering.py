"""What is said to one person after the acknowledgement is not lost at the first stumble."""

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


async def says(workspace: Workspace, messenger: SlackMessenger, fault: str, times: int = 1) -> list[str]:
    """Say hello through a response URL that meets these faults; return what Ana received."""
    workspace.faults.order([{"method": "response_url", "fault": fault, "times": times, "seconds": 1}])
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
    assert await says(workspace, messenger, fault, times) == received
    assert len(workspace.log) == 4


async def test_retry_after_of_slack_is_kept(workspace: Workspace, messenger: SlackMessenger) -> None:
    assert await says(workspace, messenger, "429") == ["Hello"]
    tries = [entry["at"] for entry in workspace.log if entry["method"] == "response_url"]
    assert tries[1] - tries[0] >= 0.9


async def press_in_thread(talk: Talk) -> None:
    """Ben presses a button of Ana's job, whose status stands in a thread."""
    await talk.process.starts(uses_an_hour=1, log_level="INFO")
    root = await talk.ana.says("The docs lack a page")
    await talk.started()
    await talk.ana.replies("@docs-agent Add a page", to=root)
    await talk.time.passes()
    talk.everything()
    await talk.ben.presses("Withdraw")


async def place_of_note(talk: Talk) -> tuple[str, bool]:
    """Let Ben press; return the channel of the note that only he sees, and whether it stands in a thread."""
    await press_in_thread(talk)
    [note] = talk.ben.reads()
    assert "Only <@U01ANA>" in note
    return note.message["channel"], note.message["thread_ts"] is not None


async def test_words_about_a_button_in_a_thread_appear_in_that_thread(talk: Talk) -> None:
    assert await place_of_note(talk) == (DOCS, True)


async def test_where_slack_refuses_them_in_the_thread_they_come_as_before(talk: Talk) -> None:
    talk.faults.refuses("chat.postEphemeral", "user_not_in_channel")
    assert await place_of_note(talk) == (DOCS, False)


async def test_what_slack_refuses_to_draw_is_said_plainly_in_the_same_place(talk: Talk) -> None:
    talk.faults.refuses("chat.postEphemeral", "invalid_blocks")
    assert await place_of_note(talk) == (DOCS, True)
    assert talk.errors() == {"blocks_refused"}


async def test_what_a_response_url_does_not_take_is_said_in_the_channel(talk: Talk) -> None:
    talk.faults.refuses("chat.postEphemeral", "user_not_in_channel")
    talk.faults.refuses("response_url", "expired_url")
    assert await place_of_note(talk) == (DOCS, False)
    assert talk.slack.calls[-3:] == ["chat.postEphemeral", "response_url", "chat.postEphemeral"]


async def test_what_slack_takes_nowhere_is_logged_once(talk: Talk) -> None:
    talk.faults.refuses("chat.postEphemeral", "user_not_in_channel", times=2)
    talk.faults.refuses("response_url", "expired_url")
    await press_in_thread(talk)
    assert talk.ben.reads() == []
    lines = [json.loads(line) for line in talk.log()]
    told = [(line["level"], line["way"]) for line in lines if "way" in line]
    assert told == [("info", "thread"), ("info", "response_url"), ("warning", "channel")]


async def test_words_that_replace_a_message_replace_it(talk: Talk) -> None:
    await talk.ana.asks("Say that the token is sk_live_51HqLyjWDarjtT1zdp7dc")
    [answer] = talk.ana.reads()
    await talk.ana.presses("Send it anyway", on=answer)
    assert len(talk.slack.state.ephemerals) == 1
    [sent] = talk.ana.reads()
    assert sent.message["id"] == answer.message["id"]
