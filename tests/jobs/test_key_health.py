"""A key that the docs service refuses: calls stop, admins get one note, and work resumes by itself."""

from __future__ import annotations

import pytest

from tests.talk import Talk
from tests.talk_people import Shown


async def starts_with_admins(talk: Talk) -> None:
    """Let Chika and Gus be admins."""
    await talk.process.starts(admins=f"{talk.chika.id},{talk.gus.id}")


def notes_to_admins(talk: Talk) -> list[tuple[str, Shown]]:
    """Return the new direct messages to admins."""
    return [(admin.name, note) for admin in (talk.chika, talk.gus) for note in admin.reads()]


@pytest.mark.parametrize(
    ("status", "text"), [(401, "doesn't accept the key"), (403, "doesn't let it")]
)
async def test_each_admin_gets_one_note_about_a_refused_key(
    talk: Talk, status: int, text: str
) -> None:
    await starts_with_admins(talk)
    talk.service.says("create", status, times=4)
    await talk.ana.asks("Add keys")
    await talk.started("Add two", by=talk.ben)
    await talk.time.passes(8 * 600)
    notes = notes_to_admins(talk)
    assert [name for name, note in notes if text in note] == ["Chika", "Gus"]
    assert [name for name, note in notes if "accepts the key" in note] == ["Chika", "Gus"]
    assert len(notes) == 4
    assert sorted(talk.agent_got()) == ["Add keys", "Add two"]
    talk.everything()
    assert talk.errors() == {"key_refused"}


async def test_status_shows_that_the_job_waits_for_the_key(talk: Talk) -> None:
    talk.service.says("create", 401)
    await talk.started()
    assert "It waits: the docs service refuses the bot's key. I'll try again at" in talk.status()
    assert "refuses my key" in await talk.ana.answer_to("/docs-agent limits")
    await talk.time.passes(90)
    assert "Working on it" in talk.status()
    assert "refuses" not in talk.status()
    assert "refuses my key" not in await talk.ana.answer_to("/docs-agent limits")
    assert talk.errors() == {"key_refused"}


async def test_successful_poll_releases_pending_prompts(talk: Talk) -> None:
    await talk.started("Add keys")
    talk.service.says("create", 401)
    await talk.ben.asks("Add two")
    await talk.time.passes(3)
    assert len(talk.agent_got()) == 1
    await talk.time.passes(200)
    assert len(talk.agent_got()) == 2
    talk.everything()
    assert talk.errors() == {"key_refused"}


async def test_prompt_waits_a_day_for_the_key(talk: Talk) -> None:
    talk.service.firewall = lambda _prompt: 401
    await talk.started()
    await talk.time.passes(hours=23)
    assert "Waiting" in talk.status()
    await talk.time.passes(hours=2)
    assert "Not started" in talk.status()
    [reply] = talk.replies()
    assert f"<@{talk.ana.id}>" in reply
    assert "limit" not in reply
    assert talk.errors() == {"key_refused"}


async def test_second_streak_of_refusals_is_reported_again(talk: Talk) -> None:
    await starts_with_admins(talk)
    for number in range(2):
        talk.service.says("create", 401)
        await talk.started(f"Add page {number}")
        await talk.time.passes(120)
    assert len(notes_to_admins(talk)) == 8
    talk.everything()
    assert talk.errors() == {"key_refused"}


async def test_read_only_key_is_reported_once(talk: Talk) -> None:
    """Polls succeed all the while; only an accepted prompt proves that the key may write again."""
    await starts_with_admins(talk)
    await talk.started("Add keys")
    talk.service.firewall = lambda _prompt: 403
    await talk.ben.asks("Add two")
    await talk.time.passes(hours=1)
    assert len(notes_to_admins(talk)) == 2
    talk.service.firewall = lambda _prompt: None
    await talk.time.passes(8 * 600)
    assert talk.agent_got() == ["Add keys", "Add two"]
    assert len(notes_to_admins(talk)) == 2
    talk.everything()
    assert talk.errors() == {"key_refused"}


async def test_key_refused_for_visitors_stops_calls_and_is_reported(talk: Talk) -> None:
    await starts_with_admins(talk)
    talk.service.says("visitors", 401, times=50)
    await talk.ana.types("/docs-visitors last week compare none")
    await talk.time.passes(15)
    calls = len(talk.service.calls)
    await talk.ben.types("/docs-visitors 2026-08-01..2026-08-02 compare none")
    await talk.time.passes(15)
    assert len(talk.service.calls) == calls
    assert [name for name, _ in notes_to_admins(talk)] == ["Chika", "Gus"]
    [_, one], [_, two] = talk.ana.reads(), talk.ben.reads()
    assert "key" in one
    assert "key" in two
    talk.service.instead.clear()
    await talk.time.passes(120)
    await talk.ben.types("/docs-visitors 2026-08-03..2026-08-04 compare none")
    await talk.time.passes(15)
    assert [name for name, _ in notes_to_admins(talk)] == ["Chika", "Gus"]
    talk.everything()
    assert talk.errors() == {"key_refused"}
