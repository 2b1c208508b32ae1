"""The pull requests that the bot can poll, their repositories, and the previews of jobs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.engine import RowMapping

from bot.ids import JobNumber, ProjectId, UserId
from bot.jobs.model.jobs import TrackedJob
from bot.jobs.store.jobs import Jobs
from bot.jobs.store.limits import Quota
from bot.jobs.store.tables import limits
from bot.pulls.model.previews import Preview
from bot.pulls.model.pull_requests import WatchedPullRequest
from bot.pulls.store.tables import previews, repositories
from bot.pulls.store.tables import pull_requests as rows
from bot.store.leases import FREE_LEASE, LIMIT, Claimer, Rows, claiming
from bot.store.queues import QueueTable
from bot.store.schema import Repository, diff, insert_unless_there, reader

PULL_REQUEST_POLLS = QueueTable("pull_requests", rows, None, rows.c.poll_at)
"""Pull requests to be polled."""
_CLAIM_POLLS = claiming(
    rows,
    candidates=select(rows.c.job)
    .where(PULL_REQUEST_POLLS.waits, PULL_REQUEST_POLLS.is_free)
    .order_by(rows.c.polled_at.is_not(None), rows.c.polled_at, rows.c.job)
    .limit(LIMIT),
)


def _read_no_state(_row: RowMapping) -> None:
    """Return None: the state is in the row of the job, from which ``claim_due`` adds it."""


class PullRequests(Rows[WatchedPullRequest]):
    """The pull requests, within one transaction."""

    table = rows
    read = staticmethod(reader(WatchedPullRequest, rows, snapshot=_read_no_state))

    def watch(self, job: TrackedJob, link: str, ended_at: datetime) -> bool:
        """Poll the pull request of a job as soon as possible, since an iteration has ended with it.

        Return whether it is in the place of another one.
        """
        due = {
            "iteration": job.iteration,
            "iteration_ended_at": ended_at,
            "poll_at": ended_at,
            "failed_polls": 0,
            **FREE_LEASE,
        }
        new = {"link": link, "reported_at": ended_at, "requester": job.requester}
        if insert_unless_there(self.connection, rows, {"job": job.number, **new, **due}):
            return False
        other = rows.update().where(rows.c.job == job.number, rows.c.link != link)
        replaced = self.connection.execute(other.values(**new, etag=None, polled_at=None))
        self._write(job.number, None, due)
        return replaced.rowcount == 1

    def claim_due(self, claimer: Claimer, limit: int) -> Sequence[WatchedPullRequest]:
        """Claim the pull requests that were polled longest ago."""
        claimed = self._claim(_CLAIM_POLLS, claimer, limit=limit)
        jobs = Jobs(self.tx)
        return [replace(one, snapshot=jobs.get_or_raise(one.job).pull_request) for one in claimed]

    def save(self, watched: WatchedPullRequest, new: WatchedPullRequest, *, owner: str) -> None:
        """Write the columns in which one differs and free its lease. Raises LeaseLost."""
        self._write(watched.job, owner, diff(watched, new, rows) | FREE_LEASE)


PREVIEWS = QueueTable("previews", previews, None, previews.c.due_at)
_CLAIM_PREVIEWS = PREVIEWS.claiming()


class Previews(Rows[Preview]):
    """The previews, within one transaction."""

    table = previews
    read = staticmethod(reader(Preview, previews))

    def get(self, job: JobNumber) -> Preview | None:
        """Return the newest preview of a job; None if there is none, or if it is forgotten."""
        return self._newest(previews.c.job == job, previews.c.requester != "")

    def ask(self, preview: Preview) -> bool:
        """Replace a finished preview by a new request. Return False if the service is building a
        preview.
        """
        new = {name: getattr(preview, name) for name in Preview.__dataclass_fields__} | FREE_LEASE
        if insert_unless_there(self.connection, previews, new):
            return True
        old = self.get(preview.job)
        if old is not None and old.state.is_open and old.iteration == preview.iteration:
            if preview.is_requested and not old.is_requested:
                told = {"requester": preview.requester, "is_requested": True}
                self._write(preview.job, None, told)
            return False
        # It stays, since it shows that the project has previews.
        del new["status_id"]
        self._write(preview.job, None, new)
        return True

    def claim_due(self, claimer: Claimer, limit: int) -> Sequence[Preview]:
        """Claim the previews that wait for a call."""
        return self._claim(_CLAIM_PREVIEWS, claimer, limit=limit)

    def count_call(self, preview: Preview, owner: str) -> Preview:
        """Count a call before it is made, so that a crash cannot make the count too low.

        Keeps the lease.
        """
        self._write(preview.job, owner, {"build_calls": preview.build_calls + 1})
        return replace(preview, build_calls=preview.build_calls + 1)

    def count_open(self, requester: UserId) -> int:
        """Return how many previews of a person are to be asked for or are building."""
        is_open = previews.c.due_at.is_not(None)
        query = select(func.count()).where(is_open, previews.c.requester == requester)
        return self.connection.execute(query).scalar_one()

    def has_begun(self, project: ProjectId) -> bool:
        """Return whether the service has ever begun to build a preview of the project."""
        return self._has(previews.c.project == project, previews.c.status_id.is_not(None))

    def save(self, preview: Preview, new: Preview, *, owner: str) -> None:
        """Write the columns in which a preview differs and free its lease. Raises LeaseLost."""
        self._write(preview.job, owner, diff(preview, new, previews) | FREE_LEASE)


class PreviewLimits(Quota):
    """Until when each project's previews count as not available, within one transaction."""

    until = limits.c.previews_unavailable_until


class Repositories(Repository):
    """The repository of each project, as its first pull request showed it.

    A name is ``owner/repo`` in lower case, on the host of GITHUB_API_URL.
    """

    def of(self, project: ProjectId) -> str | None:
        """Return the name of a project's repository; None before its first pull request."""
        query = select(repositories.c.name).where(repositories.c.project == project)
        return self.connection.execute(query).scalar()

    def pin(self, project: ProjectId, name: str, now: datetime) -> str:
        """Pin a project to a repository unless it is pinned; return the pinned one's name."""
        values = {"project": project, "name": name, "pinned_at": now}
        insert_unless_there(self.connection, repositories, values)
        return self.of(project) or name

    def change(self, project: ProjectId, name: str, now: datetime) -> None:
        """Pin a project to another repository."""
        self.pin(project, name, now)
        change = repositories.update().where(repositories.c.project == project)
        self.connection.execute(change.values(name=name, pinned_at=now))
