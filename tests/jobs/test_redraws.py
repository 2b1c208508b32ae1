"""A face shows what is so now, also when two things change it in one moment."""

from __future__ import annotations

from bot.ids import JobNumber
from bot.jobs.thread import update_status_message
from bot.store import Transaction
from tests.builders import set_job
from tests.work.drains import deliver_due
from tests.work.office import Office


async def test_later_of_two_updates_in_one_moment_is_shown(office: Office) -> None:
    await office.started()

    def change_twice(tx: Transaction) -> None:
        for uses in (30, 40):
            set_job(tx, JobNumber(1), uses_left=uses)
            update_status_message(tx, JobNumber(1), office.clock())

    await office.store.write(change_twice)
    await deliver_due(office.context)
    [*_, shown] = office.slack.edits[office.slack.root().ts]
    assert "40 uses of this hour left" in shown.text
