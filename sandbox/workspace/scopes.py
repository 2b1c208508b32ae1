"""The scopes that a bot's token needs, for each method and event.

https://docs.slack.dev/reference/methods · https://docs.slack.dev/reference/events
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

PREFIXES = {"public_channel": "channels", "private_channel": "groups", "im": "im", "mpim": "mpim"}
"""How the scopes for each kind of conversation begin."""


def _of_each_kind(right: str) -> tuple[str, ...]:
    return tuple(f"{prefix}:{right}" for prefix in PREFIXES.values())


METHOD_SCOPES: Mapping[str, tuple[str, ...]] = {
    "api.test": (),
    "auth.test": (),
    "apps.connections.open": (),
    "bots.info": ("users:read",),
    "chat.delete": ("chat:write",),
    "chat.getPermalink": (),
    "chat.postEphemeral": ("chat:write",),
    "chat.postMessage": ("chat:write",),
    "chat.update": ("chat:write",),
    "conversations.history": _of_each_kind("history"),
    "conversations.info": _of_each_kind("read"),
    "conversations.join": ("channels:join",),
    "conversations.list": _of_each_kind("read"),
    "conversations.members": _of_each_kind("read"),
    "conversations.open": ("im:write", "mpim:write"),
    "conversations.replies": _of_each_kind("history"),
    "files.completeUploadExternal": ("files:write",),
    "files.getUploadURLExternal": ("files:write",),
    "files.info": ("files:read",),
    "reactions.add": ("reactions:write",),
    "reactions.get": ("reactions:read",),
    "reactions.remove": ("reactions:write",),
    "team.info": ("team:read",),
    "usergroups.list": ("usergroups:read",),
    "usergroups.users.list": ("usergroups:read",),
    "users.info": ("users:read",),
    "users.list": ("users:read",),
    "views.open": (),
    "views.push": (),
    "views.update": (),
}
"""The scopes of each method. One with several needs that of the kind of conversation that it is about."""

EVENT_SCOPES: Mapping[str, tuple[str, ...]] = {
    "app_mention": ("app_mentions:read",),
    **{f"message.{prefix}": (f"{prefix}:history",) for prefix in PREFIXES.values()},
}
"""The scopes of each event, of which one is enough."""


def missing_scopes(method: str, kinds: Collection[str], provided: Collection[str]) -> list[str]:
    """Return the scopes that a call lacks, in the order of Slack's reference; empty if it may be made.

    ``kinds`` are those of the conversations that the call is about. Without any, one scope of the method is
    enough.
    """
    needed = METHOD_SCOPES[method]
    if len(needed) > 1 and kinds:
        prefixes = tuple(f"{PREFIXES[each]}:" for each in kinds)
        return [scope for scope in needed if scope.startswith(prefixes) and scope not in provided]
    return list(needed) if needed and not set(needed) & set(provided) else []
