"""Slack's operations for the features, with their messages, origins and errors."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple, Protocol
from zoneinfo import ZoneInfo

from pydantic import SecretStr

from bot.ids import (
    ChannelId,
    DeliveryId,
    Message,
    MessageTs,
    Refusal,
    RequestKey,
    UserId,
    is_direct_message,
)

Clock = Callable[[], datetime]
"""Returns the current time as an aware datetime in UTC. Tests pass one that they control."""


class ThreadRef(NamedTuple):
    """A Slack thread: its channel and the timestamp of its root message."""

    channel: ChannelId
    ts: MessageTs


class Method(StrEnum):
    """The methods of Slack's Web API that deliveries call."""

    POST = "chat.postMessage"
    EDIT = "chat.update"
    WHISPER = "chat.postEphemeral"
    REACT = "reactions.add"
    OPEN = "conversations.open"
    SEARCH_CHANNEL = "conversations.history"
    SEARCH_THREAD = "conversations.replies"
    BEGIN_UPLOAD = "files.getUploadURLExternal"
    END_UPLOAD = "files.completeUploadExternal"


def message_key(channel: ChannelId, ts: str = "") -> RequestKey:
    """Return the key of a message.

    Without ``ts`` it is the beginning of the keys of a channel's messages.
    """
    return RequestKey(f"message:{channel}:{ts}")


def ts_at(at: datetime) -> MessageTs:
    """Return the timestamp of a message posted at this time."""
    return MessageTs(f"{at.timestamp():.6f}")


def time_of(ts: MessageTs) -> datetime:
    """Return the time at which a message was posted.

    Raises ValueError for another text.
    """
    return datetime.fromtimestamp(float(ts), UTC)


@dataclass(frozen=True, slots=True)
class Origin:
    """The origin of a request: author, place, and way of an answer."""

    key: RequestKey
    """Recognises the request when Slack delivers it again."""
    user: UserId
    channel: ChannelId
    """Empty for a button outside any channel and for a form that carries none."""
    thread: MessageTs | None = None
    """Set for a reply in a thread."""
    message_ts: MessageTs | None = None
    """The message of the request: the person's own, or the message of the pressed button."""
    response_url: SecretStr | None = None
    """Takes private answers for 30 minutes."""
    app: str | None = None
    """The app that posted a message with the own token of ``user``; None without one."""

    @property
    def thread_for_job(self) -> MessageTs | None:
        """The thread for the status message of a job asked for here.

        That is the thread of the message that asked, or the one under it. It is None in direct
        messages, where only the bot and one person talk: a status message that begins its thread is
        easier to see.
        """
        if self.is_direct:
            return None
        return self.thread or self.message_ts

    @property
    def is_direct(self) -> bool:
        """Whether it comes from direct messages, outside of any thread."""
        return self.thread is None and is_direct_message(self.channel)


@dataclass(frozen=True, slots=True)
class Profile:
    """A user as Slack describes them."""

    is_guest: bool
    is_bot: bool
    is_stranger: bool
    is_deleted: bool


class Posted(NamedTuple):
    """A message that Slack has taken."""

    ts: MessageTs
    is_loose: bool = False
    """Whether a reply stands outside of threads, because its thread's first message was deleted."""


class SharedFile(NamedTuple):
    """A file in a message."""

    name: str
    size_bytes: int
    is_text: bool
    url: str | None = None
    """The address of its content; None where Slack does not return it."""
    id: str | None = None
    """Set for a file of a shared channel, which Slack describes only when it is asked."""


@dataclass(frozen=True, slots=True)
class Content:
    """The content of a message that a person sees."""

    text: str
    """Slack's wire text, with forwarded messages quoted and tables as rows."""
    files: tuple[SharedFile, ...] = ()
    """Its own files and the files of forwarded messages."""
    omitted_parts: tuple[str, ...] = ()
    """The names of the parts that cannot be read as text, such as images in blocks."""


