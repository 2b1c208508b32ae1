"""What was said while the bot was away is handled once, by the rules of events, as of when it was said."""

from __future__ import annotations

from tests.talk import Talk


async def goes_away(talk: Talk) -> None:
    """The process is away for longer than Slack delivers events again."""
    talk.process.dies()
    await talk.time.passes(1)


async def comes_back(talk: Talk, minutes: float = 20) -> None:
    await talk.time.passes(minutes=minutes)
    await talk.process.starts()
    await talk.time.passes(60)


async def test_a_missed_reply_is_a_follow_up_once_also_when_its_event_comes_late(talk: Talk) -> None:
    await talk.finished()
    await goes_away(talk)
    await talk.ana.replies("Mention retries")
    event = talk.slack.line.sent[-1]
    await comes_back(talk)
    talk.slack.line.send_event(event)
    await talk.time.passes(60)
    assert talk.agent_got() == ["Add a quickstart", "Mention retries"]
    talk.everything()


async def test_a_missed_direct_message_starts_a_job_once(talk: Talk) -> None:
    await talk.ana.says("help", channel="dm")
    await talk.time.passes(10)
    await goes_away(talk)
    await talk.ana.says("Add a page", channel="dm")
    event = talk.slack.line.sent[-1]
    await comes_back(talk)
    talk.slack.line.send_event(event)
    await talk.time.passes(60)
    assert talk.agent_got() == ["Add a page"]
    talk.everything()


async def test_what_was_said_in_an_outage_is_not_refused_when_slack_stumbles_once(talk: Talk) -> None:
    await talk.ana.says("help", channel="dm")
    await talk.time.passes(10)
    await goes_away(talk)
    await talk.ana.says("Add a page", channel="dm")
    talk.faults.cannot_be_reached("users.info")
    await comes_back(talk, minutes=120)
    await talk.time.passes(minutes=10)
    assert talk.agent_got() == ["Add a page"]
    talk.everything()


async def test_a_missed_message_counts_as_asked_when_it_was_said(talk: Talk) -> None:
    await talk.process.starts(uses_an_hour=2)
    await talk.started("Add one", by=talk.ben)
    await talk.ana.says("help", channel="dm")
    await talk.time.passes(10)
    await goes_away(talk)
    said = await talk.ana.says("Add a page", channel="dm")
    await comes_back(talk)
    said_at = int(float(said["ts"]))
    assert f"<!date^{said_at}^" in talk.job(2)
    talk.everything()


async def test_what_was_said_twice_in_an_outage_is_taken_twice_unless_within_a_minute(talk: Talk) -> None:
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


async def test_what_was_ignored_stays_ignored_when_the_rule_changes(talk: Talk) -> None:
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


async def test_an_edit_that_was_missed_and_is_too_late_is_told_once(talk: Talk) -> None:
    said = await talk.ana.says("@docs-agent Add a quickstart")
    await talk.time.passes(10)
    await goes_away(talk)
    await talk.ana.edits(said, "@docs-agent Add two quickstarts")
    event = talk.slack.line.sent[-1]
    await comes_back(talk)
    talk.slack.line.send_event(event)
    await talk.time.passes(60)
    [note] = talk.ana.reads()
    assert "You edited a message" in note
    talk.everything()


async def test_a_minute_of_trouble_with_slack_is_outlasted(talk: Talk) -> None:
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


async def test_a_conversation_that_slack_cannot_show_does_not_hold_up_others(talk: Talk) -> None:
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
