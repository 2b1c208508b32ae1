"""What belongs into a job's thread waits for the job's first message, as the job's start does."""

from __future__ import annotations

from bot.model.ids import JobNumber
from bot.model.jobs import JobState
from bot.slack.client import refused
from bot.work.jobs.thread import redraw_face
from bot.work.outbox.deliver import deliver_due
from tests.builders import ANA, BEN
from tests.work.office import Office


async def dead(office: Office) -> list[str]:
    letters = await office.store.read(lambda tx: tx.outbox.dead_letters(100))
    return [f"{letter.kind}: {letter.reason}" for letter in letters]


async def test_a_follow_up_to_a_job_without_a_first_message_gets_its_line_in_the_thread(
    office: Office,
) -> None:
    for number in range(12):
        await office.ask(f"Add page {number}", user=ANA if number % 2 else BEN)
    await office.types("/docs-followup", "12 Add a picture", user=ANA)
    await office.settle(60)
    assert await dead(office) == []
    roots = [post for post in office.slack.posts if post.thread is None]
    assert len(roots) == 12
    assert ["Add a picture" in post.message.text for post in office.slack.replies()] == [True]
    assert office.slack.replies()[0].thread == (await office.job(12)).root_ts


async def test_a_redraw_of_a_face_that_is_not_posted_waits_for_it(office: Office) -> None:
    await office.ask("Add a page")
    await office.store.write(lambda tx: redraw_face(tx, JobNumber(1), office.clock()))
    await deliver_due(office.context)
    await office.settle()
    assert await dead(office) == []
    assert office.slack.root().ts in office.slack.edits


async def test_a_job_that_never_gets_a_first_message_keeps_nothing_waiting_for_ever(office: Office) -> None:
    office.slack.trouble("post", refused("is_archived"))
    await office.ask("Add a page")
    await office.types("/docs-followup", "1 and a picture")
    await office.settle(60)
    assert (await office.job()).state is JobState.REFUSED
    due = await office.store.find_due(office.clock)
    assert due.queues == frozenset(), due
