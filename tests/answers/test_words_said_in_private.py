"""Words that people said in private stay there, whatever is forgotten later and whoever reads elsewhere."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from tests.answers.conftest import QUESTION, asks
from tests.answers.test_digests import gap, next_digest
from tests.talk import Talk
from tests.talk_people import Shown
from tests.work.readers import asked, searches, turns

HOUR = timedelta(hours=1)


async def ask_in_a_private_channel(talk: Talk) -> None:
    """Let Ana ask in a private channel what the service's own list of questions has, too."""
    talk.opens_channel("secret", talk.ana, is_private=True)
    talk.service.readers["assistant"] = turns(*[(QUESTION, None, "unanswered")] * 4)
    await asks(talk, channel="secret")
    await talk.time.passes(hours=1)


async def words_elsewhere(talk: Talk, period: str) -> Shown:
    """Let Ben ask in another channel what readers asked, and return the answer."""
    answer = await asked(talk, f"questions {period}", by=talk.ben)
    talk.everything()
    return answer


async def test_words_of_a_forgotten_person_stay_private(talk: Talk) -> None:
    await ask_in_a_private_channel(talk)
    assert QUESTION not in await words_elsewhere(talk, "last week")
    await talk.operator("forget", talk.ana.id)
    await talk.time.passes(minutes=30)
    assert QUESTION not in await words_elsewhere(talk, "last week")


async def test_private_words_stay_private_after_their_time(talk: Talk) -> None:
    await talk.process.starts(keep_days=7)
    await ask_in_a_private_channel(talk)
    assert QUESTION not in await words_elsewhere(talk, "last 14 days")
    await talk.time.passes(days=8, hours=3)
    assert QUESTION not in await words_elsewhere(talk, "last 28 days")


async def test_private_words_stay_private_for_as_long_as_the_service_lists_them(talk: Talk) -> None:
    await talk.process.starts(keep_days=7)
    await ask_in_a_private_channel(talk)
    await talk.time.passes(days=360)
    await asks(talk, "How do I add a second region?")
    assert QUESTION not in await words_elsewhere(talk, "last 365 days")


async def test_question_by_command_is_in_no_list_of_others(talk: Talk) -> None:
    talk.opens_channel("help")
    await talk.ana.asks(f"ask {QUESTION}", "docs")
    await talk.time.passes()
    talk.everything()
    await talk.ana.presses("Didn't help")
    talk.everything()
    assert QUESTION not in await talk.ben.answer_to("/docs-agent gaps", "docs")
    assert QUESTION not in await next_digest(talk, "help")


async def test_words_of_other_channels_are_in_no_shared_channel(talk: Talk) -> None:
    assert talk.room("partners").is_ext_shared
    await gap(talk, "docs")
    assert QUESTION not in await next_digest(talk, "partners")


async def test_readers_words_are_in_no_shared_channel(talk: Talk) -> None:
    talk.service.readers["assistant"] = turns(*[(QUESTION, None, "unanswered")] * 4)
    assert QUESTION not in await next_digest(talk, "partners")
    await gap(talk, "partners")
    await talk.ben.types("/docs-visitors questions last week", "partners")
    await talk.time.passes(20)
    answer = talk.ben.reads()[-1]
    assert QUESTION in answer.blocks
    assert "Share" not in answer.buttons
    talk.everything()


async def test_shared_channel_has_its_own_words(talk: Talk) -> None:
    await gap(talk, "partners")
    assert QUESTION in await next_digest(talk, "partners")


async def test_channel_made_private_keeps_its_words_at_once(talk: Talk) -> None:
    talk.service.readers["assistant"] = turns(*[(QUESTION, None, "unanswered")] * 4)
    talk.opens_channel("help")
    await asks(talk, channel="help")
    assert QUESTION in (await words_elsewhere(talk, "last week")).blocks
    room = talk.room("help")
    event = {"type": "message", "subtype": "channel_convert_to_private", "channel": room.id}
    event |= {"user": talk.ana.id, "ts": talk.slack.state.new_ts(), "channel_type": "group"}
    kind = {"type": "event_callback", "event_id": "Ev1", "team_id": "T1", "event": event}
    status, _ = await talk.receives(kind)
    assert status == 200
    assert QUESTION not in (await words_elsewhere(talk, "last week")).blocks


