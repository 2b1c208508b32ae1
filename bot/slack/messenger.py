"""The outgoing side: the Messenger port on Slack's Web API, without decisions and retries."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import aiohttp
from pydantic import SecretStr
from slack_sdk.web.async_client import AsyncWebClient

from bot.ids import ChannelId, DeliveryId, Message, MessageTs, UserId
from bot.ports import (
    Changed,
    Mention,
    Posted,
    Profile,
    Said,
    SharedFile,
    SlackRefused,
    SlackThrottled,
    SlackUnclear,
    SlackUnreachable,
    ThreadReply,
    is_zone,
    ts_at,
)
from bot.slack.client import (
    Identity,
    answered,
    read_response_url_error,
    to_refusal,
    translating_errors,
    wait_seconds,
)
from bot.slack.content import read_file
from bot.slack.file_download import read_text
from bot.slack.history import (
    find_message,
    messages_of,
    read_earlier,
    read_mentions_since,
    read_messages_since,
)
from bot.slack.rooms import SlackRooms
from bot.ttl_cache import TtlCache


def upload_seconds(size_bytes: int) -> float:
    """Return the time limit for the upload of a file, which is less than a lease."""
    return min(30.0 + size_bytes / 50_000, 75.0)


EVENT_TYPE = "docs_agent_delivery"
"""The type of the metadata of the bot's posts."""
_CLOCK_MARGIN = timedelta(seconds=120)
"""Tolerated difference between the clocks of this machine and of Slack in a search for a post."""
_MAX_PAGES = 50
_NAME_CACHE_SECONDS = 3_600.0
_GROUP_CACHE_SECONDS = 300.0
_ALL_GROUPS = "all"
"""The key of the handles in their cache."""
_SLACK_HOSTS = (".slack.com", ".slack-gov.com")
"""The second is GovSlack: https://docs.slack.dev/govslack"""
_SLACKBOT = UserId("USLACKBOT")
_MAX_RESPONSE_BYTES = 2_000


class _Response(NamedTuple):
    """A response of Slack outside of the Web API."""

    status: int
    retry_after: str | None
    text: str


