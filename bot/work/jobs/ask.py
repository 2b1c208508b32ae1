"""Taking in a request for a new job: stored once, before Slack is answered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog

from bot.model import JobNumber, JobRequest, NewPrompt, Origin, PromptKind
from bot.store import AlreadyStored, Transaction
from bot.work.batching import Batch
from bot.work.context import Context

log = structlog.get_logger(__name__)
SAME_WITHIN = timedelta(minutes=1)
"""The same request within so long is asked about before it spends a use."""


@dataclass(frozen=True, slots=True)
class AskRequest:
    """Somebody wants something done. ``raw`` is Slack's wire text and is not blank.

    ``allow_duplicate``: they know that they asked the same before.
    """

    origin: Origin
    raw: str
    allow_duplicate: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    """The job of a request; ``repeated`` when the very request had been taken in before.

    ``same``: nothing was stored, since the person asked the same a moment ago; ``job`` is that one.
    """

    job: JobNumber
    repeated: bool
    same: bool = False


_ASKS = Batch[AskRequest, "Asked | Exception"](100, turns=3)


def storable(raw: str) -> str:
    """The text without what no database keeps (NUL, halves of surrogate pairs) and without blanks around."""
    return raw.replace("\x00", "").encode("utf-8", "replace").decode("utf-8").strip()


async def ask(context: Context, request: AskRequest) -> Asked:
    """Store a request; the rounds do the rest. The same key again stores nothing.

    What arrives while others are being stored shares the next transaction, and its wait for the disk.
    """
    writer = context.batches.writer(_ASKS)
    asked = await writer.put(request, lambda some: _store(context, some))
    if isinstance(asked, Exception):
        raise asked
    context.wake()
    return asked


async def _store(context: Context, requests: Sequence[AskRequest]) -> list[Asked | Exception]:
    """All in one transaction; when that fails each by itself, so that none fails for another's sake."""
    if len(requests) > 1:
        try:
            stored = await context.store.write(lambda tx: _store_all(context, tx, requests))
            return [*stored]
        except Exception as error:
            log.warning("not_stored_together", requests=len(requests), reason=type(error).__name__)
    return [await _store_alone(context, request) for request in requests]


async def _store_alone(context: Context, request: AskRequest) -> Asked | Exception:
    try:
        return (await context.store.write(lambda tx: _store_all(context, tx, [request])))[0]
    except AlreadyStored as taken:
        known = await context.store.read(lambda tx: tx.prompts.job_of(request.origin.key))
        return taken if known is None else Asked(known, repeated=True)
    except Exception as error:  # raised by who asked
        return error


def _store_all(context: Context, tx: Transaction, requests: Sequence[AskRequest]) -> list[Asked]:
    """Those that are the same as an earlier one come after it, so that they find it stored."""
    asked: list[Asked] = []
    left = list(requests)
    while left:
        first: list[AskRequest] = []
        seen: set[object] = set()
        for request in left:
            marks = {request.origin.key, _wanted(request)}
            if marks & seen:
                break
            seen |= marks
            first.append(request)
        asked += _store_different(context, tx, first)
        left = left[len(first) :]
    return asked


def _store_different(context: Context, tx: Transaction, requests: Sequence[AskRequest]) -> list[Asked]:
    """Requests with different keys, and of different people, channels or words."""
    now = context.clock()
    wanted = {request.origin.key: _wanted(request) for request in requests}
    doubtful = [wanted[request.origin.key] for request in requests if not request.allow_duplicate]
    known, same = tx.prompts.earlier(list(wanted), doubtful, now - SAME_WITHIN)
    asked = {key: Asked(job, repeated=True) for key, job in known.items()}
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
    if new:
        numbers = tx.jobs.add_all(context.project, [wanted[each.origin.key] for each in new], now)
        made = [_prompt(context, each, numbers[wanted[each.origin.key]], now) for each in new]
        tx.prompts.add_all(made)
        asked |= {each.origin.key: Asked(each.job, repeated=False) for each in made}
    return [asked[request.origin.key] for request in requests]


def _wanted(request: AskRequest) -> JobRequest:
    return JobRequest(request.origin.user, request.origin.channel, storable(request.raw))


def _prompt(context: Context, request: AskRequest, job: JobNumber, now: datetime) -> NewPrompt:
    return NewPrompt(
        request.origin,
        job=job,
        project=context.project,
        kind=PromptKind.START,
        raw=storable(request.raw),
        asked_at=now,
    )
