"""Decide whether somebody may see and steer a job. A job is as private as its channel."""

from __future__ import annotations

import structlog

from bot.model import Access, ChannelId, JobState, TrackedJob, UserId
from bot.work.access.decision import AskSlack
from bot.work.context import Context
from bot.work.ports import Rooms, SlackError, SlackRefused

log = structlog.get_logger(__name__)


async def sees_job(
    context: Context,
    job: TrackedJob,
    user: UserId,
    access: Access | None,
    *,
    here: ChannelId | None,
    ask: AskSlack,
) -> bool | None:
    """Return whether somebody may see and steer a job; None if only Slack can tell.

    The requester, senders of the job's prompts and admins may. So may whoever acts in the job's channel,
    which ``here`` shows. Slack is called about everybody else, once their ``access`` is known. If Slack
    refuses to tell, they may not. Only its requester may see a hidden job.
    """
    if user == job.requester:
        return True
    if await _is_hidden(context, job):
        return False
    if user in context.access_policy.admins or here == job.channel:
        return True
    if await context.store.read(lambda tx: tx.prompts.has_asked(user, job.number)):
        return True
    if ask is AskSlack.NEVER or access is None:
        return None
    reads = await _reads(context, job.channel, user, access)
    return False if reads is None and ask is AskSlack.FINAL else reads


async def reads_channel(context: Context, channel: ChannelId, user: UserId, access: Access) -> bool:
    """Return whether somebody can read a channel, as Slack says. Admins of the bot may read all jobs."""
    return user in context.access_policy.admins or bool(await _reads(context, channel, user, access))


async def _reads(context: Context, channel: ChannelId, user: UserId, access: Access) -> bool | None:
    """Return whether a user can read a channel; None if Slack cannot tell at this moment."""
    try:
        return await _can_read(context.messenger, channel, user, access)
    except SlackRefused as refusal:
        log.info("membership_unknown", channel=channel, reason=refusal.code)
        return False
    except SlackError as error:
        log.warning("membership_unknown", channel=channel, reason=str(error))
        return None


async def _is_hidden(context: Context, job: TrackedJob) -> bool:
    """Return whether access of the job's requester is undecided or was denied. Others must not know then."""
    if job.is_denied or job.state is not JobState.WAITING or job.root_ts is not None:
        return job.is_denied
    return not await context.store.read(lambda tx: tx.prompts.has_asked(job.requester, job.number))


async def _can_read(rooms: Rooms, channel: ChannelId, user: UserId, access: Access) -> bool:
    """Return whether a user can read a channel: it is public and they have access, or they are in it."""
    if access.may and await rooms.is_public(channel):
        return True
    return await rooms.is_member(channel, user)