class SlackMessenger(SlackRooms):
    """Implements ``bot.ports.Messenger``."""

    def __init__(
        self,
        client: AsyncWebClient,
        session: aiohttp.ClientSession,
        api_url: str,
        identity: Identity | None = None,
        allowed_bots: Collection[UserId] = frozenset(),
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._identity = identity
        self._allowed_bots = allowed_bots
        super().__init__(client, clock)
        self._session = session
        self._api_host = urlsplit(api_url).netloc
        self._names = TtlCache[str, str](5_000, clock)
        self._groups = TtlCache[str, frozenset[UserId]](clock=clock)
        self._handles = TtlCache[str, Mapping[str, str]](clock=clock)

    async def post(
        self,
        channel: ChannelId,
        message: Message,
        *,
        delivery: DeliveryId,
        thread: MessageTs | None,
    ) -> Posted:
        """Post a message.

        Slack posts a reply to a deleted message outside of threads, without an error.
        https://docs.slack.dev/reference/methods/chat.postMessage
        """
        posting = self._client.chat_postMessage(
            channel=channel,
            text=message.text,
            blocks=list(message.blocks) or None,
            thread_ts=thread,
            metadata={"event_type": EVENT_TYPE, "event_payload": {"delivery": delivery}},
            unfurl_links=False,
            unfurl_media=False,
        )
        answer = await answered(posting)
        ts = answer.get("ts")
        if not ts:
            raise SlackUnclear("an answer without ts")
        posted = answer.get("message") or {}
        is_loose = thread is not None and bool(posted) and not posted.get("thread_ts")
        return Posted(MessageTs(str(ts)), is_loose)

    async def find_posted(
        self,
        channel: ChannelId,
        *,
        deliveries: Collection[DeliveryId],
        thread: MessageTs | None,
        since: datetime,
    ) -> Mapping[DeliveryId, MessageTs]:
        """Return the timestamps of the posts of deliveries in a thread, or in the channel."""
        posts = await self._find(channel, thread, since, _delivery_of, frozenset(deliveries))
        return {DeliveryId(delivery): ts for delivery, ts in posts.items()}

    async def _find(
        self,
        channel: ChannelId,
        thread: MessageTs | None,
        since: datetime,
        marks_of: Callable[[dict[str, Any]], Iterable[str]],
        sought: frozenset[str],
    ) -> Mapping[str, MessageTs]:
        """Return the timestamps of the messages with the given marks.

        Raises SlackRefused if too many messages would be read.

        Args:
            since: The time from which on messages are searched.
            marks_of: Returns the marks of a message, such as the id of its delivery.
        """
        oldest = ts_at(since - _CLOCK_MARGIN)
        posts: dict[str, MessageTs] = {}
        read = messages_of(self._client, channel, thread, _MAX_PAGES, include_all_metadata=True)
        async for messages, has_more in read:
            for message in messages:
                for mark in sought.intersection(marks_of(message)):
                    posts[mark] = MessageTs(message["ts"])
            # A channel's newest messages come first. Its first page is read at any age, and a
            # thread as a whole: if this machine's clock is ahead, ``since`` is in Slack's future.
            if thread is None and messages and messages[-1]["ts"] < oldest:
                return posts
            if len(posts) == len(sought) or not has_more:
                return posts
        raise to_refusal("too_many_messages")

    async def read_messages_since(
        self, channel: ChannelId, *, thread: MessageTs | None, since: MessageTs
    ) -> Sequence[ThreadReply | Mention | Changed]:
        """Return people's messages after ``since``, and their changes.

        ``thread``: None for the direct messages of the channel.
        """
        bot = self._identity.bot_user if self._identity else UserId("")
        return await read_messages_since(
            self._client, bot, self._allowed_bots, channel, thread, since
        )

    async def find_message(
        self, channel: ChannelId, ts: MessageTs, *, thread: MessageTs | None
    ) -> Changed | None:
        """Return a person's message as it reads now; None if it was deleted."""
        return await find_message(self._client, channel, ts, thread)

    async def read_mentions_since(
        self, channel: ChannelId, *, since: MessageTs
    ) -> Sequence[Mention]:
        """Return people's mentions of the bot in a channel after ``since``, the newest first."""
        bot = self._identity.bot_user if self._identity else UserId("")
        return await read_mentions_since(self._client, bot, channel, since)

    async def read_earlier(
        self,
        channel: ChannelId,
        thread: MessageTs,
        *,
        before: MessageTs | None,
        since: MessageTs | None = None,
    ) -> Sequence[Said]:
        """Return a thread's first message and its newest ones between two times, oldest first."""
        return await read_earlier(self._client, channel, thread, before=before, since=since)

    async def edit(self, channel: ChannelId, ts: MessageTs, message: Message) -> None:
        """Replace the text and blocks of a message. A deleted message is no error.

        https://docs.slack.dev/reference/methods/chat.update
        """
        blocks = list(message.blocks) or None
        try:
            await answered(
                self._client.chat_update(channel=channel, ts=ts, text=message.text, blocks=blocks)
            )
        except SlackRefused as refusal:
            if refusal.code != "message_not_found":
                raise

    async def answer(
        self, response_url: SecretStr, message: Message, *, replaces: bool = False
    ) -> None:
        """Show a message to one person through a response URL.

        https://docs.slack.dev/interactivity/handling-user-interaction#message_responses
        """
        url = response_url.get_secret_value()
        if not self._is_slacks(url):
            raise to_refusal("response_url_elsewhere")
        body = {
            "response_type": "ephemeral",
            "replace_original": replaces,
            "text": message.text,
            "blocks": list(message.blocks),
        }
        response = await self._post(url, json=body)
        failed = read_response_url_error(response.status, response.retry_after, response.text)
        if failed is not None:
            raise failed

    async def whisper(
        self, channel: ChannelId, user: UserId, message: Message, *, thread: MessageTs | None
    ) -> None:
        """Show a message to one person, who must be in the channel; in a thread if one is given.

        https://docs.slack.dev/reference/methods/chat.postEphemeral
        """
        blocks = list(message.blocks) or None
        await answered(
            self._client.chat_postEphemeral(
                channel=channel, thread_ts=thread, user=user, text=message.text, blocks=blocks
            )
        )

    async def _post(self, url: str, **request: Any) -> _Response:
        """Post to an address outside of the Web API."""
        async with (
            translating_errors(),
            self._session.post(url, allow_redirects=False, **request) as answer,
        ):
            text = await answer.content.read(_MAX_RESPONSE_BYTES)
        return _Response(
            answer.status, answer.headers.get("Retry-After"), text.decode("utf-8", "replace")
        )

    def _is_slacks(self, url: str) -> bool:
        """Return whether a URL is on one of Slack's hosts or on the host of SLACK_API_URL."""
        parts = urlsplit(url)
        host = parts.hostname or ""
        return parts.netloc == self._api_host or (
            parts.scheme == "https" and host.endswith(_SLACK_HOSTS)
        )

    async def conversation_with(self, user: UserId) -> ChannelId:
        """Open the direct conversation with a user and return its id.

        https://docs.slack.dev/reference/methods/conversations.open
        """
        answer = await answered(self._client.conversations_open(users=user))
        return ChannelId(str((answer.get("channel") or {}).get("id") or ""))

    async def upload(
        self, channel: ChannelId, path: Path, *, name: str, text: str, confirm: Callable[[], None]
    ) -> str:
        """Upload a file in three steps, of which the last makes it visible; return its id.

        https://docs.slack.dev/messaging/working-with-files
        """
        stat = await asyncio.to_thread(path.stat)
        size_bytes = stat.st_size
        asking = self._client.files_getUploadURLExternal(filename=name, length=size_bytes)
        place = await answered(asking)
        await self._upload(str(place.get("upload_url") or ""), path, size_bytes)
        confirm()
        file_id = str(place.get("file_id") or "")
        files: list[dict[str, str | None]] = [{"id": file_id, "title": name}]
        await answered(
            self._client.files_completeUploadExternal(
                files=files, channel_id=channel, initial_comment=text
            )
        )
        return file_id

    async def _upload(self, url: str, path: Path, size_bytes: int) -> None:
        """Send the bytes of a file. A retry is safe, since the file is invisible until completed.

        An upload that breaks off counts as a refusal that may pass, so that its retries end.
        """
        if not self._is_slacks(url):
            raise to_refusal("upload_url_elsewhere")
        file = await asyncio.to_thread(path.open, "rb")
        try:
            timeout = aiohttp.ClientTimeout(total=upload_seconds(size_bytes), sock_connect=5)
            response = await self._post(url, data=file, timeout=timeout)
        except SlackUnclear:
            raise to_refusal("upload_broken_off") from None
        finally:
            file.close()
        if response.status == 429:
            raise SlackThrottled(wait_seconds(response.retry_after))
        if response.status >= 500:
            raise SlackUnreachable(f"HTTP {response.status}")
        if response.status != 200:
            raise to_refusal("upload_refused")

    async def describe_file(self, file: str) -> SharedFile:
        """Return a file by its id. Needs the scope ``files:read``.

        https://docs.slack.dev/reference/methods/files.info
        """
        answer = await answered(self._client.files_info(file=file))
        return read_file(answer.get("file") or {})._replace(id=None)

    async def read_text(self, url: str, *, most_bytes: int) -> str:
        """Return the content of a shared text file. Needs the scope ``files:read``."""
        if not self._is_slacks(url):
            raise to_refusal("file_elsewhere")
        return await read_text(self._session, url, self._client.token or "", most_bytes)

    async def has_file(self, channel: ChannelId, name: str, *, since: datetime) -> bool:
        """Return whether a message with a file of this name is in the channel."""
        return bool(await self._find(channel, None, since, _files_of, frozenset({name})))

    async def profile(self, user: UserId) -> Profile:
        """Return the kind of a user."""
        user_object = await self._user(user)
        is_bot = bool(user_object.get("is_bot") or user_object.get("is_workflow_bot"))
        return Profile(
            is_guest=bool(
                user_object.get("is_restricted") or user_object.get("is_ultra_restricted")
            ),
            # Slack does not mark Slackbot, which posts reminders and canned replies, as a bot.
            is_bot=is_bot or user == _SLACKBOT,
            is_stranger=bool(user_object.get("is_stranger")) or not self._is_ours(user_object),
            is_deleted=bool(user_object.get("deleted")) or not user_object,
        )

    async def _user(self, user: UserId) -> dict[str, Any]:
        """Return a user object from Slack.

        https://docs.slack.dev/reference/objects/user-object
        """
        answer = await answered(self._client.users_info(user=user))
        return answer.get("user") or {}

    def _is_ours(self, user_object: dict[str, Any]) -> bool:
        """Return whether a user is of this workspace or its organisation.

        False if Slack returns neither.
        """
        ours = self._identity
        if ours is None:
            return True
        team = user_object.get("team_id")
        if team and team == ours.team_id:
            return True
        enterprise = (user_object.get("enterprise_user") or {}).get("enterprise_id")
        return bool(enterprise) and enterprise == ours.enterprise_id

    async def group_members(self, group: str) -> frozenset[UserId]:
        """Return the members of a user group; cached for five minutes.

        https://docs.slack.dev/reference/methods/usergroups.users.list
        """
        members = self._groups.get(group, _GROUP_CACHE_SECONDS)
        if members is None:
            answer = await answered(self._client.usergroups_users_list(usergroup=group))
            members = frozenset(UserId(str(user)) for user in answer.get("users") or [])
            self._groups.put(group, members)
        return members

    async def group_handles(self) -> Mapping[str, str]:
        """Return the handles of user groups by id; cached for five minutes.

        https://docs.slack.dev/reference/methods/usergroups.list
        """
        handles = self._handles.get(_ALL_GROUPS, _GROUP_CACHE_SECONDS)
        if handles is None:
            answer = await answered(self._client.usergroups_list())
            handles = {
                str(group.get("id")): str(group.get("handle") or group.get("name") or "")
                for group in answer.get("usergroups") or []
            }
            self._handles.put(_ALL_GROUPS, handles)
        return handles

    async def user_zone(self, user: UserId) -> str | None:
        """Return a user's time zone; None if it is missing, or unknown on this machine."""
        user_object = await self._user(user)
        zone = str(user_object.get("tz") or "")
        return zone if is_zone(zone) else None

    async def react(self, channel: ChannelId, ts: MessageTs, name: str) -> None:
        """Add a reaction to a message. A reaction that the message already has is no error.

        https://docs.slack.dev/reference/methods/reactions.add
        """
        try:
            await answered(self._client.reactions_add(channel=channel, timestamp=ts, name=name))
        except SlackRefused as refusal:
            if refusal.code != "already_reacted":
                raise

    async def join(self, channel: ChannelId) -> None:
        """Join a public channel.

        https://docs.slack.dev/reference/methods/conversations.join
        """
        await answered(self._client.conversations_join(channel=channel))

    async def user_name(self, user: UserId) -> str:
        """Return a user's display name, or else the full name; cached for an hour."""
        name = self._names.get(user, _NAME_CACHE_SECONDS)
        if name is None:
            user_object = await self._user(user)
            profile = user_object.get("profile") or {}
            names = (
                profile.get("display_name"),
                profile.get("real_name"),
                user_object.get("real_name"),
                user_object.get("name"),
            )
            name = next((str(name) for name in names if name), user)
            self._names.put(user, name)
        return name

    async def channel_name(self, channel: ChannelId) -> str:
        """Return a channel's name; cached for an hour."""
        name = self._names.get(channel, _NAME_CACHE_SECONDS)
        if name is None:
            channel_object = await self._channel(channel)
            name = str(channel_object.get("name") or channel)
            self._names.put(channel, name)
        return name


def _delivery_of(message: dict[str, Any]) -> Iterable[str]:
    metadata = message.get("metadata") or {}
    if metadata.get("event_type") == EVENT_TYPE:
        yield str((metadata.get("event_payload") or {}).get("delivery"))


def _files_of(message: dict[str, Any]) -> Iterable[str]:
    for file in message.get("files") or []:
        yield from (str(file.get("name")), str(file.get("title")))
