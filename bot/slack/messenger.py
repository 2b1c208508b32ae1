"""The outgoing side: implements the Messenger port with Slack's Web API. It makes no decisions or retries."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

import aiohttp
from pydantic import SecretStr
from slack_sdk.web.async_client import AsyncWebClient

from bot.ids import ChannelId, DeliveryId, Message, MessageTs, UserId
from bot.ports import (
    Changed,
    Mention,
    Profile,
    Said,
    SlackRefused,
    SlackThrottled,
    SlackUnclear,
    SlackUnreachable,
    ThreadReply,
    is_zone,
)
from bot.slack.client import (
    Identity,
    answered,
    of_response_url,
    to_refusal,
    translated,
    wait_seconds,
)
from bot.slack.payloads import messages_of, read_earlier, read_messages_since
from bot.slack.rooms import SlackRooms
from bot.ttl_cache import TtlCache


async def read_text(session: aiohttp.ClientSession, url: str, token: str, most_bytes: int) -> str:
    """Return the text of a file at one of Slack's addresses, which gets the token. Raises a SlackError.

    Redirects are not followed, so the token goes nowhere else. Without the scope ``files:read`` Slack
    redirects, or returns a page to sign in. https://docs.slack.dev/messaging/working-with-files
    """
    headers = {"Authorization": f"Bearer {token}"}
    async with translated(), session.get(url, headers=headers, allow_redirects=False) as answer:
        if answer.status == 429:
            raise SlackThrottled(wait_seconds(answer.headers.get("Retry-After")))
        if answer.status != 200 or answer.content_type == "text/html":
            raise to_refusal("file_not_returned")
        content = b""
        async for piece in answer.content.iter_any():
            content += piece
            if len(content) > most_bytes:
                raise to_refusal("file_too_large")
    return _decoded(content)


def _decoded(content: bytes) -> str:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = "\x00"
    if "\x00" in text:
        raise to_refusal("file_is_no_text")
    return text


def upload_seconds(size_bytes: int) -> float:
    """Return how long the upload of a file may take: longer for a large one, and less than a lease."""
    return min(30.0 + size_bytes / 50_000, 75.0)


EVENT_TYPE = "docs_agent_delivery"
_MARGIN = timedelta(seconds=120)
"""Tolerated difference between the clocks of this machine and Slack when searching for a post."""
_MOST_PAGES = 50
_NAME_SECONDS = 3_600.0
_GROUP_SECONDS = 300.0
_SLACKS = (".slack.com", ".slack-gov.com")
"""The second is GovSlack: https://docs.slack.dev/govslack"""
_SLACKBOT = UserId("USLACKBOT")


