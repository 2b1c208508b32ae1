"""Who may see and steer a job: a job is as private as its channel."""

from __future__ import annotations

from dataclasses import dataclass

import structlog

from bot.model import Access, ChannelId, TrackedJob, UserId
from bot.work.context import Context
from bot.work.ports import Rooms, SlackError, SlackRefused

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Visitor:
    """Somebody who names a job. ``here``: the channel in which they do so, if it is known.

    ``standing`` is needed only where Slack is asked; None counts as no member.
    """

    user: UserId
    here: ChannelId | None = None
    access: Access | None = None


async def may_see_job(
    context: Context, job: TrackedJob, visitor: Visitor, *, ask_slack: bool = False
) -> bool | None:
    """Return whether somebody may see and steer a job; None when only Slack can tell.

    Our own rows decide for whoever asked for the job or one of its prompts, for admins, and for whoever
    is in the job's channel. With ``ask_slack`` Slack is asked about everybody else; a refusal of Slack's is
    a no, and other errors of Slack's are raised.
    """
    if visitor.user in {job.requester} | context.access_policy.admins or visitor.here == job.channel:
        return True
    if await context.store.read(lambda tx: tx.prompts.has_asked(visitor.user, job.number)):
        return True
    return await _can_read(context.messenger, job.channel, visitor) if ask_slack else None


async def _can_read(rooms: Rooms, channel: ChannelId, visitor: Visitor) -> bool:
    try:
        if visitor.access is Access.MEMBER and await rooms.is_public(channel):
            return True
        return await rooms.is_member(channel, visitor.user)
    except SlackRefused as refusal:
        log.info("channel_not_told", channel=channel, reason=refusal.code)
        return False


async def may_see_job_now(context: Context, job: TrackedJob, visitor: Visitor) -> bool:
    """The same where a person waits for the answer: what Slack cannot tell now is a no."""
    try:
        return bool(await may_see_job(context, job, visitor, ask_slack=True))
    except SlackError as error:
        log.warning("channel_not_told", channel=job.channel, reason=str(error))
        return False
