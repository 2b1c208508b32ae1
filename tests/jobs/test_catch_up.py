"""Conversations that the bot reads again after an outage, once and in the right order."""

from __future__ import annotations

import asyncio

from sandbox.workspace.state import Json
from tests.talk import Talk


async def prompts(talk: Talk, *expected: str) -> None:
    """Let time pass, and check what the agent got."""
    await talk.time.passes(minutes=6)
    assert sorted(talk.agent_got()) == sorted(expected)
    talk.everything()


async def test_direct_messages_around_the_first_that_arrives_are_taken(talk: Talk) -> None:
    talk.slack.line.drops_events = True
    await talk.ana.says("Add a page on keys", "dm")
    await talk.time.passes(60)
    await talk.ana.says("Add a guide", "dm")
    arrives = talk.slack.line.sent[-1]
    await talk.time.passes(60)
    await talk.ana.says("Add a table", "dm")
    talk.slack.line.drops_events = False
    talk.slack.line.send_event(arrives)
    await prompts(talk, "Add a guide", "Add a page on keys", "Add a table")
    assert talk.slack.calls.count("conversations.history") == 1


async def test_reply_whose_event_was_lost_shortly_before_the_newest_is_taken_after_an_outage(
    talk: Talk,
) -> None:
    await talk.finished()
    talk.slack.line.drops_events = True
    await talk.ana.replies("Mention retries")
    talk.slack.line.drops_events = False
    await talk.time.passes(30)
    await talk.ben.replies("Add a table")
    await talk.time.passes(60)
    talk.process.dies()
    await talk.time.passes(minutes=3)
    await talk.process.starts()
    await prompts(talk, "Add a quickstart", "Add a table", "Mention retries")


async def test_reply_given_up_before_the_status_was_found_is_taken(talk: Talk) -> None:
    talk.faults.loses_the_answer("chat.postMessage")
    await talk.ana.asks("Add a quickstart")
    await talk.time.passes(0.5)
    talk.slack.line.drops_events = True
    await talk.ana.replies("Mention retries")
    talk.slack.line.drops_events = False
    status, _ = await talk.receives(talk.slack.line.sent[-1])
    assert status == 200
    await prompts(talk, "Add a quickstart", "Mention retries")


async def reply_is_overtaken(talk: Talk, text: str = "Mention retries") -> tuple[Json, list[Json]]:
    """Let Ben reply to a status message whose timestamp is not stored, and keep the events back."""
    talk.faults.loses_the_answer("chat.postMessage")
    await talk.ana.asks("Add a quickstart")
    await talk.time.passes(0.5)
    talk.slack.line.drops_events = True
    before = len(talk.slack.line.sent)
    said = await talk.ben.replies(text)
    talk.slack.line.drops_events = False
    return said, talk.slack.line.sent[before:]


async def test_edit_that_overtakes_a_reply_to_a_new_status_message_counts(talk: Talk) -> None:
    said, [event] = await reply_is_overtaken(talk)
    await talk.ben.edits(said, "Mention backoff")
    await talk.time.passes(0.2)
    talk.slack.line.send_event(event)
    await prompts(talk, "Add a quickstart", "Mention backoff")


async def test_deletion_that_overtakes_a_reply_to_a_new_status_message_counts(talk: Talk) -> None:
    said, [event] = await reply_is_overtaken(talk)
    await talk.ben.deletes(said)
    await talk.time.passes(0.2)
    talk.slack.line.send_event(event)
    await prompts(talk, "Add a quickstart")


async def test_mention_that_does_not_name_the_thread_s_author_first_is_a_follow_up(
    talk: Talk,
) -> None:
    _, [message, mention] = await reply_is_overtaken(talk, "@docs-agent Mention retries")
    for event in (mention, message):
        talk.slack.line.send_event(event)
        await talk.works()
    await prompts(talk, "Add a quickstart", "Mention retries")
    assert len(talk.service.jobs) == 1


async def test_reply_waits_as_long_as_its_status_message_is_searched_for(talk: Talk) -> None:
    talk.faults.loses_the_answer("chat.postMessage")
    await talk.ana.asks("Add a quickstart")
    await talk.time.passes(0.5)
    talk.faults.goes_down("conversations.history")
    await talk.ben.replies("Mention retries")
    await talk.time.passes(minutes=20)
    talk.faults.comes_back()
    await prompts(talk, "Add a quickstart", "Mention retries")


async def test_refused_reply_is_not_read_again_once_its_author_may(talk: Talk) -> None:
    await talk.finished()
    await talk.process.starts(allowed_users=talk.ana.id)
    await talk.ben.replies("Mention retries")
    await talk.time.passes(minutes=30)
    assert "This bot is set up for some people only" in talk.ben.reads()[0]
    await talk.process.stops()
    await talk.process.starts(allowed_users=f"{talk.ana.id},{talk.ben.id}")
    await prompts(talk, "Add a quickstart")
    assert "conversations.replies" in talk.slack.calls


async def test_nothing_is_read_while_slack_limits_reading(talk: Talk) -> None:
    await talk.finished()
    await talk.ana.says("help", "dm")
    await talk.time.passes(1)
    talk.process.dies()
    await talk.time.passes(minutes=10)
    talk.faults.limits("conversations.replies", 60)
    talk.faults.limits("conversations.history", 60)
    await talk.process.starts()
    calls = len(talk.slack.calls)
    await talk.time.passes(50)
    assert (
        len([call for call in talk.slack.calls[calls:] if call.startswith("conversations.")]) == 1
    )
    await talk.time.passes(minutes=5)
    assert {"conversations.replies", "conversations.history"} <= {*talk.slack.calls[calls:]}
    talk.everything()


async def test_outage_is_read_though_the_database_fails_as_it_ends(talk: Talk) -> None:
    await talk.finished()
    talk.process.dies()
    await talk.ana.replies("Mention retries")
    await talk.time.passes(minutes=10)
    await talk.process.starts()
    with talk.database_fails("inbox"):
        for _ in range(2):
            failed = await asyncio.gather(talk.time.passes(1), return_exceptions=True)
            assert isinstance(failed[0], Exception)
    await prompts(talk, "Add a quickstart", "Mention retries")
