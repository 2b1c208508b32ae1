"""Who may use the bot: found out from Slack once in a while, remembered, and a no whenever it is unclear."""

from __future__ import annotations

from datetime import datetime, timedelta

import structlog

from bot.model import Admission, Standing, UserId
from bot.store import Registry, Tables
from bot.work.ports import Clock, Messenger, SlackError, SlackRefused

log = structlog.get_logger(__name__)
_REMEMBERED = timedelta(hours=6)
_KEPT_IN_MIND = timedelta(minutes=5)


async def known_standing(
    tables: Tables, admission: Admission, user: UserId, now: datetime
) -> Standing | None:
    """What is known without asking Slack; None when Slack has to be asked."""
    if admission.lists_people and not admission.groups and not admission.names(user):
        return Standing.NOT_LISTED
    return await tables.people.standing(user, admission.rule, now - _REMEMBERED)


class Acquaintances:
    """Members whom this process has just looked up: their commands need no look at the database for it."""

    def __init__(self, most: int = 10_000) -> None:
        self._most = most
        self._until: dict[tuple[UserId, str], datetime] = {}

    async def standing(
        self, registry: Registry, admission: Admission, user: UserId, now: datetime
    ) -> Standing | None:
        """What is known without asking Slack; None when Slack has to be asked."""
        who = (user, admission.rule)
        if self._until.get(who, now) > now:
            return Standing.MEMBER
        async with registry.look() as tables:
            standing = await known_standing(tables, admission, user, now)
        if standing is Standing.MEMBER:
            if len(self._until) >= self._most:
                self._until.clear()
            self._until[who] = now + _KEPT_IN_MIND
        return standing


async def admit(
    registry: Registry, messenger: Messenger, admission: Admission, clock: Clock, user: UserId
) -> Standing:
    """What somebody is. Raises a SlackError when Slack cannot be asked at this moment."""
    async with registry.look() as tables:
        known = await known_standing(tables, admission, user, clock())
    if known is not None:
        return known
    try:
        standing = await _look_up(messenger, admission, user)
    except SlackRefused as refusal:
        log.warning("standing_not_told", user=user, reason=refusal.code)
        return Standing.UNTOLD
    async with registry.transaction() as tables:
        await tables.people.note(user, standing, admission.rule, clock())
    return standing


async def admit_or_not(
    registry: Registry, messenger: Messenger, admission: Admission, clock: Clock, user: UserId
) -> Standing:
    """The same where nobody can wait: what Slack does not tell now is a no."""
    try:
        return await admit(registry, messenger, admission, clock, user)
    except SlackError as error:
        log.warning("standing_not_told", user=user, reason=str(error))
        return Standing.UNTOLD


async def _look_up(messenger: Messenger, admission: Admission, user: UserId) -> Standing:
    standing = (await messenger.profile(user)).standing
    if not standing.may or not admission.lists_people or admission.names(user):
        return standing
    for group in sorted(admission.groups):
        if user in await messenger.group_members(group):
            return standing
    return Standing.NOT_LISTED
