"""Every requester of a job is mentioned in its result, also after follow-ups of others."""

from __future__ import annotations

from tests.talk import Talk


async def followed_up(talk: Talk) -> None:
    """Let Ben and Chika follow up on Ana's running job."""
    await talk.started()
    for text, person in (
        ("Write more", talk.ben),
        ("Write about it", talk.chika),
        ("Add a note", talk.ben),
    ):
        await person.replies(text)
        await talk.time.passes(20)
    talk.everything()


async def test_result_mentions_every_requester_once(talk: Talk) -> None:
    await followed_up(talk)
    await talk.ends()
    await talk.time.passes(60)
    [end] = talk.replies()
    assert [end.count(f"<@{person.id}>") for person in (talk.ana, talk.ben, talk.chika)] == [
        1,
        1,
        1,
    ]
    talk.status()


async def test_next_result_mentions_only_its_requester(talk: Talk) -> None:
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


async def test_result_mentions_the_sender_of_an_unconfirmed_follow_up(talk: Talk) -> None:
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


async def test_undeliverable_result_is_a_direct_message_to_everybody(talk: Talk) -> None:
    await followed_up(talk)
    talk.faults.refuses("chat.postMessage", "is_archived")
    await talk.ends()
    await talk.time.passes(60)
    assert [len(person.reads()) for person in (talk.ana, talk.ben, talk.chika)] == [1, 1, 1]
    talk.everything()
