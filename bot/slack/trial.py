"""The bot's messenger for a trial: it remembers what it posts and uploads, and deletes that at the end."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from bot.model.ids import ChannelId, DeliveryId, Message, MessageTs
from bot.slack.client import answered
from bot.slack.messenger import SlackMessenger
from bot.work.ports import SlackRefused, SlackUnclear

_GONE = frozenset({"message_not_found", "file_deleted", "file_not_found", "thread_not_found"})


@dataclass(frozen=True, slots=True)
class Shared:
    """A file in a channel: its id, the message that shares it, and where its content is."""

    id: str
    ts: MessageTs
    url: str


class TrialMessenger(SlackMessenger):
    """A messenger that can delete what it has posted."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._began = datetime.now(UTC)
        self._posted: list[tuple[ChannelId, MessageTs]] = []
        self._unclear: list[tuple[ChannelId, MessageTs | None, DeliveryId]] = []
        self._refused: SlackRefused | None = None
        self._deleted = 0

    async def post(
        self, channel: ChannelId, message: Message, *, delivery: DeliveryId, thread: MessageTs | None
    ) -> MessageTs:
        """Post a message as the bot does, and remember it."""
        try:
            ts = await super().post(channel, message, delivery=delivery, thread=thread)
        except SlackUnclear:
            self._unclear.append((channel, thread, delivery))
            raise
        self._posted.append((channel, ts))
        return ts

    async def shared(self, channel: ChannelId, name: str) -> Shared | None:
        """Return the file of this name among the channel's newest messages."""
        answer = await answered(self._client.conversations_history(channel=channel, limit=100))
        for message in answer.get("messages") or []:
            for file in message.get("files") or []:
                if file.get("name") == name:
                    return Shared(str(file["id"]), MessageTs(message["ts"]), str(file.get("url_private")))
        return None

    async def clean_up(self, channel: ChannelId, file_name: str) -> int:
        """Delete the file and what was posted, replies first; return how many messages were deleted.

        What cannot be deleted stays, and the last refusal is raised. After another SlackError, call it again.
        https://docs.slack.dev/reference/methods/chat.delete
        """
        while self._unclear:
            where, thread, delivery = self._unclear[-1]
            found = await self.find_posted(where, deliveries=[delivery], thread=thread, since=self._began)
            self._posted += [(where, ts) for ts in found.values()]
            self._unclear.pop()
        if (file := await self.shared(channel, file_name)) is not None:
            await self._delete(self._client.files_delete, file=file.id)
            await self._delete(self._client.chat_delete, channel=channel, ts=file.ts)
        while self._posted:
            where, ts = self._posted[-1]
            await self._delete(self._client.chat_delete, channel=where, ts=ts)
            self._posted.pop()
        if self._refused is not None:
            raise self._refused
        return self._deleted

    async def _delete(self, method: Callable[..., Awaitable[object]], **what: str) -> None:
        try:
            await answered(method(**what))
            self._deleted += 1
        except SlackRefused as refusal:
            if refusal.code not in _GONE:
                self._refused = refusal