@dataclass(frozen=True, slots=True)
class _Written:
    """A message of a person."""

    origin: Origin
    content: Content
    version: str = field(default="", kw_only=True)
    """The time of its last edit, by Slack's clock; empty for none."""

    @property
    def text(self) -> str:
        return self.content.text


@dataclass(frozen=True, slots=True)
class ThreadReply(_Written):
    """A person's reply in a thread. ``parent``: the author of its root, if Slack names one."""

    parent_user: UserId | None = None


@dataclass(frozen=True, slots=True)
class Mention(_Written):
    """A message outside any thread that mentions the bot or is a direct message to it."""


@dataclass(frozen=True, slots=True)
class Changed:
    """A message that was edited, or was deleted."""

    origin: Origin
    content: Content | None
    """The new content; None for a deleted message."""
    version: str
    """The time of the edit or of the deletion, by Slack's clock."""
    before: str | None = None
    """The text before the change; None for a message that is read again."""

    @property
    def text(self) -> str | None:
        return None if self.content is None else self.content.text


@dataclass(frozen=True, slots=True)
class Said:
    """A message of a thread. ``user`` is None for apps that post without one."""

    ts: MessageTs
    user: UserId | None
    """Its author; None for some bots."""
    text: str


class Messenger(Protocol):
    """The Slack operations that use cases call.

    Methods raise only the subclasses of SlackError below.
    """

    async def post(
        self,
        channel: ChannelId,
        message: Message,
        *,
        delivery: DeliveryId,
        thread: MessageTs | None,
    ) -> Posted:
        """Post a message that carries the delivery's id.

        It is never tried again by itself.
        """

    async def find_posted(
        self,
        channel: ChannelId,
        *,
        deliveries: Collection[DeliveryId],
        thread: MessageTs | None,
        since: datetime,
    ) -> Mapping[DeliveryId, MessageTs]:
        """Return the timestamps of the messages with these deliveries' ids.

        The channel, or a thread of it, is read once for all of them.
        """

    async def read_messages_since(
        self, channel: ChannelId, *, thread: MessageTs | None, since: MessageTs
    ) -> Sequence[ThreadReply | Mention | Changed]:
        """Return people's later replies in a thread, and their changes.

        They are later than ``since``, the oldest first. Without a thread, they are the direct
        messages of the channel.
        """

    async def find_message(
        self, channel: ChannelId, ts: MessageTs, *, thread: MessageTs | None
    ) -> Changed | None:
        """Return a person's message as it reads now; None if it was deleted.

        Its version is the version of its last edit; empty if it was never edited.
        """

    async def find_refusal(self, channel: ChannelId) -> Refusal | None:
        """Return why the bot cannot post in a channel: it is archived or gone, or the bot is out.

        Return None if Slack reports no obstacle.
        """

    async def read_mentions_since(
        self, channel: ChannelId, *, since: MessageTs
    ) -> Sequence[Mention]:
        """Return people's mentions of the bot in a channel after ``since``, the newest first."""

    async def read_earlier(
        self,
        channel: ChannelId,
        thread: MessageTs,
        *,
        before: MessageTs | None,
        since: MessageTs | None = None,
    ) -> Sequence[Said]:
        """Return the first message of a thread and its newest ones, oldest first.

        Raises SlackUnclear for a thread that is too long to be read.

        Args:
            before: The messages after this one are left out.
            since: The messages before this one are left out, but for the first.
        """

    async def whisper(
        self, channel: ChannelId, user: UserId, message: Message, *, thread: MessageTs | None
    ) -> None:
        """Post a message that one person sees.

        The person must be in the channel. ``thread``: None outside of threads.
        """

    async def edit(self, channel: ChannelId, ts: MessageTs, message: Message) -> None:
        """Replace the text and blocks of one of the bot's messages.

        Succeeds if the message was deleted.
        """

    async def answer(
        self, response_url: SecretStr, message: Message, *, replaces: bool = False
    ) -> None:
        """Send a message to one person through a response URL.

        A response URL works five times within 30 minutes. ``replaces``: replace the message whose
        button was pressed. The URL of a command replaces nothing. Source:
        https://docs.slack.dev/interactivity/handling-user-interaction
        """

    async def conversation_with(self, user: UserId) -> ChannelId:
        """Return the channel of the direct messages with a person.

        It is opened if necessary.
        """

    async def upload(
        self, channel: ChannelId, path: Path, *, name: str, text: str, confirm: Callable[[], None]
    ) -> str:
        """Share a file with a channel under this name, with a text; return its id.

        It is never tried again by itself. ``confirm`` is called before the step that makes it
        visible; its exception ends the upload.
        """

    async def describe_file(self, file: str) -> SharedFile:
        """Return a file by its id, for a `SharedFile` with one."""

    async def read_text(self, url: str, *, most_bytes: int) -> str:
        """Return the content of a shared text file.

        Raises SlackRefused if Slack does not return it, or if it is no text or longer.
        """

    async def has_file(self, channel: ChannelId, name: str, *, since: datetime) -> bool:
        """Return whether a file of this name is shared in the channel."""

    async def profile(self, user: UserId) -> Profile:
        """Return a user's kind of membership in this workspace."""

    async def group_members(self, group: str) -> frozenset[UserId]:
        """Return the members of a user group."""

    async def group_handles(self) -> Mapping[str, str]:
        """Return the handles of the workspace's user groups, without the leading ``@``, by id."""

    async def user_zone(self, user: UserId) -> str | None:
        """Return the IANA name of a user's time zone in Slack."""

    async def react(self, channel: ChannelId, ts: MessageTs, name: str) -> None:
        """Add an emoji to a message. Succeeds if it is already there."""

    async def is_public(self, channel: ChannelId) -> bool:
        """Return whether every full member of the workspace can read the channel."""

    async def is_shared_outside(self, channel: ChannelId) -> bool:
        """Return whether people of another organisation read the channel (Slack Connect)."""

    async def is_member(self, channel: ChannelId, user: UserId) -> bool:
        """Return whether a user is in a channel or a direct message."""

    async def join(self, channel: ChannelId) -> None:
        """Join a public channel."""

    async def user_name(self, user: UserId) -> str:
        """Return a user's display name."""

    async def channel_name(self, channel: ChannelId) -> str:
        """Return a channel's name without the leading ``#``."""


