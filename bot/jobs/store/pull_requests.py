"""The pull requests that the bot can poll, and their due times."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import select

from bot.jobs.model.jobs import TrackedJob
from bot.jobs.model.pull_requests import WatchedPullRequest
from bot.jobs.store.tables import pull_requests as rows
from bot.store.leases import FREE, LIMIT, Claimer, Rows, claiming
from bot.store.queues import QueueTable
from bot.store.schema import diff, insert_unless_there, reader

LOOKS = QueueTable("looks", rows, None, rows.c.look_at)
"""Pull requests to be polled."""
_CLAIM_DUE = claiming(
    rows,
    candidates=select(rows.c.job)
    .where(LOOKS.waits, LOOKS.is_free)
    .order_by(rows.c.looked_at.is_not(None), rows.c.looked_at, rows.c.job)
    .limit(LIMIT),
    still=LOOKS.waits,
)


class PullRequests(Rows[WatchedPullRequest]):
    """The pull requests, within one transaction."""

    table = rows
    read = staticmethod(reader(WatchedPullRequest, rows))

    def watch(self, job: TrackedJob, link: str, ended_at: datetime) -> None:
        """Poll the pull request of a job as soon as possible, since an iteration has ended with it.

        Its recorded state stays. The caller has locked the job.
        """
        end = {"iteration": job.iteration, "iteration_ended_at": ended_at}
        due = {**end, "look_at": ended_at, "failures": 0, **FREE}
        new = {"link": link, "since": ended_at, "requester": job.requester}
        if insert_unless_there(self.connection, rows, {"job": job.number, **new, **due}):
            return
        other = rows.update().where(rows.c.job == job.number, rows.c.link != link)
        self.connection.execute(other.values(**new, seen=None, etag=None, looked_at=None))
        self._write(job.number, None, due)

    def claim_due(self, claimer: Claimer, limit: int) -> Sequence[WatchedPullRequest]:
        """Claim those that were polled longest ago."""
        return self._claim(_CLAIM_DUE, claimer, limit=limit)

    def save(self, watched: WatchedPullRequest, new: WatchedPullRequest, *, owner: str) -> None:
        """Write the columns in which one differs and free its lease. Raises LeaseLost."""
        self._write(watched.job, owner, diff(watched, new, rows) | FREE)
