"""Of what asks for nothing, or was refused, no word and no author stays in the database."""

from __future__ import annotations

import pytest

from tests.talk import Talk
from tests.talk_people import Person

BOT = "@docs-agent"
MARK = "Zanzibar"
"""A word that is in every text, and in no other place."""
_PLACE_AND_TIME = {"inbox.channel", "inbox.ts", "inbox.conversation_ts"}


def columns_about(talk: Talk, person: Person) -> list[str]:
    """Return the columns with a person's id, without the membership that Slack last reported."""
    return [name for name in talk.kept(person.id) if not name.startswith("members.")]


@pytest.mark.parametrize(
    "text",
    [
        f"thanks {BOT}, {MARK}!",
        f"{BOT} aside we meet in {MARK}",
        f"I told {BOT} about {MARK} yesterday",
        f"@ben can you look at {MARK}?",
        f"We meet in {MARK}",
    ],
)
async def test_nothing_stays_of_talk(talk: Talk, text: str) -> None:
    await talk.process.starts()
    root = await talk.ben.says("What about the limits?")
    await talk.ana.replies(text, to=root)
    await talk.time.passes(2)
    assert talk.kept(MARK) == []
    assert columns_about(talk, talk.ana) in ([], ["deliveries.user"])
    talk.everything()


@pytest.mark.parametrize(
    "text", [f"I'll look at {MARK} after lunch", f"thanks, {MARK} is fine!", "no"]
)
async def test_nothing_stays_of_talk_in_a_jobs_thread(talk: Talk, text: str) -> None:
    await talk.started(by=talk.ben)
    await talk.ana.replies(text)
    await talk.time.passes(2)
    assert talk.kept(MARK) == []
    assert "inbox.user" not in talk.kept(talk.ana.id)
    talk.everything()


async def test_nothing_but_that_they_were_told_stays_of_people_who_may_not(talk: Talk) -> None:
    dora = talk.newcomer("Dora")
    dora.user.is_guest = True
    said = await dora.says(f"{BOT} Add a page on {MARK}")
    await talk.time.passes(2)
    [note] = dora.reads()
    assert "Guests can't use this bot" in note
    await talk.time.passes(minutes=2)
    assert talk.kept(MARK) == []
    assert columns_about(talk, dora) in ([], ["deliveries.user"])
    assert set(talk.kept(str(said["ts"]))) <= {*_PLACE_AND_TIME, "deliveries.key"}


async def test_words_of_a_request_go_from_the_inbox_once_the_agent_has_it(talk: Talk) -> None:
    await talk.ana.says(f"{BOT} Add a page on {MARK}")
    await talk.time.passes(2)
    assert "inbox.text" in talk.kept(MARK)
    await talk.time.passes(hours=2)
    assert "inbox.text" not in talk.kept(MARK)
    talk.everything()


async def test_settled_message_is_known_for_a_day_by_its_place_and_time(talk: Talk) -> None:
    said = await talk.ana.says(f"{BOT} thanks!")
    await talk.time.passes(2)
    assert "inbox.ts" in talk.kept(said["ts"])
    await talk.time.passes(hours=26)
    assert "inbox.ts" not in talk.kept(said["ts"])
    talk.everything()


async def test_forgetting_takes_back_what_waits_of_a_person(talk: Talk) -> None:
    await talk.process.starts(uses_an_hour=1)
    await talk.started("Add a quickstart", by=talk.ben)
    await talk.ana.says(f"{BOT} Add a page on {MARK}")
    await talk.time.passes(12)
    assert "Run this again" in await talk.operator("forget", talk.ana.id)
    await talk.time.passes(3_700)
    assert "Run this again" not in await talk.operator("forget", talk.ana.id)
    assert talk.agent_got() == ["Add a quickstart"]
    assert talk.kept(MARK) == []
    talk.everything()
