"""People mention the bot in channels and threads: it answers there, and starts only what they mean."""

from __future__ import annotations

from datetime import date

import pytest

from sandbox.workspace.state import BOT_USER, Json
from tests.talk import Talk
from tests.talk_people import Person

BOT = "@docs-agent"


async def mentions(talk: Talk, text: str = "Add a quickstart", thread: Json | None = None) -> Json:
    """Let Ana mention the bot, in the channel or in a thread."""
    words = f"{BOT} {text}"
    said = await (talk.ana.replies(words, to=thread) if thread else talk.ana.says(words))
    await talk.time.passes(20)
    return said


async def among_people(talk: Talk) -> Json:
    return await talk.ben.says("Who writes the quickstart?")


@pytest.mark.parametrize("is_in_a_thread", [False, True])
async def test_a_mention_is_answered_in_its_thread_or_in_the_one_under_it(
    talk: Talk, is_in_a_thread: bool
) -> None:
    root = await among_people(talk) if is_in_a_thread else None
    said = await mentions(talk, thread=root)
    await talk.ends()
    assert talk.channel() == []
    status, *_, end = talk.thread(root or said)
    assert "is done" in end
    assert "Pull request ready" in status


async def test_a_direct_message_opens_a_root_and_a_reply_under_it_steers(talk: Talk) -> None:
    said = await talk.ana.says("Add a quickstart", channel="dm")
    await talk.time.passes(10)
    [status] = talk.ana.reads()
    assert status.message["thread_ts"] is None
    await talk.ana.replies("Make it shorter", to=said)
    await talk.time.passes(20)
    assert talk.agent_got() == ["Add a quickstart", "Make it shorter"]
    talk.everything()


async def test_in_a_thread_of_people_only_mentions_steer(talk: Talk) -> None:
    root = await among_people(talk)
    await mentions(talk, thread=root)
    replies = [await talk.ben.replies(words, to=root) for words in ("Write it next week", "thanks")]
    await talk.time.passes(20)
    assert talk.agent_got()[0].startswith("Add a quickstart")
    assert len(talk.agent_got()) == 1
    assert [talk.reactions(reply) for reply in replies] == [[], []]
    await mentions(talk, "Make it shorter, please", thread=root)
    assert talk.agent_got()[1].startswith("Make it shorter, please")
    assert len(talk.thread(root)) == 1
    talk.everything()


async def test_in_the_thread_under_a_mention_every_reply_steers(talk: Talk) -> None:
    said = await mentions(talk)
    await talk.ben.replies("Make it shorter", to=said)
    await talk.time.passes(20)
    assert talk.agent_got() == ["Add a quickstart", "Make it shorter"]
    talk.everything()


async def test_the_newest_job_of_a_thread_is_steered_or_the_one_that_is_named(talk: Talk) -> None:
    await talk.process.starts(context="none")
    root = await among_people(talk)
    await mentions(talk, thread=root)
    await talk.ends("failed", pr_link=None)
    await talk.ana.presses("Run again")
    assert await talk.ana.fills_in() == {}
    await talk.time.passes(20)
    await mentions(talk, "Write to the newest", thread=root)
    await mentions(talk, "#1 Write to the first", thread=root)
    assert talk.service.prompts[-2:] == [("job-2", "Write to the newest"), ("job-1", "Write to the first")]
    talk.everything()


async def test_a_mention_after_a_job_that_takes_no_more_starts_a_new_one_there(talk: Talk) -> None:
    root = await among_people(talk)
    await mentions(talk, thread=root)
    await talk.ends("archived", pr_link=None)
    await talk.time.passes(60)
    await mentions(talk, "Write once more", thread=root)
    assert talk.job(2).message["thread_ts"] == root["ts"]
    talk.everything()


@pytest.mark.parametrize("words", ["jobs", "limits", "status 7", "help", "digest"])
async def test_the_words_of_the_commands_start_nothing_after_a_mention(talk: Talk, words: str) -> None:
    root = await among_people(talk)
    await mentions(talk, words)
    await mentions(talk, words, thread=root)
    assert talk.agent_got() == talk.all_replies() == []
    assert bool(talk.channel()) is (words == "digest")
    notes = talk.ana.reads()
    assert {note.message["thread_ts"] for note in notes} == {None, root["ts"]}
    assert len(notes) == 2


