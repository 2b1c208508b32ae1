"""What has been found out about people, so that Slack is not asked each time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.model import Standing, UserId
from bot.store.schema import people
from bot.store.upsert import insert_unless_there


@dataclass(frozen=True, slots=True)
class PeopleRows:
    """People, seen through one connection."""

    connection: AsyncConnection

    async def standing(self, user: UserId, rule: str, since: datetime) -> Standing | None:
        """What somebody is, if it was found out under this rule since then."""
        statement = select(people.c.standing).where(
            people.c.user == user, people.c.rule == rule, people.c.checked_at > since
        )
        found = (await self.connection.execute(statement)).scalar_one_or_none()
        return None if found is None else Standing(found)

    async def note(self, user: UserId, standing: Standing, rule: str, now: datetime) -> None:
        """Remember what was found out."""
        values = {"standing": standing, "rule": rule, "checked_at": now}
        if not await insert_unless_there(self.connection, people, {"user": user, **values}):
            await self.connection.execute(update(people).where(people.c.user == user).values(**values))
