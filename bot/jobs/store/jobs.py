"""Tracked jobs: adding, finding and changing them, and claiming jobs that are due for a poll."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from operator import itemgetter
from typing import Unpack, cast

from sqlalchemy import (
    ColumnElement,
    Text,
    and_,
    bindparam,
    case,
    exists,
    false,
    func,
    not_,
    or_,
    select,
    true,
)
from sqlalchemy import cast as cast_column

from bot.ids import ChannelId, JobNumber, ProjectId, UserId, can_be_id
from bot.jobs.model import lifecycle
from bot.jobs.model.jobs import JobFilter, JobState, TrackedJob
from bot.jobs.model.prompts import PromptKind
from bot.jobs.model.pull_request import PullRequestSnapshot
from bot.jobs.model.quota import MAY_NOT_WRITE
from bot.jobs.model.targets import JobTarget
from bot.jobs.store.audit import write_job_end
from bot.jobs.store.tables import (
    SNAPSHOT,
    UNREVIEWED_STATES,
    back_offs,
    jobs,
    prompts,
)
from bot.ports import ThreadRef
from bot.store.channels import channels
from bot.store.leases import (
    FREE_LEASE,
    LIMIT,
    NOW,
    Claimer,
    Rows,
    claim,
    claiming,
    one_of,
    read_rows,
)
from bot.store.queues import QueueTable
from bot.store.schema import diff, is_set, reader, row_values

POLLS = QueueTable("polls", jobs, None, jobs.c.poll_at)
OLDEST = jobs.c.number + 0
"""The order of the numbers, for which a planner sorts the rows that match."""
_MIN_USUAL = 3
"""Of fewer jobs no usual time is computed."""
_MAX_USUAL = 20
"""Of how many jobs the usual time is computed."""
GAP_IN_WORK = timedelta(days=30)
"""A content gap counts as in work while a job for it is younger than this."""
_MAX_FROM_GAPS = 1_000
AWAITS_REVIEW = and_(jobs.c.state == JobState.PULL_REQUEST, jobs.c.review.is_(None))
# An open job has no review; with this condition the index of jobs without one is used.
IS_OPEN = and_(
    jobs.c.state.in_(JobState.open_states()),
    jobs.c.review.is_(None),
)
_NEWEST_UNREVIEWED = (
    select(jobs.c.number)
    .where(
        jobs.c.project == bindparam("of_project"),
        jobs.c.review.is_(None),
        is_set(jobs.c.requester),
        one_of(jobs.c.state, UNREVIEWED_STATES),
    )
    .order_by(jobs.c.number.desc())
    .limit(LIMIT)
)
"""A project's newest jobs that are open or to review."""
_INSERT_JOB = jobs.insert().returning(jobs.c.number)