async def test_words_in_a_direct_message_are_answered_there(talk: Talk) -> None:
    await talk.ana.says("limits", channel="dm")
    await talk.time.passes(10)
    [answer] = talk.ana.reads()
    assert answer.message["channel"] == talk.room("dm", talk.ana).id
    assert talk.agent_got() == []


async def test_visitors_asked_for_in_a_thread_are_told_there_to_one_person(talk: Talk) -> None:
    talk.service.site.fill(5, date(2026, 10, 26), date(2026, 11, 1))
    root = await among_people(talk)
    await mentions(talk, "Visitors last week", thread=root)
    assert talk.agent_got() == talk.thread(root) == []
    notes = talk.ana.reads()
    assert {note.message["thread_ts"] for note in notes} == {root["ts"]}
    assert "unique" in " ".join(notes).lower()


async def test_a_prompt_that_begins_like_a_command_is_a_prompt(talk: Talk) -> None:
    await mentions(talk, "visitors cannot find the login page, add a link")
    await mentions(talk, "subscribe button is missing, add one")
    assert talk.agent_got() == [
        "visitors cannot find the login page, add a link",
        "subscribe button is missing, add one",
    ]
    talk.everything()


async def test_where_slack_refuses_a_private_answer_it_is_a_direct_message(talk: Talk) -> None:
    talk.faults.refuses("chat.postEphemeral", "user_not_in_channel", times=3)
    await mentions(talk, "jobs")
    [answer] = talk.ana.reads()
    assert answer.message["channel"] == talk.room("dm", talk.ana).id


async def test_a_status_whose_post_is_unclear_is_looked_for_in_its_thread(talk: Talk) -> None:
    root = await among_people(talk)
    talk.faults.loses_the_answer("chat.postMessage")
    await mentions(talk, thread=root)
    await talk.time.passes(60)
    [status] = talk.thread(root)
    assert "Working on it" in status


@pytest.mark.parametrize("words", ["thanks!", "LGTM", "+1", ":tada:", "👍🏽"])
async def test_thanks_in_a_thread_get_a_reaction_and_spend_nothing(talk: Talk, words: str) -> None:
    root = await mentions(talk)
    await talk.ends()
    talk.everything()
    in_thread = await talk.ana.replies(words, to=root)
    at_bot = await mentions(talk, words)
    assert talk.reactions(in_thread) == talk.reactions(at_bot) == ["+1"]
    assert talk.ana.reads() == []
    assert talk.agent_got() == ["Add a quickstart"]
    talk.everything()


async def test_a_reply_to_words_of_the_bot_in_direct_messages_starts_nothing(talk: Talk) -> None:
    await talk.ana.says("limits", channel="dm")
    await talk.time.passes(10)
    [answer] = talk.ana.reads()
    await talk.ana.replies("what is that?", to=answer.message)
    await talk.time.passes(20)
    assert talk.agent_got() == []
    talk.ana.reads()


async def test_what_was_missed_in_a_thread_of_people_steers_if_it_mentions_the_bot(talk: Talk) -> None:
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
    """Add a bot user, as an app has one."""
    return talk.newcomer("Flow", is_bot=True)


async def test_a_listed_app_starts_jobs_without_being_looked_up(talk: Talk) -> None:
    app = flow(talk)
    await talk.process.starts(allowed_bots=app.id, allowed_users=talk.ana.id)
    talk.faults.goes_down("users.info")
    said = await app.says(f"{BOT} Add a quickstart")
    await talk.time.passes(20)
    assert talk.agent_got() == ["Add a quickstart"]
    assert f"<@{app.id}>" in talk.thread(said)[0]


async def test_a_listed_app_runs_no_commands_and_is_told_nothing_in_private(talk: Talk) -> None:
    app = flow(talk)
    await talk.process.starts(allowed_bots=app.id)
    await app.says(BOT)
    said = await app.says(f"{BOT} jobs")
    await talk.time.passes(20)
    assert talk.agent_got() == ["jobs"]
    assert app.reads() == []
    assert len(talk.thread(said)) == 1


async def test_the_bot_does_not_hear_itself(talk: Talk) -> None:
    said = await mentions(talk)
    assert [each for each in talk.thread(said) if each.message["user"] != BOT_USER] == []
    assert len(talk.agent_got()) == 1
