"""The cached access of people, and the times of their last refusals."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import Column, Table, and_, or_, select, true, update

from bot.access.model import Access
from bot.ids import UserId
from bot.store.retention import RetentionRule
from bot.store.schema import Choice, Id, Owner, Repository, UtcDateTime, insert_unless_there, metadata

members = Table(
    "members",
    metadata,
    Column("user", Owner(40), primary_key=True),
    Column("access", Choice(Access), nullable=False),
    Column("rule", Id(40), nullable=False),
    Column("checked_at", UtcDateTime, nullable=False),
    Column("told_at", UtcDateTime),
)
MEMBERS = RetentionRule("access checks", members, true(), members.c.checked_at)
_TOLD_AGAIN_AFTER = timedelta(hours=1)


class Members(Repository):
    """Cached access by user, within one transaction."""

    def access(self, user: UserId, rule: str, since: datetime) -> Access | None:
        """Return a user's access if it was stored under this ``rule`` after ``since``; None otherwise."""
        statement = select(members.c.access).where(
            members.c.user == user, members.c.rule == rule, members.c.checked_at > since
        )
        value = self.connection.execute(statement).scalar_one_or_none()
        return None if value is None else Access(value)

    def remember(self, user: UserId, access: Access, rule: str, now: datetime) -> None:
        """Store a user's access, replacing an earlier one."""
        values = {"access": access, "rule": rule, "checked_at": now}
        if not insert_unless_there(self.connection, members, {"user": user, **values}):
            self.connection.execute(update(members).where(members.c.user == user).values(**values))

    def may_tell_denied(self, user: UserId, rule: str, now: datetime) -> bool:
        """Return whether to answer a denied request, and store the time of the answer.

        Members always get an answer. Others get one once an hour.
        """
        # An empty rule matches none, so this row grants no access.
        new = {"user": user, "access": Access.UNTOLD, "rule": "", "checked_at": now, "told_at": now}
        if insert_unless_there(self.connection, members, new):
            return True
        is_member = and_(members.c.access == Access.MEMBER, members.c.rule == rule)
        long_ago = or_(members.c.told_at.is_(None), members.c.told_at <= now - _TOLD_AGAIN_AFTER)
        telling = update(members).where(members.c.user == user, or_(is_member, long_ago)).values(told_at=now)
        return self.connection.execute(telling).rowcount == 1