# No EXISTS, which PostgreSQL may turn into a table of all prompts and jobs, made for each
# statement.
_IS_MENTION_ONLY = (
    select(channels.c.is_mention_only).where(channels.c.id == jobs.c.channel).scalar_subquery()
)
_first = jobs.alias("first")
_asked = jobs.alias("asked")
_ASKED_BY_BEGINNING = (
    select(prompts.c.id)
    .join(_asked, _asked.c.number == prompts.c.job)
    .where(
        _asked.c.channel == jobs.c.channel,
        _asked.c.thread_ts == jobs.c.thread_ts,
        prompts.c.kind == PromptKind.START,
        prompts.c.message_ts == jobs.c.thread_ts,
    )
    .limit(1)
    .correlate(jobs)
    .scalar_subquery()
)
"""A job that was asked for by the message which begins the thread."""
_JOB_OF_BEGINNING = (
    select(_first.c.number)
    .where(_first.c.channel == jobs.c.channel, _first.c.status_ts == jobs.c.thread_ts)
    .correlate(jobs)
    .scalar_subquery()
)
"""The job whose status message begins the thread."""
_AMONG_PEOPLE = and_(
    jobs.c.thread_ts.is_not(None),
    or_(jobs.c.status_ts.is_(None), jobs.c.thread_ts < jobs.c.status_ts),
    ~jobs.c.channel.startswith("D"),
    _ASKED_BY_BEGINNING.is_(None),
    _JOB_OF_BEGINNING.is_(None),
)
"""The thread begins with neither a status message nor a request for a job."""
DERIVED_COLUMNS = (
    func.coalesce(_IS_MENTION_ONLY.correlate(jobs), false()).label("is_mention_only"),
    _AMONG_PEOPLE.label("among_people"),
)
"""The columns of a job that follow from rows of other tables."""
_MAX_LOOKED_AT = 50
"""The newest jobs of a project that show whether its agent opens pull requests."""
_SHORT_TEXT = func.substr(jobs.c.text, 1, 300, type_=jobs.c.text.type).label("text")
_WITH_SHORT_TEXT = [_SHORT_TEXT if column is jobs.c.text else column for column in jobs.c]
_MAX_TARGET_CHARACTERS = 2_000
"""Of a prompt; more than a request has that is compared with it (``UnsentText.LONGEST``)."""
_BEGINNING = func.substr(jobs.c.text, 1, _MAX_TARGET_CHARACTERS, type_=jobs.c.text.type)
_UNREVIEWED_TARGETS = _NEWEST_UNREVIEWED.add_columns(
    jobs.c.requester,
    _BEGINNING.label("text"),
    cast_column(jobs.c.gap, Text),
    cast_column(jobs.c.pull_request, Text),
)
"""The same with the columns that ``_read_target`` reads. Its cache needs the JSON as text."""
_WITH_NUMBER = select(jobs, *DERIVED_COLUMNS).where(jobs.c.number == bindparam("this"))
_TO_REMIND = (
    select(jobs, *DERIVED_COLUMNS)
    .where(jobs.c.remind_at <= NOW, jobs.c.requester != "", AWAITS_REVIEW)
    .order_by(jobs.c.remind_at)
    .limit(LIMIT)
)
"""The jobs whose threads are due for a reminder of their pull request."""
_LAST_TIMES = (
    select(jobs.c.iteration_started_at, jobs.c.ended_at)
    .where(
        jobs.c.project == bindparam("of_project"),
        jobs.c.iteration_started_at.is_not(None),
        jobs.c.state == JobState.PULL_REQUEST,
    )
    .order_by(jobs.c.asked_at.desc())
    .limit(_MAX_USUAL)
)
"""The beginnings and ends of a project's newest jobs with pull requests."""
_BACKING_OFF = select(back_offs.c.project).where(
    back_offs.c.retry_at > NOW, back_offs.c.reason != MAY_NOT_WRITE
)
_CLAIM_DUE = claiming(
    jobs,
    candidates=select(jobs.c.number)
    .where(POLLS.waits, POLLS.is_free, jobs.c.project.not_in(_BACKING_OFF))
    .where(jobs.c.project.not_in(bindparam("besides", expanding=True)))
    .order_by(jobs.c.poll_at, jobs.c.number)
    .limit(LIMIT),
)
# Not in RETURNING, where SQLite takes the columns of a job for those of the sub-select's own table.
_CLAIMED = (
    select(jobs, *DERIVED_COLUMNS)
    .where(jobs.c.number.in_(bindparam("claimed", expanding=True)))
    .order_by(jobs.c.number)
)


def _is_in(thread: ThreadRef) -> ColumnElement[bool]:
    """Return the condition that a job has its status message in a thread."""
    # The channel in both, so that SQLite uses the whole index of each and does not read the
    # channel's jobs.
    in_channel = jobs.c.channel == thread.channel
    return or_(
        and_(in_channel, jobs.c.status_ts == thread.ts),
        and_(in_channel, jobs.c.thread_ts == thread.ts),
    )


@lru_cache(500)
def _read_target(
    number: JobNumber, requester: UserId, text: str, gap: str | None, pull_request: str | None
) -> JobTarget:
    """Return the target of a job by the stored values of its columns.

    Each new request reads a hundred jobs, of which few have changed since the last one.

    Args:
        number: The number of the job.
        requester: The person who asked for it.
        text: The beginning of its prompt.
        gap: The JSON of its content gap; None for another job.
        pull_request: The JSON of its pull request; None without one.
    """
    snapshot = None
    if pull_request is not None:
        snapshot = cast("PullRequestSnapshot", SNAPSHOT.read(json.loads(pull_request)))
    gap_title = json.loads(gap)["title"] if gap else None
    return JobTarget.of_job(number, requester, text, gap_title, snapshot)


