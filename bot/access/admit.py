"""Authorization of requests, before anything is stored.

A use case that writes takes an ``Allowed``. Only this module makes one, so a missing check is a
type error. A form carries a ``Claimed``, which becomes an ``Allowed`` when Slack has confirmed its
channel. Slack's answers about a person are remembered for six hours.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import InitVar, dataclass, field, replace
from datetime import timedelta
from typing import TypedDict, Unpack

import structlog

from bot.access.model import Access, Members, access_fingerprint, access_of
from bot.context import Context
from bot.ids import ChannelId, Message, MessageTs, Refusal, RequestKey, UserId
from bot.messages import blocks as b
from bot.messages.blocks import with_prompt
from bot.ports import Origin, SlackError, SlackRefused
from bot.store.deadline import Deadline, current_deadline, within

log = structlog.get_logger(__name__)
_CACHED_SECONDS = 300.0
"""How long this process remembers a member."""
_CACHE_PERIOD = timedelta(hours=6)
_ASK_SLACK_SECONDS = 1.5
"""How long Slack may be asked about one request, which it expects to be acknowledged within 3 s."""
_STORE_SECONDS = 1.0
"""How much of a request's time is left for storing it."""


class _Maker:
    """Shows that this module makes an object. Nothing else may create one."""


_MAKER = _Maker()


class OriginChange(TypedDict, total=False):
    """The fields of an origin that differ in another request."""

    key: RequestKey
    channel: ChannelId
    thread: MessageTs | None
    message_ts: MessageTs | None


@dataclass(frozen=True, slots=True)
class Allowed:
    """A request of a user with access, from Slack's place."""

    origin: Origin
    maker: InitVar[_Maker] = field(kw_only=True)

    @property
    def user(self) -> UserId:
        return self.origin.user

    def with_request(self, **change: Unpack[OriginChange]) -> Allowed:
        """Return another request of the same person.

        ``ask`` and ``follow_up`` check its channel again.
        """
        return Allowed(replace(self.origin, **change), maker=_MAKER)


@dataclass(frozen=True, slots=True)
class Claimed:
    """A request of a user with access, from a form.

    The channel that it names is a claim.

    Since the form was opened its sender may have left the channel, and a form may offer them any.
    """

    _allowed: Allowed

    @property
    def origin(self) -> Origin:
        """The place from which the request claims to come."""
        return self._allowed.origin

    async def prove(self, context: Context, channel: ChannelId) -> Allowed | None:
        """Return the request as one from a channel.

        Returns None unless its sender can read the channel.
        """
        if not await reads_channel(context, self.origin.user, channel):
            return None
        thread = self.origin.thread if channel == self.origin.channel else None
        return self._allowed.with_request(channel=channel, thread=thread)

    def without_channel(self) -> Allowed:
        """Return the request without a channel, and so without a claim to prove."""
        return self._allowed.with_request(channel=ChannelId(""))


class Declined(Exception, ABC):
    """A request is not carried out."""

    @abstractmethod
    def answer(self, text: str, *, is_form: bool) -> Message:
        """Return the reason for the sender.

        ``text``: the person's text that Slack no longer shows, to copy.
        """


class NotAllowed(Declined):
    """A request that its sender may not make. ``message`` has the reason."""

    def __init__(
        self, access: Access, message: Message | None = None, *, channel: ChannelId | None = None
    ) -> None:
        self.access = access
        self.message = message or not_allowed(access, channel)

    def answer(self, text: str, *, is_form: bool) -> Message:
        """Return the message, with the text to copy."""
        del is_form
        return with_prompt(self.message, text)


class Untold(NotAllowed):
    """Slack returned no profile in time.

    The same request may be allowed in a moment.
    """

    def __init__(self) -> None:
        super().__init__(Access.UNTOLD)


async def admit(context: Context, origin: Origin, *, channel: ChannelId | None = None) -> Allowed:
    """Admit a request if its sender may use the bot.

    Raises NotAllowed, and Untold while Slack returns no profile.

    ``channel``: the channel for which the bot must be set up, if any.
    """
    if channel is not None:
        check_channel(context, channel)
    user = origin.user
    is_known = context.member_cache.get(user, _CACHED_SECONDS)
    if is_known or user in context.settings.allowed_bots:
        access = Access.MEMBER
    else:
        access = await _find_access(context, user)
    if access is not Access.MEMBER:
        log.info("request_not_allowed", access=access)
        raise NotAllowed(access, channel=origin.channel)
    return Allowed(origin, maker=_MAKER)


def check_channel(context: Context, channel: ChannelId) -> None:
    """Raise NotAllowed if the bot is not set up for a channel."""
    allowed = context.settings.allowed_channels
    if allowed and channel not in allowed:
        raise NotAllowed(Access.CHANNEL, channel=channel)


async def _find_access(context: Context, user: UserId) -> Access:
    """Return a user's access from the database, or from Slack."""
    settings = context.settings
    restricts = settings.allowed_users or settings.allowed_user_groups
    is_listed = not restricts or user in settings.allowed_users | settings.admins
    if not is_listed and not settings.allowed_user_groups:
        return Access.NOT_LISTED
    rule = access_fingerprint(settings)
    since = context.clock() - _CACHE_PERIOD
    access = await context.store.read(lambda tx: Members(tx).access(user, rule, since))
    if access is None:
        access = await _ask_slack(context, user, rule, is_listed=is_listed)
    if access is Access.MEMBER:
        context.member_cache.put(user, True)
    return access


