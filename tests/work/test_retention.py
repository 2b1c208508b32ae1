"""Forgotten jobs: what their buttons, their thread and the commands say, and what the database keeps."""

from __future__ import annotations

from tests.talk import Talk

NOT_KEPT = "no longer have its prompt"
SECRET = "Add the secret page"


async def test_forgotten_job_says_so_wherever_it_is_named(talk: Talk) -> None:
    await talk.process.starts(keep_days=180)
    await talk.finished(SECRET)
    assert talk.kept(SECRET) != []
    for days in (181, 1):
        talk.time.is_set(days=days)
        await talk.time.passes(15)
    assert talk.kept(SECRET) == []
    for line in ("/docs-agent status 1", "/docs-followup 1 go on"):
        assert NOT_KEPT in await talk.ana.answer_to(line)
    await talk.ana.presses("Reviewed")
    assert NOT_KEPT in talk.ana.reads()[-1]
    await talk.ana.replies("And a diagram")
    await talk.time.passes()
    assert NOT_KEPT in talk.replies()[-1]
    assert talk.agent_got() == [SECRET]
    assert "No jobs here. Start one:" in await talk.ana.answer_to("/docs-agent jobs")
    talk.everything()


async def test_without_a_limit_nothing_is_forgotten(talk: Talk) -> None:
    await talk.process.starts(keep_days=0)
    await talk.finished(SECRET)
    talk.time.is_set(days=4_000)
    await talk.time.passes(60)
    assert SECRET in await talk.ana.answer_to("/docs-agent status 1")
    talk.everything()


async def test_prompt_is_kept_for_its_job_and_no_message(talk: Talk) -> None:
    await talk.finished("Add the secret page. It has two parts")
    assert talk.kept("two parts") == ["jobs.text", "prompts.raw"]
    assert talk.kept("is done") == []


async def test_follower_is_forgotten_while_the_job_goes_on(talk: Talk) -> None:
    await talk.finished()
    await talk.ben.replies("Use the words of my uncle")
    await talk.time.passes(20)
    assert "Under way and therefore kept: prompts 1" in await talk.operator("forget", talk.ben.id)
    await talk.ends()
    assert "prompts 1" in await talk.operator("forget", talk.ben.id)
    assert talk.kept("my uncle") == []
    assert "Nothing of" in await talk.operator("forget", talk.ben.id)
    await talk.ana.replies("And a diagram")
    await talk.time.passes()
    assert talk.agent_got()[-1] == "And a diagram"
    talk.everything()
