"""Pure functions that turn the payloads of commands, buttons and forms into typed requests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from pydantic import SecretStr

from bot.access.admit import Claimed
from bot.commands.command import Arrived, FormState, Invocation, Press, ShortcutUse, Submission
from bot.ids import ChannelId, MessageTs, RequestKey, UserId, is_direct_message
from bot.messages import slack_text
from bot.messages.plain_text import clip
from bot.ports import Origin
from bot.slack.block_text import MAX_CHARACTERS
from bot.slack.content import read_content

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


def to_ts(value: str | None) -> MessageTs | None:
    """Return a timestamp of Slack's; None for a missing or an empty one."""
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
        to_ts(thread if thread != ts else None),
        to_ts(ts),
        SecretStr(body["response_url"]) if body.get("response_url") else None,
    )


def invocation(body: Payload) -> Arrived[Invocation]:
    """Return a slash command.

    https://docs.slack.dev/interactivity/implementing-slash-commands
    """
    origin = asker(body, "command")
    command = body["command"]
    text = clip(body.get("text") or "", MAX_CHARACTERS)
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
            return clip(str(state[name]), MAX_CHARACTERS)
    return None


def shortcut_use(body: Payload) -> Arrived[ShortcutUse]:
    """Return the use of a message shortcut. The message that begins a thread belongs to it, too.

    https://docs.slack.dev/reference/interaction-payloads/shortcuts-interaction-payload
    """
    message = body["message"]
    origin = replace(asker(body, "shortcut"), thread=to_ts(message.get("thread_ts")))
    content = read_content(message)
    return Arrived(origin, lambda allowed: ShortcutUse(allowed, content), origin.channel)
