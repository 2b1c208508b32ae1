"""A key that the docs service refuses: calls stop, admins hear of it once, and all goes on by itself."""

from __future__ import annotations

import pytest

from tests.talk import Talk
from tests.talk_people import Shown


async def starts_with_admins(talk: Talk) -> None:
    """Let Chika and Gus be admins."""
    await talk.process.starts(admins=f"{talk.chika.id},{talk.gus.id}")


def told(talk: Talk) -> list[tuple[str, Shown]]:
    """What admins were told directly since the last time."""
    return [(admin.name, note) for admin in (talk.chika, talk.gus) for note in admin.reads()]


@pytest.mark.parametrize(("status", "words"), [(401, "doesn't accept the key"), (403, "doesn't let it")])
async def test_a_refused_key_is_told_to_each_admin_once_and_resumes_by_itself(
    talk: Talk, status: int, words: str
) -> None:
    await starts_with_admins(talk)
    talk.service.says("create", status, times=4)
    await talk.ana.asks("Add one")
    await talk.started("Add two", by=talk.ben)
    await talk.time.passes(8 * 600)
    notes = told(talk)
    assert [name for name, note in notes if words in note] == ["Chika", "Gus"]
    assert [name for name, note in notes if "accepts the key" in note] == ["Chika", "Gus"]
    assert len(notes) == 4
    assert sorted(talk.agent_got()) == ["Add one", "Add two"]
    talk.everything()
    assert talk.errors() == {"key_refused"}


async def test_the_status_says_that_it_waits_for_the_key(talk: Talk) -> None:
    talk.service.says("create", 401)
    await talk.started()
    assert "It waits: the docs service refuses the bot's key. I'll try again at" in talk.status()
    assert "refuses my key" in await talk.ana.answer_to("/docs-agent limits")
    await talk.time.passes(90)
    assert "Working on it" in talk.status()
    assert "refuses" not in talk.status()
    assert "refuses my key" not in await talk.ana.answer_to("/docs-agent limits")
    assert talk.errors() == {"key_refused"}


async def test_a_good_answer_to_a_poll_lets_waiting_prompts_go_at_once(talk: Talk) -> None:
    await talk.started("Add one")
    talk.service.says("create", 401)
    await talk.ben.asks("Add two")
    await talk.time.passes(3)
    assert len(talk.agent_got()) == 1
    await talk.time.passes(200)
    assert len(talk.agent_got()) == 2
    talk.everything()
    assert talk.errors() == {"key_refused"}


async def test_a_prompt_waits_a_day_for_the_key_and_is_then_explained(talk: Talk) -> None:
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


async def test_a_second_streak_of_refusals_is_told_again(talk: Talk) -> None:
    await starts_with_admins(talk)
    for number in range(2):
        talk.service.says("create", 401)
        await talk.started(f"Add page {number}")
        await talk.time.passes(120)
    assert len(told(talk)) == 8
    talk.everything()
    assert talk.errors() == {"key_refused"}


async def test_a_key_that_may_only_read_is_told_once_however_well_polls_go(talk: Talk) -> None:
    """Polls succeed all the while; only a prompt that is taken shows that the key may write again."""
    await starts_with_admins(talk)
    await talk.started("Add one")
    talk.service.firewall = lambda _prompt: 403
    await talk.ben.asks("Add two")
    await talk.time.passes(hours=1)
    assert len(told(talk)) == 2
    talk.service.firewall = lambda _prompt: None
    await talk.time.passes(8 * 600)
    assert talk.agent_got() == ["Add one", "Add two"]
    assert len(told(talk)) == 2
    talk.everything()
    assert talk.errors() == {"key_refused"}


async def test_a_key_refused_while_reading_visitors_stops_calls_and_is_told(talk: Talk) -> None:
    await starts_with_admins(talk)
    talk.service.says("visitors", 401, times=50)
    await talk.ana.types("/docs-visitors last week compare none")
    await talk.time.passes(15)
    calls = len(talk.service.calls)
    await talk.ben.types("/docs-visitors 2026-08-01..2026-08-02 compare none")
    await talk.time.passes(15)
    assert len(talk.service.calls) == calls
    assert [name for name, _ in told(talk)] == ["Chika", "Gus"]
    [_, one], [_, two] = talk.ana.reads(), talk.ben.reads()
    assert "key" in one
    assert "key" in two
    talk.service.instead.clear()
    await talk.time.passes(120)
    await talk.ben.types("/docs-visitors 2026-08-03..2026-08-04 compare none")
    await talk.time.passes(15)
    assert [name for name, _ in told(talk)] == ["Chika", "Gus"]
    talk.everything()
    assert talk.errors() == {"key_refused"}
