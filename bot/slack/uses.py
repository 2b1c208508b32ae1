"""The one list of Slack's methods and events that the bot uses, with the scopes that they need.

``doctor`` derives the scopes from it, ``doctor --try`` its steps, the tests the manifest and the
table of docs/first-contact.md. https://docs.slack.dev/reference/methods and /reference/events
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

_READ_SCOPES = ("channels:read", "groups:read", "im:read", "mpim:read")
_HISTORY_SCOPES = ("channels:history", "groups:history", "im:history", "mpim:history")
COMMAND_SCOPE = "commands"
"""The scope of slash commands and shortcuts, which are neither methods nor events."""


@dataclass(frozen=True, slots=True)
class SlackUse:
    """A method that the bot calls, or an event that it receives."""

    name: str
    """The name in Slack's reference."""
    scopes: tuple[str, ...]
    """One for each kind of conversation, if there are several."""
    loss: str
    """The effect on people where Slack refuses the method or sends no event, as a sentence."""


METHODS = (
    SlackUse("apps.connections.open", (), "In Socket Mode nothing reaches the bot."),
    SlackUse("auth.test", (), "The bot does not start."),
    SlackUse("chat.delete", ("chat:write",), "The posts of `doctor --try` stay."),
    SlackUse("chat.postEphemeral", ("chat:write",), "Answers to one person can't be shown."),
    SlackUse(
        "chat.postMessage",
        ("chat:write",),
        "The bot can say nothing here: no job, no answer, no digest.",
    ),
    SlackUse(
        "chat.update", ("chat:write",), "The first message of a job keeps showing its first state."
    ),
    SlackUse(
        "conversations.history",
        _HISTORY_SCOPES,
        "Mentions during an outage are missed, and after a lost answer of Slack's the bot can't "
        "tell whether its post is there.",
    ),
    SlackUse(
        "conversations.info",
        _READ_SCOPES,
        "The bot can't tell public channels from private ones, so it shows less than it may.",
    ),
    SlackUse(
        "conversations.join", ("channels:join",), "In a public channel the bot must be invited."
    ),
    SlackUse("conversations.members", _READ_SCOPES, "People can't see jobs of other channels."),
    SlackUse(
        "conversations.open",
        ("im:write",),
        "Nobody gets a direct message, so admins hear of no trouble.",
    ),
    SlackUse(
        "conversations.replies",
        _HISTORY_SCOPES,
        "Earlier messages don't reach the agent, and replies during an outage are missed.",
    ),
    SlackUse(
        "files.completeUploadExternal", ("files:write",), "Nobody gets all pages as a CSV file."
    ),
    SlackUse("files.delete", ("files:write",), "The file of `doctor --try` stays."),
    SlackUse(
        "files.getUploadURLExternal", ("files:write",), "Nobody gets all pages as a CSV file."
    ),
    SlackUse("files.info", ("files:read",), "Files of shared channels don't reach the agent."),
    SlackUse(
        "reactions.add", ("reactions:write",), "A follow-up gets no eyes, so people doubt it."
    ),
    SlackUse("reactions.remove", ("reactions:write",), "The reaction of `doctor --try` stays."),
    SlackUse(
        "usergroups.list", ("usergroups:read",), "User groups in prompts stay ids for the agent."
    ),
    SlackUse(
        "usergroups.users.list",
        ("usergroups:read",),
        "ALLOWED_USER_GROUPS lets nobody in.",
    ),
    SlackUse(
        "users.info",
        ("users:read",),
        "The bot can't tell members from guests, so it refuses everybody.",
    ),
    SlackUse("views.open", (), "No form opens."),
    SlackUse("views.publish", (), "The Home tab stays empty."),
    SlackUse("views.push", (), "No form opens above another one."),
    SlackUse("views.update", (), "The form of *Draft a page* stays empty."),
)
"""The methods of the Web API that the bot calls."""

EVENTS = (
    SlackUse("app_home_opened", (), "The Home tab stays empty."),
    SlackUse("app_mention", ("app_mentions:read",), "Mentions of the bot start nothing."),
    SlackUse(
        "channel_id_changed",
        _READ_SCOPES,
        "A channel that gets another id loses its jobs and digests.",
    ),
    SlackUse(
        "member_joined_channel",
        ("channels:read", "groups:read"),
        "Mentions from before an invitation of the bot are not offered.",
    ),
    SlackUse(
        "message.channels",
        ("channels:history",),
        "Replies in threads of public channels steer nothing, and edits are not noticed.",
    ),
    SlackUse(
        "message.groups",
        ("groups:history",),
        "Replies in threads of private channels steer nothing, and edits are not noticed.",
    ),
    SlackUse("message.im", ("im:history",), "Direct messages to the bot start nothing."),
    SlackUse("message.mpim", ("mpim:history",), "In group direct messages the bot hears nothing."),
)
"""The events to which the app is subscribed."""

_USES = {use.name: use for use in (*METHODS, *EVENTS)}


def use_of(name: str) -> SlackUse:
    """Return the method or event with a name. Raises KeyError for an unknown name."""
    return _USES[name]


def scopes_of(uses: Iterable[SlackUse] = (*METHODS, *EVENTS)) -> frozenset[str]:
    """Return the scopes that the bot needs for its methods, events and commands."""
    return frozenset({COMMAND_SCOPE}.union(*(use.scopes for use in uses)))


def losses_without(scope: str) -> tuple[str, ...]:
    """Return the effects of a missing scope, each once."""
    if scope == COMMAND_SCOPE:
        return ("People have no slash commands and no shortcut.",)
    return tuple(dict.fromkeys(use.loss for use in _USES.values() if scope in use.scopes))
