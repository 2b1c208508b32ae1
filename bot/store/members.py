"""What is remembered of people and channels: access, what a channel has chosen, and who did what."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, and_, delete, func, insert, or_, select, true, update
from sqlalchemy.engine import Connection

from bot.model.access import Access, Origin
from bot.model.ids import ChannelId, JobNumber, ProjectId, PromptId, Reviewer, SubscriptionId, UserId
from bot.model.jobs import JobState, TrackedJob
from bot.model.lifecycle import ENDS
from bot.model.prompts import Act, AuditRow, Prompt, PromptKind, PromptState
from bot.store.columns import Repository, insert_unless_there, reader
from bot.store.schema import audit, channels, members, prompts, reviewers

_TOLD_AGAIN_AFTER = timedelta(hours=1)


class Members(Repository):
    """Cached access by user, within one transaction."""

    def access(self, user: UserId, rule: str, since: datetime) -> Access | None:
        """Return a user's access if it was stored under this ``rule`` after ``since``; None otherwise."""
        statement = select(members.c.access).where(
            members.c.user == user, members.c.rule == rule, members.c.checked_at > since
        )
        found = self.connection.execute(statement).scalar_one_or_none()
        return None if found is None else Access(found)

    def remember(self, user: UserId, access: Access, rule: str, now: datetime) -> None:
        """Store a user's access, replacing an earlier one."""
        values = {"access": access, "rule": rule, "checked_at": now}
        if not insert_unless_there(self.connection, members, {"user": user, **values}):
            self.connection.execute(update(members).where(members.c.user == user).values(**values))

    def may_tell_denied(self, user: UserId, rule: str, now: datetime) -> bool:
        """Return whether a user is to be told that a request was denied, and store that they are told now.

        Members are always told. Everybody else is told once an hour.
        """
        # A rule that matches none: the row says nothing about access.
        new = {"user": user, "access": Access.UNTOLD, "rule": "", "checked_at": now, "told_at": now}
        if insert_unless_there(self.connection, members, new):
            return True
        is_member = and_(members.c.access == Access.MEMBER, members.c.rule == rule)
        long_ago = or_(members.c.told_at.is_(None), members.c.told_at <= now - _TOLD_AGAIN_AFTER)
        telling = update(members).where(members.c.user == user, or_(is_member, long_ago)).values(told_at=now)
        return self.connection.execute(telling).rowcount == 1


class Channels(Repository):
    """What channels have chosen, within one transaction."""

    def project(self, channel: ChannelId) -> ProjectId | None:
        """Return the project that a channel has chosen; None if it has chosen none."""
        chosen = select(channels.c.project).where(channels.c.id == channel)
        return self.connection.execute(chosen).scalar_one_or_none()

    def is_by_mention(self, channel: ChannelId) -> bool:
        """Return whether a channel has chosen that only replies which mention the bot steer its jobs."""
        chosen = select(channels.c.by_mention).where(channels.c.id == channel)
        return bool(self.connection.execute(chosen).scalar_one_or_none())

    def choose_project(self, channel: ChannelId, project: ProjectId) -> None:
        """Remember the project that a channel has chosen."""
        self._choose(channel, {"project": project})

    def choose_replies(self, channel: ChannelId, *, by_mention: bool) -> None:
        """Remember whether only replies that mention the bot steer a channel's jobs."""
        self._choose(channel, {"by_mention": by_mention})

    def reviewers(self, channel: ChannelId) -> tuple[Reviewer, ...]:
        """Return whom a channel has chosen to review pull requests, user groups first; () for nobody."""
        chosen = select(reviewers.c.reviewer).where(reviewers.c.channel == channel)
        return tuple(self.connection.execute(chosen.order_by(reviewers.c.reviewer)).scalars())

    def choose_reviewers(self, channel: ChannelId, chosen: Sequence[Reviewer]) -> None:
        """Remember whom a channel has chosen to review pull requests, in place of those before."""
        self.connection.execute(delete(reviewers).where(reviewers.c.channel == channel))
        if chosen:
            rows = [{"channel": channel, "reviewer": each} for each in sorted(set(chosen))]
            insert_unless_there(self.connection, reviewers, *rows)

    def _choose(self, channel: ChannelId, chosen: dict[str, object]) -> None:
        if not insert_unless_there(self.connection, channels, {"id": channel, **chosen}):
            here = channels.c.id == channel
            self.connection.execute(update(channels).where(here).values(chosen))


