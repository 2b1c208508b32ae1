"""Prompts for the agent, the pages that they name, and the acts of people that the audit keeps."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from itertools import takewhile
from typing import ClassVar, Self

from pydantic import SecretStr

from bot.ids import (
    ChannelId,
    JobNumber,
    MessageTs,
    ProjectId,
    PromptId,
    RequestKey,
    SubscriptionId,
    UserId,
)
from bot.jobs.model.jobs import AttachThread, GapRef
from bot.ports import Origin, SharedFile


class PromptKind(StrEnum):
    """Whether a prompt starts a job or continues one."""

    START = "start"
    FOLLOW_UP = "follow_up"


class PromptState(StrEnum):
    """The state of a prompt.

    ``new → waiting → sending → sent | refused | unconfirmed``, or ``withdrawn`` before it is sent.

    A prompt whose message is edited before it is sent becomes *new* again.
    """

    NEW = "new"
    """Stored as Slack sent it; names are not resolved yet."""
    WAITING = "waiting"
    SENDING = "sending"
    SENT = "sent"
    REFUSED = "refused"
    UNCONFIRMED = "unconfirmed"
    WITHDRAWN = "withdrawn"


_NO_PROJECT = ProjectId("")
_WORD_PATTERN = re.compile(r"[^\s`\"“”‘’<>()\[\]|,;:!?*]+")
_PAGE_NOUNS = frozenset(("page", "pages", "guide", "article"))
_NO_NAMES = frozenset((
    "a", "an", "the", "this", "that", "our", "your", "my", "its", "each", "every", "whole", "new",
    "on", "of", "to", "in", "at", "from", "for", "with", "and", "or", "about",
    "fix", "update", "improve", "change", "edit", "rewrite", "shorten", "correct", "check", "mend",
    "add", "write", "create", "extend", "make",
))  # fmt: skip
"""Words before ``page`` that do not belong to its name."""
_LONGEST = 3
MAX_SUMMARY_CHARACTERS = 200
MENDED_PREVIEW = "Fix of the preview"
"""The summary of a prompt to mend a preview, in place of its first line."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """One text for the agent."""

    id: PromptId
    job: JobNumber
    kind: PromptKind
    asked_by: UserId
    """Empty for a forgotten prompt."""
    raw: str
    """The text as Slack sent it, with entities and ids."""
    asked_at: datetime
    state: PromptState = PromptState.NEW
    text: str | None = None
    """The text for the agent, set once names are resolved."""
    channel: ChannelId | None = None
    message_ts: MessageTs | None = None
    """The Slack message that contained the prompt, if any."""
    attempts: int = 0
    attach_thread: AttachThread | None = None
    """When earlier messages are attached; None for never."""
    files: tuple[SharedFile, ...] = ()
    """The files of the message."""
    omitted_parts: tuple[str, ...] = ()
    """The names of the parts of its messages that cannot be read as text."""
    attachments: str | None = None
    """The messages and files sent after the text; until it is set, the messages of a form."""
    key: str = ""
    """The key of the request."""
    sent_at: datetime | None = None
    """When it was sent.

    Of a waiting prompt: when the service refused it as with a bad key (401 or 403).
    """
    project: ProjectId = _NO_PROJECT
    claimed_until: datetime | None = None
    due_at: datetime | None = None
    is_awaiting_quota: bool = False
    response_url: SecretStr | None = None
    """It may have expired."""
    held_until: datetime | None = None
    """When its messages are verified before it is sent; None once it may be sent."""
    verified_at: datetime | None = None
    """When its messages, its author and its channel were last known to be as stored."""
    app: str | None = None
    """The app that posted its message with the own token of ``asked_by``."""
    is_preview_fix: bool = False
    """Whether it is the bot's own prompt about a preview that does not build."""

    @classmethod
    def new(
        cls,
        origin: Origin,
        request: PromptRequest,
        job: JobNumber,
        project: ProjectId,
        kind: PromptKind,
        asked_at: datetime,
    ) -> Self:
        """Return a prompt to store, once for the key of its origin."""
        return cls(
            PromptId(0),
            job,
            kind,
            origin.user,
            request.raw,
            asked_at,
            channel=origin.channel,
            message_ts=origin.message_ts,
            attach_thread=request.attach_thread,
            files=request.files,
            omitted_parts=request.omitted_parts,
            attachments=request.given,
            key=origin.key,
            project=project,
            due_at=asked_at,
            response_url=origin.response_url,
            held_until=request.held_until,
            verified_at=request.verified_at or asked_at,
            app=origin.app,
            is_preview_fix=request.is_preview_fix,
        )

    @property
    def origin(self) -> Origin:
        """Return who asked for it where, as far as it is stored: the parts that decide access."""
        return Origin(RequestKey(self.key), self.asked_by, self.channel or ChannelId(""))


@dataclass(frozen=True, slots=True)
class PromptRequest:
    """A request to send a text to the agent, for a new job or an old one."""

    raw: str
    """Slack's wire text, which is not blank."""
    allow_duplicate: bool = False
    """Whether the person has confirmed that an equal text is to be sent again."""
    allow_key: bool = False
    """Whether the person has confirmed a text with a key in it."""
    is_sure: bool = False
    """Whether the questions about its page and its files are answered, or cannot be asked."""
    attach_thread: AttachThread | None = None
    files: tuple[SharedFile, ...] = ()
    omitted_parts: tuple[str, ...] = ()
    """The names of the parts of its messages that cannot be read as text."""
    given: str | None = None
    """The thread's messages as a form had them."""
    rerun_of: JobNumber | None = None
    """The job whose prompt a new job runs again."""
    project: ProjectId | None = None
    """None for the channel's project."""
    gap: GapRef | None = None
    predecessor: JobNumber | None = None
    """The merged job in whose thread a new job is asked for."""
    held_until: datetime | None = None
    """Until when its author may add to it or change it; None if it is sent at once."""
    verified_at: datetime | None = None
    """When its message was read; None for now."""
    is_preview_fix: bool = False
    """Whether it is the bot's own prompt about a preview that does not build."""


