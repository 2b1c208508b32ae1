"""Who may use the bot: found out from Slack once in a while, remembered, and a no whenever it is unclear."""

from __future__ import annotations

from datetime import datetime, timedelta

import structlog

from bot.model import Access, AccessPolicy, UserId
from bot.store import Transaction
from bot.work.context import Context
from bot.work.ports import Messenger, SlackError, SlackRefused

log = structlog.get_logger(__name__)
_REMEMBERED = timedelta(hours=6)


def known_access(tx: Transaction, access_policy: AccessPolicy, user: UserId, now: datetime) -> Access | None:
    """What is known without asking Slack; None when Slack has to be asked."""
    if access_policy.lists_people and not access_policy.groups and not access_policy.names(user):
        return Access.NOT_LISTED
    return tx.members.access(user, access_policy.rule, now - _REMEMBERED)


async def cached_access(context: Context, user: UserId) -> Access | None:
    """The same; members whom this process has just seen need no look at the database."""
    now, policy = context.clock(), context.access_policy
    if context.member_cache.has(user, policy.rule, now):
        return Access.MEMBER
    access = await context.store.read(lambda tx: known_access(tx, policy, user, now))
    if access is Access.MEMBER:
        context.member_cache.add(user, policy.rule, now)
    return access


async def check_access(context: Context, user: UserId) -> Access:
    """What somebody is. Raises a SlackError when Slack cannot be asked at this moment."""
    policy = context.access_policy
    known = await context.store.read(lambda tx: known_access(tx, policy, user, context.clock()))
    if known is not None:
        return known
    try:
        access = await _look_up(context.messenger, policy, user)
    except SlackRefused as refusal:
        log.warning("standing_not_told", user=user, reason=refusal.code)
        return Access.UNTOLD
    await context.store.write(lambda tx: tx.members.note(user, access, policy.rule, context.clock()))
    return access


async def check_access_now(context: Context, user: UserId) -> Access:
    """The same where nobody can wait: what Slack does not tell now is a no."""
    try:
        return await check_access(context, user)
    except SlackError as error:
        log.warning("standing_not_told", user=user, reason=str(error))
        return Access.UNTOLD


async def _look_up(messenger: Messenger, access_policy: AccessPolicy, user: UserId) -> Access:
    access = (await messenger.profile(user)).access
    if not access.may or not access_policy.lists_people or access_policy.names(user):
        return access
    for group in sorted(access_policy.groups):
        if user in await messenger.group_members(group):
            return access
    return Access.NOT_LISTED
