"""Pure functions that turn Slack's payloads into typed requests."""

from __future__ import annotations

import re
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Collection,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any

import structlog
from pydantic import SecretStr
from slack_sdk.web.async_client import AsyncWebClient

from bot.access.admit import Claimed
from bot.commands.command import Arrived, FormState, Invocation, Press, ShortcutUse, Submission
from bot.ids import ChannelId, MessageTs, Refusal, RequestKey, UserId, is_direct_message
from bot.messages import slack_text
from bot.messages.plain_text import clip
from bot.ports import (
    Changed,
    Mention,
    Origin,
    Said,
    SlackRefused,
    SlackUnclear,
    ThreadReply,
    message_key,
    time_of,
    ts_at,
)
from bot.slack.client import pages
from bot.slack.message_text import MOST_CHARACTERS, files_of, text_of

Payload = Mapping[str, Any]


class Malformed(ValueError):
    """A payload without a required field. The text of the error is the field's name alone."""


@contextmanager
def raising_malformed() -> Iterator[None]:
    """Raise Malformed for a payload that the block cannot read."""
    try:
        yield
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise Malformed(
            f"no {error}" if isinstance(error, KeyError) else type(error).__name__
        ) from None


_HUMAN_SUBTYPES = frozenset({None, "file_share", "thread_broadcast", "me_message"})
"""Subtypes of messages by people; all others are edits, bots or notices.

https://docs.slack.dev/reference/events/message
"""


def _ts(value: str | None) -> MessageTs | None:
    return MessageTs(value) if value else None


def asker(body: Payload, kind: str = "private") -> Origin:
    """Return who sent a command or an interaction, from where, and where private words about it belong.

    That is the thread in which the message of a button stands. One that begins a thread is in the channel.
    A view names its channel itself: the Home tab has that of the person's direct messages.
    """
    container, message = body.get("container") or {}, body.get("message") or {}
    home = FormState.loads((body.get("view") or {}).get("private_metadata") or "").channel
    user = body["user_id"] if "command" in body else body["user"]["id"]
    channel = (
        body.get("channel_id")
        or (body.get("channel") or {}).get("id")
        or container.get("channel_id")
    )
    channel = channel or home
    ts = container.get("message_ts") or message.get("ts")
    thread = container.get("thread_ts") or message.get("thread_ts")
    return Origin(
        RequestKey(f"{kind}:{body['trigger_id']}"),
        UserId(user),
        ChannelId(channel or ""),
        _ts(thread if thread != ts else None),
        _ts(ts),
        SecretStr(body["response_url"]) if body.get("response_url") else None,
    )


def invocation(body: Payload) -> Arrived[Invocation]:
    """Return a slash command.

    https://docs.slack.dev/interactivity/implementing-slash-commands
    """
    origin = asker(body, "command")
    command = body["command"]
    text = clip(body.get("text") or "", MOST_CHARACTERS)
    typed = f"{command} {slack_text.to_plain(text, {}, {})}".strip()
    return Arrived(
        origin, lambda allowed: Invocation(allowed, command, text), origin.channel, typed
    )


def press(body: Payload) -> Arrived[Press]:
    """Return a press of a button or a choice in a menu.

    https://docs.slack.dev/reference/interaction-payloads/block_actions-payload
    """
    action = body["actions"][0]
    value = action.get("value") or (action.get("selected_option") or {}).get("value") or ""
    origin, action_id = asker(body, "press"), action["action_id"]
    if not origin.channel and body.get("view"):
        form = FormState.loads(body["view"].get("private_metadata") or "")
        origin = replace(
            origin, channel=form.channel or ChannelId(""), response_url=form.response_url
        )
    # A button in a direct message may be about another channel.
    where = None if is_direct_message(origin.channel) else origin.channel
    return Arrived(origin, lambda allowed: Press(allowed, action_id, str(value)), where)


def home_opened(event: Payload) -> Origin | None:
    """Return who opened the Home tab, in their direct messages; None for the other tabs.

    https://docs.slack.dev/reference/events/app_home_opened
    """
    user, channel = event["user"], event["channel"]
    key = RequestKey(f"home:{user}:{event['event_ts']}")
    return Origin(key, UserId(user), ChannelId(channel)) if event.get("tab") == "home" else None


