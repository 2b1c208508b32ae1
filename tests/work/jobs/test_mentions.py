"""People mention the bot in channels and threads: it answers there, and starts only what they mean."""

from __future__ import annotations

from datetime import date

import pytest

from bot.commands.catalogue import take_message
from bot.model.access import Origin, message_key, ts_at
from bot.model.ids import ChannelId, MessageTs, PromptId, UserId
from bot.model.jobs import JobState
from bot.work.jobs.missed import Gap, catch_up
from bot.work.ports import SlackUnclear, ThreadReply
from tests.builders import ANA, BEN, CHANNEL
from tests.work.office import BOT, Office

AT_BOT = f"<@{BOT}>"
DIRECT = ChannelId("D0ANA")
TALK = "1700000400.000001"


async def mentioned(office: Office, text: str = "Add a quickstart", thread: str | None = None) -> MessageTs:
    """Ana mentions the bot, and the workers run."""
    return await office.says(f"{AT_BOT} {text}", thread=thread)


@pytest.mark.parametrize("thread", [None, TALK])
async def test_a_mention_is_answered_in_its_thread_or_in_the_one_under_it(
    office: Office, thread: str | None
) -> None:
    ts = await mentioned(office, thread=thread)
    await office.ends()
    assert {post.thread for post in office.slack.posts} == {thread or ts}
    face, *_, end = office.slack.posts
    assert "is done" in end.message.text
    assert "Pull request ready" in office.slack.edits[face.ts][-1].text


async def test_a_direct_message_opens_a_root_and_a_reply_under_it_steers(office: Office) -> None:
    ts = await office.says("Add a quickstart", channel=DIRECT)
    assert office.slack.posts[0].thread is None
    await office.says("Make it shorter", channel=DIRECT, thread=ts)
    assert await office.count_jobs() == 1
    assert office.sent() == ["Add a quickstart", "Make it shorter"]


async def test_in_a_thread_of_people_only_mentions_steer(office: Office) -> None:
    await mentioned(office, thread=TALK)
    for words in ("I think we should wait", "thanks"):
        await office.says(words, thread=TALK, user=BEN)
    assert (office.sent(), office.slack.reactions) == (["Add a quickstart"], [])
    await mentioned(office, "Make it shorter, please", thread=TALK)
    assert office.sent() == ["Add a quickstart", "Make it shorter, please"]
    assert await office.count_jobs() == 1


async def test_in_the_thread_under_a_mention_every_reply_steers(office: Office) -> None:
    ts = await mentioned(office)
    await office.says("Make it shorter", thread=ts, user=BEN)
    assert office.sent() == ["Add a quickstart", "Make it shorter"]


async def two_jobs(office: Office) -> None:
    """The first job of a thread is run again there, so that two live in it."""
    await mentioned(office, thread=TALK)
    await office.ends()
    await office.run_again()
    await office.settle()
    assert (await office.job(2)).thread_ts == TALK


async def test_the_newest_job_of_a_thread_is_steered_or_the_one_that_is_named(office: Office) -> None:
    await two_jobs(office)
    await office.hears(f"{AT_BOT} Write to the newest", thread=TALK)
    await office.hears(f"{AT_BOT} #1 to the first", thread=TALK)
    steered = await office.store.read(lambda tx: [tx.prompts.get(PromptId(n)) for n in (3, 4)])
    assert [(each.job, each.raw) for each in steered if each] == [
        (2, "Write to the newest"),
        (1, "to the first"),
    ]


async def test_a_mention_after_a_job_that_takes_no_more_starts_a_new_one_there(office: Office) -> None:
    await mentioned(office, thread=TALK)
    await office.ends("archived", None)
    assert (await office.job()).state is JobState.ARCHIVED
    await mentioned(office, "Write once more", thread=TALK)
    assert (await office.job(2)).thread_ts == TALK


@pytest.mark.parametrize("words", ["jobs", "limits", "status 7", "help", "digest"])
async def test_the_words_of_the_commands_start_nothing_after_a_mention(office: Office, words: str) -> None:
    for thread, ts in ((None, "1700000500.000001"), (TALK, "1700000500.000002")):
        for _ in range(2):  # a mention arrives as two events
            await office.hears(f"{AT_BOT} {words}", thread=thread, ts=ts)
    await office.settle()
    assert await office.count_jobs() == 0
    assert office.slack.posts == []
    told = {(where, thread, who) for where, thread, who, _ in office.slack.whispers}
    assert told == {(CHANNEL, None, ANA), (CHANNEL, TALK, ANA)}


