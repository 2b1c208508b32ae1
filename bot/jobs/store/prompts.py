"""Prompts: stored before their requests are acknowledged, then prepared and sent by workers."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from operator import itemgetter
from typing import NamedTuple

from sqlalchemy import ColumnElement, Text, and_, bindparam, exists, func, or_, select, update

from bot.ids import JobNumber, MessageTs, ProjectId, PromptId, RequestKey, UserId
from bot.jobs.model import lifecycle
from bot.jobs.model.jobs import AttachThread, JobState, TrackedJob, WaitReason
from bot.jobs.model.prompts import (
    MENDED_PREVIEW,
    Prompt,
    PromptKind,
    PromptState,
    VersionRequest,
    summary_of,
)
from bot.jobs.model.quota import QUOTA_PERIOD, QueuedPrompt, Use
from bot.jobs.store.audit import write_prompt_end
from bot.jobs.store.limits import SKEW
from bot.jobs.store.sending import IS_SENDING_OFF
from bot.jobs.store.tables import STARTS_JOB, audit, back_offs, jobs, prompts
from bot.ports import ts_at
from bot.store.leases import (
    FREE_LEASE,
    HOLDER,
    NOW,
    Claimer,
    LeaseLost,
    Rows,
    claiming,
    held,
    one_of,
    unclaimed,
)
from bot.store.queues import QueueTable
from bot.store.schema import diff, reader, row_values

UNSETTLED = (PromptState.NEW, PromptState.WAITING, PromptState.SENDING)


def is_behind() -> ColumnElement[bool]:
    """Return the condition that an earlier prompt of the job is not settled."""
    earlier = prompts.alias("earlier")
    return exists().where(
        earlier.c.job == prompts.c.job,
        earlier.c.id < prompts.c.id,
        one_of(earlier.c.state, UNSETTLED),
    )


_HAS_STATUS_MESSAGE = and_(STARTS_JOB, jobs.c.status_ts.is_not(None))
_JOB_IS_READY = exists().where(
    jobs.c.number == prompts.c.job, or_(_HAS_STATUS_MESSAGE, jobs.c.service_id.is_not(None))
)
_HAS_BACK_OFF = exists().where(back_offs.c.project == prompts.c.project, back_offs.c.retry_at > NOW)
_SENDABLE = and_(
    ~IS_SENDING_OFF,
    ~is_behind(),
    prompts.c.held_until.is_(None),
    _JOB_IS_READY,
    ~_HAS_BACK_OFF,
)
"""The condition that a waiting prompt waits only for its time and the quota.

