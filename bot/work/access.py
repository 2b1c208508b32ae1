"""Who may: use the bot, see a job, decide about a prompt. All of it is decided before anything is stored.

A use case that writes takes an ``Allowed``; one that shows or steers a job takes a ``Readable``, and one that
decides about a prompt a ``Steerable``. Only this module makes them, so a missing check is a type error. A
form carries a ``Claimed``, which is none of them until Slack is asked.
What Slack tells about somebody is remembered for six hours.
"""

from __future__ import annotations

import asyncio
from dataclasses import InitVar, dataclass, field, replace
from datetime import timedelta
from typing import TypedDict, Unpack

import structlog

from bot.messages import general as say
from bot.model.access import Access, Origin
from bot.model.ids import ChannelId, Message, MessageTs, Refusal, RequestKey, UserId
from bot.model.jobs import TrackedJob
from bot.model.outbox import NewDelivery
from bot.model.prompts import Prompt
from bot.store import Transaction
from bot.store.deadline import Deadline, current, within
from bot.store.members import Members
from bot.store.outbox import Outbox
from bot.store.prompts import Prompts
from bot.work.context import Context
from bot.work.ports import SlackError, SlackRefused

log = structlog.get_logger(__name__)
_CACHED_SECONDS = 300.0
"""How long this process remembers a member."""
_REMEMBERED = timedelta(hours=6)
_ASK_SLACK_SECONDS = 1.5
"""How long Slack may be asked about one request, which it expects to be acknowledged within 3 s."""
_STORE_SECONDS = 1.0
"""How much of a request's time is left for storing it."""


class _Maker:
    """Shows that this module makes an object. Nothing else may create one."""


_MAKER = _Maker()


class _Change(TypedDict, total=False):
    key: RequestKey
    channel: ChannelId
    thread: MessageTs | None
    message_ts: MessageTs | None


@dataclass(frozen=True, slots=True)
class Allowed:
    """A request of somebody who may use the bot, from where Slack says that they sent it."""

    origin: Origin
    maker: InitVar[_Maker] = field(kw_only=True)

    @property
    def user(self) -> UserId:
        """Who sent the request."""
        return self.origin.user

    def but(self, **change: Unpack[_Change]) -> Allowed:
        """Return another request of the same person. ``ask`` and ``follow_up`` check its channel again."""
        return Allowed(replace(self.origin, **change), maker=_MAKER)


@dataclass(frozen=True, slots=True)
class Claimed:
    """A request of somebody who may use the bot, from a form: the channel that it names is a claim.

    Since the form was opened its sender may have left the channel, and a form may offer them any.
    """

    _allowed: Allowed

    @property
    def origin(self) -> Origin:
        """Where the request says that it comes from."""
        return self._allowed.origin

    async def prove(self, context: Context, channel: ChannelId) -> Allowed | None:
        """Return the request as one from this channel; None unless its sender can read it, as Slack says."""
        if not await reads_channel(context, self.origin.user, channel):
            return None
        thread = self.origin.thread if channel == self.origin.channel else None
        return self._allowed.but(channel=channel, thread=thread)

    async def readable(self, context: Context, job: TrackedJob | None) -> Readable | None:
        """Return what ``readable`` does to somebody who acts elsewhere."""
        return await readable(context, self._allowed.but(channel=ChannelId("")), job)


@dataclass(frozen=True, slots=True)
class Readable:
    """A job that somebody may see, and on which they may follow up."""

    allowed: Allowed
    job: TrackedJob
    maker: InitVar[_Maker] = field(kw_only=True)

    def but(self, **change: Unpack[_Change]) -> Readable:
        """Return the same job with another request of the same person."""
        return Readable(self.allowed.but(**change), self.job, maker=_MAKER)


@dataclass(frozen=True, slots=True)
class Steerable:
    """A prompt about which somebody may decide."""

    allowed: Allowed
    prompt: Prompt
    maker: InitVar[_Maker] = field(kw_only=True)


class NotAllowed(Exception):
    """Somebody may not do what they ask for. ``message`` tells them why."""

    def __init__(
        self, access: Access, message: Message | None = None, *, channel: ChannelId | None = None
    ) -> None:
        super().__init__(access)
        self.access = access
        self.message = message or say.not_allowed(access, channel)


class Untold(NotAllowed):
    """Slack did not say in time who somebody is. The same request may be allowed in a moment."""

    def __init__(self) -> None:
        super().__init__(Access.UNTOLD)


async def admit(context: Context, origin: Origin, *, channel: ChannelId | None = None) -> Allowed:
    """Let a request in if its sender may use the bot. Raises NotAllowed, and Untold while Slack is silent.

    ``channel``: where they ask, if the bot must be set up for it.
    """
    if channel is not None:
        check_channel(context, channel)
    access = await _access(context, origin.user)
    if not access.may:
        log.info("not_allowed", access=access)
        raise NotAllowed(access, channel=origin.channel)
    return Allowed(origin, maker=_MAKER)


