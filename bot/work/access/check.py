"""Decide who may: use the bot here, see a job, decide about a prompt."""

from __future__ import annotations

from bot.model import Access, ChannelId, Prompt, TrackedJob, UserId
from bot.work.access.decision import AskSlack, Decision
from bot.work.access.jobs import sees_job
from bot.work.access.members import access_of
from bot.work.context import Context


async def decide(
    context: Context,
    user: UserId,
    *,
    channel: ChannelId | None = None,
    job: TrackedJob | None = None,
    here: ChannelId | None = None,
    prompt: Prompt | None = None,
    ask: AskSlack = AskSlack.NEVER,
) -> Decision:
    """Decide whether somebody may do something.

    ``channel`` must be one in which the bot may be used; None for what belongs to no channel. ``job`` must
    be one that they may see, ``here`` being the channel from which they look. ``prompt`` must be theirs to
    decide about.
    """
    access = await _access(context, user, channel, ask)
    if access is not None and not access.may:
        return Decision(access, sees_job=False)
    sees = await sees_job(context, job, user, access, here=here, ask=ask) if job else True
    return Decision(access, sees, await _decided_by(context, prompt, user) if prompt else None)


async def _access(context: Context, user: UserId, channel: ChannelId | None, ask: AskSlack) -> Access | None:
    if channel is not None and not context.access_policy.allows_channel(channel):
        return Access.CHANNEL
    return await access_of(context, user, ask)


async def _decided_by(context: Context, prompt: Prompt, user: UserId) -> UserId | None:
    """Return None when this person may decide about a prompt; otherwise whoever asked it, who may.

    So may whoever asked for the job, and admins.
    """
    job = await context.store.read(lambda tx: tx.jobs.known(prompt.job))
    may = user in {prompt.asked_by, job.requester} | context.access_policy.admins
    return None if may else prompt.asked_by
