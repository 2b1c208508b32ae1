"""A prompt: a text for the agent on its way to the docs service."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TypedDict

from bot.model.ids import ChannelId, JobNumber, MessageTs, ProjectId, PromptId, UserId
from bot.model.origin import Origin


class PromptKind(StrEnum):
    """What the service is asked to do with the text."""

    START = "start"
    FOLLOW_UP = "follow_up"


class PromptState(StrEnum):
    """``new → waiting → sending → sent | refused | in_doubt``, or ``withdrawn`` before it was sent."""

    NEW = "new"
    """Stored as Slack sent it; names are not looked up yet."""
    WAITING = "waiting"
    SENDING = "sending"
    SENT = "sent"
    REFUSED = "refused"
    UNCONFIRMED = "in_doubt"
    WITHDRAWN = "withdrawn"


class PromptFields(TypedDict, total=False):
    """Columns of a prompt that change without a step of its lifecycle."""

    due_at: datetime
    queue_position: int | None


class PromptStepFields(PromptFields, total=False):
    """Columns of a prompt that change with a step of its lifecycle (``bot.model.lifecycle``)."""

    text: str
    sent_at: datetime | None
    attempts: int
    response_url: None


@dataclass(frozen=True, slots=True)
class Prompt:
    """One text for the agent.

    ``raw`` is as Slack sent it (entities, ids); ``text`` is what the agent gets, once names are known.
    ``message_ts`` is the Slack message it came from, when it came from one.
    ``named``: how the job was named by somebody who may not be allowed to see it (``work/access``);
    this is decided before anything comes of the prompt. None when it had been decided before.
    """

    id: PromptId
    job: JobNumber
    kind: PromptKind
    asked_by: UserId
    raw: str
    asked_at: datetime
    state: PromptState = PromptState.NEW
    text: str | None = None
    channel: ChannelId | None = None
    message_ts: MessageTs | None = None
    attempts: int = 0
    named: str | None = None


@dataclass(frozen=True, slots=True)
class NewPrompt:
    """A prompt to be stored, once for the key of its ``origin``. ``named``: see ``Prompt``."""

    origin: Origin
    job: JobNumber
    project: ProjectId
    kind: PromptKind
    raw: str
    asked_at: datetime
    named: str | None = None


@dataclass(frozen=True, slots=True)
class Wanted:
    """Who asked for a new job where and in which words: the same again within a minute may be a slip."""

    asked_by: UserId
    channel: ChannelId
    raw: str
