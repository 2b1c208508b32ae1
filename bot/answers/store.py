"""The table of inquiries, within one transaction; its queue, and the rule by which rows are forgotten."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import (
    Boolean,
    Column,
    ColumnElement,
    Index,
    Integer,
    Table,
    and_,
    func,
    or_,
    select,
    text,
    update,
)

from bot.answers.model import Inquiry, InquiryState
from bot.ids import ChannelId, Message, MessageTs, ProjectId, RequestKey, can_be_id
from bot.ports import ThreadRef
from bot.store import schema
from bot.store.leases import FREE, Claimer, Rows, claiming_oldest
from bot.store.queues import QueueTable
from bot.store.retention import RetentionRule

MOST_ROWS = 1_000
"""Maximum inquiries that are read for a list of gaps or a digest, the newest first."""

inquiries = Table(
    "inquiries",
    schema.metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("key", schema.Id(400), nullable=False, unique=True),
    Column("project", schema.Id(200), nullable=False),
    Column("channel", schema.Channel(40), nullable=False),
    Column("user", schema.Owner(40), nullable=False),
    Column("text", schema.UserText, nullable=False),
    Column("gap_key", schema.UserText, nullable=False),
    Column("state", schema.Choice(InquiryState), nullable=False),
    Column("asked_at", schema.UtcDateTime, nullable=False),
    Column("due_at", schema.Due(minutes=11), nullable=False),
    Column("thread_ts", schema.Id(40)),
    Column("response_url", schema.Secret),
    Column("by_assistant", Boolean, nullable=False, server_default=text("false")),
    Column("is_public", Boolean, nullable=False, server_default=text("false")),
    Column("conversation", schema.Id(400)),
    Column("answer", schema.UserJson(Message)),
    Column("job", Integer),
    Column("is_topic", Boolean, nullable=False, server_default=text("false")),
    Column("in_job", Integer),
    *schema.lease(),
    Index("ix_inquiries_state", "state", "due_at"),
    Index("ix_inquiries_gap_key", "project", "gap_key"),
    Index("ix_inquiries_channel", "channel", "thread_ts"),
    Index("ix_inquiries_asked_at", "project", "asked_at"),
    sqlite_autoincrement=True,
)
_TO_ANSWER = QueueTable("inquiries", inquiries, InquiryState.ASKED, inquiries.c.due_at)
_TO_TELL = QueueTable("inquiries", inquiries, InquiryState.WRITTEN, inquiries.c.due_at)
_CLAIM = claiming_oldest(inquiries, or_(_TO_ANSWER.waits, _TO_TELL.waits))
INQUIRIES_RULE = RetentionRule(
    "questions about the docs",
    inquiries,
    inquiries.c.state.not_in((InquiryState.ASKED, InquiryState.WRITTEN)),
    inquiries.c.asked_at,
)


_IS_GAP = inquiries.c.state == InquiryState.GAP


def _may_see(channel: ChannelId) -> ColumnElement[bool]:
    return or_(inquiries.c.channel == channel, inquiries.c.is_public)


class Inquiries(Rows[Inquiry]):
    """Inquiries, within one transaction."""

    table = inquiries
    read = staticmethod(schema.reader(Inquiry, inquiries))

    def add(self, inquiry: Inquiry) -> None:
        """Add an inquiry, unless its key was stored before."""
        values = schema.row_values(inquiry, inquiries, without="id")
        schema.insert_unless_there(self.connection, inquiries, values)

    def get(self, number: int) -> Inquiry | None:
        """Return an inquiry; None if it is unknown or forgotten."""
        return (
            self._newest(inquiries.c.id == number, inquiries.c.user != "")
            if can_be_id(number)
            else None
        )

    def with_key(self, key: RequestKey) -> Inquiry | None:
        """Return the inquiry of the request with this key; None when there is none, or it is forgotten."""
        return self._newest(inquiries.c.key == key, inquiries.c.user != "")

    def claim(self, claimer: Claimer, limit: int) -> Sequence[Inquiry]:
        """Claim the inquiries that wait for their answer or their notice."""
        return self._claim(_CLAIM, claimer, limit=limit)

    def save(self, inquiry: Inquiry, new: Inquiry, *, owner: str | None = None) -> None:
        """Write an inquiry, and free its lease. Raises LeaseLost unless ``owner`` holds it."""
        self._write(inquiry.id, owner, schema.diff(inquiry, new, inquiries) | FREE)

    def conversation_in(self, channel: ChannelId, thread: MessageTs) -> str | None:
        """Return the service's conversation of a thread; None if there is none."""
        in_thread = and_(inquiries.c.channel == channel, inquiries.c.thread_ts == thread)
        newest = self._newest(in_thread, inquiries.c.conversation.is_not(None))
        return newest.conversation if newest else None

    def newest_in(self, thread: ThreadRef) -> Inquiry | None:
        """Return the newest question that is answered for all in a thread; None if there is none."""
        return self._newest(
            inquiries.c.channel == thread.channel,
            inquiries.c.thread_ts == thread.ts,
            inquiries.c.in_job.is_(None),
            inquiries.c.state != InquiryState.DISMISSED,
            inquiries.c.user != "",
        )

    def count_by_assistant(self, project: ProjectId, since: datetime) -> int:
        """Return how many inquiries of a project the assistant has answered or answers."""
        mine = and_(
            inquiries.c.project == project, inquiries.c.asked_at >= since, inquiries.c.by_assistant
        )
        return self.connection.execute(select(func.count()).where(mine)).scalar_one()

    def gaps_of(self, channel: ChannelId) -> Sequence[Inquiry]:
        """Return a channel's inquiries whose answers the docs lack, the newest first."""
        return self._many(and_(_IS_GAP, inquiries.c.channel == channel), MOST_ROWS)

    def gaps(
        self, project: ProjectId, channel: ChannelId, since: datetime, before: datetime
    ) -> Sequence[Inquiry]:
        """Return a project's gaps of a period that a channel may see, the newest first."""
        when = inquiries.c.asked_at.between(since, before)
        return self._many(
            and_(_IS_GAP, inquiries.c.project == project, when, _may_see(channel)), MOST_ROWS
        )

    def hidden_keys(self, project: ProjectId, channel: ChannelId) -> Sequence[str]:
        """Return the keys of a project's inquiries that a channel may see none of."""
        key, of_project = inquiries.c.gap_key, inquiries.c.project == project
        readable = select(key).where(of_project, _may_see(channel))
        hidden = select(key).distinct().where(of_project, key.not_in(readable))
        return self.connection.execute(hidden).scalars().all()

    def channels(self, project: ProjectId) -> Sequence[ChannelId]:
        """Return the channels in which people asked about a project."""
        asked = select(inquiries.c.channel).distinct().where(inquiries.c.project == project)
        return self.connection.execute(asked).scalars().all()

    def note_public(self, project: ProjectId, public: Sequence[ChannelId]) -> None:
        """Note which channels are public; the others are private."""
        is_public = inquiries.c.channel.in_(public)
        changed = and_(inquiries.c.project == project, inquiries.c.is_public != is_public)
        self.connection.execute(update(inquiries).where(changed).values(is_public=is_public))

    def with_gap_key(self, project: ProjectId, gap_key: str) -> Sequence[Inquiry]:
        """Return the inquiries of a project with this key that wait for nothing."""
        same = and_(inquiries.c.project == project, inquiries.c.gap_key == gap_key)
        return self._many(and_(same, INQUIRIES_RULE.is_finished), MOST_ROWS)
