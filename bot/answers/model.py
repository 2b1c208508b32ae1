"""Inquiries: questions about the docs, from the question to the gap and the page that closes it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NewType

from pydantic import SecretStr

from bot.answers.page_changes import PageChange
from bot.ids import ChannelId, JobNumber, Message, MessageTs, ProjectId, RequestKey, UserId

InquiryId = NewType("InquiryId", int)


class InquiryState(StrEnum):
    """``asked → answered → gap → merged → written → notified``.

    A search without results makes a gap at once. Where the bot cannot read the live docs, *merged*
    is left out.
    """

    ASKED = "asked"
    """It waits for its answer."""
    ANSWERED = "answered"
    GAP = "gap"
    """The docs lack the answer, as far as people know."""
    DISMISSED = "dismissed"
    MERGED = "merged"
    """A job's pull request with the answer is merged, and its page is not seen in the docs yet."""
    WRITTEN = "written"
    """A job has written the answer, and the asker waits for the notice."""
    NOTIFIED = "notified"


UNWRITTEN = (InquiryState.ASKED, InquiryState.ANSWERED, InquiryState.GAP)
"""The states in which the docs may lack the answer, and its author may take the question back."""


class Audience(StrEnum):
    """The people to whom the words of a question were said.

    It is fixed when they are said, and grows only when their asker's answer is shared. A public
    channel that is made private keeps its words from then on.
    """

    ASKER = "asker"
    """Nobody else: they were typed in a command."""
    CHANNEL = "channel"
    """The people of a private channel or a direct message."""
    WORKSPACE = "workspace"
    """Everybody: they were said in a public channel."""


@dataclass(frozen=True, slots=True)
class Inquiry:
    """A question about the docs. Rows with the same ``gap_key`` in a project are one gap."""

    id: InquiryId
    key: RequestKey
    project: ProjectId
    channel: ChannelId
    user: UserId
    """Empty once forgotten, as the text is."""
    text: str
    """Masked."""
    gap_key: str
    """The key of the text without case, blanks and signs."""
    state: InquiryState
    asked_at: datetime
    due_at: datetime
    thread_ts: MessageTs | None = None
    """The thread of the answer; None for the answer to a command, which only its asker sees."""
    response_url: SecretStr | None = None
    is_by_assistant: bool = False
    """Whether the assistant answers, which costs credits."""
    audience: Audience = Audience.ASKER
    conversation: str | None = None
    """The service's id of the conversation."""
    answer: Message | None = None
    """The answer, to share a private one and to make a page of it."""
    job: JobNumber | None = None
    """The job that has written the answer."""
    is_topic: bool = False
    """It names a topic and asks nothing: pages about it are shown."""
    thread_job: JobNumber | None = None
    """The job in whose thread it was said.

    Only its asker sees the answer there, and may send it on.
    """
    shared_ts: MessageTs | None = None
    """The post with the answer in the channel, if somebody has shared a private one."""
    has_reply: bool = False
    """Whether a colleague has answered it in its thread. Of the reply nothing else is kept."""

    @property
    def answer_thread(self) -> MessageTs | None:
        """The thread in which others read the answer; None if only its asker sees it."""
        return self.thread_ts or self.shared_ts


class PublicationState(StrEnum):
    """How far the publication of a merged page is."""

    AWAITED = "awaited"
    """The docs are asked for the page again and again."""
    LIVE = "live"
    UNSEEN = "unseen"
    """The page was not seen in the docs within a day."""
    UNKNOWN = "unknown"
    """Nothing tells whether the page is live: its change cannot be read, or not be recognised."""


@dataclass(frozen=True, slots=True)
class Publication:
    """The publication of the page that a job's merged pull request changes."""

    job: JobNumber
    project: ProjectId
    requester: UserId
    """The job's; empty once forgotten, as the page is."""
    state: PublicationState
    merged_at: datetime
    due_at: datetime
    attempts: int = 0
    """How often the docs were asked."""
    change: PageChange | None = None
    """The page; None until the pull request's files are read."""
    address: str | None = None
    """The live page's address, as a search returned it; None if none did."""
    title: str | None = None
    """The live page's title, as that search returned it."""


@dataclass(frozen=True, slots=True)
class DocsPage:
    """A page of the docs in an answer. ``address``: the service's unchecked text."""

    address: str
    title: str
    passage: str = ""
    """The text in it that a search found."""
