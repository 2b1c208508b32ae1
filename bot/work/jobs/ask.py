"""Store a request for a new job once, before the acknowledgement to Slack."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

import structlog

from bot.model.along import SharedFile, TakeThread
from bot.model.ids import JobNumber, ProjectId, RequestKey
from bot.model.origin import Origin
from bot.model.prompts import JobRequest, NewPrompt, PromptKind
from bot.store import AlreadyStored, Transaction
from bot.store.deadline import Deadline, OutcomeUnknown, current, within
from bot.work.batching import Batch
from bot.work.context import Context

log = structlog.get_logger(__name__)
SAME_WITHIN = timedelta(minutes=1)
"""Period in which an equal request counts as a duplicate: the person is asked before it spends a use."""


@dataclass(frozen=True, slots=True)
class AskRequest:
    """A request for a new job. ``raw`` is Slack's wire text and is not blank.

    ``allow_duplicate``: the person has confirmed that they want an equal request to run again.
    ``heard``: note the message as heard (``bot/store/conversations.py``).
    ``take_thread`` and ``files``: see ``Prompt``. ``again_of``: the job whose prompt it runs again.
    ``project``: None for that of the channel. ``deadline``: ``ask`` sets it.
    """

    origin: Origin
    raw: str
    allow_duplicate: bool = False
    heard: bool = False
    take_thread: TakeThread | None = None
    files: tuple[SharedFile, ...] = ()
    given: str | None = None
    again_of: JobNumber | None = None
    project: ProjectId | None = None
    deadline: Deadline | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Asked:
    """The job of a request. ``repeated``: a request with the same key was stored before.

    ``same``: nothing was stored, because the person made an equal request a moment ago. ``job`` is the job
    of that request.
    """

    job: JobNumber
    repeated: bool
    same: bool = False


class TooManyWaiting(Exception):
    """Nothing was stored, because ``limit`` prompts of the person wait already. ``raw`` is the new text."""

    def __init__(self, limit: int, raw: str) -> None:
        super().__init__(f"{limit} prompts wait")
        self.limit = limit
        self.raw = raw


Outcome = Asked | TooManyWaiting
_ASK_BATCH = Batch[AskRequest, "Asked | Exception"](100, turns=10)
"""A command that has arrived takes up to eight turns of the event loop to be put into the batch."""


def storable(raw: str) -> str:
    """Return the text without outer blanks, and without NUL and lone surrogates, which databases refuse."""
    return raw.replace("\x00", "").encode("utf-8", "replace").decode("utf-8").strip()


async def ask(context: Context, request: AskRequest) -> Asked:
    """Store a request for the workers. A request with a known key stores nothing. Raises TooManyWaiting.

    Requests that arrive during a write share the next transaction, and so its wait for the disk.
    """
    writer = context.batches.writer(_ASK_BATCH)
    request = replace(request, deadline=current())
    asked = await writer.put(request, lambda some: _store(context, some))
    if isinstance(asked, Exception):
        raise asked
    if request.deadline is not None:
        request.deadline.has_written = True
    log.info("prompt_stored", job=asked.job, repeated=asked.repeated or asked.same)
    context.wake()
    return asked


async def _store(context: Context, requests: Sequence[AskRequest]) -> list[Asked | Exception]:
    """Store all requests in one transaction. If it fails, store each alone: only the bad ones fail then."""
    if len(requests) > 1:
        try:
            with within(_earliest(requests)):
                stored = await context.store.write(lambda tx: _store_all(context, tx, requests))
            return [*stored]
        except OutcomeUnknown as error:
            return [error] * len(requests)
        except Exception as error:
            log.warning("not_stored_together", requests=len(requests), reason=type(error).__name__)
    stored_alone: list[Asked | Exception] = []
    for request in requests:
        with within(request.deadline):
            stored_alone.append(await _store_alone(context, request))
    return stored_alone


def _earliest(requests: Sequence[AskRequest]) -> Deadline | None:
    known = (each.deadline for each in requests if each.deadline is not None)
    return min(known, key=lambda each: each.at, default=None)


async def _store_alone(context: Context, request: AskRequest) -> Asked | Exception:
    try:
        return (await context.store.write(lambda tx: _store_all(context, tx, [request])))[0]
    except AlreadyStored as taken:
        known = await context.store.read(lambda tx: tx.prompts.job_of(request.origin.key))
        return taken if known is None else Asked(known, repeated=True)
    except Exception as error:  # raised by ``ask`` to the caller of this request
        return error


def _store_all(context: Context, tx: Transaction, requests: Sequence[AskRequest]) -> list[Outcome]:
    """Store requests in groups without duplicates, so that a duplicate finds the earlier request stored."""
    asked: list[Outcome] = []
    left = [(request, _wanted(context, tx, request)) for request in requests]
    while left:
        group: list[tuple[AskRequest, JobRequest]] = []
        seen: set[object] = set()
        for request, wanted in left:
            marks = {request.origin.key, wanted}
            if marks & seen:
                break
            seen |= marks
            group.append((request, wanted))
        asked += _store_group(context, tx, group)
        left = left[len(group) :]
    return asked


def _store_group(
    context: Context, tx: Transaction, group: Sequence[tuple[AskRequest, JobRequest]]
) -> list[Outcome]:
    """Store requests of which no two have the same key, or the same person, channel, text and project."""
    now = context.clock()
    requests = [request for request, _ in group]
    wanted = {request.origin.key: job for request, job in group}
    checked = [wanted[request.origin.key] for request in requests if not request.allow_duplicate]
    known, same = tx.prompts.earlier(list(wanted), checked, now - SAME_WITHIN)
    asked: dict[RequestKey, Outcome] = {key: Asked(job, repeated=True) for key, job in known.items()}
    new: list[AskRequest] = []
    for request in requests:
        key = request.origin.key
        if key in asked:
            continue
        job = None if request.allow_duplicate else same.get(wanted[key])
        if job is None:
            new.append(request)
        else:
            asked[key] = Asked(job, repeated=False, same=True)
    new, refused = _within_limit(context, tx, new)
    asked |= refused
    if new:
        jobs = [wanted[each.origin.key] for each in new]
        numbers = tx.jobs.add_all(jobs, now)
        made = [_prompt(each, job, numbers[job], now) for each, job in zip(new, jobs, strict=True)]
        tx.prompts.add_all(made)
        asked |= {each.origin.key: Asked(each.job, repeated=False) for each in made}
        # Every process locks in the same order.
        for request in sorted(new, key=lambda each: each.origin.channel):
            if request.heard:
                tx.conversations.received(request.origin)
    return [asked[request.origin.key] for request in requests]


def _within_limit(
    context: Context, tx: Transaction, new: Sequence[AskRequest]
) -> tuple[list[AskRequest], dict[RequestKey, TooManyWaiting]]:
    """Return the requests of people of whom fewer prompts wait than may, and the refusals of the others."""
    waiting = tx.prompts.waiting_by({each.origin.user for each in new}) if new else {}
    stored: list[AskRequest] = []
    refused: dict[RequestKey, TooManyWaiting] = {}
    for each in new:
        user = each.origin.user
        if waiting.get(user, 0) >= context.waiting_per_person:
            refused[each.origin.key] = TooManyWaiting(context.waiting_per_person, each.raw)
            continue
        waiting[user] = waiting.get(user, 0) + 1
        stored.append(each)
    return stored, refused


def _wanted(context: Context, tx: Transaction, request: AskRequest) -> JobRequest:
    origin = request.origin
    project = request.project or context.project_of(tx, origin.channel).id
    shown = context.projects.shown(project)
    return JobRequest(
        origin.user,
        origin.channel,
        storable(request.raw),
        project,
        thread=origin.thread_for_job,
        again_of=request.again_of,
        project_label=shown.label if shown else None,
    )


def _prompt(request: AskRequest, job: JobRequest, number: JobNumber, now: datetime) -> NewPrompt:
    return NewPrompt(
        request.origin,
        job=number,
        project=job.project,
        kind=PromptKind.START,
        raw=job.raw,
        asked_at=now,
        take_thread=request.take_thread,
        files=request.files,
        along=None if request.given is None else storable(request.given),
    )