def check_channel(context: Context, channel: ChannelId) -> None:
    """Raise NotAllowed if the bot is not set up for a channel."""
    if not context.access_policy.allows_channel(channel):
        raise NotAllowed(Access.CHANNEL, channel=channel)


async def _access(context: Context, user: UserId) -> Access:
    """Return somebody's access from the memory of this process, from the database, or as Slack says."""
    policy, now = context.access_policy, context.clock()
    if user in policy.bots or context.member_cache.get((user, policy.rule), _CACHED_SECONDS):
        return Access.MEMBER
    if policy.lists_people and not policy.groups and not policy.lists_user(user):
        return Access.NOT_LISTED
    since = now - _REMEMBERED
    access = await context.store.read(lambda tx: Members(tx).access(user, policy.rule, since))
    if access is None:
        access = await _ask_slack(context, user)
    if access is Access.MEMBER:
        context.member_cache.put((user, policy.rule), True)
    return access


async def _ask_slack(context: Context, user: UserId) -> Access:
    try:
        async with asking_slack():
            access = await _fetch_access(context, user)
    except (SlackError, TimeoutError) as error:
        log.warning("access_unknown", user=user, reason=str(error) or type(error).__name__)
        if isinstance(error, SlackRefused) and error.meaning is Refusal.PERMANENT:
            return Access.UNTOLD  # Slack does not tell the bot of this person; that of a token passes
        raise Untold from None
    rule, now = context.access_policy.rule, context.clock()
    # In the time of the request but not as a part of it: if storing it fails, nothing of it is stored.
    deadline = current()
    with within(deadline and Deadline(deadline.at)):
        await context.store.write(lambda tx: Members(tx).remember(user, access, rule, now))
    return access


def asking_slack() -> asyncio.Timeout:
    """Return the time limit for asking Slack on behalf of a request; leaving it raises TimeoutError."""
    deadline = current()
    left = deadline.left_seconds() - _STORE_SECONDS if deadline else _ASK_SLACK_SECONDS
    return asyncio.timeout(min(left, _ASK_SLACK_SECONDS))


async def _fetch_access(context: Context, user: UserId) -> Access:
    policy = context.access_policy
    access = (await context.messenger.profile(user)).access
    if not access.may or not policy.lists_people or policy.lists_user(user):
        return access
    for group in sorted(policy.groups):
        if user in await context.messenger.group_members(group):
            return access
    return Access.NOT_LISTED


async def readable(context: Context, allowed: Allowed, job: TrackedJob | None) -> Readable | None:
    """Return a job if somebody may see it; None if there is none, too, so that nobody learns of it.

    The requester, senders of the job's prompts and admins may, and so may everybody who acts in its channel
    or can read it, as Slack says.
    """
    if job is None:
        return None
    sees = (
        allowed.user in {job.requester} | context.access_policy.admins
        or allowed.origin.channel == job.channel
        or await context.store.read(lambda tx: Prompts(tx).has_asked(allowed.user, job.number))
        or await reads_channel(context, allowed.user, job.channel)
    )
    return Readable(allowed, job, maker=_MAKER) if sees else None


async def reads_channel(context: Context, user: UserId, channel: ChannelId) -> bool:
    """Return whether somebody can read a channel: it is public or they are in it, as Slack says.

    Admins of the bot may read all jobs. What Slack does not say in time is a no.
    """
    if user in context.access_policy.admins:
        return True
    try:
        async with asking_slack():
            return await context.messenger.is_public(channel) or await context.messenger.is_member(
                channel, user
            )
    except (SlackError, TimeoutError) as error:
        log.warning("membership_unknown", channel=channel, reason=str(error) or type(error).__name__)
        return False


def steerable(context: Context, readable: Readable, prompt: Prompt) -> Steerable:
    """Return a prompt of a job if somebody may decide about it. Raises NotAllowed.

    Its sender, the job's requester and admins may.
    """
    if not may_steer(context, readable, prompt):
        raise NotAllowed(Access.MEMBER, say.not_yours(readable.job.number, prompt.asked_by))
    return Steerable(readable.allowed, prompt, maker=_MAKER)


def may_steer(context: Context, readable: Readable, prompt: Prompt) -> bool:
    """Return whether ``steerable`` lets somebody decide."""
    people = {prompt.asked_by, readable.job.requester} | context.access_policy.admins
    return readable.allowed.user in people


def tell_not_allowed(context: Context, tx: Transaction, origin: Origin, why: NotAllowed) -> None:
    """Tell the author of a message in private why it has no effect, at most once an hour."""
    now = context.clock()
    if Members(tx).may_tell_denied(origin.user, context.access_policy.rule, now):
        key = f"{origin.key}:not_allowed"
        Outbox(tx).add(NewDelivery.private(key, origin.channel, origin.user, why.message), now)


async def zone_of(context: Context, user: UserId) -> str:
    """Return somebody's time zone; UTC if they have none, or Slack does not return it."""
    try:
        return await context.messenger.user_zone(user) or "UTC"
    except SlackError as error:
        log.warning("zone_not_told", user=user, reason=str(error))
        return "UTC"
