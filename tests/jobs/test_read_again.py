"""Messages of an outage are handled once, like events, with the time of the message."""

from __future__ import annotations

from tests.talk import Talk


async def goes_away(talk: Talk) -> None:
    """Stop the process for longer than Slack's retries."""
    talk.process.dies()
    await talk.time.passes(1)


async def comes_back(talk: Talk, minutes: float = 20) -> None:
    await talk.time.passes(minutes=minutes)
    await talk.process.starts()
    await talk.time.passes(60)


async def test_missed_reply_with_a_late_event_is_one_follow_up(talk: Talk) -> None:
    await talk.finished()
    await goes_away(talk)
    await talk.ana.replies("Mention retries")
    event = talk.slack.line.sent[-1]
    await comes_back(talk)
    talk.slack.line.send_event(event)
    await talk.time.passes(60)
    assert talk.agent_got() == ["Add a quickstart", "Mention retries"]
    talk.everything()


async def test_missed_direct_message_starts_one_job(talk: Talk) -> None:
    await talk.ana.says("help", channel="dm")
    await talk.time.passes(10)
    await goes_away(talk)
    await talk.ana.says("Add a page on keys", channel="dm")
    event = talk.slack.line.sent[-1]
    await comes_back(talk)
    talk.slack.line.send_event(event)
    await talk.time.passes(60)
    assert talk.agent_got() == ["Add a page on keys"]
    talk.everything()


async def test_missed_message_survives_a_fault_of_slack(talk: Talk) -> None:
    await talk.ana.says("help", channel="dm")
    await talk.time.passes(10)
    await goes_away(talk)
    await talk.ana.says("Add a page on keys", channel="dm")
    talk.faults.cannot_be_reached("users.info")
    await comes_back(talk, minutes=120)
    await talk.time.passes(minutes=10)
    assert talk.agent_got() == ["Add a page on keys"]
    talk.everything()


async def test_missed_message_has_its_own_time(talk: Talk) -> None:
    await talk.process.starts(uses_an_hour=2)
    await talk.started("Add limits", by=talk.ben)
    await talk.ana.says("help", channel="dm")
    await talk.time.passes(10)
    await goes_away(talk)
    message = await talk.ana.says("Add a page on keys", channel="dm")
    await comes_back(talk)
    said_at = int(float(message["ts"]))
    assert f"<!date^{said_at}^" in talk.job(2)
    talk.everything()


async def test_missed_repetition_counts_after_a_minute(talk: Talk) -> None:
    await talk.finished()
    await goes_away(talk)
    await talk.ana.replies("Mention retries")
    await talk.time.passes(600)
    await talk.ana.replies("Mention retries")
    await talk.time.passes(30)
    await talk.ana.replies("Mention retries")
    await comes_back(talk)
    assert talk.agent_got() == ["Add a quickstart", "Mention retries", "Mention retries"]
    talk.everything()


async def test_ignored_reply_stays_ignored_when_the_rule_changes(talk: Talk) -> None:
    await talk.finished()
    await talk.ana.types("/docs-agent replies off")
    await talk.ana.replies("Make it longer, we say among ourselves")
    await talk.time.passes(60)
    await talk.ana.types("/docs-agent replies on")
    talk.process.dies()
    await talk.process.starts()
    await talk.time.passes(60)
    assert talk.agent_got() == ["Add a quickstart"]
    talk.everything()


async def test_missed_late_edit_gets_one_note(talk: Talk) -> None:
    message = await talk.ana.says("@docs-agent Add a quickstart")
    await talk.time.passes(10)
    await goes_away(talk)
    await talk.ana.edits(message, "@docs-agent Add two quickstarts")
    event = talk.slack.line.sent[-1]
    await comes_back(talk)
    talk.slack.line.send_event(event)
    await talk.time.passes(60)
    [note] = talk.ana.reads()
    assert "You edited a message" in note
    talk.everything()


async def test_missed_reply_survives_a_minute_of_faults(talk: Talk) -> None:
    await talk.finished()
    await goes_away(talk)
    await talk.ana.replies("Mention retries")
    talk.faults.limits("conversations.replies", 7)
    talk.faults.cannot_be_reached("conversations.replies")
    talk.faults.fails("conversations.replies")
    await comes_back(talk)
    await talk.time.passes(600)
    assert talk.agent_got() == ["Add a quickstart", "Mention retries"]
    talk.everything()


async def test_unreadable_conversation_delays_no_other(talk: Talk) -> None:
    await talk.finished()
    await talk.ana.says("help", channel="dm")
    await talk.time.passes(10)
    await goes_away(talk)
    await talk.ana.replies("Mention retries")
    talk.faults.refuses("conversations.history", "channel_not_found")
    await comes_back(talk)
    assert talk.agent_got() == ["Add a quickstart", "Mention retries"]
    assert talk.faults.left() == []
    talk.everything()


async def test_conversation_that_slack_never_shows_is_given_up(talk: Talk) -> None:
    await talk.ana.says("help", channel="dm")
    await talk.time.passes(10)
    await goes_away(talk)
    talk.faults.goes_down("conversations.history")
    before = len(talk.slack.calls)
    await comes_back(talk)
    await talk.time.passes(hours=10)
    assert talk.slack.calls[before:].count("conversations.history") == 11
    talk.everything()
