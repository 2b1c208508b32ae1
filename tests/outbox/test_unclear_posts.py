"""Posts of unclear outcome are searched after faults of Slack, and posted once."""

from __future__ import annotations

from tests.talk import Talk

POSTS = 12


async def ask(talk: Talk) -> None:
    for number in range(POSTS):
        await talk.newcomer(f"P{number}").types(f"/docs-agent Add page {number}")


async def test_first_messages_of_unclear_outcome_are_found(talk: Talk) -> None:
    talk.faults.loses_the_answer("chat.postMessage", times=POSTS)
    talk.faults.goes_down("conversations.history")
    await ask(talk)
    await talk.time.passes(minutes=5)
    assert len(talk.channel()) == POSTS
    talk.faults.comes_back()
    await talk.time.passes(minutes=2)
    assert len(talk.channel()) == len(talk.agent_got()) == POSTS


async def test_ends_are_settled_by_one_reading_of_each_thread(talk: Talk) -> None:
    await ask(talk)
    await talk.time.passes(90)
    talk.faults.loses_the_answer("chat.postMessage", times=POSTS)
    talk.faults.goes_down("conversations.replies")
    talk.service.finish()
    await talk.time.passes(minutes=3)
    talk.slack.calls.clear()
    talk.faults.comes_back()
    await talk.time.passes(minutes=2)
    assert [len(talk.replies(number)) for number in range(1, POSTS + 1)] == [1] * POSTS
    assert talk.slack.calls.count("conversations.replies") == POSTS
    talk.channel()


async def test_missing_posts_are_posted_once_at_the_channels_pace(talk: Talk) -> None:
    talk.faults.fails("chat.postMessage", times=POSTS)
    talk.faults.goes_down("conversations.history")
    await ask(talk)
    await talk.time.passes(minutes=5)
    talk.faults.comes_back()
    while not talk.channel():
        await talk.time.passes(1)
    for _ in range(5):
        before = len(talk.channel())
        await talk.time.passes(1)
        assert len(talk.channel()) - before <= 2
    await talk.time.passes(minutes=2)
    assert len(talk.channel()) == len(talk.agent_got()) == POSTS


async def test_private_answers_of_unclear_outcome_become_direct_messages_at_slacks_pace(
    talk: Talk,
) -> None:
    people = [talk.newcomer(f"P{number}") for number in range(POSTS)]
    talk.faults.goes_down("response_url", "conversations.open")
    for days, person in enumerate(people, start=1):
        await person.types(f"/docs-visitors {days}d")
        person.reads()
    # Until the response URLs have expired.
    await talk.time.passes(minutes=40)
    talk.slack.calls.clear()
    talk.faults.comes_back()
    opened = 0
    while opened < POSTS:
        await talk.time.passes(1)
        before, opened = opened, talk.slack.calls.count("conversations.open")
        assert opened - before <= 2
    await talk.time.passes(minutes=2)
    assert talk.slack.calls.count("conversations.open") == POSTS
    answers = [person.reads() for person in people]
    assert all("has no visits" in answer for [answer] in answers)
