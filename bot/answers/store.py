"""The table of inquiries, within one transaction.

Its queue, and the rule by which rows are forgotten.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from operator import itemgetter

from sqlalchemy import (
    Boolean,
    Column,
    ColumnElement,
    Index,
    Integer,
    Table,
    and_,
    exists,
    func,
    or_,
    select,
    text,
    update,
)

from bot.answers.model import Audience, Inquiry, InquiryId, InquiryState
from bot.ids import (
    ChannelId,
    JobNumber,
    Message,
    MessageTs,
    ProjectId,
    RequestKey,
    UserId,
    can_be_id,
)
from bot.ports import ThreadRef
from bot.store import schema
from bot.store.leases import FREE_LEASE, Claimer, Rows, claiming_oldest
from bot.store.queues import QueueTable
from bot.store.retention import RetentionRule
from bot.visitors.model.own_questions import SentQuestion

MAX_ROWS = 1_000
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
    Column("is_by_assistant", Boolean, nullable=False, server_default=text("false")),
    Column("audience", schema.Choice(Audience), nullable=False),
    Column("conversation", schema.Id(400)),
    Column("answer", schema.UserJson(Message)),
    Column("job", Integer),
    Column("is_topic", Boolean, nullable=False, server_default=text("false")),
    Column("thread_job", Integer),
    Column("shared_ts", schema.Id(40)),
    Column("has_reply", Boolean, nullable=False, server_default=text("false")),
    *schema.lease(),
    Index("ix_inquiries_state", "state", "due_at"),
    Index("ix_inquiries_gap_key", "project", "gap_key"),
    Index("ix_inquiries_channel", "channel", "thread_ts"),
    Index("ix_inquiries_asked_at", "project", "asked_at"),
    schema.if_set("ix_inquiries_shared_ts", "shared_ts"),
    sqlite_autoincrement=True,
)
_ANSWER_QUEUE = QueueTable("inquiries", inquiries, InquiryState.ASKED, inquiries.c.due_at)
_NOTICE_QUEUE = QueueTable("inquiries", inquiries, InquiryState.WRITTEN, inquiries.c.due_at)
_CLAIM = claiming_oldest(inquiries, or_(_ANSWER_QUEUE.waits, _NOTICE_QUEUE.waits))
INQUIRIES_RULE = RetentionRule(
    "questions about the docs",
    inquiries,
    inquiries.c.state.not_in((InquiryState.ASKED, InquiryState.MERGED, InquiryState.WRITTEN)),
    inquiries.c.asked_at,
)


SENT_QUESTIONS_KEPT_FOR = timedelta(days=400)
"""How long a sent question is kept: the service may list its words."""
sent_questions = Table(
    "sent_questions",
    schema.metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("inquiry", Integer, nullable=False),
    Column("project", schema.Id(200), nullable=False),
    # A hash, so that nobody can read or guess them.
    Column("text_hash", schema.Id(40), nullable=False),
    Column("sent_at", schema.UtcDateTime, nullable=False),
    Column("is_search", Boolean, nullable=False),
    Column("conversation", schema.Id(400)),
    Index("ix_sent_questions_inquiry", "inquiry"),
    Index("ix_sent_questions_sent_at", "sent_at"),
    sqlite_autoincrement=True,
)
"""The calls with a question, written before they are made.

