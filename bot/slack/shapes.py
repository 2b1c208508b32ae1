"""The parts of Slack's payloads that Bolt and the listeners rely on. Payloads may have others.

https://docs.slack.dev/apis/events-api and https://docs.slack.dev/reference/interaction-payloads
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

_Object = dict[str, Any]


class _Shape(BaseModel):
    model_config = ConfigDict(strict=True, defer_build=True)


class _Named(_Shape):
    id: str


_Ref = str | _Object | None
"""Where Slack sends an id in some payloads and an object in others."""


class _Said(_Shape):
    """What messages, events and their parts have in common."""

    user: _Ref = None
    channel: _Ref = None
    team: _Ref = None
    text: str | None = None
    ts: str | None = None
    thread_ts: str | None = None
    bot_id: str | None = None
    subtype: str | None = None
    parent_user_id: str | None = None
    channel_type: str | None = None
    files: list[Any] | None = None
    attachments: list[Any] | None = None
    edited: _Object | None = None
    app_id: str | None = None
    bot_profile: _Object | None = None


class _Event(_Said):
    type: str
    message: _Said | None = None
    previous_message: _Said | None = None
    deleted_ts: str | None = None


class _Heard(_Event):
    """A message that somebody wrote; edits and notices have no such parts."""

    channel: str
    ts: str


class _Message(_Said):
    ts: str


class _Option(_Shape):
    value: str


class _Action(_Shape):
    action_id: str
    block_id: str | None = None
    value: Any = None
    selected_option: _Option | None = None


class _Field(_Shape):
    selected_option: _Option | None = None
    selected_options: list[_Option] | None = None


class _State(_Shape):
    values: dict[str, dict[str, _Field]] = {}


class _Block(_Shape):
    type: str
    block_id: str | None = None


class _View(_Shape):
    type: str
    id: str
    callback_id: str
    private_metadata: str | None = None
    state: _State | None = None
    blocks: list[_Block] | None = None


class _Container(_Shape):
    channel_id: str | None = None
    message_ts: str | None = None
    thread_ts: str | None = None


class _ResponseUrl(_Shape):
    response_url: str | None = None


class _Any(_Shape):
    """What Bolt looks at in every payload."""

    type: str | None = None
    enterprise: _Ref = None
    team: _Ref = None
    user: _Ref = None
    channel: _Ref = None
    enterprise_id: str | None = None
    team_id: str | None = None
    user_id: str | None = None
    channel_id: str | None = None
    thread_ts: str | None = None
    trigger_id: str | None = None
    callback_id: str | None = None
    action_id: str | None = None
    response_url: str | None = None
    response_urls: list[_ResponseUrl] | None = None
    authorizations: list[_Object] | None = None
    event: _Object | None = None
    event_id: str | None = None


class _Command(_Any):
    command: str
    text: str | None = None
    trigger_id: str
    user_id: str
    channel_id: str


class _EventCallback(_Any):
    event: _Event  # type: ignore[assignment]


class _Pressed(_Any):
    trigger_id: str
    user: _Named  # type: ignore[assignment]
    channel: _Named | None = None  # type: ignore[assignment]
    container: _Container | None = None
    actions: list[_Action] = Field(min_length=1)


class _Submitted(_Any):
    user: _Named  # type: ignore[assignment]
    view: _View


class _Shortcut(_Any):
    trigger_id: str
    callback_id: str
    user: _Named  # type: ignore[assignment]


class _MessageShortcut(_Shortcut):
    channel: _Named  # type: ignore[assignment]
    message: _Message


_KINDS: dict[str, type[_Any]] = {
    "event_callback": _EventCallback,
    "block_actions": _Pressed,
    "view_submission": _Submitted,
    "view_closed": _Submitted,
    "shortcut": _Shortcut,
    "message_action": _MessageShortcut,
}


def has_known_shape(body: _Object) -> bool:
    """Return whether a payload has the parts that Slack sends in every payload of its kind."""
    kind = body.get("type")
    shape = _Command if "command" in body else _KINDS.get(kind, _Any) if isinstance(kind, str) else _Any
    try:
        shape.model_validate(body)
        event = body.get("event")
        if shape is _EventCallback and _is_written(event):
            _Heard.model_validate(event)
    except ValidationError:
        return False
    return True


def _is_written(event: Any) -> bool:
    return event["type"] in ("message", "app_mention") and bool(event.get("user")) and not event.get("bot_id")
