"""The options of a workspace, and the app that is installed there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml

PREFIXES = {"public_channel": "channels", "private_channel": "groups", "im": "im", "mpim": "mpim"}
"""How the scopes for each kind of conversation begin."""
_DEFAULT_COMMANDS = tuple(
    {"command": name, "description": "", "usage_hint": "", "should_escape": True}
    for name in ("/docs-agent", "/docs-followup")
)


@dataclass(frozen=True, slots=True)
class WorkspaceOptions:
    """Options of a workspace: the folder of its data, its secrets, and its limits.

    ``events_url`` receives signed requests; None means Socket Mode. ``manifest`` declares the app; without
    one, the app has every scope that the workspace knows. ``redeliver_after_seconds`` are the delays before
    each further delivery of an event that was not acknowledged. Slack's are: almost at once, one minute,
    five minutes. https://docs.slack.dev/apis/events-api
    ``tier_calls_a_minute`` are the limits of tiers 2, 3 and 4. ``special_calls_a_minute`` is the limit of
    each method for which Slack promises several hundred calls a minute without a number,
    ``chat.postMessage`` among them. ``minute_seconds`` is the minute of both.
    ``ticket_seconds`` is the life of a ticket for a socket; Slack does not publish the life of theirs.

    ``refused_blocks`` are the kinds of block that the workspace does not have, such as ``data_table``. A call
    with one fails with ``refused_blocks_error`` (``invalid_blocks`` or ``feature_disabled``); an
    acknowledgement with one is not shown.
    """

    folder: Path
    bot_token: str = "xoxb-sandbox"  # noqa: S105
    app_token: str = "xapp-sandbox"  # noqa: S105
    signing_secret: str = "sandbox-signing-secret"  # noqa: S105
    events_url: str | None = None
    manifest: Path | None = None
    docs_service_url: str | None = None
    enforce_rates: bool = True
    tier_calls_a_minute: tuple[int, int, int] = (20, 50, 100)
    special_calls_a_minute: int = 300
    minute_seconds: float = 60.0
    channel_burst: int = 4
    refused_blocks: frozenset[str] = frozenset()
    refused_blocks_error: str = "invalid_blocks"
    ack_seconds: float = 3.0
    ticket_seconds: float = 30.0
    trigger_seconds: float = 3.0
    response_url_seconds: float = 1_800.0
    response_url_uses: int = 5
    redeliver_after_seconds: tuple[float, ...] = (0.5, 60.0, 300.0)


_SCOPES_OF_EVENTS = {
    "app_mention": ("app_mentions:read",),
    "channel_id_changed": ("channels:read", "groups:read", "im:read", "mpim:read"),
    "member_joined_channel": ("channels:read", "groups:read"),
}
"""The scopes of which an event needs one; that of a message needs the history of its kind of channel."""


@dataclass(frozen=True, slots=True)
class App:
    """The scopes and events of the installed app's manifest; None means all.

    https://docs.slack.dev/reference/app-manifest
    """

    commands: Sequence[dict[str, Any]] = _DEFAULT_COMMANDS
    shortcuts: Sequence[dict[str, Any]] = ()
    scopes: frozenset[str] | None = None
    events: frozenset[str] | None = None
    has_home: bool = True

    def has(self, scope: str) -> bool:
        """Return whether the app has this scope."""
        return self.scopes is None or scope in self.scopes

    def hears(self, event: str) -> bool:
        """Return whether the app subscribed to this event and has its scope.

        https://docs.slack.dev/reference/events
        """
        if self.events is not None and event not in self.events:
            return False
        if event == "app_home_opened":
            return self.has_home
        history = f"{event.removeprefix('message.')}:history"
        return any(self.has(scope) for scope in _SCOPES_OF_EVENTS.get(event, (history,)))


def read_app(manifest: Path | None) -> App:
    """Return the app of a manifest. Commands and shortcuts need the scope ``commands``."""
    if manifest is None:
        return App()
    read: dict[str, Any] = yaml.safe_load(manifest.read_text(encoding="utf-8"))
    features, settings = read.get("features") or {}, read.get("settings") or {}
    scopes = frozenset(((read.get("oauth_config") or {}).get("scopes") or {}).get("bot") or ())
    offered = features if "commands" in scopes else {}
    return App(
        commands=offered.get("slash_commands") or (),
        shortcuts=offered.get("shortcuts") or (),
        scopes=scopes,
        events=frozenset((settings.get("event_subscriptions") or {}).get("bot_events") or ()),
        has_home=bool((features.get("app_home") or {}).get("home_tab_enabled")),
    )


def utcnow() -> datetime:
    """Return the current time, timezone-aware, in UTC."""
    return datetime.now(UTC)