async def _ask_slack(context: Context, user: UserId, rule: str, *, is_listed: bool) -> Access:
    """Return a user's access according to Slack, and store it.

    It is stored under the access rule of the settings.
    """
    try:
        async with limit_slack_time():
            access = access_of(await context.messenger.profile(user))
            if access is Access.MEMBER and not is_listed:
                for group in sorted(context.settings.allowed_user_groups):
                    if user in await context.messenger.group_members(group):
                        break
                else:
                    access = Access.NOT_LISTED
    except (SlackError, TimeoutError) as error:
        log.warning("access_unknown", user=user, reason=str(error) or type(error).__name__)
        if isinstance(error, SlackRefused) and error.meaning is Refusal.PERMANENT:
            return Access.UNTOLD  # Slack hides this person from the bot
        raise Untold from None
    now = context.clock()
    # With a copy of the deadline, so that this write does not mark the request itself as stored.
    deadline = current_deadline()
    with within(deadline and Deadline(deadline.at)):
        await context.store.write(lambda tx: Members(tx).remember(user, access, rule, now))
    return access


async def is_colleague(context: Context, user: UserId) -> bool:
    """Return whether somebody is a full member of the workspace, who may use the bot or not.

    Raises Untold while Slack returns no profile.
    """
    if context.member_cache.get(user, _CACHED_SECONDS):
        return True
    try:
        async with limit_slack_time():
            return access_of(await context.messenger.profile(user)) is Access.MEMBER
    except (SlackError, TimeoutError) as error:
        log.warning("access_unknown", user=user, reason=str(error) or type(error).__name__)
        if isinstance(error, SlackRefused) and error.meaning is Refusal.PERMANENT:
            return False
        raise Untold from None


def limit_slack_time() -> asyncio.Timeout:
    """Return the time limit for asking Slack about a request.

    It raises TimeoutError.
    """
    deadline = current_deadline()
    seconds = deadline.left_seconds() - _STORE_SECONDS if deadline else _ASK_SLACK_SECONDS
    return asyncio.timeout(min(seconds, _ASK_SLACK_SECONDS))


def is_reader(allowed: Allowed, owner: UserId, channel: ChannelId) -> bool:
    """Return whether somebody may read an object of ``owner`` in a channel.

    The owner and everybody who acts in the channel may.
    """
    return allowed.user == owner or allowed.origin.channel == channel


async def reads_channel(context: Context, user: UserId, channel: ChannelId) -> bool:
    """Return whether a user can read a channel.

    It is public, or Slack lists the user as a member. An answer of Slack that is late counts as no.
    """
    return bool(await ask_readership(context, user, channel))


async def ask_readership(context: Context, user: UserId, channel: ChannelId) -> bool | None:
    """Return whether Slack reports that a user can read a channel; None without an answer.

    A channel that Slack hides from the bot counts as a channel without readers.
    """
    try:
        async with limit_slack_time():
            if await context.messenger.is_public(channel):
                return True
            return await context.messenger.is_member(channel, user)
    except (SlackError, TimeoutError) as error:
        reason = str(error) or type(error).__name__
        log.warning("membership_unknown", channel=channel, reason=reason)
        return False if _is_hidden(error) else None


def _is_hidden(error: SlackError | TimeoutError) -> bool:
    """Return whether Slack will refuse to describe a channel again."""
    if not isinstance(error, SlackRefused):
        return False
    return not error.meaning.needs_operator and error.meaning is not Refusal.PASSING


async def zone_of(context: Context, user: UserId) -> str:
    """Return a user's time zone; UTC if Slack returns none."""
    try:
        return await context.messenger.user_zone(user) or "UTC"
    except SlackError as error:
        log.warning("zone_not_read", user=user, reason=str(error))
        return "UTC"


_REASONS: Mapping[Access, str] = {
    Access.GUEST: "Guests can't use this bot{here}. Ask a teammate to send this for you.",
    Access.BOT: "Bots can't use this bot{here}. Ask a teammate to send this.",
    Access.STRANGER: (
        "People from other organisations can't use this bot{here}. "
        "Ask a teammate to send this for you."
    ),
    Access.GONE: "Slack says this account isn't active. Ask a teammate to send this{here} for you.",
    Access.NOT_LISTED: (
        "This bot is set up for some people only. Ask one of them to send this{here} for you."
    ),
    Access.CHANNEL: "I'm not set up for use{here}. Ask in another channel, or ask your bot admin.",
    Access.UNTOLD: (
        "Slack didn't tell me who you are, so I did nothing. Send or press it again in a minute."
    ),
}


def not_allowed(access: Access, channel: ChannelId | None = None) -> Message:
    """Return the reason and the contact for a user without access."""
    here = f" in {b.channel(channel)}" if channel else ""
    return b.words(f":no_entry: {_REASONS[access].format(here=here)}")
