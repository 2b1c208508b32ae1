"""Follow-ups behind an unconfirmed first prompt wait without work, and their senders know why."""

from __future__ import annotations

from tests.talk import Talk


async def unconfirmed(talk: Talk) -> None:
    """Let a follow-up of Ana's and two of Ben's wait behind Ana's unconfirmed job."""
    talk.service.says("create", 502)
    await talk.ana.asks("Add a page on keys")
    for number, person in enumerate((talk.ana, talk.ben, talk.ben)):
        await person.types(f"/docs-followup 1 Add more {number}")
    await talk.time.passes(30)
    assert "Unconfirmed" in talk.job(1)
    talk.ana.reads()
    talk.ben.reads()


async def test_senders_get_one_note_and_nothing_is_due(talk: Talk) -> None:
    await unconfirmed(talk)
    assert talk.next_due_at() is None
    waits = [reply for reply in talk.replies() if "Your follow-up to Job 1 waits" in reply]
    assert [wait.partition(" ")[0] for wait in waits] == [f"<@{talk.ana.id}>", f"<@{talk.ben.id}>"]
    assert all("*Send again*" in wait and "*Dismiss*" in wait for wait in waits)


async def test_doubt_about_a_new_job_leads_to_the_list_where_an_earlier_one_is(talk: Talk) -> None:
    await talk.finished("Add a page on keys")
    talk.service.says("create", 502)
    await talk.ana.asks("Add a table")
    await talk.time.passes(30)
    [*_, doubt] = talk.replies(2)
    assert "/pulls|a new pull request>; none there?" in doubt.blocks
    talk.everything()


async def test_job_and_follow_ups_go_out_in_order_after_send_again(talk: Talk) -> None:
    await unconfirmed(talk)
    await talk.ana.presses("Send again")
    await talk.time.passes(30)
    assert talk.agent_got() == ["Add a page on keys", "Add more 0", "Add more 1", "Add more 2"]
    talk.everything()


async def test_follow_up_behind_a_job_at_the_limit_is_not_due(talk: Talk) -> None:
    await talk.process.starts(uses_an_hour=1)
    await talk.started("Add keys", by=talk.chika)
    await talk.ana.asks("Add two")
    await talk.ben.types("/docs-followup 2 Add more")
    await talk.time.passes(30)
    assert talk.agent_got() == ["Add keys"]
    await talk.ends()
    due_at = talk.next_due_at()
    assert due_at is not None
    assert (due_at - talk.time.at).total_seconds() > 600
    talk.everything()