Sending is on, its job's status message has been posted or its service id is known, the job has no
earlier unsettled prompt, it is not held, and the project has no back-off. A follow-up behind an
unconfirmed first prompt waits for a person.
"""

NEW_PROMPTS = QueueTable("requests", prompts, PromptState.NEW, prompts.c.due_at)
"""Prompts as Slack sent them."""
WAITING_PROMPTS = QueueTable(
    "prompts", prompts, PromptState.WAITING, prompts.c.due_at, _SENDABLE, back_offs.c.retry_at
)
ABANDONED_PROMPTS = QueueTable("abandoned", prompts, PromptState.SENDING, None)
"""Prompts that a process was sending when it died."""
_to_queued = reader(
    QueuedPrompt,
    prompts,
    refused_at=itemgetter("sent_at"),
    displayed_until=itemgetter("displayed_until"),
)
_NOT_FAILED = (
    JobState.WAITING,
    JobState.WORKING,
    JobState.PULL_REQUEST,
    JobState.NO_PULL_REQUEST,
    JobState.UNCONFIRMED,
)
"""States of a job for which a repeated prompt may be an accident; after a failure it is a retry."""
UNSENT = (PromptState.NEW, PromptState.WAITING)
_IS_HELD = one_of(prompts.c.state, UNSENT)
HELD_PROMPTS = QueueTable("held", prompts, None, prompts.c.held_until, _IS_HELD)
"""Prompts whose authors may still add to them or change them, until they have been verified."""

_BEFORE = prompts.alias("before")
_STATUS_MESSAGE_BEFORE = exists().where(
    _BEFORE.c.asked_by == prompts.c.asked_by,
    _BEFORE.c.channel == prompts.c.channel,
    _BEFORE.c.id < prompts.c.id,
    _BEFORE.c.kind == PromptKind.START,
    one_of(_BEFORE.c.state, UNSENT),
    jobs.c.number == _BEFORE.c.job,
    jobs.c.status_ts.is_(None),
)
"""The status message of an earlier job of this person in this channel is to be posted."""
# Built once: building a statement takes longer than running it.
IN_TURN = or_(~STARTS_JOB, ~_STATUS_MESSAGE_BEFORE)
_CLAIM_NEW = NEW_PROMPTS.claiming(IN_TURN)
_CLAIM_HELD = HELD_PROMPTS.claiming(_IS_HELD)
_CLAIM_ABANDONED = ABANDONED_PROMPTS.claiming()
_BEGIN_SENDING = claiming(
    prompts,
    candidates=select(prompts.c.id).where(
        prompts.c.id.in_(bindparam("ids", expanding=True)),
        prompts.c.state == PromptState.WAITING,
        unclaimed(prompts),
    ),
    values={
        "state": PromptState.SENDING,
        "sent_at": NOW,
        "attempts": prompts.c.attempts + 1,
        "is_awaiting_quota": False,
    },
)
_WAITING_PROJECTS = (
    select(prompts.c.project).where(WAITING_PROMPTS.waits, WAITING_PROMPTS.is_free).distinct()
)
_TOLD_UNTIL = (
    select(jobs.c.wait_until)
    .where(jobs.c.number == prompts.c.job)
    .scalar_subquery()
    .label("displayed_until")
)
_QUOTA_QUEUE = (
    select(
        *prompts.c[
            "id", "job", "kind", "asked_by", "asked_at", "due_at", "is_awaiting_quota", "sent_at"
        ],
        prompts.c.verified_at,
        _TOLD_UNTIL,
    )
    .where(
        prompts.c.project == bindparam("of_project"),
        or_(prompts.c.due_at <= NOW, prompts.c.is_awaiting_quota),
        WAITING_PROMPTS.is_free,
    )
    .order_by(prompts.c.id)
)
_UPDATE_AS_READ = update(prompts).where(
    prompts.c.id == bindparam("this"),
    prompts.c.state == bindparam("was"),
    prompts.c.raw == bindparam("as_read", type_=Text),
    held(prompts),
)

_WITH_ID = select(prompts).where(prompts.c.id == bindparam("this"))
_OF_KEY = select(prompts.c.job).where(prompts.c.key == bindparam("of_key"))
_SAME_JOB = (
    select(prompts.c.job)
    .where(
        STARTS_JOB,
        prompts.c.asked_by == bindparam("by"),
        prompts.c.asked_at > bindparam("since"),
        prompts.c.channel == bindparam("in_channel"),
        prompts.c.project == bindparam("of_project"),
        prompts.c.raw == bindparam("as_sent"),
        exists().where(jobs.c.number == prompts.c.job, one_of(jobs.c.state, _NOT_FAILED)),
    )
    .order_by(prompts.c.id.desc())
    .limit(1)
)
_WAITING_BY = (
    select(func.count())
    .select_from(prompts)
    .where(one_of(prompts.c.state, UNSENT), prompts.c.asked_by == bindparam("by"))
)
_SELECT_EARLIER = select(
    _OF_KEY.scalar_subquery(), _SAME_JOB.scalar_subquery(), _WAITING_BY.scalar_subquery()
)
_INSERT_PROMPT = prompts.insert().returning(prompts.c.id)


class KnownRequest(NamedTuple):
    """The stored requests that a new request may repeat."""

    job: JobNumber | None
    """The job of this very request; None when the request is new."""
    same_job: JobNumber | None
    """The job that they asked for with the same words a moment ago, unless it failed."""
    waiting: int
    """The number of the person's unsent prompts."""