@dataclass(frozen=True, slots=True)
class VersionRequest:
    """The request that made a job's current version, for its end."""

    summary: str
    """The first line of its prompt, or the title of the content gap for which the bot suggested it."""
    is_preview_fix: bool = False
    """Whether the request was to mend the preview."""


@dataclass(frozen=True, slots=True)
class UnsentText:
    """A text that was not sent, in the value of the button that sends it anyway."""

    LONGEST: ClassVar = 1_800
    """A button's value has at most 2,000 characters, and the other parts few."""

    key: RequestKey
    """The key of the request."""
    thread: MessageTs | None
    raw: str
    job: JobNumber | None = None
    """The job to follow up on; None to start one."""

    def dumps(self) -> str:
        """Return the value of the button, without NUL and lone surrogates.

        Databases refuse those.
        """
        raw = self.raw.replace("\x00", "").encode("utf-8", "replace").decode("utf-8")
        return "|".join((self.key, self.thread or "", str(self.job or ""), raw))

    @classmethod
    def loads(cls, value: str) -> UnsentText | None:
        """Return the text in the value of a button; None for an invalid value."""
        parts = value.split("|", 3)
        if len(parts) < 4:
            return None
        key, thread, job, raw = parts
        if not raw or not re.fullmatch("[0-9]{0,9}", job):
            return None
        return cls(
            RequestKey(key),
            MessageTs(thread) if thread else None,
            raw,
            JobNumber(int(job)) if job else None,
        )


def first_line_of(text: str) -> tuple[str, bool]:
    """Return the line by which people know a prompt, and whether more follows it.

    A line that ends with a colon leads to what follows it, such as a quotation.
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines:
        return "", False
    line, *others = lines
    if others and line.endswith(":"):
        line = f"{line} {others.pop(0).removeprefix('> ')}"
    return line, bool(others)


def summary_of(text: str) -> str:
    """Return the summary of a prompt: its first line, cut at ``MAX_SUMMARY_CHARACTERS``."""
    line, _ = first_line_of(text)
    return line[:MAX_SUMMARY_CHARACTERS]


def find_named_pages(text: str) -> frozenset[str]:
    """Return the pages that a text names.

    It names them by a path, an address, a file, or as *the quickstart page*.
    """
    words = [word.strip(".'_") for word in _WORD_PATTERN.findall(text.casefold())]
    pages: set[str] = set()
    for at, word in enumerate(words):
        if word.startswith("/") or word.endswith((".md", ".mdx")):
            pages.add(page_at(word))
        elif word in _PAGE_NOUNS:
            before = reversed(words[max(0, at - _LONGEST) : at])
            name = list(takewhile(_can_name, before))
            pages.add(" ".join(reversed(name)).replace("-", " "))
    return frozenset(filter(None, pages))


def _can_name(word: str) -> bool:
    return word not in _NO_NAMES and "/" not in word


def page_at(path: str) -> str:
    """Return the name of the page at a path or an address.

    The name of ``/docs/rate-limits.md`` is *rate limits*.
    """
    if path.startswith("//"):
        _host, _, path = path[2:].partition("/")
    parts = [part for part in re.split("[?#]", path)[0].split("/") if part]
    parts = [re.sub(r"\.mdx?$", "", part) for part in parts]
    named = [part for part in parts if part not in ("index", "readme")]
    return re.sub("[-_]", " ", named[-1]).casefold() if named else ""


class Act(StrEnum):
    """A person's act. Stored in the database."""

    ASKED = "asked"
    STEERED = "steered"
    """Sent a follow-up."""
    WITHDREW = "withdrew"
    SENT_AGAIN = "sent_again"
    """Decided to send an unconfirmed prompt again."""
    DISMISSED = "dismissed"
    """Decided not to send an unconfirmed prompt again."""
    STOPPED = "stopped"
    """Stopped watching a job."""
    SUBSCRIBED = "subscribed"
    UNSUBSCRIBED = "unsubscribed"
    PAUSED = "paused"
    """Paused a subscription."""
    RESUMED = "resumed"
    CHOSE_PROJECT = "chose_project"
    """Chose the project of a channel."""
    CHOSE_REPLIES = "chose_replies"
    """Chose which replies steer the jobs of a channel."""
    CHOSE_REPOSITORY = "chose_repository"
    """Chose the repository in which a project's pull requests are read."""
    SENDING_OFF = "sending_off"
    """Switched off all sending to the agent."""
    SENDING_ON = "sending_on"


@dataclass(frozen=True, slots=True)
class AuditRow:
    """One act of a person."""

    acted_at: datetime
    user: UserId
    """Empty once the person is forgotten."""
    act: Act
    project: ProjectId
    channel: ChannelId
    job: JobNumber | None
    subscription: SubscriptionId | None
    outcome: str | None
    """The last state of the prompt or its iteration; None while it is open, and for other acts."""
    app: str | None
    """The app that acted with the person's own token."""