They outlive the words and the person, so that words said in private stay hidden.
"""

_IS_GAP = inquiries.c.state == InquiryState.GAP


def _may_see(channel: ChannelId) -> ColumnElement[bool]:
    in_channel = and_(inquiries.c.channel == channel, inquiries.c.audience != Audience.ASKER)
    return or_(in_channel, inquiries.c.audience == Audience.WORKSPACE)


class Inquiries(Rows[Inquiry]):
    """Inquiries, within one transaction."""

    table = inquiries
    read = staticmethod(schema.reader(Inquiry, inquiries))

    def add(self, inquiry: Inquiry) -> None:
        """Add an inquiry, unless its key was stored before.

        Its words count as said in private until `set_audience`.
        """
        values = schema.row_values(inquiry, inquiries, without="id")
        schema.insert_unless_there(self.connection, inquiries, values)

    def set_audience(self, inquiry: Inquiry, audience: Audience) -> None:
        """Change the people to whom an inquiry's words were said."""
        is_same = inquiries.c.id == inquiry.id
        self.connection.execute(update(inquiries).where(is_same).values(audience=audience))

    def get(self, number: int) -> Inquiry | None:
        """Return an inquiry; None if it is unknown or forgotten."""
        if not can_be_id(number):
            return None
        return self._newest(inquiries.c.id == number, inquiries.c.user != "")

    def with_key(self, key: RequestKey) -> Inquiry | None:
        """Return the inquiry of the request with this key.

        None when there is none, or it is forgotten.
        """
        return self._newest(inquiries.c.key == key, inquiries.c.user != "")

    def open_of(self, user: UserId) -> Sequence[Inquiry]:
        """Return a person's inquiries that wait for their answers."""
        is_open = inquiries.c.state == InquiryState.ASKED
        return self._many(and_(is_open, inquiries.c.user == user), MAX_ROWS)

    def claim(self, claimer: Claimer, limit: int) -> Sequence[Inquiry]:
        """Claim the inquiries that wait for their answer or their notice."""
        return self._claim(_CLAIM, claimer, limit=limit)

    def save(self, inquiry: Inquiry, new: Inquiry, *, owner: str | None = None) -> None:
        """Write an inquiry, and free its lease. Raises LeaseLost unless ``owner`` holds it."""
        self._write(inquiry.id, owner, schema.diff(inquiry, new, inquiries) | FREE_LEASE)

    def conversation_in(
        self, project: ProjectId, channel: ChannelId, thread: MessageTs
    ) -> str | None:
        """Return the service's conversation of a project in a thread; None if there is none."""
        in_thread = and_(
            inquiries.c.channel == channel,
            inquiries.c.thread_ts == thread,
            inquiries.c.project == project,
        )
        newest = self._newest(in_thread, inquiries.c.conversation.is_not(None))
        return newest.conversation if newest else None

    def newest_in(self, thread: ThreadRef) -> Inquiry | None:
        """Return the newest question that is answered for all in a thread.

        None if there is none.
        """
        return self._newest(
            inquiries.c.channel == thread.channel,
            inquiries.c.thread_ts == thread.ts,
            inquiries.c.thread_job.is_(None),
            inquiries.c.state != InquiryState.DISMISSED,
            inquiries.c.user != "",
        )

    def shared_in(self, thread: ThreadRef) -> Inquiry | None:
        """Return the question whose shared answer begins a thread; None if none does."""
        return self._newest(
            inquiries.c.shared_ts == thread.ts,
            inquiries.c.channel == thread.channel,
            inquiries.c.user != "",
        )

    def note_shared(self, inquiry: Inquiry, ts: MessageTs) -> None:
        """Write where an answer was shared."""
        is_same = inquiries.c.id == inquiry.id
        self.connection.execute(update(inquiries).where(is_same).values(shared_ts=ts))

    def note_reply(self, inquiry: Inquiry) -> None:
        """Write that a colleague has answered a question, also while a worker answers it."""
        is_same = inquiries.c.id == inquiry.id
        self.connection.execute(update(inquiries).where(is_same).values(has_reply=True))

    def uses_of_assistant(self, project: ProjectId, since: datetime) -> Mapping[UserId, int]:
        """Return how many inquiries of each person the assistant has answered or answers."""
        of_project = and_(
            inquiries.c.project == project,
            inquiries.c.asked_at >= since,
            inquiries.c.is_by_assistant,
        )
        by_user = select(inquiries.c.user, func.count()).where(of_project)
        rows = self.connection.execute(by_user.group_by(inquiries.c.user))
        return {UserId(user): count for user, count in rows}

    def count_waiting(self, user: UserId) -> int:
        """Return how many questions of a person wait for their answers."""
        waiting = and_(inquiries.c.state == InquiryState.ASKED, inquiries.c.user == user)
        return self.connection.execute(select(func.count()).where(waiting)).scalar_one()

    def gaps_of(self, channel: ChannelId) -> Sequence[Inquiry]:
        """Return a channel's inquiries whose answers the docs lack, the newest first.

        Inquiries that only their askers have seen are left out.
        """
        in_channel = and_(inquiries.c.channel == channel, inquiries.c.audience != Audience.ASKER)
        return self._many(and_(_IS_GAP, in_channel), MAX_ROWS)

    def gaps(
        self, project: ProjectId, channel: ChannelId, since: datetime, before: datetime
    ) -> Sequence[Inquiry]:
        """Return a project's gaps of a period that a channel may see, the newest first."""
        when = inquiries.c.asked_at.between(since, before)
        return self._many(
            and_(_IS_GAP, inquiries.c.project == project, when, _may_see(channel)), MAX_ROWS
        )

    def said_to_everybody(self, project: ProjectId) -> Sequence[Inquiry]:
        """Return the newest inquiries whose words are shown in other channels."""
        is_open = and_(
            inquiries.c.project == project,
            inquiries.c.audience == Audience.WORKSPACE,
            inquiries.c.user != "",
        )
        return self._many(is_open, MAX_ROWS)

    def make_private(self, channel: ChannelId) -> None:
        """Keep the words that were said in a public channel which is private now."""
        is_open = and_(inquiries.c.channel == channel, inquiries.c.audience == Audience.WORKSPACE)
        self.connection.execute(update(inquiries).where(is_open).values(audience=Audience.CHANNEL))

    def awaiting(self, job: JobNumber) -> Sequence[Inquiry]:
        """Return the inquiries that wait until the page of a job is live."""
        is_merged = inquiries.c.state == InquiryState.MERGED
        return self._many(and_(is_merged, inquiries.c.job == job), MAX_ROWS)

    def with_gap_key(self, project: ProjectId, gap_key: str) -> Sequence[Inquiry]:
        """Return the inquiries of a project with this key that wait for nothing."""
        same = and_(inquiries.c.project == project, inquiries.c.gap_key == gap_key)
        return self._many(and_(same, INQUIRIES_RULE.is_finished), MAX_ROWS)