_to_row = reader(AuditRow, audit)
IS_OVER: ColumnElement[bool] = or_(audit.c.prompt.is_(None), audit.c.end.is_not(None))
"""The condition that nothing more will be written to a row."""
_ITERATION_ENDS = ENDS | {JobState.UNWATCHED}
_PROMPT_ENDS = (PromptState.REFUSED, PromptState.WITHDRAWN)


class Audit(Repository):
    """The audit, within the transaction that does what it tells."""

    def asked(self, prompt: Prompt, job: TrackedJob) -> None:
        """Add a prompt whose sender has access, at the time when they sent it."""
        act = Act.ASKED if prompt.kind is PromptKind.START else Act.STEERED
        self.decided(act, prompt.asked_by, job, prompt.asked_at, prompt.id)

    def decided(
        self, act: Act, user: UserId, job: TrackedJob, at: datetime, prompt: PromptId | None = None
    ) -> None:
        """Add what somebody did to a job. ``prompt``: the one whose end the row will tell."""
        values = {"project": job.project, "channel": job.channel, "job": job.number, "prompt": prompt}
        self._add(act, user, at, values)

    def subscribed(
        self, act: Act, origin: Origin, subscription: SubscriptionId, project: ProjectId, at: datetime
    ) -> None:
        """Add what somebody did to a subscription of their channel."""
        place = {"project": project, "channel": origin.channel}
        self._add(act, origin.user, at, {**place, "subscription": subscription})

    def chose(self, act: Act, origin: Origin, project: ProjectId, at: datetime) -> None:
        """Add that somebody chose or tried something in their channel, which is for ``project`` then."""
        self._add(act, origin.user, at, {"project": project, "channel": origin.channel})

    def _add(self, act: Act, user: UserId, at: datetime, values: dict[str, object]) -> None:
        self.connection.execute(insert(audit), {"at": at, "user": user, "act": act, **values})

    def last(self) -> int:
        """Return the id of the newest row; 0 if there is none."""
        return self.connection.execute(select(func.max(audit.c.id))).scalar() or 0

    def after(
        self,
        last: int,
        limit: int,
        *,
        since: datetime | None = None,
        user: UserId | None = None,
        job: JobNumber | None = None,
    ) -> tuple[int, list[AuditRow]]:
        """Return the next rows in the order of writing, and the id of the last of them.

        ``last``: the id of the row before; 0 for the first rows.
        """
        from_then = audit.c.at >= since if since else true()
        theirs = audit.c.user == user if user else true()
        about_it = audit.c.job == job if job else true()
        wanted = and_(audit.c.id > last, from_then, theirs, about_it)
        page = select(audit).where(wanted).order_by(audit.c.id).limit(limit)
        rows = self.connection.execute(page).mappings().all()
        return (rows[-1]["id"] if rows else last), [_to_row(row) for row in rows]


def write_prompt_end(connection: Connection, prompt: PromptId, state: PromptState) -> None:
    """Write the end of a prompt that will never be sent; do nothing for other states."""
    if state in _PROMPT_ENDS:
        job = select(prompts.c.job).where(prompts.c.id == prompt).scalar_subquery()
        mine = and_(audit.c.job == job, audit.c.prompt == prompt)
        connection.execute(update(audit).where(mine).values(end=state))


def write_job_end(connection: Connection, job: JobNumber, state: JobState) -> None:
    """Write the end of the prompts that the service has accepted; do nothing for other states."""
    if state in _ITERATION_ENDS:
        sent = select(prompts.c.id).where(prompts.c.job == job, prompts.c.state == PromptState.SENT)
        mine = and_(audit.c.job == job, audit.c.prompt.in_(sent), audit.c.end.is_(None))
        connection.execute(update(audit).where(mine).values(end=state))
