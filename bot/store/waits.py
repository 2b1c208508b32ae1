"""What the rows say about what waits, and why; ``bot.model.waits`` decides from that."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, ScalarSelect, and_, exists, func, select
from sqlalchemy.engine import RowMapping

from bot.model.ids import JobNumber
from bot.model.jobs import JobState, QueueWhy
from bot.model.outbox import QUIET, DeliveryKind, DeliveryState
from bot.model.prompts import PromptKind, PromptState
from bot.model.questions import QuestionState
from bot.model.quota import BackOff
from bot.model.waits import Lease, Wait, WaitingDelivery, WaitingPoll, WaitingPrompt, WaitWhy
from bot.store.columns import AnyTable, Repository, UtcDateTime, reader
from bot.store.leases import one_of, readable
from bot.store.outbox import OPEN, waits_in_thread
from bot.store.prompts import face_before
from bot.store.queues import UNSETTLED, is_behind
from bot.store.schema import back_offs, deliveries, jobs, prompts, questions

_MOST = 20
"""Maximum deliveries of a job that are looked at."""
# The conditions that are taken over have tables of their own.
_job, _posted, _face = jobs.alias("of"), jobs.alias("posted"), deliveries.alias("face")
_ROW = ("kind", "state", "due_at", "job", "claimed_by", "claimed_until")
_BACK_OFF = (
    back_offs.c.reason,
    back_offs.c.since.label("failing_since"),
    back_offs.c.until.label("backs_off_until"),
)
_FACE_OPEN = exists().where(
    _face.c.job == prompts.c.job, _face.c.kind == DeliveryKind.ROOT, one_of(_face.c.state, OPEN)
)
_PROMPTS = (
    select(
        *prompts.c["id", "asked_at", "in_queue", *_ROW],
        _job.c.state.label("job_state"),
        _job.c.queue_why,
        *_BACK_OFF,
        is_behind().label("is_behind"),
        and_(prompts.c.state == PromptState.WAITING, _job.c.root_ts.is_(None), _FACE_OPEN).label("own_face"),
        and_(prompts.c.kind == PromptKind.START, prompts.c.state == PromptState.NEW, face_before()).label(
            "face_before"
        ),
    )
    .join(_job, _job.c.number == prompts.c.job)
    .outerjoin(back_offs, back_offs.c.project == prompts.c.project)
    .order_by(prompts.c.id)
)
_POLLS = select(*jobs.c["number", "poll_at", "claimed_by", "claimed_until"], *_BACK_OFF).outerjoin(
    back_offs, back_offs.c.project == jobs.c.project
)
_DELIVERIES = (
    select(
        *deliveries.c["seq", "channel", "created_at", *_ROW],
        _posted.c.root_ts,
        waits_in_thread().label("is_behind"),
    )
    .outerjoin(_posted, _posted.c.number == deliveries.c.job)
    .where(one_of(deliveries.c.state, OPEN))
    .order_by(deliveries.c.seq)
)


class WaitRepository(Repository):
    """What waits, within one transaction."""

    def of_job(self, number: JobNumber, now: datetime) -> Sequence[Wait]:
        """Return what waits of a job: its prompts, its next poll, then its deliveries, oldest first."""
        states = (*UNSETTLED, PromptState.UNCONFIRMED)
        asked = self._prompts(and_(prompts.c.job == number, prompts.c.state.in_(states)), now)
        polls = self.connection.execute(_POLLS.where(jobs.c.number == number, jobs.c.poll_at.is_not(None)))
        said = self._deliveries(deliveries.c.job == number, _MOST, now)
        return [*asked, *(_poll(row).wait(now) for row in polls.mappings()), *said]

    def all_prompts(self, now: datetime) -> Sequence[Wait]:
        """Return the prompts that are not settled and wait for no person's decision, oldest first."""
        found = self._prompts(one_of(prompts.c.state, UNSETTLED), now)
        return [each for each in found if each.why is not WaitWhy.PERSON]

    def oldest_message(self, now: datetime) -> Wait | None:
        """Return the oldest delivery that tells somebody something."""
        return next(iter(self._deliveries(deliveries.c.kind.not_in(QUIET), 1, now)), None)

    def backlog(self, now: datetime) -> dict[str, float]:
        """Return the unsettled work of all processes, by the name of its gauge: numbers of rows, and ages.

        An age is that of the oldest unsettled request, whatever its next attempt is; 0 if there is none.
        Edits and reactions tell nobody anything new, so they are no deliveries here. A poll ages from when it
        was due.
        """
        unsettled, is_edit = deliveries.c.state.in_(OPEN), deliveries.c.kind.in_(QUIET)
        dead = deliveries.c.state == DeliveryState.DEAD
        ages: dict[str, ScalarSelect[datetime]] = {
            "oldest_prompt_seconds": _oldest(prompts.c.asked_at, prompts.c.state.in_(UNSETTLED)),
            "oldest_delivery_seconds": _oldest(deliveries.c.created_at, and_(unsettled, ~is_edit)),
            "oldest_question_seconds": _oldest(
                questions.c.asked_at, questions.c.state == QuestionState.WAITING
            ),
            "most_overdue_poll_seconds": _oldest(jobs.c.poll_at, jobs.c.poll_at <= now),
        }
        counts: dict[str, ScalarSelect[int]] = {
            "open_jobs": _count(jobs, jobs.c.poll_at.is_not(None)),
            "unconfirmed_prompts": _count(prompts, prompts.c.state == PromptState.UNCONFIRMED),
            "dead_letters": _count(deliveries, dead & (deliveries.c.kind != DeliveryKind.REACTION)),
        }
        row = self.connection.execute(select(*ages.values(), *counts.values())).one()
        return {
            name: max((now - value).total_seconds(), 0.0)
            if isinstance(value, datetime)
            else float(value or 0)
            for name, value in zip([*ages, *counts], row, strict=True)
        }

    def _prompts(self, which: ColumnElement[bool], now: datetime) -> list[Wait]:
        rows = self.connection.execute(_PROMPTS.where(which)).mappings()
        return [each.wait(now) for each in readable(prompts, rows, _prompt)]

    def _deliveries(self, which: ColumnElement[bool], limit: int, now: datetime) -> list[Wait]:
        rows = self.connection.execute(_DELIVERIES.where(which).limit(limit)).mappings().all()
        return [each.wait(now) for each in readable(deliveries, rows, _delivery)]