def listed(*rows: tuple[datetime, str]) -> dict[str, Any]:
    """Return the question as the service lists it: when it was asked, and the conversation."""
    found = turns(*[(QUESTION, None, "unanswered")] * len(rows))
    for row, (at, conversation) in zip(found["conversations"], rows, strict=True):
        row |= {"timestamp": at.isoformat(), "id": conversation}
    return found


async def ask_in_private(talk: Talk) -> datetime:
    """Let Ana ask in a direct message, and return the time."""
    at = talk.time.at
    await talk.ana.says(QUESTION, "dm")
    await talk.time.passes()
    talk.everything()
    return at


async def searched_elsewhere(talk: Talk) -> Shown:
    """Let Ben ask in another channel what readers searched for, and return the answer."""
    answer = await asked(talk, "searches today", by=talk.ben)
    talk.everything()
    return answer


async def test_readers_same_words_at_another_time_are_shown(talk: Talk) -> None:
    at = await ask_in_private(talk)
    talk.service.readers["assistant"] = listed((at, "talk-1"), (at - HOUR, "r"), (at + HOUR, "s"))
    answer = await words_elsewhere(talk, "today")
    assert QUESTION in answer.blocks
    assert "Asked 2 times" in answer.blocks


@pytest.mark.parametrize(
    ("conversation", "later"),
    [
        ("talk-1", timedelta()),
        ("talk-1", timedelta(hours=3)),
        ("unknown", timedelta(minutes=9)),
        ("", timedelta(minutes=-9)),
    ],
)
async def test_own_row_is_known_by_conversation_or_time(
    talk: Talk, conversation: str, later: timedelta
) -> None:
    at = await ask_in_private(talk)
    talk.service.readers["assistant"] = listed((at + later, conversation))
    assert QUESTION not in (await words_elsewhere(talk, "today")).blocks


async def test_own_row_stays_hidden_after_forgetting_and_a_restart(talk: Talk) -> None:
    at = await ask_in_private(talk)
    talk.service.readers["assistant"] = listed((at, "other"))
    await talk.operator("forget", talk.ana.id)
    talk.process.dies()
    await talk.process.starts()
    assert QUESTION not in (await words_elsewhere(talk, "today")).blocks


async def test_call_whose_answer_was_lost_hides_its_words(talk: Talk) -> None:
    at = talk.time.at
    hanging = talk.service.hangs("answer")
    await talk.ana.says(QUESTION, "dm")
    await talk.time.passes(1)
    talk.process.dies()
    del hanging
    await talk.process.starts()
    talk.service.readers["assistant"] = listed((at, "unknown"))
    assert QUESTION not in (await words_elsewhere(talk, "today")).blocks


async def test_search_with_own_hits_alone_is_hidden(talk: Talk) -> None:
    await talk.process.starts(answers="search")
    await ask_in_private(talk)
    talk.service.readers["searches"] = searches((QUESTION, 1, None), ("limits", 4, None))
    answer = await searched_elsewhere(talk)
    assert "limits" in answer.blocks
    assert QUESTION not in answer.blocks


async def test_search_that_readers_made_too_is_shown(talk: Talk) -> None:
    await talk.process.starts(answers="search")
    await ask_in_private(talk)
    talk.service.readers["searches"] = searches((QUESTION, 2, None))
    assert QUESTION in (await searched_elsewhere(talk)).blocks


async def test_words_said_to_everybody_are_shown(talk: Talk) -> None:
    at = talk.time.at
    await asks(talk)
    talk.service.readers["assistant"] = listed((at, "talk-1"))
    assert QUESTION in (await words_elsewhere(talk, "today")).blocks


async def test_nothing_that_is_kept_shows_the_words(talk: Talk) -> None:
    await ask_in_private(talk)
    assert talk.kept("rotate")
    await talk.operator("forget", talk.ana.id)
    assert not talk.kept("rotate")
