"""Fakes of Slack and of the docs service, for tests of ``bot.work``. The sandbox is more complete."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from pydantic import SecretStr

from bot.docs_api import DocsClient
from bot.github import GithubClient
from bot.ids import ChannelId, DeliveryId, Message, MessageTs, UserId
from bot.ports import Changed, Mention, Profile, Said, SlackError, ThreadReply
from bot.slack.client import to_refusal
from tests.services import LINK, PREVIEW, PULL_REQUEST, DocsService, Github

__all__ = ["LINK", "PREVIEW", "PULL_REQUEST", "FakeDocs", "FakeGithub", "FakeSlack", "Posted"]


@dataclass(frozen=True)
class Posted:
    """A posted message."""

    channel: ChannelId
    thread: MessageTs | None
    ts: MessageTs
    message: Message
    delivery: DeliveryId


@dataclass
class FakeSlack:
    """A workspace in memory that implements ``Messenger``."""

    posts: list[Posted] = field(default_factory=list)
    edits: dict[MessageTs, list[Message]] = field(default_factory=dict)
    private: list[tuple[str, Message]] = field(default_factory=list)
    whispers: list[tuple[ChannelId, MessageTs | None, UserId, Message]] = field(default_factory=list)
    direct: list[tuple[UserId, Message, DeliveryId]] = field(default_factory=list)
    reactions: list[tuple[MessageTs, str]] = field(default_factory=list)
    joined: set[ChannelId] = field(default_factory=set)
    outside: set[ChannelId] = field(default_factory=set)
    """Channels that the bot has not joined."""
    silent: set[str] = field(default_factory=set)
    """Users and channels about which Slack never answers."""
    looked_up: list[str] = field(default_factory=list)
    """Users and channels whose names were requested."""
    names: dict[str, str] = field(default_factory=lambda: {"U0BEN": "ben", "C0GEN": "general"})
    replaced: list[str] = field(default_factory=list)
    files: list[tuple[ChannelId, str, str, str]] = field(default_factory=list)
    profiles: dict[UserId, Profile] = field(default_factory=dict)
    groups: dict[str, frozenset[UserId]] = field(default_factory=dict)
    zones: dict[UserId, str] = field(default_factory=dict)
    private_rooms: dict[ChannelId, frozenset[UserId]] = field(default_factory=dict)
    """Members of private channels and direct messages; all other channels are public without members."""
    messages: list[ThreadReply | Mention] = field(default_factory=list)
    """Messages of people for a catch-up."""
    changed: list[Changed] = field(default_factory=list)
    contents: dict[str, str] = field(default_factory=dict)
    """Texts of files by their addresses."""
    threads: dict[tuple[ChannelId, MessageTs], list[Said]] = field(default_factory=dict)
    """All messages of threads."""
    read: list[tuple[ChannelId, MessageTs | None, MessageTs]] = field(default_factory=list)
    troubles: dict[str, deque[SlackError]] = field(default_factory=dict)
    """Errors of the next calls, by method."""
    lose_answer: deque[SlackError] = field(default_factory=deque)
    """Errors of the next posts after their success."""

    def trouble(self, method: str, *errors: SlackError) -> None:
        """Let the next calls of this method raise these errors."""
        self.troubles.setdefault(method, deque()).extend(errors)

    def _raise_next_trouble(self, method: str) -> None:
        if waiting := self.troubles.get(method):
            raise waiting.popleft()

    async def post(
        self, channel: ChannelId, message: Message, *, delivery: DeliveryId, thread: MessageTs | None
    ) -> MessageTs:
        self._raise_next_trouble("post")
        if channel in self.outside:
            raise to_refusal("not_in_channel")
        ts = MessageTs(f"1700000000.{len(self.posts) + 1:06}")
        self.posts.append(Posted(channel, thread, ts, message, delivery))
        if self.lose_answer:
            raise self.lose_answer.popleft()
        return ts

    async def find_posted(
        self,
        channel: ChannelId,
        *,
        deliveries: Collection[DeliveryId],
        thread: MessageTs | None,
        since: datetime,
    ) -> Mapping[DeliveryId, MessageTs]:
        self._raise_next_trouble("find_posted")
        place = (channel, thread)
        posted = {post.delivery: post.ts for post in self.posts if (post.channel, post.thread) == place}
        direct = {key: MessageTs("1") for user, _, key in self.direct if channel == f"D{user[1:]}"}
        return {key: ts for key, ts in (direct | posted).items() if key in deliveries}

    async def read_messages_since(
        self, channel: ChannelId, *, thread: MessageTs | None, since: MessageTs
    ) -> Sequence[ThreadReply | Mention | Changed]:
        self._raise_next_trouble("read_messages_since")
        self.read.append((channel, thread, since))
        origins = ((message, message.origin) for message in self.messages)
        newer = [
            message
            for message, origin in origins
            # The message that begins a thread is read with it.
            if origin.channel == channel and thread in (origin.thread, thread and origin.message_ts)
            if origin.message_ts and origin.message_ts > since
        ]
        return [*newer, *(change for change in self.changed if change.origin.channel == channel)]

    async def read_earlier(
        self, channel: ChannelId, thread: MessageTs, *, before: MessageTs | None
    ) -> Sequence[Said]:
        self._raise_next_trouble("read_earlier")
        await self._answer_about(thread)
        messages = self.threads.get((channel, thread), [])
        return [message for message in messages if before is None or message.ts < before]

    async def edit(self, channel: ChannelId, ts: MessageTs, message: Message) -> None:
        self._raise_next_trouble("edit")
        self.edits.setdefault(ts, []).append(message)

    async def answer(self, response_url: SecretStr, message: Message, *, replaces: bool = False) -> None:
        self._raise_next_trouble("answer")
        self.private.append((response_url.get_secret_value(), message))
        if replaces:
            self.replaced.append(response_url.get_secret_value())

    async def whisper(
        self, channel: ChannelId, user: UserId, message: Message, *, thread: MessageTs | None
    ) -> None:
        self._raise_next_trouble("whisper")
        if channel in self.outside:
            raise to_refusal("not_in_channel")
        self.whispers.append((channel, thread, user, message))

    async def send_direct(self, user: UserId, message: Message, *, delivery: DeliveryId) -> None:
        self._raise_next_trouble("tell")
        self.direct.append((user, message, delivery))

    async def conversation_with(self, user: UserId) -> ChannelId:
        self._raise_next_trouble("conversation_with")
        return ChannelId(f"D{user[1:]}")

    async def upload(
        self, channel: ChannelId, path: Path, *, name: str, text: str, confirm: Callable[[], None]
    ) -> None:
        self._raise_next_trouble("upload")
        confirm()
        if channel in self.outside:
            raise to_refusal("not_in_channel")
        content = await asyncio.to_thread(path.read_bytes)
        self.files.append((channel, name, text, content.decode("utf-8")))
        if self.lose_answer:
            raise self.lose_answer.popleft()

    async def read_text(self, url: str, *, most_bytes: int) -> str:
        self._raise_next_trouble("read_text")
        await self._answer_about(url)
        return self.contents[url]

    async def find_file(self, channel: ChannelId, name: str, *, since: datetime) -> bool:
        self._raise_next_trouble("find_file")
        return any(file[:2] == (channel, name) for file in self.files)

    async def profile(self, user: UserId) -> Profile:
        self._raise_next_trouble("profile")
        await self._answer_about(user)
        return self.profiles.get(user, Profile(False, False, False, False))

    async def group_members(self, group: str) -> frozenset[UserId]:
        self._raise_next_trouble("group_members")
        return self.groups.get(group, frozenset())

    async def set_status(self, channel: ChannelId, thread: MessageTs, status: str) -> None:
        self._raise_next_trouble("set_status")

    async def is_public(self, channel: ChannelId) -> bool:
        self._raise_next_trouble("is_public")
        return channel not in self.private_rooms

    async def is_member(self, channel: ChannelId, user: UserId) -> bool:
        self._raise_next_trouble("is_member")
        return user in self.private_rooms.get(channel, frozenset())

    async def user_zone(self, user: UserId) -> str | None:
        self._raise_next_trouble("user_zone")
        return self.zones.get(user)

    async def react(self, channel: ChannelId, ts: MessageTs, name: str) -> None:
        self._raise_next_trouble("react")
        self.reactions.append((ts, name))

    async def join(self, channel: ChannelId) -> None:
        self._raise_next_trouble("join")
        self.outside.discard(channel)
        self.joined.add(channel)

    async def user_name(self, user: UserId) -> str:
        self._raise_next_trouble("user_name")
        return await self._name(user)

    async def channel_name(self, channel: ChannelId) -> str:
        self._raise_next_trouble("channel_name")
        return await self._name(channel)

    async def _answer_about(self, key: str) -> None:
        if key in self.silent:
            await asyncio.Event().wait()

    async def _name(self, key: str) -> str:
        self.looked_up.append(key)
        await self._answer_about(key)
        if key not in self.names:
            raise to_refusal("user_not_found")
        return self.names[key]

    def root(self) -> Posted:
        """Return the first message posted outside a thread."""
        return next(post for post in self.posts if post.thread is None)

    def replies(self) -> list[Posted]:
        """Return the messages posted in threads, in order."""
        return [post for post in self.posts if post.thread is not None]


@dataclass
class FakeDocs(DocsService):
    """A docs service with the bot's client of it."""

    def client(self) -> DocsClient:
        """Return the real client, connected to this fake."""
        transport = self.transport()
        return DocsClient(base_url="https://docs.example", api_key=SecretStr("key"), transport=transport)


@dataclass
class FakeGithub(Github):
    """GitHub with the bot's client of it."""

    def client(self, now: Callable[[], datetime]) -> GithubClient:
        """Return the real client, connected to this fake."""
        return GithubClient(token=SecretStr("token"), transport=self.transport(), now=now)
