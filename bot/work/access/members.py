"""Look up somebody's access to the bot in Slack, and remember it for six hours."""

from __future__ import annotations

from datetime import datetime, timedelta

import structlog

from bot.model import Access, AccessPolicy, UserId
from bot.store import Transaction
from bot.work.access.decision import AskSlack
from bot.work.context import Context
from bot.work.ports import Messenger, SlackError, SlackRefused

log = structlog.get_logger(__name__)
_REMEMBERED = timedelta(hours=6)


async def access_of(context: Context, user: UserId, ask: AskSlack) -> Access | None:
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
