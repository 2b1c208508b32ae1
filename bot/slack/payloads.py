"""Pure functions that turn the payloads of commands, buttons and forms into typed requests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from pydantic import SecretStr

from bot.access.admit import Allowed, Claimed
from bot.commands.command import (
    ArrivedRequest,
    FormState,
    Invocation,
    Press,
    ShortcutUse,
    Submission,
    TooLong,
)
from bot.ids import ChannelId, MessageTs, RequestKey, UserId, is_direct_message
from bot.messages import slack_text
from bot.messages.plain_text import clip
from bot.ports import Origin
from bot.slack.block_text import MAX_CHARACTERS
from bot.slack.content import read_content

Payload = Mapping[str, Any]


class Malformed(ValueError):
    """A payload that cannot be read. The error's text names a field, or another error."""


@contextmanager
def raising_malformed() -> Iterator[None]:
    """Raise Malformed for a payload of another form than the block reads."""
    try:
        yield
    except KeyError as error:
        raise Malformed(f"no {error}") from None
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise Malformed(type(error).__name__) from None


def to_ts(value: str | None) -> MessageTs | None:
    """Return a timestamp of Slack's; None for a missing or an empty one."""
    return MessageTs(value) if value else None


def asker(body: Payload, kind: str = "private") -> Origin:
    """Return the origin of a command or an interaction. Its thread is the thread of a button's
    message. A message that begins a thread is in the channel.
    ``kind``: the beginning of the key.
    """
    container = body.get("container") or {}
    message = body.get("message") or {}
    user = body["user_id"] if "command" in body else body["user"]["id"]
    ts = container.get("message_ts") or message.get("ts")
    thread = container.get("thread_ts") or message.get("thread_ts")
    url = body.get("response_url")
    return Origin(
        key=RequestKey(f"{kind}:{body['trigger_id']}"),
        user=UserId(user),
        channel=ChannelId(_channel_in(body)),
        thread=to_ts(thread if thread != ts else None),
        message_ts=to_ts(ts),
        response_url=SecretStr(url) if url else None,
    )


def _channel_in(body: Payload) -> str:
    """Return the channel of a command or an interaction; "" outside of any.

    The Home tab has the channel of the person's direct messages in its state.
    """
    channel = body.get("channel_id") or (body.get("channel") or {}).get("id")
    channel = channel or (body.get("container") or {}).get("channel_id")
    return str(channel or _form_of(body).channel or "")


def _form_of(body: Payload) -> FormState:
    """Return the state of a form or of the Home tab; an empty one elsewhere."""
    return FormState.loads((body.get("view") or {}).get("private_metadata") or "")


def invocation(body: Payload) -> ArrivedRequest[Invocation]:
    """Return a slash command.

    https://docs.slack.dev/interactivity/implementing-slash-commands
    """
    origin = asker(body, "command")
    command = body["command"]
    whole = body.get("text") or ""
    text = clip(whole, MAX_CHARACTERS)
    text_to_copy = f"{command} {slack_text.to_plain(text, {}, {})}".strip()

    def request_of(allowed: Allowed) -> Invocation:
        if text != whole:
            raise TooLong(MAX_CHARACTERS)
        return Invocation(allowed, command, text)

    return ArrivedRequest(origin, request_of, origin.channel, text_to_copy)


def press(body: Payload) -> ArrivedRequest[Press]:
    """Return a press of a button or a choice in a menu.

    https://docs.slack.dev/reference/interaction-payloads/block_actions-payload
    """
    action = body["actions"][0]
    action_id = action["action_id"]
    value = action.get("value") or (action.get("selected_option") or {}).get("value") or ""
    origin = asker(body, "press")
    if not origin.channel and body.get("view"):
        form = _form_of(body)
        origin = replace(
            origin, channel=form.channel or ChannelId(""), response_url=form.response_url
        )
    # A button in a direct message may be about another channel.
    channel = None if is_direct_message(origin.channel) else origin.channel
    return ArrivedRequest(origin, lambda allowed: Press(allowed, action_id, str(value)), channel)


def home_opened(event: Payload) -> Origin | None:
    """Return the origin of the opening of the Home tab; None for the other tabs.

    Its channel is the person's direct messages.
    https://docs.slack.dev/reference/events/app_home_opened
    """
    user = event["user"]
    key = RequestKey(f"home:{user}:{event['event_ts']}")
    origin = Origin(key, UserId(user), ChannelId(event["channel"]))
    return origin if event.get("tab") == "home" else None


def submission(body: Payload) -> ArrivedRequest[Submission]:
    """Return the submission of a form.

    https://docs.slack.dev/reference/interaction-payloads/view-interactions-payload
    """
    view = body["view"]
    values = (view.get("state") or {}).get("values") or {}
    fields: dict[str, str | None] = {}
    for block in values.values():
        for action, state in block.items():
            fields[action] = _read_entry(state)
    form = _form_of(body)
    origin = Origin(
        key=RequestKey(f"view:{view['id']}"),
        user=UserId(body["user"]["id"]),
        channel=form.channel or ChannelId(""),
        thread=form.thread,
        response_url=form.response_url,
    )

    def request_of(allowed: Allowed) -> Submission:
        if any(len(entry or "") > MAX_CHARACTERS for entry in fields.values()):
            raise TooLong(MAX_CHARACTERS)
        return Submission(Claimed(allowed), fields, form)

    return ArrivedRequest(origin, request_of, is_form=True)


def _read_entry(state: Payload) -> str | None:
    """Return the entry of an input; None for an empty one."""
    chosen = state.get("selected_option")
    if chosen:
        return str(chosen["value"])
    if ticked := state.get("selected_options"):
        return ",".join(str(option["value"]) for option in ticked)
    for name in ("value", "selected_conversation", "selected_channel", "selected_user"):
        if state.get(name) is not None:
            return str(state[name])
    return None


def shortcut_use(body: Payload) -> ArrivedRequest[ShortcutUse]:
    """Return the use of a message shortcut. The first message of a thread belongs to it, too.

    https://docs.slack.dev/reference/interaction-payloads/shortcuts-interaction-payload
    """
    message = body["message"]
    origin = replace(asker(body, "shortcut"), thread=to_ts(message.get("thread_ts")))
    content = read_content(message)
    is_own = message.get("user") == origin.user and not message.get("bot_id")

    def request_of(allowed: Allowed) -> ShortcutUse:
        return ShortcutUse(allowed, content, is_own)

    return ArrivedRequest(origin, request_of, origin.channel)
