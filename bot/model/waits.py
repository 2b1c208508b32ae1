"""Why a prompt, a poll or a delivery waits, and until when, decided from what the rows say."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from bot.model.ids import ChannelId, JobNumber
from bot.model.jobs import JobState, QueueWhy
from bot.model.outbox import QUIET, DeliveryKind, DeliveryState
from bot.model.prompts import PromptKind, PromptState
from bot.model.quota import MAY_NOT_WRITE, BackOff


class Waiting(StrEnum):
    """What waits."""

    PROMPT = "prompt"
    POLL = "poll"
    MESSAGE = "message"
    """A delivery that tells somebody something."""
    EDIT = "edit"
    """An edit of a message, or a reaction: it notifies nobody."""


class WaitWhy(StrEnum):
    """What something waits for."""

    WORKER = "worker"
    """It is due, and the next free worker takes it."""
    PROCESS = "process"
    """A process works on it, or was killed meanwhile: then another one takes it when its lease ends."""
    BEFORE = "before"
    """Something that goes first: an earlier prompt of the job, or an earlier message of the thread."""
    FACE = "face"
    """The first message of its thread."""
    PERSON = "person"
    """Somebody decides about an unconfirmed prompt."""
    SERVICE = "service"
    """The project has a back-off, because the docs service fails or asks to wait."""
    KEY = "key"
    """The docs service refuses the key."""
    LIMIT = "limit"
    """The hourly limit on jobs."""
    SHARE = "share"
    """Whoever asked has had their share of the hourly limit."""
    RETRY = "retry"
    """It was tried and not taken."""
    TIME = "time"
    """A poll's time."""
    SEARCH = "search"
    """Slack did not say whether it took the message, so it is looked for."""


_STUCK = (WaitWhy.WORKER, WaitWhy.PROCESS)


@dataclass(frozen=True, slots=True)
class Wait:
    """Something that waits. ``until`` is None when nobody can tell.

    ``since``: when it was asked for; of a poll: when it is due. ``due_at``: when it was to be carried out.
    ``cause``, for operators: the process that holds the lease, or the error that led to the back-off.
    """

    what: Waiting
    why: WaitWhy
    since: datetime
    due_at: datetime
    until: datetime | None = None
    cause: str | None = None
    job: JobNumber | None = None

    @property
    def stuck_since(self) -> datetime | None:
        """Return when it was due if it waits for nothing but the bot itself; otherwise None."""
        return max(self.since, self.due_at) if self.why in _STUCK else None


@dataclass(frozen=True, slots=True)
class Lease:
    """A row's lease, perhaps one that has run out; both are None if there is none."""

    owner: str | None = None
    until: datetime | None = None

    def is_held(self, now: datetime) -> bool:
        """Return whether somebody works on the row."""
        return self.until is not None and self.until >= now


_Why = tuple[WaitWhy, datetime | None, str | None]
"""What something waits for, until when, and the cause."""


@dataclass(frozen=True, slots=True)
class WaitingPrompt:
    """A prompt that is not settled, with what its sending depends on.

    ``is_behind``: an earlier prompt of the job is not settled. ``face_is_open``: the face of its job, or of
    the same person's job before it in the channel, is still to be posted.
    """

    job: JobNumber
    kind: PromptKind
    state: PromptState
    job_state: JobState
    asked_at: datetime
    due_at: datetime
    in_queue: bool = False
    queue_why: QueueWhy | None = None
    lease: Lease = field(default_factory=Lease)
    back_off: BackOff | None = None
    is_behind: bool = False
    face_is_open: bool = False

    def wait(self, now: datetime) -> Wait:
        """Return what it waits for."""
        why = self._person() or self._preparation(now) or _held(self.lease, now) or self._sending(now)
        return Wait(Waiting.PROMPT, why[0], self.asked_at, self.due_at, *why[1:], self.job)

    def _person(self) -> _Why | None:
        is_follow_up = self.kind is PromptKind.FOLLOW_UP
        behind = is_follow_up and self.job_state is JobState.UNCONFIRMED and self.state is PromptState.WAITING
        return (WaitWhy.PERSON, None, None) if self.state is PromptState.UNCONFIRMED or behind else None

    def _preparation(self, now: datetime) -> _Why | None:
        if self.state is not PromptState.NEW:
            return None
        why = WaitWhy.FACE if self.face_is_open else WaitWhy.WORKER
        return _held(self.lease, now) or (why, None, None)

    def _sending(self, now: datetime) -> _Why:
        if self.state is PromptState.SENDING:  # by a process that has lost its lease
            return WaitWhy.WORKER, None, None
        if self.is_behind:
            return WaitWhy.BEFORE, None, None
        if self.face_is_open and self.kind is PromptKind.START:
            return WaitWhy.FACE, None, None
        if (backing_off := _backing_off(self.back_off, now)) is not None:
            return backing_off
        if self.due_at > now:
            return self._queued(), self.due_at, None
        return WaitWhy.WORKER, None, None

    def _queued(self) -> WaitWhy:
        """Return what it waits for until its time comes; what its job says may be of another prompt."""
        if self.queue_why is None or self.queue_why is QueueWhy.LIMIT:
            return WaitWhy.LIMIT if self.in_queue else WaitWhy.RETRY
        return WaitWhy(self.queue_why)


