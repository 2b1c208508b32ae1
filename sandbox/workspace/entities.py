"""Encode typed names, channels and URLs as Slack's entities. https://docs.slack.dev/messaging/formatting-message-text"""

from __future__ import annotations

import re
from collections.abc import Callable

from sandbox.workspace.state import State

_NAMED = re.compile(
    r"(?<![\w@])@([\w.-]*\w)|(?<![\w#&])#([\w-]*\w)|(https?://[^\s<>|]*[^\s<>|.,;:!?)\]}'\"])"
)
_BROADCASTS = {"here", "channel", "everyone"}


class EntityEncoder:
    """Replaces names, channels and URLs in typed text by entities."""

    def __init__(self, state: State) -> None:
        self._state = state

    def as_message(self, text: str) -> str:
        """Return the text for a message: mentions as in ``<@U01ANA>``."""
        return self._wire(text, lambda user_id, _name: f"<@{user_id}>", broadcasts=True)

    def as_command(self, text: str) -> str:
        """Return the text for a command with ``should_escape``: mentions as in ``<@U01ANA|ana>``."""
        return self._wire(text, lambda user_id, name: f"<@{user_id}|{name}>", broadcasts=False)

    def _wire(self, text: str, user: Callable[[str, str], str], *, broadcasts: bool) -> str:
        escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")

        def entity(found: re.Match[str]) -> str:
            name, channel, url = found.groups()
            if url:
                return f"<{url}>"
            if name:
                known = next((each for each in self._state.users.values() if each.name == name), None)
                if known:
                    return user(known.id, known.name)
                return f"<!{name}>" if broadcasts and name in _BROADCASTS else found[0]
            room = next((each for each in self._state.channels.values() if each.name == channel), None)
            return f"<#{room.id}|{'' if room.is_closed else room.name}>" if room else found[0]

        return _NAMED.sub(entity, escaped)
