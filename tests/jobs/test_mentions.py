"""Mentions of the bot in channels and threads."""

from __future__ import annotations

from datetime import date

import pytest

from sandbox.workspace.state import BOT_USER, Json
from tests.talk import Talk
from tests.talk_people import Person

BOT = "@docs-agent"


async def mentions(talk: Talk, text: str = "Add a quickstart", thread: Json | None = None) -> Json:
    """Let Ana mention the bot, in the channel or in a thread."""
    mention = f"{BOT} {text}"
    message = await (talk.ana.replies(mention, to=thread) if thread else talk.ana.says(mention))
    await talk.time.passes(20)
    return message


async def among_people(talk: Talk) -> Json:
    return await talk.ben.says("Who writes the quickstart?")


@pytest.mark.parametrize("is_in_a_thread", [False, True])
async def test_mention_is_answered_in_its_thread(talk: Talk, is_in_a_thread: bool) -> None:
    root = await among_people(talk) if is_in_a_thread else None
    message = await mentions(talk, thread=root)
    await talk.ends()
    assert talk.channel() == []
    status, *_, end = talk.thread(root or message)
    assert "is done" in end
    assert "Pull request ready" in status


async def test_reply_to_a_direct_message_steers(talk: Talk) -> None:
    assert "every reply is for me" in await talk.ana.answer_to(
        "/docs-agent replies off", channel="dm"
    )
    message = await talk.ana.says("Add a quickstart", channel="dm")
    await talk.time.passes(10)
    [status] = talk.ana.reads()
    assert status.message["thread_ts"] is None
    await talk.ana.replies("Make it shorter", to=message)
    await talk.time.passes(20)
    assert talk.agent_got() == ["Add a quickstart", "Make it shorter"]
    talk.everything()


async def test_mention_steers_the_newest_or_the_named_job(talk: Talk) -> None:
    await talk.process.starts(context="none")
    root = await among_people(talk)
    await mentions(talk, thread=root)
    await talk.ends("failed", pr_link=None)
    await talk.ana.presses("Run again")
    assert await talk.ana.fills_in() == {}
    await talk.time.passes(20)
    await mentions(talk, "Write to the newest", thread=root)
    await mentions(talk, "#1 Write to the first", thread=root)
    assert talk.service.prompts[-2:] == [
        ("job-2", "Write to the newest"),
        ("job-1", "Write to the first"),
    ]
    talk.everything()


async def test_mention_after_that_of_a_colleague_counts(talk: Talk) -> None:
    root = await among_people(talk)
    await talk.ben.replies(f"@ana good point. {BOT} please fix it: it is 100", to=root)
    await talk.time.passes(20)
    assert "it is 100" in talk.agent_got()[0]
    talk.everything()


async def test_quoted_mention_is_no_request(talk: Talk) -> None:
    said = await talk.ana.says(f"> {BOT} Add a page\nDid anybody merge this?")
    await talk.time.passes(20)
    assert talk.agent_got() == talk.thread(said) == []


async def test_mention_after_an_archived_job_starts_another(talk: Talk) -> None:
    root = await among_people(talk)
    await mentions(talk, thread=root)
    await talk.ends("archived", pr_link=None)
    await talk.time.passes(60)
    await mentions(talk, "Write once more", thread=root)
    assert talk.job(2).message["thread_ts"] == root["ts"]
    talk.everything()


@pytest.mark.parametrize("text", ["jobs", "limits", "status 7", "help", "digest"])
async def test_word_of_a_command_starts_nothing_after_a_mention(talk: Talk, text: str) -> None:
    root = await among_people(talk)
    await mentions(talk, text)
    await mentions(talk, text, thread=root)
    assert talk.agent_got() == talk.all_replies() == []
    assert bool(talk.channel()) is (text == "digest")
    notes = talk.ana.reads()
    assert {note.message["thread_ts"] for note in notes} == {None, root["ts"]}
    assert len(notes) == 2