@dataclass(frozen=True, slots=True)
class WaitingPoll:
    """The next poll of a job."""

    job: JobNumber
    poll_at: datetime
    lease: Lease = field(default_factory=Lease)
    back_off: BackOff | None = None

    def wait(self, now: datetime) -> Wait:
        """Return what it waits for."""
        why = _held(self.lease, now) or self._pause(now)
        return Wait(Waiting.POLL, why[0], self.poll_at, self.poll_at, *why[1:], self.job)

    def _pause(self, now: datetime) -> _Why:
        only_prompts = self.back_off is not None and self.back_off.reason == MAY_NOT_WRITE
        backing_off = None if only_prompts else _backing_off(self.back_off, now)
        if backing_off is not None:
            why, until, cause = backing_off
            return why, max(until or now, self.poll_at), cause
        return (WaitWhy.TIME, self.poll_at, None) if self.poll_at > now else (WaitWhy.WORKER, None, None)


@dataclass(frozen=True, slots=True)
class WaitingDelivery:
    """A delivery that Slack has neither accepted nor refused, with what it depends on.

    ``is_behind``: others in its thread go first. ``has_face``: its job's face has been posted.
    """

    kind: DeliveryKind
    state: DeliveryState
    channel: ChannelId
    created_at: datetime
    due_at: datetime
    job: JobNumber | None = None
    lease: Lease = field(default_factory=Lease)
    is_behind: bool = False
    has_face: bool = True

    def wait(self, now: datetime) -> Wait:
        """Return what it waits for."""
        what = Waiting.EDIT if self.kind in QUIET else Waiting.MESSAGE
        why = self._doubt(now) or _held(self.lease, now) or self._turn(now)
        return Wait(what, why[0], self.created_at, self.due_at, *why[1:], self.job)

    def _doubt(self, now: datetime) -> _Why | None:
        """Return that it is searched for: nobody is sending it, and it may have been sent."""
        if self.lease.owner and self.lease.is_held(now):
            return None
        match self.state:
            case DeliveryState.UNCLEAR:
                return WaitWhy.SEARCH, self.due_at if self.due_at > now else None, None
            case DeliveryState.SENDING:
                return WaitWhy.SEARCH, None, None
        return None

    def _turn(self, now: datetime) -> _Why:
        if self.is_behind:
            return (WaitWhy.BEFORE if self.has_face else WaitWhy.FACE), None, None
        return (WaitWhy.RETRY, self.due_at, None) if self.due_at > now else (WaitWhy.WORKER, None, None)


def _held(lease: Lease, now: datetime) -> _Why | None:
    return (WaitWhy.PROCESS, lease.until, lease.owner) if lease.is_held(now) else None


def _backing_off(back_off: BackOff | None, now: datetime) -> _Why | None:
    if back_off is None or not back_off.lasts(now):
        return None
    why = WaitWhy.KEY if back_off.is_refusal else WaitWhy.SERVICE
    return why, back_off.until, back_off.reason