def submission(body: Payload) -> Arrived[Submission]:
    """Return the submission of a form.

    https://docs.slack.dev/reference/interaction-payloads/view-interactions-payload
    """
    view = body["view"]
    values = (view.get("state") or {}).get("values") or {}
    fields = {action: _field(state) for block in values.values() for action, state in block.items()}
    form = FormState.loads(view.get("private_metadata") or "")
    key, user = RequestKey(f"view:{view['id']}"), UserId(body["user"]["id"])
    origin = Origin(
        key, user, form.channel or ChannelId(""), form.thread, response_url=form.response_url
    )
    return Arrived(origin, lambda allowed: Submission(Claimed(allowed), fields, form), is_form=True)


def _field(state: Payload) -> str | None:
    chosen = state.get("selected_option")
    if chosen:
        return str(chosen["value"])
    if ticked := state.get("selected_options"):
        return ",".join(str(option["value"]) for option in ticked)
    for name in ("value", "selected_conversation", "selected_channel", "selected_user"):
        if state.get(name) is not None:
            return clip(str(state[name]), MOST_CHARACTERS)
    return None


def shortcut_use(body: Payload) -> Arrived[ShortcutUse]:
    """Return the use of a message shortcut. The message that begins a thread belongs to it, too.

    https://docs.slack.dev/reference/interaction-payloads/shortcuts-interaction-payload
    """
    message = body["message"]
    origin = replace(asker(body, "shortcut"), thread=_ts(message.get("thread_ts")))
    text = text_of(message)
    return Arrived(origin, lambda allowed: ShortcutUse(allowed, text), origin.channel)


CHANGES = frozenset({"message_changed", "message_deleted"})
"""Subtypes of events about a message that is there already, which ``changed`` reads."""


def spoken(
    event: Payload, bot: UserId, bots: Collection[UserId] = frozenset()
) -> ThreadReply | Mention | None:
    """Return a person's reply in a thread, mention or direct message; None for any other event and the bot's.

    A mention arrives as two events (``app_mention`` and ``message``), which get the same key. In a group
    direct message it may arrive as ``message`` alone, so there the text decides whether it is one.
    ``bots``: the apps and bot users whose mentions count, also in threads.
    """
    if event.get("user") == bot:
        return None
    if event.get("bot_id") and bots:
        return _mention_by_bot(event, bot, bots)
    if event.get("bot_id") or not event.get("user") or event.get("subtype") not in _HUMAN_SUBTYPES:
        return None
    origin, text, files = _origin(event), text_of(event), files_of(event)
    if origin.thread:
        parent = event.get("parent_user_id")
        author = UserId(parent) if parent else None
        return ThreadReply(origin, text, files, author, _version_of(event))
    kind = event.get("channel_type")
    is_meant = kind == "im" or (kind == "mpim" and slack_text.mentions(text, bot))
    mention = Mention(origin, text, files, _version_of(event))
    return mention if is_meant or event["type"] == "app_mention" else None


def _mention_by_bot(event: Payload, bot: UserId, bots: Collection[UserId]) -> Mention | None:
    """Return a mention by one of these apps or bot users, for which the id in ``bots`` stands."""
    app = event.get("app_id") or (event.get("bot_profile") or {}).get("app_id")
    by_bot = next(
        (UserId(user) for user in (event.get("user"), app) if user and user in bots), None
    )
    text, is_known = text_of(event), event.get("channel") and event.get("ts")
    if by_bot is None or not is_known or not slack_text.mentions(text, bot):
        return None
    if event.get("subtype") not in (*_HUMAN_SUBTYPES, "bot_message"):
        return None
    origin = _origin({**event, "user": by_bot})
    return Mention(origin, text, files_of(event), _version_of(event))


