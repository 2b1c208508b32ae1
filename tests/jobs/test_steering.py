"""Status and result of a job explain which replies steer it."""

from __future__ import annotations

from tests.talk import Talk

MENTION = "mention me here to change it"


async def test_job_of_a_command_explains_replies(talk: Talk) -> None:
    await talk.started()
    await talk.ends()
    assert MENTION not in talk.status()
    assert "Just reply to change it" in talk.replies()[0]


async def test_job_of_a_mention_explains_replies(talk: Talk) -> None:
    message = await talk.ana.says("@docs-agent Add a quickstart")
    await talk.time.passes()
    await talk.ends()
    status, end = talk.thread(message)
    assert MENTION not in status
    assert "Just reply to change it" in end
    await talk.ana.replies("shorter", message)
    await talk.time.passes(20)
    assert talk.agent_got()[1:] == ["shorter"]
    talk.everything()


async def test_job_in_a_thread_of_people_explains_mentions(talk: Talk) -> None:
    message = await talk.ben.says("The limits are wrong")
    await talk.ana.replies("@docs-agent fix the limits page", message)
    await talk.time.passes()
    await talk.ends()
    status, end = talk.thread(message)
    assert MENTION in status
    assert "Mention me to change it" in end
    await talk.ana.replies("shorter", message)
    await talk.ana.replies("@docs-agent longer", message)
    await talk.time.passes(20)
    assert [prompt.partition("\n")[0] for prompt in talk.agent_got()[1:]] == ["longer"]
    talk.everything()


async def test_channel_with_replies_off_explains_mentions(talk: Talk) -> None:
    await talk.ana.answer_to("/docs-agent replies off")
    await talk.started()
    assert MENTION in talk.status()


async def test_messages_in_a_thread_have_no_slash_command(talk: Talk) -> None:
    await talk.started()
    await talk.ends("archived", pr_link=None)
    await talk.ana.replies("shorter")
    await talk.time.passes(20)
    assert not any("/docs-" in post for post in (talk.status(), *talk.replies()))


async def test_reply_to_an_archived_job_can_start_another_with_both_texts(talk: Talk) -> None:
    await talk.started("Add a page on keys")
    await talk.ends("archived", pr_link=None)
    await talk.ben.replies("Also mention Map<K, V> on it")
    await talk.time.passes(20)
    note = talk.replies()[-1]
    assert note.startswith(":no_entry: Job 1 has been archived at the docs service, so nothing was")
    assert note.buttons == ["Start a new job"]
    await talk.ben.presses("Start a new job", note)
    await talk.time.passes(20)
    request, _, _earlier = talk.agent_got()[1].partition("\n\nEarlier messages")
    assert request == "Add a page on keys\n\nAlso mention Map<K, V> on it"
    assert talk.replies()[-2] == "Sent to the agent."
    talk.everything()


async def test_command_about_an_archived_job_can_start_another_too(talk: Talk) -> None:
    await talk.started("Add a page on keys")
    await talk.ends("archived", pr_link=None)
    talk.everything()
    note = await talk.ben.answer_to("/docs-followup 1 Also mention Python")
    assert note.endswith("What you wrote, to copy:\nAlso mention Python")
    await talk.ben.presses("Start a new job", note)
    await talk.time.passes(20)
    assert talk.agent_got()[1:] == ["Add a page on keys\n\nAlso mention Python"]
    talk.everything()
