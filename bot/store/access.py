"""Cached access decisions, so that Slack is not asked each time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select, update
from sqlalchemy.engine import Connection

from bot.model import Access, UserId
from bot.store.schema import members
from bot.store.upsert import insert_unless_there


@dataclass(frozen=True, slots=True)
class MemberRepository:
    """Cached access by user, within one transaction."""

    connection: Connection

    def access(self, user: UserId, rule: str, since: datetime) -> Access | None:
        """Return a user's access if it was stored under this ``rule`` after ``since``; None otherwise."""
        statement = select(members.c.access).where(
            members.c.user == user, members.c.rule == rule, members.c.checked_at > since
        )
        found = self.connection.execute(statement).scalar_one_or_none()
        return None if found is None else Access(found)

    def note(self, user: UserId, access: Access, rule: str, now: datetime) -> None:
        """Store a user's access, replacing an earlier one."""
        values = {"access": access, "rule": rule, "checked_at": now}
        if not insert_unless_there(self.connection, members, {"user": user, **values}):
            self.connection.execute(update(members).where(members.c.user == user).values(**values))
