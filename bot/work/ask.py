"""Taking in a request for a new job: stored once, before Slack is answered."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from pydantic import SecretStr

from bot.model import ChannelId, JobNumber, PromptKind, RequestKey, UserId
from bot.registry import AlreadyStored, Tables
from bot.work.desk import Desk

SAME_WITHIN = timedelta(minutes=1)
"""The same request within so long is asked about before it spends a use."""


@dataclass(frozen=True, slots=True)
class AskRequest:
    """Somebody wants something done. ``raw`` is Slack's wire text and is not blank.

    ``once_more``: they know that they asked the same before.
    """

    key: RequestKey
    channel: ChannelId
    requester: UserId
    raw: str
    response_url: SecretStr | None = None
    once_more: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    """The job of a request; ``repeated`` when the very request had been taken in before.

    ``same``: nothing was stored, since the person asked the same a moment ago; ``job`` is that one.
    """

    job: JobNumber
    repeated: bool
    same: bool = False


def storable(raw: str) -> str:
    """The text without what no database keeps: NUL, and halves of surrogate pairs."""
    return raw.replace("\x00", "").encode("utf-8", "replace").decode("utf-8")


async def ask(desk: Desk, request: AskRequest) -> Asked:
    """Store a request; the rounds do the rest. The same key again stores nothing."""
    try:
        async with desk.registry.transaction() as tables:
            asked = await _store(desk, tables, request)
    except AlreadyStored:
        async with desk.registry.look() as tables:
            known = await tables.prompts.job_of(request.key)
        if known is None:
            raise
        return Asked(known, repeated=True)
    desk.wake()
    return asked


async def _store(desk: Desk, tables: Tables, request: AskRequest) -> Asked:
    known = await tables.prompts.job_of(request.key)
    if known is not None:
        return Asked(known, repeated=True)
    raw, now = storable(request.raw), desk.clock()
    if not request.once_more:
        same = await tables.prompts.same_start(request.requester, request.channel, raw, now - SAME_WITHIN)
        if same is not None:
            return Asked(same, repeated=False, same=True)
    number = await tables.jobs.add(
        project=desk.project, channel=request.channel, requester=request.requester, text=raw, asked_at=now
    )
    await tables.prompts.add(
        key=request.key,
        job=number,
        project=desk.project,
        kind=PromptKind.START,
        asked_by=request.requester,
        raw=raw,
        asked_at=now,
        channel=request.channel,
        response_url=request.response_url,
    )
    return Asked(number, repeated=False)