async def test_visitors_are_shown_privately_in_the_thread(talk: Talk) -> None:
    talk.service.site.fill(5, date(2026, 10, 26), date(2026, 11, 1))
    root = await among_people(talk)
    await mentions(talk, "Visitors last week", thread=root)
    assert talk.agent_got() == talk.thread(root) == []
    notes = talk.ana.reads()
    assert {note.message["thread_ts"] for note in notes} == {root["ts"]}
    assert "unique" in " ".join(notes).lower()


async def test_refused_private_answer_is_a_direct_message(talk: Talk) -> None:
    talk.faults.refuses("chat.postEphemeral", "user_not_in_channel", times=3)
    await mentions(talk, "jobs")
    [answer] = talk.ana.reads()
    assert answer.message["channel"] == talk.room("dm", talk.ana).id


async def test_button_of_a_direct_message_starts_a_job_about_the_thread(talk: Talk) -> None:
    talk.faults.refuses("chat.postEphemeral", "user_not_in_channel")
    root = await among_people(talk)
    await mentions(talk, "How do I set up SSO?", thread=root)
    [answer] = talk.ana.reads()
    assert answer.message["channel"] == talk.room("dm").id
    await talk.ana.presses("Draft a page on it", answer)
    assert await talk.ana.fills_in() == {}
    await talk.time.passes(30)
    talk.everything()
    assert "SSO" in "".join(talk.agent_got())


async def test_unclear_status_is_searched_in_its_thread(talk: Talk) -> None:
    root = await among_people(talk)
    talk.faults.loses_the_answer("chat.postMessage")
    await mentions(talk, thread=root)
    await talk.time.passes(60)
    [status] = talk.thread(root)
    assert "Working on it" in status


async def test_reply_to_an_answer_in_direct_messages_is_answered(talk: Talk) -> None:
    await talk.ana.says("limits", channel="dm")
    await talk.time.passes(10)
    [answer] = talk.ana.reads()
    await talk.ana.replies("what is that?", to=answer.message)
    await talk.time.passes(20)
    assert talk.agent_got() == []
    assert talk.ana.reads() == ["I can't answer here."]


async def test_missed_mentions_in_a_thread_of_people_steer(talk: Talk) -> None:
    await talk.process.starts(context="none")
    root = await among_people(talk)
    await mentions(talk, "Add a quickstart", thread=root)
    talk.process.dies()
    for text in ("Write it next week", f"{BOT} Make it shorter", f"{BOT} limits"):
        await talk.ana.replies(text, to=root)
    await talk.time.passes(minutes=20)
    await talk.process.starts()
    await talk.time.passes(60)
    assert talk.agent_got() == ["Add a quickstart", "Make it shorter"]
    [note] = talk.ana.reads()
    assert note.message["thread_ts"] == root["ts"]
    talk.everything()


def flow(talk: Talk) -> Person:
    """Add the bot user of an app."""
    return talk.newcomer("Flow", is_bot=True)


async def test_listed_app_starts_jobs_without_a_profile(talk: Talk) -> None:
    app = flow(talk)
    await talk.process.starts(allowed_bots=app.id, allowed_users=talk.ana.id)
    talk.faults.goes_down("users.info")
    message = await app.says(f"{BOT} Add a quickstart")
    await talk.time.passes(20)
    assert talk.agent_got() == ["Add a quickstart"]
    assert f"<@{app.id}>" in talk.thread(message)[0]


async def test_listed_app_has_no_commands_and_no_private_answers(talk: Talk) -> None:
    app = flow(talk)
    await talk.process.starts(allowed_bots=app.id)
    await app.says(BOT)
    message = await app.says(f"{BOT} jobs")
    await talk.time.passes(20)
    assert talk.agent_got() == []
    assert app.reads() == []
    assert talk.thread(message) == []


async def test_bot_ignores_its_own_messages(talk: Talk) -> None:
    message = await mentions(talk)
    assert [post for post in talk.thread(message) if post.message["user"] != BOT_USER] == []
    assert len(talk.agent_got()) == 1
