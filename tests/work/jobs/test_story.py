"""The main story: ask, pull request, follow-up, second end; and what may come in between."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from bot.logs import configure
from bot.model.ids import ChannelId
from bot.model.jobs import JobState
from bot.model.prompts import Act
from tests.builders import ANA, BEN
from tests.fakes import PULL_REQUEST
from tests.work.office import BOT, Office


@pytest.fixture(autouse=True)
def watches_workers(office: Office) -> None:
    """These tests alone, because it takes a quarter of the time of a test."""
    office.watches_workers = True


async def test_a_job_is_asked_for_followed_and_told_once(office: Office) -> None:
    await office.started()
    assert office.docs.prompts == [("job-1", "Add a quickstart")]
    assert (await office.job()).state is JobState.WORKING
    await office.ends()
    polls = office.docs.polls
    await office.pass_time(3600)
    assert office.docs.polls == polls
    job = await office.job()
    assert (job.state, job.pr_link) == (JobState.PULL_REQUEST, PULL_REQUEST)
    [end] = office.slack.replies()
    assert f"<@{ANA}>" in end.message.text
    assert [post.thread for post in office.slack.posts] == [None, office.slack.root().ts]
    assert "Pull request ready" in office.root_text()


async def test_the_agent_is_sent_nothing_that_the_person_could_not_see(office: Office) -> None:
    office.slack.names[BEN] = "B\u202een"
    await office.started("Add a 👩\u200d🚀 page\U000e0041\ufe0f, so\u00adftly, for <@U0BEN>")
    [(_, prompt)] = office.docs.prompts
    assert prompt == "Add a 👩\u200d🚀 page\ufffd, softly, for @B\ufffden"
    assert prompt in office.slack.root().message.text


async def test_a_pull_request_on_another_host_than_the_allowed_ones_is_told_as_text(office: Office) -> None:
    office.context = replace(office.context, link_hosts=frozenset({"github.com"}))
    await office.finished()
    [end] = office.slack.replies()
    assert f"`{PULL_REQUEST.removeprefix('https://')}`" in end.message.text
    assert "on a host that whoever runs this bot allows" in end.message.text
    sent = str([end.message, office.slack.edits, await office.types("/docs-agent", "status 1")])
    assert PULL_REQUEST not in sent
    assert "view_pull_request" not in sent


async def test_a_reply_steers_the_job_and_its_second_end_is_told(office: Office) -> None:
    await office.finished()
    await office.replied("Mention Python 3.11", user=BEN)
    assert office.docs.prompts[-1] == ("job-1", "Mention Python 3.11")
    assert [name for _, name in office.slack.reactions] == ["eyes"]
    assert (await office.job()).state is JobState.WORKING
    await office.ends()
    assert len(office.slack.replies()) == 2
    assert f"<@{BEN}>" in office.said()[-1]


async def test_a_stale_answer_after_a_follow_up_is_not_taken_for_its_end(office: Office) -> None:
    await office.finished()
    await office.reply("Make it shorter")
    await office.settle(0.5)
    office.docs.finish()  # as if the service still showed the first round
    await office.settle(30)
    assert len(office.slack.replies()) == 1
    await office.settle(60)
    assert len(office.slack.replies()) == 2


async def test_replies_meant_for_people_are_left_alone(office: Office) -> None:
    await office.started()
    for text in ("aside: looks fine", "! not for the bot", "<@U0BEN> can you look?"):
        await office.reply(text)
    await office.settle()
    assert len(office.docs.prompts) == 1
    assert office.slack.reactions == []


async def test_names_reach_the_agent_as_words_and_ping_nobody(office: Office) -> None:
    await office.started("Ask <@U0BEN> about <#C0GEN> &amp; <https://x.example/a|the page>")
    [(_, text)] = office.docs.prompts
    assert text == "Ask @ben about #general & the page (https://x.example/a)"
    assert "<@U0BEN>" not in office.root_text()


async def test_a_status_nobody_knows_counts_as_running(office: Office) -> None:
    await office.started()
    office.docs.finish("paused", None)
    await office.pass_time(60)
    assert (await office.job()).state is JobState.WORKING
    office.docs.finish()
    await office.pass_time(60)
    assert (await office.job()).state is JobState.PULL_REQUEST


async def test_a_job_that_runs_long_is_mentioned_once(office: Office) -> None:
    await office.started()
    for _ in range(5):
        await office.pass_time(1200)
    assert len(office.slack.replies()) == 1
    for _ in range(4 * 8):
        await office.pass_time(6 * 3600)
    assert (await office.job()).state is JobState.UNWATCHED
    assert len(office.slack.replies()) == 2


async def test_where_a_channel_has_chosen_so_only_replies_that_mention_the_bot_steer(office: Office) -> None:
    await office.started()
    assert "Here every reply" in await office.told("/docs-agent", "replies")
    assert "only replies that mention me" in await office.told("/docs-agent", "replies off", user=BEN)
    await office.reply("not meant for the bot")
    await office.replied(f"<@{BOT}> make it shorter")
    assert office.sent() == ["Add a quickstart", "make it shorter"]
    await office.ends()
    assert "ention me here" in office.said()[-1]
    for shown in ("replies", "status 1", "help"):
        told = await office.told("/docs-agent", shown)
        assert re.search("only (replies|those) that mention me|mention me: in this channel only", told)
    elsewhere = ChannelId("C0OTHER")
    assert "Here every reply" in await office.told("/docs-agent", "replies", channel=elsewhere)
    await office.types("/docs-agent", "Replies ON")
    await office.replied("and simpler")
    await office.ends()
    assert office.sent()[-1] == "and simpler"
    assert "ention me" not in office.said()[-1]
    _, rows = await office.store.read(lambda tx: tx.audit.after(0, 10))
    assert [row.user for row in rows if row.act is Act.CHOSE_REPLIES] == [BEN, ANA]


async def test_in_direct_messages_every_reply_steers(office: Office) -> None:
    direct = ChannelId("D0ANA")
    assert "every reply is for me" in await office.told("/docs-agent", "replies off", channel=direct)
    await office.hears("Add a quickstart", channel=direct)
    await office.settle()
    face = office.slack.posts[0]
    await office.says("make it shorter", channel=direct, thread=face.thread or face.ts, parent=BOT)
    assert office.sent() == ["Add a quickstart", "make it shorter"]


async def test_a_name_that_slack_never_tells_stops_nothing_and_is_logged_once(
    office: Office, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    configure("INFO", "json")
    for number in range(3):
        await office.ask(f"Ask <@U0STRANGER> about it {number}")
        await office.settle(2)
    assert len(office.sent()) == 3
    assert capsys.readouterr().err.count("name_not_told") == 1


async def test_nothing_changed_failed_and_archived_are_told_apart(office: Office) -> None:
    for status, link, state in (
        ("completed", None, JobState.NO_PULL_REQUEST),
        ("failed", None, JobState.FAILED),
        ("archived", None, JobState.ARCHIVED),
    ):
        asked = await office.ask(f"Do {status}", channel=ChannelId(f"C{status}"))
        await office.settle()
        office.docs.finish(status, link)
        await office.settle()
        assert (await office.job(asked.job)).state is state
    assert len(set(office.said())) == 3