class SlackMessenger(SlackRooms):
    """Implements ``bot.ports.Messenger``."""

    def __init__(
        self,
        client: AsyncWebClient,
        session: aiohttp.ClientSession,
        api_url: str,
        identity: Identity | None = None,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._identity = identity
        super().__init__(client, clock)
        self._session = session
        self._api_host = urlsplit(api_url).netloc
        self._names = TtlCache[str, str](5_000, clock)
        self._groups = TtlCache[str, frozenset[UserId]](clock=clock)

    async def post(
        self,
        channel: ChannelId,
        message: Message,
        *,
        delivery: DeliveryId,
        thread: MessageTs | None,
    ) -> MessageTs:
        """Post a message and return its timestamp.

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
        ts = (await answered(posting)).get("ts")
        if not ts:
            raise SlackUnclear("an answer without ts")
        return MessageTs(str(ts))

    async def find_posted(
        self,
        channel: ChannelId,
        *,
        deliveries: Collection[DeliveryId],
        thread: MessageTs | None,
        since: datetime,
    ) -> Mapping[DeliveryId, MessageTs]:
        """Search the thread (the channel if None) for deliveries' messages and return their timestamps."""
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
        """Read messages until all with a mark that is sought are found, or there are no more.

        Raises SlackRefused if they are too many to be read again and again.
        """
        oldest = f"{(since - _MARGIN).timestamp():.6f}"
        posts: dict[str, MessageTs] = {}
        read = messages_of(self._client, channel, thread, _MOST_PAGES, include_all_metadata=True)
        async for messages, has_more in read:
            for message in messages:
                posts |= {
                    mark: MessageTs(message["ts"])
                    for mark in sought.intersection(marks_of(message))
                }
            # A channel's newest messages come first. The first page of them is read at any age, and a
            # thread as a whole: this machine's clock may be ahead, so that ``since`` has not come in Slack.
            if thread is None and messages and messages[-1]["ts"] < oldest:
                return posts
            if len(posts) == len(sought) or not has_more:
                return posts
        raise to_refusal("too_many_messages")

    async def read_messages_since(
        self, channel: ChannelId, *, thread: MessageTs | None, since: MessageTs
    ) -> Sequence[ThreadReply | Mention | Changed]:
        """Return people's messages of a thread (None: direct messages) after ``since``, and their edits."""
        bot = self._identity.bot_user if self._identity else UserId("")
        return await read_messages_since(self._client, bot, channel, thread, since)

    async def read_earlier(
        self, channel: ChannelId, thread: MessageTs, *, before: MessageTs | None
    ) -> Sequence[Said]:
        """Return the messages of a thread before a message, oldest first; all of them if None."""
        return await read_earlier(self._client, channel, thread, before)

    async def edit(self, channel: ChannelId, ts: MessageTs, message: Message) -> None:
        """Replace the text and blocks of a message; one that somebody has deleted is no error.

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
        """Post a message through a response URL, visible to one person only.

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
        failed = of_response_url(*await self._post(url, json=body))
        if failed is not None:
            raise failed

    async def whisper(
        self, channel: ChannelId, user: UserId, message: Message, *, thread: MessageTs | None
    ) -> None:
        """Post a message that one person sees, who must be in the channel; in a thread if one is given.

        https://docs.slack.dev/reference/methods/chat.postEphemeral
        """
        blocks = list(message.blocks) or None
        await answered(
            self._client.chat_postEphemeral(
                channel=channel, thread_ts=thread, user=user, text=message.text, blocks=blocks
            )
        )

    async def _post(self, url: str, **request: Any) -> tuple[int, str | None, str]:
        async with (
            translated(),
            self._session.post(url, allow_redirects=False, **request) as answer,
        ):
            text = await answer.content.read(2_000)
        return answer.status, answer.headers.get("Retry-After"), text.decode("utf-8", "replace")

    def _is_slacks(self, url: str) -> bool:
        """Return whether a URL is on one of Slack's hosts or on the host of SLACK_API_URL."""
        parts = urlsplit(url)
        host = parts.hostname or ""
        return parts.netloc == self._api_host or (
            parts.scheme == "https" and host.endswith(_SLACKS)
        )

    async def send_direct(self, user: UserId, message: Message, *, delivery: DeliveryId) -> None:
        """Post a direct message; open the conversation with this person first."""
        await self.post(await self.conversation_with(user), message, delivery=delivery, thread=None)

    async def conversation_with(self, user: UserId) -> ChannelId:
        """Open the direct conversation with a user and return its id.

        https://docs.slack.dev/reference/methods/conversations.open
        """
        answer = await answered(self._client.conversations_open(users=user))
        return ChannelId(str((answer.get("channel") or {}).get("id") or ""))

    async def upload(
        self, channel: ChannelId, path: Path, *, name: str, text: str, confirm: Callable[[], None]
    ) -> None:
        """Upload a file in three steps; only the last one makes it visible.

        https://docs.slack.dev/messaging/working-with-files
        """
        size = (await asyncio.to_thread(path.stat)).st_size
        place = await answered(self._client.files_getUploadURLExternal(filename=name, length=size))
        await self._send(str(place.get("upload_url") or ""), path, size)
        confirm()
        files: list[dict[str, str | None]] = [
            {"id": str(place.get("file_id") or ""), "title": name}
        ]
        await answered(
            self._client.files_completeUploadExternal(
                files=files, channel_id=channel, initial_comment=text
            )
        )

    async def _send(self, url: str, path: Path, size: int) -> None:
        """Send the file's bytes. This is safe to retry, since the file is invisible until completed.

        A large file gets more time, within the lease of its delivery. One that breaks off each time is given
        up, as after any other refusal that may pass.
        """
        if not self._is_slacks(url):
            raise to_refusal("upload_url_elsewhere")
        file = await asyncio.to_thread(path.open, "rb")
        try:
            timeout = aiohttp.ClientTimeout(total=upload_seconds(size), sock_connect=5)
            status, retry_after, _ = await self._post(url, data=file, timeout=timeout)
        except SlackUnclear:
            raise to_refusal("upload_broken_off") from None
        finally:
            file.close()
        if status == 429:
            raise SlackThrottled(wait_seconds(retry_after))
        if status >= 500:
            raise SlackUnreachable(f"HTTP {status}")
        if status != 200:
            raise to_refusal("upload_refused")

    async def read_text(self, url: str, *, most_bytes: int) -> str:
        """Return the content of a text file that somebody shared. Needs the scope ``files:read``."""
        if not self._is_slacks(url):
            raise to_refusal("file_elsewhere")
        return await read_text(self._session, url, self._client.token or "", most_bytes)

    async def find_file(self, channel: ChannelId, name: str, *, since: datetime) -> bool:
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
        """Return whether a user is of this workspace or its organisation; False if Slack returns neither."""
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
        members = self._groups.get(group, _GROUP_SECONDS)
        if members is None:
            answer = await answered(self._client.usergroups_users_list(usergroup=group))
            members = frozenset(UserId(str(user)) for user in answer.get("users") or [])
            self._groups.put(group, members)
        return members

    async def user_zone(self, user: UserId) -> str | None:
        """Return a user's time zone; None when it is missing or unknown here."""
        user_object = await self._user(user)
        zone = str(user_object.get("tz") or "")
        return zone if is_zone(zone) else None

    async def react(self, channel: ChannelId, ts: MessageTs, name: str) -> None:
        """Add a reaction to a message; one that is there already is no error.

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
        """Return a user's display name, or full name if there is none; cached for an hour."""
        name = self._names.get(user, _NAME_SECONDS)
        if name is None:
            user_object = await self._user(user)
            profile = user_object.get("profile") or {}
            name = str(
                profile.get("display_name")
                or profile.get("real_name")
                or user_object.get("real_name")
                or user_object.get("name")
                or user
            )
            self._names.put(user, name)
        return name

    async def channel_name(self, channel: ChannelId) -> str:
        """Return a channel's name; cached for an hour."""
        name = self._names.get(channel, _NAME_SECONDS)
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