class SlackError(Exception):
    """A request to Slack failed.

    The error never contains a token, a response URL or a message's text.
    """


class SlackRefused(SlackError):
    """Slack refused the request.

    Decide by ``meaning``, from which messages to people derive, too. ``code`` is Slack's error code
    (https://docs.slack.dev/reference/methods): it is logged and stored with the delivery for the
    operator, and never compared.
    """

    def __init__(self, meaning: Refusal, code: str, details: tuple[str, ...] = ()) -> None:
        super().__init__(code)
        self.meaning = meaning
        self.code = code
        self.details = details

    @classmethod
    def not_found(cls, kind: str, meaning: Refusal = Refusal.PERMANENT) -> SlackRefused:
        """Return the refusal of a request whose target is missing.

        Slack is not called.
        """
        return cls(meaning, f"{kind}_not_found")


class SlackThrottled(SlackError):
    """Slack limited the rate of requests; this one had no effect.

    ``method`` is None outside the Web API.
    """

    def __init__(self, retry_after_seconds: float, method: Method | None = None) -> None:
        super().__init__(f"retry after {retry_after_seconds:g} s")
        self.retry_after_seconds = retry_after_seconds
        self.method = method


class SlackUnreachable(SlackError):
    """The request never reached Slack; it is safe to repeat."""


class SlackUnclear(SlackError):
    """Slack's answer was lost or unclear.

    The request may have had an effect.
    """


def is_zone(name: str) -> bool:
    """Return whether this machine has a time zone.

    Machines differ: zones are added and renamed.
    """
    try:
        ZoneInfo(name)
    except (LookupError, ValueError, OSError):
        return False
    return True