def _lease(row: RowMapping) -> Lease:
    return Lease(row["claimed_by"], row["claimed_until"])


def _back_off(row: RowMapping) -> BackOff | None:
    until = row["backs_off_until"]
    return None if until is None else BackOff(row["reason"], row["failing_since"], until)


_prompt = reader(
    WaitingPrompt,
    prompts,
    job_state=lambda row: JobState(row["job_state"]),
    queue_why=lambda row: QueueWhy(row["queue_why"]) if row["queue_why"] else None,
    lease=_lease,
    back_off=_back_off,
    is_behind=lambda row: bool(row["is_behind"]),
    face_is_open=lambda row: bool(row["own_face"] or row["face_before"]),
)


def _poll(row: RowMapping) -> WaitingPoll:
    return WaitingPoll(row["number"], row["poll_at"], _lease(row), _back_off(row))


def _delivery(row: RowMapping) -> WaitingDelivery:
    return WaitingDelivery(
        kind=DeliveryKind(row["kind"]),
        state=DeliveryState(row["state"]),
        channel=row["channel"],
        created_at=row["created_at"],
        due_at=row["due_at"],
        job=row["job"],
        lease=_lease(row),
        is_behind=bool(row["is_behind"]),
        has_face=row["root_ts"] is not None,
    )


def _oldest(column: ColumnElement[datetime], condition: ColumnElement[bool]) -> ScalarSelect[datetime]:
    return select(func.min(column, type_=UtcDateTime)).where(condition).scalar_subquery()


def _count(table: AnyTable, condition: ColumnElement[bool]) -> ScalarSelect[int]:
    return select(func.count()).select_from(table).where(condition).scalar_subquery()
