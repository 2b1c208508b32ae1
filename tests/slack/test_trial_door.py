"""The token of a trial of the doctor that is not valid: it starts nothing, and no word of it stays."""

from __future__ import annotations

from tests.talk import Talk

TOKEN = "doctor-0123456789ab"
BOT = "@docs-agent"
REFUSED = "a trial (`docs-bot doctor --try`) that is over or somebody else's"


async def test_token_that_is_over_starts_nothing_and_its_author_reads_why(talk: Talk) -> None:
    await talk.process.starts()
    assert REFUSED in await talk.ana.answer_to(f"/docs-agent {TOKEN} add a page on quotas")
    await talk.ana.says(f"{BOT} {TOKEN}, add a page on quotas")
    await talk.ben.says(f"{TOKEN} add a page on quotas", "dm")
    await talk.time.passes(minutes=2)
    assert REFUSED in talk.everything()
    assert talk.agent_got() == []
    assert talk.kept(TOKEN) == []


async def test_token_in_a_thread_or_an_edit_is_no_follow_up(talk: Talk) -> None:
    await talk.process.starts()
    await talk.started("Add a quickstart")
    root = talk.root()
    reply = await talk.ana.replies(f"{TOKEN} make it shorter", to=root)
    await talk.ana.edits(reply, f"{TOKEN} make it longer")
    await talk.ana.deletes(reply)
    await talk.time.passes(minutes=2)
    assert talk.agent_got() == ["Add a quickstart"]
    talk.everything()


async def test_token_that_was_missed_starts_nothing_when_it_is_read_again(talk: Talk) -> None:
    asked = await talk.ana.says(f"{BOT} Add a page on quotas")
    await talk.time.passes(20)
    talk.slack.line.drops_events = True
    await talk.ana.replies(f"{TOKEN} Make it shorter", to=asked)
    talk.slack.line.drops_events = False
    talk.process.dies()
    talk.time.is_set(minutes=10)
    await talk.process.starts()
    await talk.time.passes(minutes=2)
    assert talk.agent_got() == ["Add a page on quotas"]
    assert talk.kept(TOKEN) == []
    talk.everything()