def changed(event: Payload, bot: UserId) -> Changed | None:
    """Return the edit of a message by its author, or its deletion; None for any other event and the bot's.

    Slack also sends a change for messages that only got a preview of a link. A deleted message with replies
    stays, as a tombstone. https://docs.slack.dev/reference/events/message/message_changed
    """
    before, now = event.get("previous_message") or {}, event.get("message") or {}
    match event.get("subtype"):
        case "message_deleted":
            now = {"subtype": "tombstone", "ts": event.get("deleted_ts")}
        case "message_changed" if now.get("ts"):
            pass
        case _:
            return None
    event_fields = {**before, "ts": now["ts"], "channel": event["channel"]}
    if before.get("bot_id") or bot in (before.get("user"), now.get("user")) or not now["ts"]:
        return None
    was = text_of(before) if before else None
    if now.get("subtype") == "tombstone":
        return Changed(
            _origin(event_fields | {"user": before.get("user") or ""}), None, event["ts"], was
        )
    if not _edited_by_author(now) or before.get("text") == now.get("text"):
        return None
    version = _version_of(now) or event["ts"]
    return Changed(_origin(event_fields | now), text_of(now), version, was, files_of(now))


def changed_after(since: MessageTs, message: Payload) -> Changed | None:
    """Return the edit of a message by its author after ``since``, or its deletion; None if there is neither.

    A deleted message that began a thread has no time of deletion.
    """
    if message.get("subtype") == "tombstone":
        return Changed(_origin({**message, "user": ""}), None, message["ts"])
    version = _version_of(message)
    if version <= since:
        return None
    return Changed(_origin(message), text_of(message), version, files=files_of(message))


def _version_of(message: Payload) -> str:
    """Return the time of a message's last edit by its author; an empty text for none."""
    return str(_edited_by_author(message).get("ts") or "")


def _edited_by_author(message: Payload) -> Payload:
    """Return who edited a person's message, and when, if that was its author; otherwise nothing."""
    edited, user = message.get("edited") or {}, message.get("user")
    is_human = user and not message.get("bot_id") and message.get("subtype") in _HUMAN_SUBTYPES
    return edited if is_human and edited.get("user") == user else {}


def said(message: Payload) -> Said | None:
    """Return a message of a thread that a person or a bot wrote; None for Slack's notices."""
    by_bot = bool(message.get("bot_id")) or message.get("subtype") == "bot_message"
    user = message.get("user")
    if not by_bot and (not user or message.get("subtype") not in _HUMAN_SUBTYPES):
        return None
    return Said(MessageTs(message["ts"]), UserId(user) if user else None, text_of(message), by_bot)


def _origin(event: Payload) -> Origin:
    channel, ts = ChannelId(event["channel"]), MessageTs(event["ts"])
    key, thread = message_key(channel, ts), _ts(event.get("thread_ts"))
    # The message that begins a thread names itself as its thread.
    return Origin(key, UserId(event["user"]), channel, thread if thread != ts else None, ts)


log = structlog.get_logger(__name__)
_PAGE = 200
_MOST_PAGES = 5
_TS = re.compile(r"\d{10}\.\d{6}")
_CHANGED_FOR = timedelta(hours=1)
"""Edits of older messages are not found, except of the first one of a thread, which Slack always returns."""


async def read_messages_since(
    client: AsyncWebClient,
    bot: UserId,
    channel: ChannelId,
    thread: MessageTs | None,
    since: MessageTs,
) -> Sequence[ThreadReply | Mention | Changed]:
    """Return the messages for which an event would have been handled, oldest first. Raises a SlackError.

    ``thread``: the thread to read; without one, the direct messages of the channel. Reads 1,000 messages at
    most. Messages that people edited have their newest text, and deleted ones are missing. Edits after
    ``since``, and deletions that left a thread behind, follow as changes: of older messages, and of these,
    because Slack may have delivered one with its old text in between.
    https://docs.slack.dev/reference/methods/conversations.replies
    https://docs.slack.dev/reference/methods/conversations.history
    """
    messages, is_cut = await _read(
        client, channel, thread, oldest=ts_at(time_of(since) - _CHANGED_FOR)
    )
    if is_cut:
        log.warning("too_much_missed", channel=channel, read=len(messages))
    event_fields = {"type": "message", "channel": channel, "channel_type": None if thread else "im"}
    # Slack returns the first message of a thread at any age.
    all_of_it = [messages[ts] | event_fields for ts in sorted(messages) if _TS.fullmatch(ts)]
    # A mention that could not be taken is read as the beginning of the thread under it.
    for message in all_of_it:
        if message["ts"] == thread and slack_text.mentions(text_of(message), bot):
            message["type"] = "app_mention"
    replies = (spoken(message, bot) for message in all_of_it if message["ts"] > since)
    changed = (changed_after(since, message) for message in all_of_it)
    return [message for message in (*replies, *changed) if message is not None]


