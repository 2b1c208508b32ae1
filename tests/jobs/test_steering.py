"""What steers a job is said where it holds, and by one rule."""

from __future__ import annotations

from tests.talk import Talk

REPLY, MENTION = "Reply here to change it. What I send", "Mention me here to change it. What I send"


async def test_a_job_of_a_command_says_that_replies_steer_it(talk: Talk) -> None:
    await talk.started()
    await talk.ends()
    assert REPLY in talk.status()
    assert "Just reply to change it" in talk.replies()[0]


async def test_a_job_under_its_own_mention_says_that_replies_steer_it(talk: Talk) -> None:
    said = await talk.ana.says("@docs-agent Add a quickstart")
    await talk.time.passes()
    await talk.ends()
    status, end = talk.thread(said)
    assert REPLY in status
    assert "Just reply to change it" in end
    await talk.ana.replies("shorter", said)
    await talk.time.passes(20)
    assert talk.agent_got()[1:] == ["shorter"]
    talk.everything()


async def test_a_job_in_a_thread_of_people_says_that_mentions_steer_it(talk: Talk) -> None:
    said = await talk.ben.says("The limits are wrong")
    await talk.ana.replies("@docs-agent fix the limits page", said)
    await talk.time.passes()
    await talk.ends()
    status, end = talk.thread(said)
    assert MENTION in status
    assert "Mention me here to change it" in end
    await talk.ana.replies("shorter", said)
    await talk.ana.replies("@docs-agent longer", said)
    await talk.time.passes(20)
    assert [prompt.partition("\n")[0] for prompt in talk.agent_got()[1:]] == ["longer"]
    talk.everything()


async def test_a_channel_where_only_mentions_steer_says_so(talk: Talk) -> None:
    await talk.ana.answer_to("/docs-agent replies off")
    await talk.started()
    assert MENTION in talk.status()


async def test_no_message_in_a_thread_names_a_slash_command(talk: Talk) -> None:
    await talk.started()
    await talk.ends("archived", pr_link=None)
    await talk.ana.replies("shorter")
    await talk.time.passes(20)
    assert not any("/docs-" in each for each in (talk.status(), *talk.replies()))