_to_sent = schema.reader(SentQuestion, sent_questions, is_hidden=itemgetter("is_hidden"))


class SentQuestions(schema.Repository):
    """The questions that were sent to the docs service, within one transaction."""

    def add(self, inquiry: Inquiry, text_hash: str, now: datetime, *, is_search: bool) -> None:
        """Note that a question is about to be sent, and drop notes that are too old.

        ``text_hash``: see ``hash_text``.
        """
        too_old = sent_questions.c.sent_at < now - SENT_QUESTIONS_KEPT_FOR
        self.connection.execute(sent_questions.delete().where(too_old))
        values = {
            "inquiry": inquiry.id,
            "project": inquiry.project,
            "text_hash": text_hash,
            "sent_at": now,
            "is_search": is_search,
            "conversation": None if is_search else inquiry.conversation,
        }
        self.connection.execute(sent_questions.insert().values(values))

    def name_conversation(self, inquiry: InquiryId, conversation: str) -> None:
        """Write the conversation in which the assistant has answered a question."""
        asked = and_(sent_questions.c.inquiry == inquiry, ~sent_questions.c.is_search)
        newest = select(func.max(sent_questions.c.id)).where(asked).scalar_subquery()
        change = update(sent_questions).where(sent_questions.c.id == newest)
        self.connection.execute(change.values(conversation=conversation))

    def between(
        self, project: ProjectId, channel: ChannelId, since: datetime, before: datetime
    ) -> Sequence[SentQuestion]:
        """Return a project's questions of a period, hidden if a channel may not see them.

        The questions of somebody who was forgotten are hidden from everybody.
        """
        may_see = exists().where(
            inquiries.c.id == sent_questions.c.inquiry, inquiries.c.user != "", _may_see(channel)
        )
        rows = self.connection.execute(
            select(sent_questions, (~may_see).label("is_hidden")).where(
                sent_questions.c.sent_at.between(since, before),
                sent_questions.c.project == project,
            )
        )
        return [_to_sent(row) for row in rows.mappings()]
