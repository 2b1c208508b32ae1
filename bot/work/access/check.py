"""Who may: whether somebody may use the bot in a channel, see a job, or decide about a prompt.

What Slack tells about somebody is remembered for six hours.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum

import structlog

from bot.model.access import Access, AccessPolicy
from bot.model.ids import ChannelId, UserId
from bot.model.jobs import JobState, TrackedJob
from bot.model.prompts import Prompt
from bot.store import Transaction
from bot.work.context import Context
from bot.work.ports import Messenger, Rooms, SlackError, SlackRefused

log = structlog.get_logger(__name__)
_REMEMBERED = timedelta(hours=6)


class AskSlack(Enum):
    """Whether Slack is called about access that the database does not tell."""

    NEVER = "never"
    """Leave it undecided. Required before an acknowledgement, which Slack expects within 3 s."""
    TRY = "try"
    """Call Slack, and leave it undecided if Slack cannot tell at this moment."""
    FINAL = "final"
    """Call Slack, and deny access if Slack cannot tell at this moment."""


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether somebody may do what they ask for, and if not, why.

    ``access``: their access to the bot; None if only Slack can tell.
    ``sees_job``: whether they may see and steer the job; None if only Slack can tell.
    ``decided_by``: who sent the prompt and decides about it, if this person may not; otherwise None.
    """

    access: Access | None
    sees_job: bool | None = True
    decided_by: UserId | None = None

    @property
    def may(self) -> bool | None:
        """Return whether they may do all of it; None if only Slack can tell."""
        if self.denied is not None or self.sees_job is False or self.decided_by is not None:
            return False
        return None if self.access is None or self.sees_job is None else True

    @property
    def denied(self) -> Access | None:
        """Return why they may not use the bot; None if they may, or if only Slack can tell."""
        return None if self.access is None or self.access.may else self.access


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
    if channel is not None and not context.access_policy.allows_channel(channel):
        return Access.CHANNEL
    return await _access_of(context, user, ask)


async def _access_of(context: Context, user: UserId, ask: AskSlack) -> Access | None:
    """Return somebody's access to the bot; None if only Slack can tell."""
    if user in context.access_policy.bots:
        return Access.MEMBER
    if ask is AskSlack.NEVER:
        return await _cached(context, user)
    policy, now = context.access_policy, context.clock()
    known = await context.store.read(lambda tx: _stored_access(tx, policy, user, now))
    return known if known is not None else await _ask_slack(context, user, ask)


async def _cached(context: Context, user: UserId) -> Access | None:
    """Return the remembered access. The memory of this process comes first and saves a database read."""
    now, policy = context.clock(), context.access_policy
    if context.member_cache.has(user, policy.rule, now):
        return Access.MEMBER
    access = await context.store.read(lambda tx: _stored_access(tx, policy, user, now))
    _remember(context, user, access, now)
    return access


def _remember(context: Context, user: UserId, access: Access | None, now: datetime) -> None:
    if access is Access.MEMBER:
        context.member_cache.add(user, context.access_policy.rule, now)


def _stored_access(tx: Transaction, policy: AccessPolicy, user: UserId, now: datetime) -> Access | None:
    if policy.lists_people and not policy.groups and not policy.lists_user(user):
        return Access.NOT_LISTED
    return tx.members.access(user, policy.rule, now - _REMEMBERED)


async def _ask_slack(context: Context, user: UserId, ask: AskSlack) -> Access | None:
    policy = context.access_policy
    try:
        access = await _fetch_access(context.messenger, policy, user)
    except SlackError as error:
        log.warning("access_unknown", user=user, reason=str(error))
        is_final = ask is AskSlack.FINAL or isinstance(error, SlackRefused)
        return Access.UNTOLD if is_final else None
    now = context.clock()
    await context.store.write(lambda tx: tx.members.note(user, access, policy.rule, now))
    _remember(context, user, access, now)
    return access


async def _fetch_access(messenger: Messenger, policy: AccessPolicy, user: UserId) -> Access:
    access = (await messenger.profile(user)).access
    if not access.may or not policy.lists_people or policy.lists_user(user):
        return access
    for group in sorted(policy.groups):
        if user in await messenger.group_members(group):
            return access
    return Access.NOT_LISTED


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


async def _decided_by(context: Context, prompt: Prompt, user: UserId) -> UserId | None:
    """Return None if this person may decide about a prompt; otherwise the person who sent the prompt.

    The sender of the prompt, the job's requester and admins may decide.
    """
    job = await context.store.read(lambda tx: tx.jobs.known(prompt.job))
    may = user in {prompt.asked_by, job.requester} | context.access_policy.admins
    return None if may else prompt.asked_by
