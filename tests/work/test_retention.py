"""Forgotten jobs: what their buttons, their thread and the commands say, and what the database keeps."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from sqlalchemy import select

from bot.jobs.store.tables import prompts
from bot.outbox.model import DeliveryState
from bot.outbox.store import deliveries
from bot.store.retention import forget_person
from bot.workers import forget_old
from tests.builders import ANA, BEN, rows_of
from tests.work.office import Office

NOT_KEPT = "no longer have its prompt"


async def forgotten_job(office: Office) -> None:
    """A job that ended longer ago than texts are kept."""
    office.context = replace(office.context, keep=timedelta(days=180))
    await office.finished("Add the secret page")
    assert await forget_old(office.context) == 0
    office.clock.pass_seconds(181 * 86_400)
    while await forget_old(office.context):
        pass


async def test_a_forgotten_job_says_so_wherever_it_is_named(office: Office) -> None:
    await forgotten_job(office)
    answers = [
        await office.types("/docs-agent", "status 1"),
        await office.types("/docs-followup", "1 go on"),
        await office.press("run_again", "1"),
        await office.press("reviewed", "1"),
    ]
    assert [NOT_KEPT in answer.message.text for answer in answers if answer.message] == [True] * 4
    await office.reply("And a diagram")
    await office.settle()
    assert NOT_KEPT in office.said()[-1]
    assert len(office.docs.prompts) == 1
    listed = await office.types("/docs-agent", "jobs")
    assert listed.message
    assert "No jobs here. Start one:" in listed.message.text


async def test_without_a_limit_nothing_is_forgotten(office: Office) -> None:
    await office.finished()
    office.clock.pass_seconds(4_000 * 86_400)
    assert await forget_old(office.context) == 0
    assert (await office.job()).text == "Add a quickstart"


async def test_a_delivered_message_is_not_kept_and_its_key_is(office: Office) -> None:
    await office.finished()
    rows = await rows_of(office.store, select(deliveries))
    assert [row["state"] for row in rows] == [DeliveryState.SENT] * 2
    assert [row["message"] for row in rows] == [None, None]
    assert {row["key"] for row in rows} == {"job:1:root", "job:1:iteration:1:end"}
    kept = [row["text"] for row in await rows_of(office.store, select(prompts))]
    assert kept == [""], "the job has the subject that the next end names"


async def test_a_follower_is_forgotten_and_the_job_goes_on(office: Office) -> None:
    await office.finished()
    await office.reply("Use Ben's words", user=BEN)
    await office.settle()
    _, left = await forget_person(office.store, BEN)
    assert left["prompts"] == 1, "the job runs"
    office.docs.finish()
    await office.settle()
    forgotten, left = await forget_person(office.store, BEN)
    assert (forgotten["prompts"], forgotten["jobs"], left.total()) == (1, 0, 0)
    again = await office.press("follow_up_anyway", "2")
    assert again.message
    assert NOT_KEPT in again.message.text
    await office.reply("And a diagram", user=ANA)
    await office.settle()
    assert office.docs.prompts[-1] == ("job-1", "And a diagram")
