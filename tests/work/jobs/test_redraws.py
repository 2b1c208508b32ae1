"""A face shows what is so now, also when two things change it in one moment."""

from __future__ import annotations

from bot.messages import blocks as b
from bot.model.ids import JobNumber
from bot.store import Transaction
from bot.work.jobs.thread import edit, redraw_face, say
from bot.work.outbox.deliver import deliver_due
from tests.work.office import Office


async def test_of_two_redraws_in_one_moment_the_later_one_is_shown(office: Office) -> None:
    await office.started()

    def change_twice(tx: Transaction) -> None:
        for minutes in (30, 40):
            tx.jobs.update(JobNumber(1), shown_minutes=minutes)
            redraw_face(tx, JobNumber(1), office.clock())

    await office.store.write(change_twice)
    await deliver_due(office.context)
    assert "running for more than 40\N{NO-BREAK SPACE}min" in office.root_text()


async def test_of_two_edits_of_a_reply_in_one_moment_the_later_one_is_shown(office: Office) -> None:
    await office.started()
    job = await office.job()
    await office.store.write(lambda tx: say(tx, job, "said", b.words("Said."), office.clock()))
    await office.settle()

    def edit_twice(tx: Transaction) -> None:
        for words in ("Once.", "Twice."):
            edit(tx, job, "said", b.words(words), office.clock())

    await office.store.write(edit_twice)
    await deliver_due(office.context)
    [said] = office.slack.replies()
    assert office.slack.edits[said.ts][-1].text == "Twice."
