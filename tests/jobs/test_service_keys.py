"""Admins learn in time of keys of the docs service that expire, or that it refuses."""

from __future__ import annotations

import pytest

from tests.services import ASSISTANT_KEY
from tests.talk import Talk

QUESTION = "@docs-agent How do I rotate an API key?"


@pytest.fixture
def talk(talk: Talk) -> Talk:
    """Return a conversation with a bot that Chika administers."""
    talk.process.settings["ADMINS"] = talk.chika.id
    talk.process.answers_questions()
    return talk


async def told(talk: Talk, **time: int) -> list[str]:
    """Return the private messages that Chika gets in a time."""
    await talk.time.passes(**time)
    return [str(message) for message in talk.chika.reads()]


async def test_old_keys_are_named_at_76_and_at_87_days(talk: Talk) -> None:
    await talk.process.starts()
    assert await told(talk, days=75) == []
    [assistants, docs] = sorted(await told(talk, days=1, hours=2))
    assert assistants.startswith(":warning: The assistant's key for")
    assert docs.startswith(":warning: The key of the docs service for")
    assert "in use here for 76 days" in docs
    assert await told(talk, days=10) == []
    assert len(await told(talk, days=1)) == 2
    assert await told(talk, days=60) == []


async def test_new_key_begins_anew(talk: Talk) -> None:
    await talk.process.starts()
    await talk.time.passes(days=70)
    await talk.process.starts(docs_api_key="another-key", assistant_key="another-assistant-key")
    assert await told(talk, days=70) == []


async def test_refused_key_of_the_assistant_is_told_once_until_it_works(talk: Talk) -> None:
    for _ in range(2):
        talk.service.says("answer", 401)
        talk.service.says("search", 401)
        await talk.ana.says(QUESTION)
        await talk.time.passes()
    [notice] = await told(talk, seconds=1)
    assert "refuses the assistant's key" in notice
    assert "`ASSISTANT_KEY`" in notice
    await talk.ana.says(QUESTION)
    assert "accepts the assistant's key for" in (await told(talk, seconds=20))[0]
    assert talk.errors() == {"assistants_key_refused"}
    talk.everything()


async def test_no_part_of_a_key_is_stored(talk: Talk) -> None:
    await talk.process.starts()
    await talk.time.passes(hours=2)
    assert talk.kept(ASSISTANT_KEY) == []
