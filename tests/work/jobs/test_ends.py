"""The ends of a job in its thread: the newest has buttons, older ones have lost theirs."""

from __future__ import annotations

from dataclasses import replace

import httpx
import pytest

from bot.model.ids import JobNumber, Message
from bot.model.jobs import JobState
from bot.slack.client import refused
from bot.work.jobs.decisions import dismiss, send_again, stop_watching
from bot.work.ports import SlackUnclear, SlackUnreachable
from tests.builders import BEN
from tests.fakes import PULL_REQUEST
from tests.work.office import Office


def has_buttons(message: Message) -> bool:
    return any(block["type"] == "actions" for block in message.blocks)


def shown(office: Office) -> list[Message]:
    """The replies as they stand now, after their edits."""
    return [office.slack.edits.get(each.ts, [each.message])[-1] for each in office.slack.replies()]


def offered(messages: list[Message]) -> list[str]:
    rows = [block for each in messages for block in each.blocks if block["type"] == "actions"]
    return [button["action_id"] for row in rows for button in row["elements"]]


async def goes_on(office: Office) -> None:
    """The agent ends what it works on, long after the follow-up."""
    office.docs.finish()
    await office.pass_time(120)


async def followed_up(office: Office) -> None:
    """A job with an end, followed up and finished again."""
    await office.finished()
    await office.replied("Mention Python 3.11 too", user=BEN)
    await goes_on(office)


async def test_an_older_end_loses_its_buttons_and_keeps_its_result(office: Office) -> None:
    await followed_up(office)
    first, second = office.slack.replies()
    [edit] = office.slack.edits[first.ts]
    assert first.message.text.startswith(edit.text)
    assert not has_buttons(edit)
    assert second.ts not in office.slack.edits
    assert has_buttons(second.message)


@pytest.mark.parametrize("odd", ["\x00", "x" * 4_000])
async def test_an_end_is_told_without_its_link_where_that_cannot_be_stored(office: Office, odd: str) -> None:
    await office.started()
    await office.ends(pr_link=PULL_REQUEST + odd)
    [reply] = office.slack.replies()
    assert "is done" in reply.message.text
    assert "I can't link to the address of its pull request" in reply.message.text
    assert "|" not in reply.message.text
    assert (await office.job()).state is JobState.PULL_REQUEST


async def test_an_edit_of_unclear_outcome_posts_nothing(office: Office) -> None:
    await office.finished()
    office.slack.trouble("edit", SlackUnclear("lost"), SlackUnclear("lost"))
    await office.reply("Mention Python 3.11 too")
    for _ in range(3):
        await office.pass_time(30)
    [first] = office.slack.replies()
    assert not has_buttons(office.slack.edits[first.ts][-1])


async def test_an_end_that_nobody_saw_is_not_edited(office: Office) -> None:
    await office.started()
    office.slack.trouble("post", refused("is_archived"))
    await office.ends()
    await office.replied("Go on")
    assert set(office.slack.edits) <= {office.slack.root().ts}


async def test_edits_of_several_messages_do_not_replace_each_other(office: Office) -> None:
    await office.finished()
    office.slack.trouble("edit", *[SlackUnreachable("down")] * 2)
    await office.reply("Mention Python 3.11 too")
    for _ in range(3):
        await office.pass_time(30)
    [first] = office.slack.replies()
    assert not has_buttons(office.slack.edits[first.ts][-1])
    assert ":gear:" in office.root_text()


@pytest.mark.parametrize(("decide", "words"), [(send_again, "*Send again*"), (dismiss, "*Dismiss*")])
async def test_a_decided_question_loses_its_buttons(office: Office, decide: object, words: str) -> None:
    office.docs.lost.append(httpx.ReadTimeout("lost"))
    await office.started()
    assert await decide(office.context, await office.steers(1, BEN))  # type: ignore[operator]
    await office.settle()
    question = shown(office)[0]
    assert not has_buttons(question)
    assert f"<@{BEN}> chose {words}" in question.text