async def test_words_in_a_direct_message_are_answered_there(office: Office) -> None:
    await office.says("limits", channel=DIRECT)
    assert await office.count_jobs() == 0
    assert [user for user, _, _ in office.slack.direct] == [ANA]


async def test_visitors_asked_for_in_a_thread_are_told_there_to_one_person(office: Office) -> None:
    office.docs.site.fill(5, date(2026, 10, 26), date(2026, 11, 1))
    await office.says(f"{AT_BOT} Visitors last week", thread=TALK)
    await office.reading()
    assert await office.count_jobs() == 0
    told = [(thread, user) for _, thread, user, _ in office.slack.whispers]
    assert set(told) == {(TALK, ANA)}
    assert "unique" in " ".join(message.text.lower() for *_, message in office.slack.whispers)
    assert office.slack.posts == []


async def test_a_prompt_that_begins_like_a_command_is_a_prompt(office: Office) -> None:
    await mentioned(office, "visitors cannot find the login page")
    await mentioned(office, "subscribe button is missing")
    assert office.sent() == ["visitors cannot find the login page", "subscribe button is missing"]


async def test_where_slack_refuses_a_whisper_the_answer_is_a_direct_message(office: Office) -> None:
    office.slack.outside.add(CHANNEL)
    await mentioned(office, "jobs")
    assert [user for user, _, _ in office.slack.direct] == [ANA]


async def test_a_face_whose_post_is_unclear_is_looked_for_in_its_thread(office: Office) -> None:
    office.slack.lose_answer.append(SlackUnclear("lost"))
    await office.hears(f"{AT_BOT} Add a quickstart", thread=TALK)
    await office.settle(60.0)
    assert [post.thread for post in office.slack.posts] == [TALK]
    assert (await office.job()).root_ts == office.slack.posts[0].ts


@pytest.mark.parametrize("words", ["thanks!", "LGTM", "+1", ":tada:", "👍🏽"])
async def test_thanks_in_a_thread_get_a_reaction_and_spend_nothing(office: Office, words: str) -> None:
    root = await mentioned(office)
    await office.ends()
    said = len(office.slack.posts)
    in_thread = await office.hears(words, thread=root)
    at_bot = await mentioned(office, words)
    assert office.slack.reactions[-2:] == [(in_thread, "+1"), (at_bot, "+1")]
    assert office.slack.whispers == []
    assert office.sent() == ["Add a quickstart"]
    assert len(office.slack.posts) == said


async def test_a_reply_to_words_of_the_bot_in_direct_messages_starts_nothing(office: Office) -> None:
    await office.says("what is that?", channel=DIRECT, thread=TALK, parent=BOT)
    assert await office.count_jobs() == 0


async def test_what_was_missed_in_a_thread_of_people_steers_if_it_mentions_the_bot(office: Office) -> None:
    await mentioned(office, thread=TALK)
    for text in ("I think we should wait", f"{AT_BOT} Make it shorter", f"{AT_BOT} limits"):
        office.clock.pass_seconds(1)
        ts = ts_at(office.clock())
        said = Origin(message_key(CHANNEL, ts), ANA, CHANNEL, MessageTs(TALK), ts)
        office.slack.said.append(ThreadReply(said, text, parent=BEN))
    await Gap(office.context).end()
    for _ in range(3):
        await office.works(lambda context: catch_up(context, take_message))
        office.clock.pass_seconds(office.context.timeouts.unread_pace_seconds)
    await office.settle()
    assert office.sent() == ["Add a quickstart", "Make it shorter"]
    assert [thread for _, thread, _, _ in office.slack.whispers] == [TALK]


FLOW = UserId("A0FLOW")


async def test_a_listed_app_starts_jobs_without_being_looked_up(office: Office) -> None:
    office.access_policy(bots=frozenset({FLOW}), users=frozenset({ANA}))
    office.slack.trouble("profile", SlackUnclear("HTTP 500"))
    await office.says(f"{AT_BOT} Add a quickstart", user=FLOW)
    assert office.sent() == ["Add a quickstart"]
    assert (await office.job()).requester == FLOW


async def test_a_listed_app_runs_no_commands_and_is_told_nothing_in_private(office: Office) -> None:
    office.access_policy(bots=frozenset({FLOW}))
    await office.hears(AT_BOT, user=FLOW)
    await office.says(f"{AT_BOT} jobs", user=FLOW)
    assert office.sent() == ["jobs"]
    assert office.slack.whispers == []
