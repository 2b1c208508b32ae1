"""The app that is installed, as its manifest declares it: commands, shortcuts, scopes and events.

https://docs.slack.dev/reference/app-manifest
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from sandbox.workspace.scopes import EVENT_SCOPES, METHOD_SCOPES
from sandbox.workspace.state import Json

_ALL_SCOPES = frozenset[str]().union(*METHOD_SCOPES.values(), *EVENT_SCOPES.values())
_DEFAULT_COMMANDS = (
    {"command": "/docs-agent", "description": "", "usage_hint": "", "should_escape": True},
    {"command": "/docs-followup", "description": "", "usage_hint": "", "should_escape": True},
)


@dataclass(frozen=True, slots=True)
class App:
    """What the installed app may do and hears of; by default all that the workspace knows."""

    commands: Sequence[Json] = _DEFAULT_COMMANDS
    shortcuts: Sequence[Json] = ()
    scopes: frozenset[str] = _ALL_SCOPES
    events: frozenset[str] = frozenset(EVENT_SCOPES)

    def hears(self, event: str) -> bool:
        """Return whether the app subscribed to this event and has a scope for it."""
        return event in self.events and not self.scopes.isdisjoint(EVENT_SCOPES[event])


def read_app(manifest: Path | None) -> App:
    """Return the app of a manifest. Commands and shortcuts need the scope ``commands``."""
    if manifest is None:
        return App()
    read: Json = yaml.safe_load(manifest.read_text(encoding="utf-8"))
    features, settings = read.get("features") or {}, read.get("settings") or {}
    scopes = frozenset(((read.get("oauth_config") or {}).get("scopes") or {}).get("bot") or ())
    offered = features if "commands" in scopes else {}
    return App(
        commands=offered.get("slash_commands") or (),
        shortcuts=offered.get("shortcuts") or (),
        scopes=scopes,
        events=frozenset((settings.get("event_subscriptions") or {}).get("bot_events") or ()),
    )
