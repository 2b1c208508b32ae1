"""The pull requests of jobs, where the bot can look at them, and which of them are due for a look."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from sqlalchemy import BindParameter, ColumnElement, and_, bindparam, select

from bot.ids import JobNumber
from bot.model.jobs import TrackedJob
from bot.model.pull_requests import SeenPullRequest, WatchedPullRequest
from bot.store.job_tables import pull_requests as rows
from bot.store.leases import FREE, LIMIT, Claimer, Rows, claiming, claiming_oldest
from bot.store.queues import QueueTable
from bot.store.schema import UtcDateTime, insert_unless_there, reader

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
_BEFORE: BindParameter[datetime] = bindparam("looked_before", type_=UtcDateTime)
_CLAIM_UNDATED = claiming_oldest(
    rows,
    and_(
        rows.c.look_at.is_not(None),
        rows.c.looked_at <= _BEFORE,
        rows.c.seen["as_of"].as_string().is_(None),
    ),
)


class PullRequests(Rows[WatchedPullRequest]):
    """The pull requests, within one transaction."""

    table = rows
    read = staticmethod(reader(WatchedPullRequest, rows))

    def watch(self, job: TrackedJob, link: str, ended_at: datetime) -> None:
        """Look at the pull request of a job as soon as possible, since an iteration has ended with it.

        What was seen of it stays. The caller has locked the job.
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
        """Claim those that were looked at longest ago."""
        return self._claim(_CLAIM_DUE, claimer, limit=limit)

    def settle(
        self,
        number: JobNumber,
        owner: str,
        *,
        look_at: datetime | None,
        seen: SeenPullRequest | None,
        failures: int = 0,
        **answered: object,
    ) -> None:
        """Write the outcome of a look and free the lease. Raises LeaseLost unless ``owner`` holds it.

        ``answered``: etag and looked_at, where the host has answered.
        """
        self._write(
            number, owner, {"look_at": look_at, "seen": seen, "failures": failures, **answered, **FREE}
        )

    def claim_undated(self, claimer: Claimer, before: datetime, limit: int) -> Sequence[WatchedPullRequest]:
        """Claim open ones that were looked at by then at the latest, and whose faces do not say when."""
        return self._claim(_CLAIM_UNDATED, claimer, limit=limit, looked_before=before)

    def date_face(self, watched: WatchedPullRequest, owner: str) -> None:
        """Let the face say when it was looked at, and free the lease. Raises LeaseLost as ``settle`` does."""
        seen = watched.seen and replace(watched.seen, as_of=watched.looked_at)
        self._write(watched.job, owner, {"seen": seen, **FREE})

    def put_off(self, until: datetime) -> None:
        """Look at none of them until then: the host takes no more calls."""
        sooner: ColumnElement[bool] = rows.c.look_at < until
        self.connection.execute(rows.update().where(sooner).values(look_at=until))
