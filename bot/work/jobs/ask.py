"""Store a request for a new job or a follow-up once, before the acknowledgement to Slack."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import cast

import structlog

from bot import slack_text
from bot.masking import has_key
from bot.messages.plain_text import visible
from bot.model.access import Origin
from bot.model.ids import JobNumber, PromptId, RequestKey
from bot.model.jobs import JobState, TrackedJob
from bot.model.prompts import JobRequest, NewPrompt, PromptKind, PromptRequest, Unsent
from bot.store import AlreadyStored, Transaction
from bot.store.deadline import Deadline, OutcomeUnknown, current, within
from bot.work.access import Allowed, Readable, check_channel
from bot.work.context import Context
from bot.work.writing import BatchWriter

log = structlog.get_logger(__name__)
SAME_WITHIN = timedelta(minutes=1)
"""Period in which an equal request counts as a duplicate: the person is asked before it spends a use."""


@dataclass(frozen=True, slots=True)
class _Asking:
    """A request on its way into a transaction that others share, to be stored before ``deadline``."""

    origin: Origin
    request: PromptRequest
    deadline: Deadline | None


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


class HasKey(Exception):
    """Nothing was stored, because there is a key in the prompt. ``kept``: None if no button can keep it."""

    def __init__(self, kept: Unsent | None) -> None:
        super().__init__("a key in a prompt")
        self.kept = kept


def check_key(context: Context, origin: Origin, request: PromptRequest, job: JobNumber | None = None) -> None:
    """Raise HasKey if there is a key in a prompt and its author has not confirmed it."""
    text = visible(slack_text.to_plain(request.raw, {}, {}))
    if request.allow_key or not has_key(f"{text}\n{request.given or ''}"):
        return
    shown = context.projects.shown(request.project) if request.project else None
    raw = f"project:{shown.name} {request.raw}" if shown else request.raw
    is_more = request.files or request.given or request.about or len(raw) > Unsent.LONGEST
    raise HasKey(None if is_more else Unsent(origin.key, origin.thread, raw, job))


Outcome = Asked | TooManyWaiting


def storable(raw: str) -> str:
    """Return the text without outer blanks, and without NUL and lone surrogates, which databases refuse."""
    return raw.replace("\x00", "").encode("utf-8", "replace").decode("utf-8").strip()


def storable_request(request: PromptRequest) -> PromptRequest:
    """Return a request with texts that databases take."""
    given = None if request.given is None else storable(request.given)
    return replace(request, raw=storable(request.raw), given=given)


async def ask(context: Context, allowed: Allowed, request: PromptRequest) -> Asked:
    """Store a request for a new job. A request with a known key stores nothing.

    Requests that arrive during a write share the next transaction, and so its wait for the disk.
    Raises TooManyWaiting, HasKey, and NotAllowed for a channel that the bot is not set up for.
    """
    check_channel(context, allowed.origin.channel)
    check_key(context, allowed.origin, request)
    asking = _Asking(allowed.origin, storable_request(request), current())
    writer = cast("BatchWriter[_Asking, Asked | Exception]", context.requests)  # which holds nothing else
    asked = await writer.put(asking, lambda some: _store(context, some))
    if isinstance(asked, Exception):
        raise asked
    if asking.deadline is not None:
        asking.deadline.has_written = True
    log.info("prompt_stored", job=asked.job, repeated=asked.repeated or asked.same)
    context.wake()
    return asked


async def _store(context: Context, requests: Sequence[_Asking]) -> list[Asked | Exception]:
    """Store all requests in one transaction. If it fails, store each alone: only the bad ones fail then."""
    if len(requests) > 1:
        try:
            known = [each.deadline for each in requests if each.deadline is not None]
            with within(min(known, key=lambda each: each.at, default=None)):
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


async def _store_alone(context: Context, request: _Asking) -> Asked | Exception:
    try:
        return (await context.store.write(lambda tx: _store_all(context, tx, [request])))[0]
    except AlreadyStored as taken:
        known = await context.store.read(lambda tx: tx.prompts.job_of(request.origin.key))
        return taken if known is None else Asked(known, repeated=True)
    except Exception as error:  # raised by ``ask`` to the caller of this request
        return error


def _store_all(context: Context, tx: Transaction, requests: Sequence[_Asking]) -> list[Outcome]:
    """Store requests in groups without duplicates, so that a duplicate finds the earlier request stored."""
    asked: list[Outcome] = []
    left = [(request, _wanted(context, tx, request)) for request in requests]
    while left:
        group: list[tuple[_Asking, JobRequest]] = []
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
    context: Context, tx: Transaction, group: Sequence[tuple[_Asking, JobRequest]]
) -> list[Outcome]:
    """Store requests of which no two have the same key, or the same person, channel, text and project."""
    now = context.clock()
    requests = [request for request, _ in group]
    wanted = {request.origin.key: job for request, job in group}
    checked = {each.origin.key: job for each, job in group if not each.request.allow_duplicate}
    known, same = tx.prompts.earlier(list(wanted), list(checked.values()), now - SAME_WITHIN)
    asked: dict[RequestKey, Outcome] = {
        key: Asked(same[job], repeated=False, same=True) for key, job in checked.items() if job in same
    }
    asked |= {key: Asked(job, repeated=True) for key, job in known.items()}
    new, refused = _within_limit(context, tx, [each for each in requests if each.origin.key not in asked])
    asked |= refused
    if new:
        jobs = [wanted[each.origin.key] for each in new]
        numbers = tx.jobs.add_all(jobs, now)
        made = [
            NewPrompt(each.origin, each.request, numbers[job], job.project, PromptKind.START, now)
            for each, job in zip(new, jobs, strict=True)
        ]
        tx.prompts.add_all(made)
        asked |= {each.origin.key: Asked(each.job, repeated=False) for each in made}
        # Every process locks in the same order.
        for request in sorted(new, key=lambda each: each.origin.channel):
            if request.request.received:
                tx.conversations.received(request.origin)
    return [asked[request.origin.key] for request in requests]


def _within_limit(
    context: Context, tx: Transaction, new: Sequence[_Asking]
) -> tuple[list[_Asking], dict[RequestKey, TooManyWaiting]]:
    """Return the requests of people of whom fewer prompts wait than may, and the refusals of the others."""
    waiting = tx.prompts.waiting_by({each.origin.user for each in new}) if new else {}
    stored: list[_Asking] = []
    refused: dict[RequestKey, TooManyWaiting] = {}
    for each in new:
        user = each.origin.user
        if waiting.get(user, 0) >= context.waiting_per_person:
            refused[each.origin.key] = TooManyWaiting(context.waiting_per_person, each.request.raw)
            continue
        waiting[user] = waiting.get(user, 0) + 1
        stored.append(each)
    return stored, refused


def _wanted(context: Context, tx: Transaction, asking: _Asking) -> JobRequest:
    origin, request = asking.origin, asking.request
    project = request.project or context.project_of(tx, origin.channel).id
    shown = context.projects.shown(project)
    return JobRequest(
        origin.user,
        origin.channel,
        request.raw,
        project,
        thread=origin.thread_for_job,
        again_of=request.again_of,
        project_label=shown.label if shown else None,
        about=request.about,
    )


@dataclass(frozen=True, slots=True)
class FollowedUp:
    """The result of a follow-up. ``accepted`` is false if the job takes no follow-ups in its state.

    ``repeated``: nothing was stored, because the follow-up was stored before.
    ``same``: the equal prompt that the person sent a moment ago, if that is why nothing was stored.
    """

    job: TrackedJob
    accepted: bool
    repeated: bool = False
    same: PromptId | None = None


def takes_follow_ups(job: TrackedJob) -> bool:
    """Return whether the job takes follow-ups: it runs, has ended well, or is about to start."""
    return not job.is_forgotten and (job.state.takes_follow_ups or job.state is JobState.WAITING)


async def follow_up(context: Context, readable: Readable, request: PromptRequest) -> FollowedUp | None:
    """Store a follow-up. Return None if there is no such job any more. A known key stores nothing.

    Raises TooManyWaiting, HasKey, and NotAllowed for a job in a channel that the bot is not set up for.
    """
    number, origin = readable.job.number, readable.allowed.origin
    check_channel(context, readable.job.channel)
    check_key(context, origin, request, number)
    request = storable_request(request)
    try:
        result = await context.store.write(lambda tx: _store_follow_up(context, tx, origin, number, request))
    except AlreadyStored:
        job = await context.store.read(lambda tx: tx.jobs.get(number))
        return FollowedUp(job, accepted=True, repeated=True) if job else None
    if result and result.accepted and not result.repeated:
        log.info("prompt_stored", job=result.job.number, repeated=False)
        context.wake()
    return result


def _store_follow_up(
    context: Context, tx: Transaction, origin: Origin, number: JobNumber, request: PromptRequest
) -> FollowedUp | None:
    # Locked, because a job that is given up meanwhile would leave this follow-up waiting for ever.
    job = tx.jobs.get_locked(number)
    if job is None:
        return None
    if tx.prompts.job_of(origin.key) is not None:
        return FollowedUp(job, accepted=True, repeated=True)
    if not takes_follow_ups(job):
        return FollowedUp(job, accepted=False)
    now = context.clock()
    if not request.allow_duplicate:
        same = tx.prompts.same_follow_up(origin.user, number, request.raw, now - SAME_WITHIN)
        if same is not None:
            return FollowedUp(job, accepted=True, repeated=True, same=same)
    if tx.prompts.waiting_by([origin.user]).get(origin.user, 0) >= context.waiting_per_person:
        raise TooManyWaiting(context.waiting_per_person, request.raw)
    # A follow-up belongs to the job's channel, wherever it was typed.
    here = replace(origin, channel=job.channel)
    begun_at = now
    if origin.message_ts is not None:
        since = now - timedelta(seconds=context.timeouts.hold_most_seconds)
        begun_at = tx.prompts.held(number, origin.user, since, now) or now
        tx.prompts.hold(number, origin.user, begun_at, context.held_until(begun_at))
    tx.prompts.add(NewPrompt(here, request, number, job.project, PromptKind.FOLLOW_UP, begun_at))
    if request.received:
        tx.conversations.received(origin)
    return FollowedUp(job, accepted=True)
