"""An hour without the bot, with edits and deletions in it: nothing is lost, twice, or kept of talk."""

from __future__ import annotations

import pytest

from tests.talk import Talk

BOT = "@docs-agent"
MARK = "Zanzibar"
"""A word of talk, which is kept nowhere."""


@pytest.fixture
def talk(talk: Talk) -> Talk:
    """Return a conversation with a bot that may ask the docs."""
    talk.process.answers_questions()
    return talk


async def comes_back(talk: Talk) -> None:
    """Start the bot an hour later, and let it do all that is due."""
    await talk.time.passes(hours=1)
    await talk.process.starts()
    await talk.time.passes(minutes=10)


async def repeat_events(talk: Talk, first: int) -> None:
    """Deliver all events since the ``first`` once more, the newest first."""
    for event in list(reversed(talk.slack.line.sent[first:])):
        talk.slack.line.send_event(event)
        await talk.hears()
    await talk.time.passes(minutes=10)


async def test_what_waits_goes_as_it_reads_after_an_hour(talk: Talk) -> None:
    await talk.process.starts(uses_an_hour=1)
    await talk.started("Add a quickstart", by=talk.ben)
    edited = await talk.ana.says(f"{BOT} Add a page on keys")
    deleted = await talk.chika.says(f"{BOT} Add a page on quotas")
    await talk.time.passes(20)
    talk.process.dies()
    first = len(talk.slack.line.sent)
    await talk.time.passes(minutes=5)
    await talk.ana.edits(edited, f"{BOT} Add a page on webhooks")
    await talk.chika.deletes(deleted)
    await comes_back(talk)
    await talk.time.passes(hours=1)
    await repeat_events(talk, first)
    assert talk.agent_got() == ["Add a quickstart", "Add a page on webhooks"]
    assert "Withdrawn" in talk.job(3)
    talk.everything()


async def test_replies_of_an_hour_count_as_they_read_now(talk: Talk) -> None:
    await talk.finished()
    talk.process.dies()
    first = len(talk.slack.line.sent)
    await talk.time.passes(minutes=5)
    edited = await talk.ana.replies("Mention retries")
    await talk.time.passes(minutes=5)
    deleted = await talk.ben.replies("Mention timeouts")
    await talk.time.passes(minutes=5)
    await talk.chika.replies(f"I'll look at {MARK} after lunch")
    await talk.ana.edits(edited, "Mention back-offs")
    await talk.ben.deletes(deleted)
    await comes_back(talk)
    await repeat_events(talk, first)
    assert talk.agent_got() == ["Add a quickstart", "Mention back-offs"]
    assert talk.kept(MARK) == []
    assert "inbox.user" not in talk.kept(talk.chika.id)
    talk.everything()


async def test_open_question_is_answered_as_it_reads_after_an_hour(talk: Talk) -> None:
    await talk.process.starts()
    talk.service.hangs("answer")
    talk.service.hangs("answer")
    edited = await talk.ana.says(f"{BOT} How do I rotate an API key?")
    deleted = await talk.ben.says(f"{BOT} How do I delete {MARK}?")
    await talk.time.passes(5)
    talk.process.dies()
    first = len(talk.slack.line.sent)
    await talk.ana.edits(edited, f"{BOT} How do I rename an API key?")
    await talk.ben.deletes(deleted)
    await comes_back(talk)
    await repeat_events(talk, first)
    assert len(talk.thread(edited)) == 1
    assert [text for text, _ in talk.service.questions] == ["How do I rename an API key?"]
    assert talk.thread(deleted) == []
    assert MARK not in await talk.chika.answer_to("/docs-agent gaps")
    talk.everything()


async def test_hour_without_slack_loses_no_word(talk: Talk) -> None:
    await talk.finished()
    talk.slack.line.drops_events = True
    edited = await talk.ana.replies("Mention retries")
    await talk.time.passes(minutes=30)
    await talk.ana.edits(edited, "Mention back-offs")
    deleted = await talk.ben.replies("Mention timeouts")
    await talk.time.passes(minutes=30)
    await talk.ben.deletes(deleted)
    talk.slack.line.drops_events = False
    talk.process.dies()
    await talk.process.starts()
    await talk.time.passes(minutes=10)
    assert talk.agent_got() == ["Add a quickstart", "Mention back-offs"]
    talk.everything()


async def waits_for_quota(talk: Talk) -> None:
    """Let a prompt wait for an hour, until a few seconds before it is due."""
    await talk.process.starts(uses_an_hour=1)
    await talk.started("Add a quickstart", by=talk.ben)
    await talk.ana.says(f"{BOT} Add a page on keys")
    await talk.time.passes(minutes=59)
    await talk.time.passes(45)


async def test_look_after_an_hour_is_repeated_when_slack_says(talk: Talk) -> None:
    await waits_for_quota(talk)
    talk.slack.faults.limits("conversations.replies", 20)
    await talk.time.passes(25)
    assert talk.agent_got() == ["Add a quickstart"]
    assert talk.slack.faults.left() == []
    await talk.time.passes(10)
    assert talk.agent_got() == ["Add a quickstart", "Add a page on keys"]
    talk.everything()


async def test_look_that_fails_once_after_an_hour_delays_by_seconds(talk: Talk) -> None:
    await waits_for_quota(talk)
    talk.slack.faults.fails("conversations.replies")
    await talk.time.passes(15)
    assert talk.slack.faults.left() == []
    assert talk.agent_got() == ["Add a quickstart", "Add a page on keys"]
    talk.everything()
