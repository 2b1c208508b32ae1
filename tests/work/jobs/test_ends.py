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


async def followed_up(office: Office) -> None:
    """A job with an end, followed up and finished again."""
    await office.finished()
    await office.replied("Mention Python 3.11 too", user=BEN)
    office.docs.finish()
    await office.pass_time(120)


async def test_an_older_end_loses_its_buttons_and_keeps_its_words(office: Office) -> None:
    await followed_up(office)
    first, second = office.slack.replies()
    [edit] = office.slack.edits[first.ts]
    assert first.message.text.startswith(edit.text)
    assert not has_buttons(edit)
    assert second.ts not in office.slack.edits
    assert has_buttons(second.message)


async def test_the_face_keeps_the_pull_request_when_a_follow_up_fails(office: Office) -> None:
    await office.finished()
    await office.replied("Mention Python 3.11 too")
    office.docs.finish("failed", None)
    await office.pass_time(120)
    face = office.slack.edits[office.slack.root().ts][-1]
    assert (await office.job()).state is JobState.FAILED
    assert PULL_REQUEST in str(face.blocks)


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
    assert "I've stopped checking" in office.said()[-1]
    await office.replied("Still there?")
    assert (await office.job()).state is JobState.WORKING


async def test_a_first_pull_request_is_told_as_a_first_one_whatever_was_asked_before(office: Office) -> None:
    """The first iteration ended without a pull request; its words stay when its buttons go."""
    await office.started()
    await office.ends(pr_link=None)
    await office.replied("Then add it to the guides")
    office.docs.finish()
    await office.pass_time(120)
    told = office.said()[1]
    assert "Job 1 is done" in told
    assert "the pull request is ready" in told
    await office.press("reviewed", "1")
    await office.settle()
    assert told.startswith(shown(office)[1].text)
    await office.replied("Mention Python 3.11 too")
    assert told.startswith(shown(office)[1].text)
    office.docs.finish()
    await office.pass_time(120)
    assert "The follow-up to Job 1 is finished" in office.said()[2]


async def test_nobody_is_invited_to_ask_what_the_agent_cannot_answer(office: Office) -> None:
    await office.started()
    await office.ends(pr_link=None)
    [end] = office.said()
    assert end.endswith("Reply here and name the page and what it should say.")


async def test_run_again_opens_the_prompt_and_the_old_thread_links_to_the_new_job(office: Office) -> None:
    office.context = replace(office.context, workspace_url="https://acme.slack.example/")
    await office.finished()
    form = await office.press("run_again", "1", user=BEN)
    assert form.modal is not None
    assert "Add a quickstart" in str(form.modal.view["blocks"])
    await office.run_again(user=BEN, prompt="Shorter")
    await office.settle()
    assert (await office.job(2)).text == "Shorter"
    assert (await office.job(2)).again_of == JobNumber(1)
    assert office.said()[-1].startswith(f"<@{BEN}> ran this again as <https://")
