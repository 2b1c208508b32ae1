"""A question, from the answer that did not help to the notice that the docs answer it now."""

from __future__ import annotations

from tests.answers.conftest import QUESTION, asks, drafts, merges, shares
from tests.talk import Talk


async def test_question_is_answered_kept_written_and_told_once(talk: Talk) -> None:
    answer = await asks(talk)
    assert "Open **Settings** and press *Rotate*." in str(answer.message["blocks"])
    assert "From <https://docs.example/keys|API keys>" in answer
    assert answer.buttons == ["Draft a page", "Didn't help"]
    assert talk.service.questions == [(QUESTION, None)]
    assert talk.agent_got() == []
    await talk.ben.presses("Didn't help")
    [noted] = talk.ben.reads()
    assert noted == "Noted as a gap. I'll tell its asker when it's written."
    await drafts(talk)
    talk.everything()
    [prompt] = talk.agent_got()
    assert f"\n> {QUESTION}\n" in prompt
    assert await talk.ana.answer_to("/docs-agent gaps") == "No open questions here."
    await merges(talk)
    notice = talk.all_replies()[-1]
    assert notice.startswith(f"<@{talk.ana.id}> you asked (")
    assert notice.endswith(
        f"“{QUESTION}” It is written now: <https://github.com/acme/docs/pull/7|Pull request #7>"
    )
    count = len(talk.all_replies())
    await talk.time.passes(days=3)
    assert len(talk.all_replies()) == count
    assert await talk.ana.answer_to("/docs-agent gaps") == "No open questions here."


async def test_gap_is_open_again_after_close_without_merge(talk: Talk) -> None:
    answer = await asks(talk)
    await talk.ben.presses("Didn't help", answer)
    await drafts(talk)
    await merges(talk, by=None)
    talk.everything()
    gaps = await talk.ana.answer_to("/docs-agent gaps")
    assert gaps.startswith("*1 open question here*")
    assert f"“{QUESTION}” · asked by 1 person" in gaps
    await talk.ana.presses("Dismiss", gaps)
    assert talk.ana.reads() == ["No open questions here."]


async def test_job_under_one_answer_tells_nobody_to_whom_the_same_answer_helped(
    talk: Talk,
) -> None:
    await asks(talk)
    asked = await talk.chika.says(f"@docs-agent {QUESTION}")
    await talk.time.passes()
    helped = len(talk.thread(asked))
    talk.everything()
    await drafts(talk, "Draft a page", talk.all_replies()[0])
    await merges(talk)
    assert "It is written now" in talk.all_replies()[-1]
    assert len(talk.thread(asked)) == helped
    talk.everything()


async def test_mark_counts_where_the_bot_cannot_see_the_pull_request(talk: Talk) -> None:
    await talk.ben.presses("Didn't help", await asks(talk))
    await drafts(talk, pr_link="https://code.example/acme/docs/pull/1")
    talk.everything()
    for _ in ("marks", "takes it back", "marks again"):
        await talk.ben.presses("Reviewed")
        await talk.time.passes()
        notices = [reply for reply in talk.all_replies() if "It is written now" in reply]
        assert len(notices) == 1
    gaps = await talk.ana.answer_to("/docs-agent gaps")
    assert gaps.startswith("No open questions here.")
    talk.everything()


async def test_pull_request_that_cannot_be_looked_at_writes_nothing(talk: Talk) -> None:
    await talk.ben.presses("Didn't help", await asks(talk))
    await drafts(talk, pr_link="https://code.example/acme/docs/pull/1")
    await talk.time.passes(days=3)
    assert "It is written now" not in talk.everything()


async def test_asker_by_command_hears_it_in_direct_messages(talk: Talk) -> None:
    await talk.ana.asks(f"ask {QUESTION}")
    await talk.time.passes()
    reading, answer = talk.ana.reads()
    assert reading == ":eyes: Reading the docs…"
    assert answer.buttons == ["Draft a page", "Didn't help", "Share"]
    await talk.ana.presses("Didn't help")
    talk.everything()
    assert await talk.ben.answer_to("/docs-agent gaps") == "No open questions here."
    await drafts(talk, "Draft a page", by=talk.ana)
    talk.everything()
    await merges(talk)
    [notice] = talk.ana.reads()
    assert "It is written now" in notice
    talk.everything()


async def test_shared_answer_is_where_the_asker_hears_it(talk: Talk) -> None:
    shared = await shares(talk)
    assert shared.startswith(f"<@{talk.ana.id}> asked: “{QUESTION}”")
    assert shared.buttons == ["Draft a page", "Didn't help"]
    await talk.ben.presses("Didn't help", shared)
    await drafts(talk)
    talk.everything()
    await merges(talk)
    assert "It is written now" in talk.replies(1)[-1]
    talk.everything()
