"""Whoever asked is told the end, also when somebody else's follow-up came in between."""

from __future__ import annotations

from tests.talk import Talk


async def followed_up(talk: Talk) -> None:
    """Ben and Chika follow up on Ana's job while it runs."""
    await talk.started()
    for text, person in (("Write more", talk.ben), ("Write about it", talk.chika), ("Add a note", talk.ben)):
        await person.replies(text)
        await talk.time.passes(20)
    talk.everything()


async def test_the_one_end_mentions_everybody_who_waits_for_it_once(talk: Talk) -> None:
    await followed_up(talk)
    await talk.ends()
    await talk.time.passes(60)
    [end] = talk.replies()
    assert [end.count(f"<@{person.id}>") for person in (talk.ana, talk.ben, talk.chika)] == [1, 1, 1]
    talk.status()


async def test_who_was_told_one_end_is_not_called_for_the_next(talk: Talk) -> None:
    await followed_up(talk)
    await talk.ends()
    await talk.time.passes(60)
    await talk.ben.replies("Write once more")
    await talk.time.passes(20)
    await talk.ends()
    await talk.time.passes(60)
    assert f"<@{talk.ben.id}>" in talk.replies()[-1]
    assert f"<@{talk.ana.id}>" not in talk.replies()[-1]
    talk.everything()


async def test_who_sent_an_unconfirmed_follow_up_to_a_running_job_is_told_its_end(talk: Talk) -> None:
    await talk.started()
    talk.service.says("follow_up", 502)
    await talk.ben.replies("Write more")
    await talk.time.passes(20)
    await talk.ends()
    await talk.time.passes(60)
    end = talk.replies()[-1]
    assert f"<@{talk.ana.id}>" in end
    assert f"<@{talk.ben.id}>" in end
    talk.everything()


async def test_an_end_that_the_thread_refuses_reaches_everybody_directly(talk: Talk) -> None:
    await followed_up(talk)
    talk.faults.refuses("chat.postMessage", "is_archived")
    await talk.ends()
    await talk.time.passes(60)
    assert [len(person.reads()) for person in (talk.ana, talk.ben, talk.chika)] == [1, 1, 1]
    talk.everything()
