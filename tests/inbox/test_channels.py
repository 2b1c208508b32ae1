"""Channels that get another id, and channels to which the bot is invited."""

from __future__ import annotations

import pytest

from sandbox.workspace.state import BOT_USER, TEAM
from tests.talk import Talk
from tests.talk_messages import change_channel_id, deliver_event

BOT = "@docs-agent"


async def test_waiting_request_is_sent_and_reported_after_the_channel_has_another_id(
    talk: Talk,
) -> None:
    talk.opens_channel("plans", talk.ana, talk.ben, is_private=True)
    said = await talk.ana.says(f"{BOT} Add a page on quotas", "plans")
    await talk.time.passes(2)
    await change_channel_id(talk, "plans")
    await talk.time.passes(20)
    assert talk.agent_got() == ["Add a page on quotas"]
    assert "Working on it" in talk.thread(said)[0]
    talk.everything()


async def test_choices_of_a_channel_follow_it(talk: Talk) -> None:
    talk.opens_channel("plans", talk.ana, talk.ben, is_private=True)
    await talk.ana.types("/docs-agent replies off", "plans")
    await change_channel_id(talk, "plans")
    assert talk.kept("CPLANS2")
    assert [name for name in talk.kept("CPLANS") if name not in talk.kept("CPLANS2")] == []
    talk.everything()


async def invites_the_bot(talk: Talk, channel: str) -> None:
    talk.slack.people.invite(talk.ben.id, talk.room(channel).id, "@docs-agent")
    await talk.hears()
    await talk.time.passes(5)


async def test_newest_mention_from_before_the_invitation_is_offered_to_its_author(
    talk: Talk,
) -> None:
    talk.opens_channel("plans", talk.ana, talk.ben, bot=False)
    await talk.process.starts()
    await talk.ana.says(f"{BOT} Add a page on limits", "plans")
    await talk.time.passes(minutes=1)
    await talk.ana.says(f"{BOT} Add a page on quotas", "plans")
    await talk.time.passes(minutes=5)
    await invites_the_bot(talk, "plans")
    [offer] = talk.ana.reads()
    assert offer == "You mentioned me here before I was in this channel."
    assert talk.ben.reads() == []
    assert talk.agent_got() == []
    await talk.ana.presses("Take it now", offer)
    await talk.time.passes(20)
    assert talk.agent_got() == ["Add a page on quotas"]
    talk.everything()


async def test_mention_is_offered_once(talk: Talk) -> None:
    talk.opens_channel("plans", talk.ana, talk.ben, bot=False)
    await talk.process.starts()
    await talk.ana.says(f"{BOT} Add a page on quotas", "plans")
    await talk.time.passes(minutes=1)
    await invites_the_bot(talk, "plans")
    assert len(talk.ana.reads()) == 1
    talk.room("plans").members.remove(BOT_USER)
    await invites_the_bot(talk, "plans")
    assert talk.ana.reads() == []
    talk.everything()


@pytest.mark.parametrize(
    ("text", "hours"), [("Add a page on quotas", 0.1), (f"{BOT} Add a page on quotas", 25)]
)
async def test_nothing_is_offered_that_mentions_nobody_or_is_older_than_a_day(
    talk: Talk, text: str, hours: float
) -> None:
    talk.opens_channel("plans", talk.ana, talk.ben, bot=False)
    await talk.process.starts()
    await talk.ana.says(text, "plans")
    await talk.time.passes(hours=hours)
    await invites_the_bot(talk, "plans")
    assert talk.ana.reads() == []
    talk.everything()


async def test_bot_that_joins_by_itself_offers_nothing(talk: Talk) -> None:
    talk.opens_channel("plans", talk.ana, talk.ben, bot=False)
    await talk.process.starts()
    await talk.ana.says(f"{BOT} Add a page on quotas", "plans")
    joined = {"type": "member_joined_channel", "user": BOT_USER, "channel": "CPLANS"}
    await deliver_event(talk, {**joined, "channel_type": "C", "team": TEAM["id"]})
    await talk.time.passes(5)
    assert talk.ana.reads() == []
    talk.everything()