class Jobs(Rows[TrackedJob]):
    """The tracked jobs, within one transaction."""

    table = jobs
    more = DERIVED_COLUMNS
    read = staticmethod(
        reader(
            TrackedJob,
            jobs,
            is_mention_only=itemgetter("is_mention_only"),
            among_people=itemgetter("among_people"),
        )
    )

    def add(self, new: TrackedJob) -> JobNumber:
        values = row_values(new, jobs, without="number")
        return JobNumber(self.connection.execute(_INSERT_JOB, values).scalar_one())

    def bring_polls_forward(
        self, project: ProjectId, failed_after: datetime | None, times: Sequence[datetime]
    ) -> int:
        """Spread the next polls of the jobs whose polls fail over these times.

        ``failed_after``: only jobs whose polls have failed since then; None for all of them. Polls
        that are due by the last of these times stay.
        Return how many jobs are polled earlier.
        """
        has_failed: ColumnElement[bool] = jobs.c.poll_failing_since.is_not(None)
        if failed_after:
            has_failed = jobs.c.poll_failing_since >= failed_after
        is_later = and_(jobs.c.poll_at > times[-1], jobs.c.project == project, has_failed)
        turn = jobs.c.number % len(times)
        at = case(dict(enumerate(times)), value=turn)
        return self.connection.execute(jobs.update().where(is_later).values(poll_at=at)).rowcount

    def get(self, number: JobNumber) -> TrackedJob | None:
        """Return the job with this number; None when there is none."""
        if not can_be_id(number):
            return None
        row = self.connection.execute(_WITH_NUMBER, {"this": number}).mappings().first()
        return self.read(row) if row else None

    def get_or_raise(self, number: JobNumber) -> TrackedJob:
        """Return the job with this number. Raises LookupError when there is none."""
        job = self.get(number)
        if job is None:
            raise LookupError(f"job {number} is not in the store")
        return job

    def in_thread(self, thread: ThreadRef, before: JobNumber | None = None) -> TrackedJob | None:
        """Return the newest job with its status message in this thread; None when there is none.

        ``before``: only an older job than this one.
        """
        if before is None:
            return self._newest(_is_in(thread))
        return self._newest(and_(_is_in(thread), jobs.c.number < before))

    def all_in_thread(self, thread: ThreadRef) -> Mapping[JobNumber, bool]:
        """Return the jobs of a thread, each with True if it has ended with a pull request."""
        query = select(jobs.c.number, jobs.c.state).where(_is_in(thread))
        rows = self.connection.execute(query)
        return {row.number: row.state == JobState.PULL_REQUEST for row in rows}

    def offers_pull_request(self, besides: TrackedJob) -> bool:
        """Return whether another job in the same thread has ended with a pull request."""
        if besides.thread is None:
            return False
        ready = and_(jobs.c.state == JobState.PULL_REQUEST, jobs.c.number != besides.number)
        return self._has(_is_in(besides.thread), ready)

    def publishes_unreviewed(self, project: ProjectId) -> bool:
        """Return whether a project's agent may commit straight to the branch that is published.

        Of its newest jobs one has ended well without a pull request, and none has one.
        """
        newest = (
            select(jobs.c.state, jobs.c.pr_link)
            .where(jobs.c.project == project)
            .order_by(jobs.c.asked_at.desc())
            .limit(_MAX_LOOKED_AT)
            .subquery()
        )
        has_none = exists().where(newest.c.state == JobState.NO_PULL_REQUEST)
        has_one = exists().where(newest.c.pr_link.is_not(None))
        return bool(self.connection.execute(select(and_(has_none, not_(has_one)))).scalar())

    def with_service_id(self, service_id: str) -> TrackedJob | None:
        """Return the job with this id at the docs service; None when there is none."""
        return self._newest(jobs.c.service_id == service_id)

    def latest_of(self, user: UserId, channel: ChannelId) -> TrackedJob | None:
        """Return a user's newest job in a channel, leaving out refused and withdrawn ones."""
        asked = and_(jobs.c.requester == user, jobs.c.channel == channel)
        never_started = jobs.c.state.in_((JobState.REFUSED, JobState.WITHDRAWN))
        return self._newest(and_(asked, not_(never_started)))

    def in_channel(self, channel: ChannelId, limit: int) -> Sequence[TrackedJob]:
        """Return a channel's newest jobs without forgotten ones."""
        return self._many(and_(jobs.c.channel == channel, jobs.c.requester != ""), limit)

    def asked_by(self, user: UserId, limit: int) -> Sequence[TrackedJob]:
        """Return the newest jobs that a user asked for in any channel."""
        return self._many(jobs.c.requester == user, limit)

    def usual_time(self, project: ProjectId) -> timedelta | None:
        """Return the median time of a project's last jobs; None for fewer than three."""
        last = self.connection.execute(_LAST_TIMES, {"of_project": project})
        times = sorted(end - begin for begin, end in last)
        return times[len(times) // 2] if len(times) >= _MIN_USUAL else None

    def list_targets(self, project: ProjectId, limit: int) -> Sequence[JobTarget]:
        """Return the targets of a project's newest jobs that are open or to review."""
        values = {"of_project": project, LIMIT.key: limit}
        rows = self.connection.execute(_UNREVIEWED_TARGETS, values).all()
        return read_rows(jobs, rows, lambda row: _read_target(*row))

    def newest(self, limit: int, **only: Unpack[JobFilter]) -> Sequence[TrackedJob]:
        """Return the newest jobs of all channels that have these values.

        An empty value lets all through.
        """
        terms = [jobs.c[name] == value for name, value in only.items() if value]
        return self._many(and_(true(), *terms), limit)

    def latest_link(self, project: ProjectId, channel: ChannelId) -> str | None:
        """Return the address of a channel's newest pull request in a project's repository."""
        newest = self.newest(1, project=project, channel=channel, state=JobState.PULL_REQUEST)
        return newest[0].pr_link if newest else None

    def save(self, job: TrackedJob, new: TrackedJob, *, owner: str | None = None) -> TrackedJob:
        """Write the changed columns of a job, and return it.

        An owner's write, a step and a new time for the poll free its lease, since its holder works
        on the earlier values. Raises IllegalStep, and LeaseLost when ``owner`` is given and does
        not hold the lease.
        """
        changes = diff(job, new, jobs)
        if lifecycle.is_job_step(job, new) or "poll_at" in changes or owner:
            changes |= FREE_LEASE
        if changes:
            self.tx.changed.setdefault(job.number, job)
            self._write(job.number, owner, changes)
        if new.state is not job.state:
            write_job_end(self.connection, job.number, new.state)
        return new

    def claim_due(
        self, claimer: Claimer, limit: int, *, besides: Collection[str] = ()
    ) -> Sequence[TrackedJob]:
        """Claim the most overdue polls.

        Skips the projects in ``besides`` and those with a back-off (the service failed, or refused
        the key for more than writing).
        """
        rows = claim(self.connection, _CLAIM_DUE, claimer, limit=limit, besides=list(besides))
        claimed = {"claimed": [row["number"] for row in rows]}
        ordered = self.connection.execute(_CLAIMED, claimed).mappings()
        return read_rows(jobs, ordered, self.read)

    def list_from_gaps(self, project: ProjectId, now: datetime) -> Sequence[TrackedJob]:
        """Return the jobs that were asked for at content gaps in the last 30 days, newest first."""
        is_recent = jobs.c.asked_at >= now - GAP_IN_WORK
        asked = and_(jobs.c.project == project, is_recent, jobs.c.gap.is_not(None))
        return self._many(asked, _MAX_FROM_GAPS, by=jobs.c.asked_at.desc())

    def list_unreviewed(self, project: ProjectId, limit: int) -> Sequence[TrackedJob]:
        """Return a project's newest jobs that are open or to review, with shortened texts."""
        numbers = self._find_unreviewed(project, limit)
        query = select(*_WITH_SHORT_TEXT, *DERIVED_COLUMNS).where(jobs.c.number.in_(numbers))
        rows = self.connection.execute(query.order_by(jobs.c.number.desc())).mappings()
        return read_rows(jobs, rows, self.read)

    def _find_unreviewed(self, project: ProjectId, limit: int) -> Sequence[int]:
        """Return the numbers of a project's newest jobs that are open or to review."""
        values = {"of_project": project, LIMIT.key: limit}
        return self.connection.execute(_NEWEST_UNREVIEWED, values).scalars().all()

    def has_failed_polls(self, project: ProjectId) -> bool:
        """Return whether the last poll of any of a project's jobs failed."""
        is_polled = and_(jobs.c.project == project, jobs.c.poll_at.is_not(None))
        return self._has(is_polled, jobs.c.poll_failing_since.is_not(None))

    def to_remind(self, now: datetime, limit: int) -> Sequence[TrackedJob]:
        """Return jobs whose threads are due for a reminder of their pull request."""
        rows = self.connection.execute(_TO_REMIND, {NOW.key: now, LIMIT.key: limit}).mappings()
        return read_rows(jobs, rows, self.read)

    def awaiting_review(
        self, project: ProjectId, channel: ChannelId, limit: int
    ) -> tuple[Sequence[TrackedJob], int]:
        """Return a channel's oldest jobs to review, and the number of all that it has."""
        matching = and_(
            jobs.c.channel == channel,
            jobs.c.project == project,
            jobs.c.requester != "",
            AWAITS_REVIEW,
        )
        counting = select(func.count()).select_from(jobs).where(matching)
        count = self.connection.execute(counting).scalar_one()
        oldest = self._many(matching, limit, by=OLDEST)
        return oldest, int(count)