@pytest.mark.parametrize("status", [500, 502, 302])
async def test_an_answer_that_is_an_error_is_not_called_lost(office: Office, status: int) -> None:
    office.docs.answer_instead("create", httpx.Response(status, text="<html>", headers={"location": "/"}))
    await office.started()
    [question] = office.said()
    assert "answered with an error" in question


async def test_a_running_job_shows_its_minutes_in_few_edits(office: Office) -> None:
    await office.started()
    for _ in range(60):
        await office.pass_time(20)
    faces = [face.text for face in office.slack.edits[office.slack.root().ts]]
    assert [
        words for words in ("2", "5", "10", "20") if any(f"than {words}\xa0min" in face for face in faces)
    ]
    assert len(faces) <= 5
    assert "more than 20\xa0min" in faces[-1]


async def test_a_job_that_is_watched_no_more_is_polled_no_more_until_a_reply_wakes_it(office: Office) -> None:
    await office.started()
    assert await stop_watching(office.context, await office.steers())
    assert not await stop_watching(office.context, await office.steers())
    polls = office.docs.polls
    await office.pass_time(600)
    assert (await office.job()).state is JobState.UNWATCHED
    assert office.docs.polls == polls
    assert "I'll stay quiet about Job 1; the agent still works on it." in office.said()[-1]
    await office.replied("Mention Python 3.11")
    assert (await office.job()).state is JobState.WORKING


async def test_a_first_pull_request_is_told_as_a_first_one_whatever_was_asked_before(office: Office) -> None:
    """The first version ended without a pull request; a later end keeps its result when its buttons go."""
    await office.started()
    await office.ends(pr_link=None)
    assert "Job 1 finished without a pull request" in office.said()[0]
    await office.replied("Then add it to the guides")
    await goes_on(office)
    assert "Job 1 is done" in office.said()[1]
    assert "the pull request is ready" in office.said()[1]
    await office.replied("Mention Python 3.11 too")
    assert office.said()[1].startswith(shown(office)[1].text)
    await goes_on(office)
    assert "Job 1: follow-up done" in office.said()[2]
    assert "version 3" in office.root_text()


async def test_what_is_asked_before_the_first_end_belongs_to_the_first_version(office: Office) -> None:
    await office.started()
    await office.replied("Mention Python 3.11 too", user=BEN)
    await goes_on(office)
    [end] = office.said()
    assert "Job 1 is done" in end
    assert "version" not in office.root_text()


async def test_another_pull_request_of_the_same_job_is_told_as_a_new_one(office: Office) -> None:
    await office.finished()
    await office.replied("Use the other repository, please")
    office.docs.finish(pr_link="https://code.example/acme/api/pull/3")
    await office.pass_time(120)
    assert "the pull request is ready" in office.said()[1]


async def test_a_follow_up_that_ends_without_a_link_leaves_the_pull_request_to_check(office: Office) -> None:
    await office.finished()
    await office.replied("Mention Python 3.11")
    office.docs.finish(pr_link=None)
    await office.pass_time(120)
    assert "Job 1: follow-up done" in office.said()[1]
    assert (await office.job()).state is JobState.PULL_REQUEST


async def test_a_finished_job_has_four_controls_at_most_whatever_was_asked_of_it(office: Office) -> None:
    office.docs.branch = "agent/quickstart"
    for _ in range(3):
        await (office.replied("Shorter") if office.slack.posts else office.started())
        await goes_on(office)
        face = office.slack.edits[office.slack.root().ts][-1]
        assert offered([face, *shown(office)]) == [
            *("reviewed", "not_needed"),
            *("view_pull_request", "preview"),
        ]


async def test_run_again_opens_the_prompt_and_the_old_thread_links_to_the_new_job(office: Office) -> None:
    office.context = replace(office.context, workspace_url="https://acme.slack.example/")
    await office.finished()
    form = await office.press("run_again", "1", user=BEN)
    assert form.modal is not None
    assert "Add a quickstart" in str(form.modal["blocks"])
    await office.run_again(user=BEN, prompt="Shorter")
    await office.settle()
    assert (await office.job(2)).text == "Shorter"
    assert (await office.job(2)).again_of == JobNumber(1)
    assert office.said()[-1].startswith(f"<@{BEN}> ran this again as <https://")