async def find_message(
    client: AsyncWebClient, channel: ChannelId, ts: MessageTs, thread: MessageTs | None
) -> Changed | None:
    """Return a message as it reads now; None if it was deleted. Raises a SlackError.

    https://docs.slack.dev/reference/methods/conversations.replies
    """
    begin = thread or ts
    moment = timedelta(microseconds=1)
    around = {"oldest": ts_at(time_of(ts) - moment), "latest": ts_at(time_of(ts) + moment)}
    try:
        messages, _ = await _read(client, channel, begin, **around)
    except SlackRefused as refusal:
        if refusal.meaning is Refusal.THREAD_GONE:
            return None
        raise
    found = messages.get(ts)
    if found is None or found.get("subtype") == "tombstone":
        return None
    origin = _origin({"user": "", **found, "channel": channel})
    return Changed(origin, text_of(found), _version_of(found), files=files_of(found))


async def read_mentions_since(
    client: AsyncWebClient, bot: UserId, channel: ChannelId, since: MessageTs
) -> Sequence[Mention]:
    """Return people's mentions of the bot in a channel after ``since``, newest first. Raises a SlackError.

    https://docs.slack.dev/reference/methods/conversations.history
    """
    messages, _ = await _read(client, channel, None, oldest=since)
    mentions = list[Mention]()
    for ts in sorted(messages, reverse=True):
        message = {"type": "app_mention", "channel": channel, **messages[ts], "thread_ts": None}
        message["type"] = "app_mention"
        if not _TS.fullmatch(ts) or not slack_text.mentions(text_of(message), bot):
            continue
        mention = spoken(message, bot)
        if isinstance(mention, Mention):
            mentions.append(mention)
    return mentions


async def read_earlier(
    client: AsyncWebClient, channel: ChannelId, thread: MessageTs, before: MessageTs | None
) -> Sequence[Said]:
    """Return the messages of a thread before a message, oldest first. Raises a SlackError.

    Slack returns the oldest messages first, so a thread with more than 1,000 is not read.
    https://docs.slack.dev/reference/methods/conversations.replies
    """
    messages, is_cut = await _read(client, channel, thread, latest=before)
    if is_cut:
        raise SlackUnclear("too many messages in the thread")
    # Slack returns the first message of a thread at any age.
    older = (
        messages[ts]
        for ts in sorted(messages)
        if _TS.fullmatch(ts) and (before is None or ts < before)
    )
    read = (said(message) for message in older)
    return [each for each in read if each is not None]


async def _read(
    client: AsyncWebClient, channel: ChannelId, thread: MessageTs | None, **options: str | None
) -> tuple[dict[str, dict[str, Any]], bool]:
    """Return up to 1,000 messages of a conversation by timestamp, and whether there are more."""
    messages_by_ts: dict[str, dict[str, Any]] = {}
    is_cut = False
    async for messages, has_more in messages_of(client, channel, thread, _MOST_PAGES, **options):
        messages_by_ts |= {str(message.get("ts")): message for message in messages}
        is_cut = has_more
    return messages_by_ts, is_cut


async def messages_of(
    client: AsyncWebClient,
    channel: ChannelId,
    thread: MessageTs | None,
    most_pages: int,
    **options: Any,
) -> AsyncIterator[tuple[Sequence[dict[str, Any]], bool]]:
    """Yield pages of a thread's messages, or of the channel's for None, each with whether more follow."""
    method: Callable[..., Awaitable[Any]] = client.conversations_history
    if thread is not None:
        method, options["ts"] = client.conversations_replies, thread
    async for page, has_more in pages(method, most_pages, channel=channel, limit=_PAGE, **options):
        yield page.get("messages") or [], has_more
