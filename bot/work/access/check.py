"""Decide whether somebody may use the bot in a channel, see a job, or decide about a prompt."""

from __future__ import annotations

from bot.model import Access, ChannelId, Prompt, TrackedJob, UserId
from bot.work.access.channels import allows_channel
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
    """Decide whether somebody may do what they ask for.

    ``channel``: the bot must be allowed in it; None if the request belongs to no channel.
    ``job``: they must be allowed to see it. ``here`` is the channel in which they ask.
    ``prompt``: they must be allowed to decide about it.
    ``ask``: whether Slack is called about what the database does not tell.
    """
    access = await _access(context, user, channel, ask)
    if access is not None and not access.may:
        return Decision(access, sees_job=False)
    sees = await sees_job(context, job, user, access, here=here, ask=ask) if job else True
    return Decision(access, sees, await _decided_by(context, prompt, user) if prompt else None)


async def _access(context: Context, user: UserId, channel: ChannelId | None, ask: AskSlack) -> Access | None:
    if channel is not None and not await allows_channel(context, channel):
        return Access.CHANNEL
    return await access_of(context, user, ask)


async def _decided_by(context: Context, prompt: Prompt, user: UserId) -> UserId | None:
    """Return None if this person may decide about a prompt; otherwise the person who sent the prompt.

    The sender of the prompt, the job's requester and admins may decide.
    """
    job = await context.store.read(lambda tx: tx.jobs.known(prompt.job))
    may = user in {prompt.asked_by, job.requester} | context.access_policy.admins
    return None if may else prompt.asked_by
