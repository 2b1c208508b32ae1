"""Messages of events that Slack gave up or dropped are read later."""

from __future__ import annotations

import pytest

from tests.talk import Talk

GIVEN_UP_MINUTES = 10
"""Longer than Slack's retries of an event."""


@pytest.mark.parametrize("is_edit", [False, True])
async def test_message_that_was_not_stored_is_read_later(talk: Talk, is_edit: bool) -> None:
    await talk.process.starts(uses_an_hour=1)
    await talk.started()
    reply = await talk.ben.replies("Mention retries") if is_edit else None
    await talk.time.passes(60)
    with talk.database_fails("inbox"):
        if reply:
            await talk.ben.edits(reply, "Mention limits")
        else:
            await talk.ben.replies("Mention limits")
        while talk.slack.line.next_event_at():
            talk.time.is_set(minutes=GIVEN_UP_MINUTES)
            await talk.hears()
    assert "event_not_stored" in talk.errors()
    await talk.time.passes(hours=1)
    assert talk.agent_got() == ["Add a quickstart", "Mention limits"]
    talk.everything()


async def test_messages_are_read_after_slack_dropped_events(talk: Talk) -> None:
    await talk.started()
    talk.slack.line.drops_events = True
    await talk.ben.replies("Mention retries")
    talk.slack.line.drops_events = False
    limited = {"type": "app_rate_limited", "team_id": "T1", "minute_rate_limited": 1518467820}
    assert (await talk.receives(limited))[0] == 200
    await talk.time.passes(minutes=5)
    assert talk.agent_got() == ["Add a quickstart", "Mention retries"]
    talk.everything()
