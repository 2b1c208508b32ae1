"""A job that the docs service says it does not know is looked for, and then called lost."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from bot.model.jobs import JobState
from bot.work.jobs.decisions import dismiss
from bot.work.jobs.poll import poll_jobs
from tests.builders import ANA, BEN
from tests.work.office import Office


async def unknown(office: Office) -> dict[str, dict[str, Any]]:
    """Start a job that the service then does not know; return what the service forgot."""
    await office.started()
    forgotten = dict(office.docs.jobs)
    office.docs.jobs.clear()
    return forgotten


def not_found(count: int) -> list[httpx.Response]:
    """So many times the answer about a job that the service does not know."""
    return [httpx.Response(404, json={"error": "no such job"}) for _ in range(count)]


async def pass_hours(office: Office, hours: int) -> None:
    await pass_minutes(office, hours, step=60)


async def pass_minutes(office: Office, polls: int, step: int = 1) -> None:
    """Poll each minute, or each ``step`` minutes, and say what there is to say afterwards."""
    for _ in range(polls):
        office.clock.pass_seconds(60 * step)
        await poll_jobs(office.context)
    await office.settle(3)


async def test_a_job_is_lost_when_it_is_unknown_for_an_hour_and_that_is_told_once(office: Office) -> None:
    forgotten = await unknown(office)
    polls = office.docs.polls
    await pass_minutes(office, 50)
    assert (await office.job()).state is JobState.WORKING
    assert office.said() == []
    assert 5 <= office.docs.polls - polls <= 20
    await pass_minutes(office, 30)
    assert (await office.job()).state is JobState.GONE
    assert [said.startswith(f"<@{ANA}> :ghost:") for said in office.said()] == [True]
    polls = office.docs.polls
    office.docs.jobs |= forgotten
    await pass_minutes(office, 60)
    await pass_hours(office, 48)
    assert (office.docs.polls, len(office.said())) == (polls, 1)


async def test_a_job_that_is_known_again_within_the_hour_goes_on_in_silence(office: Office) -> None:
    forgotten = await unknown(office)
    await pass_minutes(office, 40)
    office.docs.jobs |= forgotten
    await pass_minutes(office, 12)
    assert (await office.job()).missing_since is None
    office.docs.jobs.clear()
    await pass_minutes(office, 50)
    assert (await office.job()).state is JobState.WORKING
    assert ":ghost:" not in str(office.said())


@pytest.mark.parametrize(
    "error",
    [
        lambda: httpx.Response(500),
        lambda: httpx.Response(404, text="<html>", headers={"content-type": "text/html"}),
        lambda: httpx.Response(302),
        lambda: httpx.ReadTimeout("slow"),
    ],
    ids=["500", "web page", "redirect", "timeout"],
)
async def test_an_error_never_counts_as_a_job_that_is_unknown(office: Office, error: Any) -> None:
    await unknown(office)
    await office.settle(3)
    office.docs.answer_instead("get", *(error() for _ in range(300)))
    await pass_minutes(office, 120)
    assert (await office.job()).state is JobState.WORKING
    office.docs.instead.clear()
    await pass_minutes(office, 60)
    assert office.docs.polls


async def test_a_reply_wakes_a_lost_job_that_the_service_knows_again(office: Office) -> None:
    forgotten = await unknown(office)
    await pass_minutes(office, 90)
    office.docs.jobs |= forgotten
    await office.reply("Write more")
    await office.settle(3)
    assert (await office.job()).state is JobState.WORKING
    await office.ends()
    assert ":memo:" in office.said()[-1]


async def test_a_reply_to_a_job_that_stays_lost_is_refused(office: Office) -> None:
    await unknown(office)
    await pass_minutes(office, 90)
    polls = office.docs.polls
    office.docs.answer_instead("follow_up", *not_found(1))
    await office.reply("Write more")
    await office.settle(3)
    assert "no longer knows this job" in office.said()[-1]
    assert (await office.job()).state is JobState.GONE
    await pass_hours(office, 2)
    assert office.docs.polls == polls + 1, "it was looked for once, because of the reply"


async def test_a_follow_up_to_an_unknown_job_is_refused_and_the_job_looked_for(office: Office) -> None:
    await office.finished()
    office.docs.answer_instead("follow_up", httpx.Response(404, json={"error": "no such job"}))
    office.docs.jobs.clear()
    await office.reply("Write more")
    await office.settle(3)
    assert "no longer knows this job" in office.said()[-1]
    assert (await office.job()).state is JobState.PULL_REQUEST
    await pass_minutes(office, 90)
    assert (await office.job()).state is JobState.GONE
    assert ":ghost:" in office.said()[-1]


async def test_an_old_answer_about_a_job_that_is_looked_for_begins_no_iteration(office: Office) -> None:
    await office.finished()
    office.docs.answer_instead("follow_up", httpx.Response(404, json={"error": "no such job"}))
    [job] = office.docs.jobs.values()
    old = httpx.Response(200, json={**job, "status": "active", "prLink": None})
    office.docs.answer_instead("get", *not_found(1), old)
    await office.reply("Write more")
    await office.settle(60)
    assert (await office.job()).state is JobState.PULL_REQUEST
    assert [":memo:" in said for said in office.said()] == [True, False]
    polls = office.docs.polls
    await pass_minutes(office, 90)
    assert office.docs.polls == polls


async def test_a_dismissed_follow_up_that_is_carried_out_ends_for_who_sent_it(office: Office) -> None:
    await office.finished()
    office.docs.lost.append(httpx.ReadTimeout("lost"))
    await office.reply("Write more", user=BEN)
    await office.settle(1)
    await dismiss(office.context, await office.steers(2, BEN))
    await office.settle()
    assert (await office.job()).state is JobState.WORKING
    await office.ends()
    assert (await office.job()).iteration == 2
    assert ":memo:" in office.said()[-1]
    assert f"<@{BEN}>" in office.said()[-1]


async def test_a_follow_up_that_the_service_once_finds_no_job_for_is_sent_again(office: Office) -> None:
    await office.finished()
    office.docs.answer_instead("follow_up", *not_found(2))
    said = len(office.said())
    await office.reply("Write more")
    await office.settle(5)
    assert "A follow-up goes out at" in office.root_text()
    await office.settle(300)
    assert office.sent()[1:] == ["Write more"]
    assert len(office.said()) == said
    assert "A follow-up" not in office.root_text()


async def test_a_follow_up_that_the_service_never_takes_is_told_after_an_hour(office: Office) -> None:
    await office.finished()
    office.docs.answer_instead("follow_up", *not_found(50))
    await office.reply("Write more")
    await office.settle(3_600)
    assert "still knows this job but takes nothing more" in office.said()[-1]
    assert office.docs.calls.count("follow_up") == 10
    assert (await office.job()).state is JobState.PULL_REQUEST