def _is_queued(project: ProjectId) -> ColumnElement[bool]:
    waits = and_(prompts.c.state == PromptState.WAITING, prompts.c.is_awaiting_quota)
    return and_(prompts.c.project == project, waits)


class Prompts(Rows[Prompt]):
    """The prompts, within one transaction."""

    table = prompts
    read = staticmethod(reader(Prompt, prompts))

    def add(self, new: Prompt) -> PromptId:
        """Store a prompt and return its id. The key of its origin is unique (see ``job_of``)."""
        values = row_values(new, prompts, without="id")
        return PromptId(self.connection.execute(_INSERT_PROMPT, values).scalar_one())

    def job_of(self, key: RequestKey) -> JobNumber | None:
        """Return the job of the request with this key; None when the request is new."""
        return self.connection.execute(_OF_KEY, {"of_key": key}).scalar_one_or_none()

    def find_repeated(self, new: Prompt, since: datetime) -> KnownRequest:
        """Return the stored requests that a new request may repeat. ``since``: a moment ago."""
        values = {
            "of_key": new.key,
            "by": new.asked_by,
            "since": since,
            "in_channel": new.channel,
            "of_project": new.project,
            "as_sent": new.raw,
        }
        return KnownRequest(*self.connection.execute(_SELECT_EARLIER, values).one())

    def waiting_by(self, user: UserId) -> int:
        """Count the unsent prompts of a person."""
        return self.connection.execute(_WAITING_BY, {"by": user}).scalar_one()

    def waiting_of(self, user: UserId) -> Sequence[Prompt]:
        """Return the unsent prompts of a person, oldest first."""
        return self._all(and_(prompts.c.asked_by == user, one_of(prompts.c.state, UNSENT)))

    def get(self, prompt: PromptId) -> Prompt | None:
        """Return the prompt with this id; None when there is none."""
        row = self.connection.execute(_WITH_ID, {"this": prompt}).mappings().first()
        return self.read(row) if row else None

    def starting(self, job: JobNumber) -> Prompt | None:
        """Return the prompt that starts a job; None when there is none."""
        return self._newest(and_(prompts.c.job == job, STARTS_JOB))

    def same_follow_up(
        self, user: UserId, job: JobNumber, raw: str, since: datetime
    ) -> PromptId | None:
        """Return the user's newest follow-up with this text after ``since``.

        Refused and withdrawn ones do not count.
        """
        same = and_(
            prompts.c.kind == PromptKind.FOLLOW_UP,
            prompts.c.job == job,
            prompts.c.asked_by == user,
            prompts.c.asked_at > since,
            prompts.c.raw == raw,
            prompts.c.state.not_in((PromptState.REFUSED, PromptState.WITHDRAWN)),
        )
        newest = self._newest(same)
        return newest.id if newest else None

    def _all(self, condition: ColumnElement[bool]) -> Sequence[Prompt]:
        rows = self.connection.execute(select(prompts).where(condition).order_by(prompts.c.id))
        return [self.read(row) for row in rows.mappings()]

    def of_version(self, job: TrackedJob) -> VersionRequest:
        """Return the request that made a job's current version."""
        is_first = job.result_number <= 1 or job.ended_at is None
        follow_up = None if is_first else self._find_last_follow_up(job)
        if follow_up is not None and follow_up.is_preview_fix:
            return VersionRequest(MENDED_PREVIEW, is_preview_fix=True)
        if follow_up is not None and follow_up.text:
            return VersionRequest(summary_of(follow_up.text))
        if job.gap is not None and job.gap.title:
            return VersionRequest(summary_of(job.gap.title))
        return VersionRequest(summary_of(job.text))

    def _find_last_follow_up(self, job: TrackedJob) -> Prompt | None:
        """Return the last follow-up that was sent before a job's end; None if there is none."""
        return self._newest(
            prompts.c.job == job.number,
            prompts.c.kind == PromptKind.FOLLOW_UP,
            prompts.c.state == PromptState.SENT,
            prompts.c.sent_at <= job.ended_at,
            prompts.c.text != "",
        )

    def is_first_job(self, job: TrackedJob) -> bool:
        has_earlier = self._has(prompts.c.asked_by == job.requester, prompts.c.job < job.number)
        return not has_earlier

    def save(self, prompt: Prompt, new: Prompt, *, owner: str | None = None) -> None:
        """Write a step of a prompt's lifecycle and free its lease.

        Its message may be edited while a worker prepares it, and the same worker may have claimed
        it anew. Raises IllegalStep, and LeaseLost when its state or its text as typed are not those
        that were read, or when ``owner`` is given and does not hold the lease.
        """
        lifecycle.check_prompt_step(prompt, new)
        values = diff(prompt, new, prompts) | FREE_LEASE
        as_read = {"this": prompt.id, "was": prompt.state, "as_read": prompt.raw, HOLDER.key: owner}
        if self.connection.execute(_UPDATE_AS_READ, {**values, **as_read}).rowcount != 1:
            raise LeaseLost(f"prompt {prompt.id}")
        write_prompt_end(self.connection, prompt.id, new.state)

    def put_in_queue(self, prompt: PromptId, due_at: datetime) -> None:
        """Let a prompt wait for the quota until then."""
        waits = and_(prompts.c.id == prompt, prompts.c.state == PromptState.WAITING)
        self.connection.execute(
            update(prompts).where(waits).values(due_at=due_at, is_awaiting_quota=True)
        )

    def claim_new(self, claimer: Claimer, limit: int) -> Sequence[Prompt]:
        """Claim new prompts, which are still to be prepared.

        Somebody's next job in a channel is left until the status message of their one before it has
        been posted. So the status messages of several people's jobs go out in turn.
        """
        return self._claim(_CLAIM_NEW, claimer, limit=limit)

    def free_new(self, prompt: PromptId, owner: str) -> None:
        """Free a new prompt that this owner has claimed.

        Do nothing if it is another's or is prepared.
        """
        held = and_(
            prompts.c.id == prompt,
            prompts.c.claimed_by == owner,
            prompts.c.state == PromptState.NEW,
        )
        self.connection.execute(update(prompts).where(held).values(FREE_LEASE))

    def claim_held(self, claimer: Claimer, limit: int) -> Sequence[Prompt]:
        """Claim held prompts whose time has come, before they are sent."""
        return self._claim(_CLAIM_HELD, claimer, limit=limit)

    def hold(self, key: RequestKey, until: datetime) -> None:
        """Let a request be verified before it is sent, unless it is held or settled already."""
        waits = and_(
            prompts.c.key == key,
            prompts.c.held_until.is_(None),
            prompts.c.state.in_((*UNSETTLED, PromptState.UNCONFIRMED)),
        )
        self.connection.execute(update(prompts).where(waits).values(held_until=until))

    def verify_again(self, ids: Sequence[PromptId], now: datetime) -> None:
        """Let prompts that have waited for long be verified before they are sent."""
        waits = and_(prompts.c.id.in_(ids), prompts.c.state == PromptState.WAITING)
        self.connection.execute(update(prompts).where(waits).values(held_until=now))

    def set_hold(self, prompt: PromptId, until: datetime | None) -> None:
        """Set the time at which a prompt is verified before it is sent; None lets it be sent."""
        change = update(prompts).where(prompts.c.id == prompt)
        self.connection.execute(change.values(held_until=until))

    def keep_held(self, prompt: Prompt, until: datetime, owner: str) -> None:
        """Hold a claimed prompt until then, and free its lease. Raises LeaseLost."""
        self._write(prompt.id, owner, {"held_until": until, **FREE_LEASE})

    def let_go(self, prompt: Prompt, now: datetime, owner: str) -> None:
        """Release a prompt that equals its messages in Slack. Raises LeaseLost."""
        self._write(prompt.id, owner, {"held_until": None, "verified_at": now, **FREE_LEASE})

    def quota_queue(self, project: ProjectId, now: datetime) -> Sequence[QueuedPrompt]:
        """Return the prompts that wait only for the quota, oldest first.

        They are due or in the queue.
        """
        rows = self.connection.execute(_QUOTA_QUEUE, {"of_project": project, NOW.key: now})
        return [_to_queued(row) for row in rows.mappings()]

    def begin_sending(self, claimer: Claimer, ids: Sequence[PromptId]) -> Sequence[Prompt]:
        """Claim these prompts if they still wait, and mark them *sending*."""
        if not ids:
            return []
        return self._claim(_BEGIN_SENDING, claimer, ids=ids)

    def uses(
        self, project: ProjectId, now: datetime, since: datetime | None = None
    ) -> Sequence[Use]:
        """Return the project's uses in the last hour, or from ``since`` on."""
        sent = and_(
            prompts.c.sent_at.between(since or now - QUOTA_PERIOD, now + SKEW),
            prompts.c.state != PromptState.WAITING,
        )
        rows = self.connection.execute(
            select(prompts.c.asked_by, prompts.c.sent_at).where(prompts.c.project == project, sent)
        )
        return [Use(who, at) for who, at in rows]

    def took_any_since(self, project: ProjectId, since: datetime) -> bool:
        """Return whether the service has accepted a prompt of the project sent since then."""
        is_sent = and_(prompts.c.state == PromptState.SENT, prompts.c.sent_at >= since)
        return self._has(prompts.c.project == project, is_sent)

    def waiting_for_quota(self, project: ProjectId) -> int:
        """Count the prompts in the queue."""
        statement = select(func.count()).select_from(prompts).where(_is_queued(project))
        return int(self.connection.execute(statement).scalar_one())

    def postpone(self, project: ProjectId, now: datetime, until: datetime) -> Sequence[JobNumber]:
        """Set the due time of the project's waiting prompts to ``until``; return their jobs."""
        waiting = and_(prompts.c.project == project, prompts.c.state == PromptState.WAITING)
        free = and_(waiting, prompts.c.due_at < until, unclaimed(prompts))
        later = prompts.update().where(free).values(due_at=until, is_awaiting_quota=False)
        rows = self.connection.execute(later.returning(prompts.c.job), {NOW.key: now})
        return rows.scalars().all()

    def resume(self, project: ProjectId, reason: WaitReason, now: datetime) -> None:
        """Make the project's prompts that were postponed for this reason due now."""
        was_postponed = exists().where(jobs.c.number == prompts.c.job, jobs.c.wait_reason == reason)
        waiting = and_(
            prompts.c.project == project,
            prompts.c.state == PromptState.WAITING,
            prompts.c.due_at > now,
            was_postponed,
        )
        self.connection.execute(prompts.update().where(waiting).values(due_at=now))

    def resume_sending(self, now: datetime, due_at: datetime) -> Sequence[JobNumber]:
        """Let all waiting prompts be verified now, and be due at the same time, in their order.

        Return the jobs whose status messages show that sending is switched off.
        """
        waits = prompts.c.state == PromptState.WAITING
        is_free = and_(waits, prompts.c.held_until.is_(None))
        self.connection.execute(prompts.update().where(is_free).values(held_until=now))
        is_overdue = and_(waits, prompts.c.due_at < due_at)
        self.connection.execute(prompts.update().where(is_overdue).values(due_at=due_at))
        shown = select(jobs.c.number).where(
            jobs.c.wait_reason == WaitReason.SWITCHED_OFF,
            exists().where(prompts.c.job == jobs.c.number, one_of(prompts.c.state, UNSENT)),
        )
        return self.connection.execute(shown.order_by(jobs.c.number)).scalars().all()

    def move_up(self, project: ProjectId, now: datetime) -> None:
        """Make the head of the queue due now, so that the times are set again after one left."""
        head = select(func.min(prompts.c.id)).where(_is_queued(project)).scalar_subquery()
        self.connection.execute(prompts.update().where(prompts.c.id == head).values(due_at=now))

    def claim_abandoned(self, claimer: Claimer, limit: int) -> Sequence[Prompt]:
        """Claim prompts whose sender lost its lease.

        Whether the service received them is unknown.
        """
        return self._claim(_CLAIM_ABANDONED, claimer, limit=limit)

    def waiting_projects(self, now: datetime) -> Sequence[ProjectId]:
        """Return the projects that have prompts to send now."""
        rows = self.connection.execute(_WAITING_PROJECTS, {NOW.key: now})
        return [ProjectId(name) for name in rows.scalars()]

    def mark_unsettled_unconfirmed(self) -> None:
        """Mark the unsettled prompts as being sent by nobody, so that a person decides about them.

        A follow-up behind an unconfirmed first prompt waits for the decision.
        """
        has_begun = exists().where(jobs.c.number == prompts.c.job, jobs.c.service_id.is_not(None))
        is_unsettled = and_(prompts.c.state.in_(UNSETTLED), or_(STARTS_JOB, has_begun))
        # Each attempt has a question of its own.
        attempts = prompts.c.attempts + 1
        in_doubt = {"state": PromptState.SENDING, "attempts": attempts, **FREE_LEASE}
        self.connection.execute(prompts.update().where(is_unsettled).values(in_doubt))

    def find_possibly_accepted(self, job: JobNumber) -> Prompt | None:
        """Return a job's newest follow-up that may be accepted.

        It is unconfirmed, dismissed or sent again.
        """
        is_unknown = or_(
            prompts.c.state == PromptState.UNCONFIRMED,
            and_(prompts.c.state == PromptState.WITHDRAWN, prompts.c.attempts > 0),
            and_(prompts.c.state == PromptState.REFUSED, prompts.c.attempts > 1),
        )
        is_follow_up = prompts.c.kind == PromptKind.FOLLOW_UP
        return self._newest(prompts.c.job == job, is_follow_up, is_unknown)

    def unsettled_of(self, job: JobNumber) -> Sequence[Prompt]:
        """Return a job's prompts that are new, waiting or being sent, oldest first."""
        return self._all(and_(prompts.c.job == job, prompts.c.state.in_(UNSETTLED)))

    def unconfirmed_of(self, job: JobNumber) -> Prompt | None:
        """Return a job's newest prompt about which a person decides; None if there is none."""
        return self._newest(prompts.c.job == job, prompts.c.state == PromptState.UNCONFIRMED)

    def with_key(self, key: RequestKey) -> Prompt | None:
        """Return the prompt of the request with this key; None when there is none."""
        return self._newest(prompts.c.key == key)

    def move(self, prompt: Prompt, project: ProjectId) -> None:
        """Move an unsent prompt to another project, but not the job that it starts."""
        self.connection.execute(
            prompts.update().where(prompts.c.id == prompt.id).values(project=project)
        )
        its_row = audit.update().where(audit.c.job == prompt.job, audit.c.prompt == prompt.id)
        self.connection.execute(its_row.values(project=project))

    def taken_until(self, job: JobNumber, before: PromptId) -> MessageTs | None:
        """Return the newest message that earlier prompts of a job cover; None if there is none.

        That is the one that brought a prompt, or the last before the one that was given the thread
        in a form.
        """
        newest = func.max(prompts.c.message_ts)
        in_form = prompts.c.attach_thread.in_((AttachThread.GIVEN, AttachThread.ANSWER))
        given = func.max(prompts.c.asked_at).filter(in_form)
        earlier = select(newest, given).where(prompts.c.job == job, prompts.c.id < before)
        message_ts, given_at = self.connection.execute(earlier).one()
        covered = [message_ts] if message_ts else []
        if given_at:
            covered.append(ts_at(given_at))
        return max(covered, default=None)

    def attachments(self, job: JobNumber) -> Sequence[str]:
        """Return the attachments of a job's prompts, oldest first."""
        attached = (
            select(prompts.c.attachments)
            .where(prompts.c.job == job, prompts.c.attachments != "")
            .order_by(prompts.c.id)
        )
        return list(self.connection.execute(attached).scalars())
