"""The people, channels, messages and modals of the workspace: plain values, kept in one file."""

from __future__ import annotations

import secrets
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from sandbox.shelf import Shelf

Json = dict[str, Any]
_EVENTS_KEPT = 2_000


@dataclass
class User:
    """A person or the bot.

    ``is_single_channel``: a guest of one channel. ``team_id``: the workspace that the person belongs to.
    People of other organisations see only the channels that are shared with them.
    """

    id: str
    name: str
    real_name: str
    title: str = ""
    tz: str = "Europe/Berlin"
    color: str = "#1a7a5c"
    is_bot: bool = False
    is_guest: bool = False
    is_single_channel: bool = False
    team_id: str = "T0SANDBOX"

    @property
    def is_external(self) -> bool:
        """Whether the person belongs to another organisation."""
        return self.team_id != TEAM["id"]


@dataclass
class Channel:
    """A channel, a group direct message (``is_mpim``, also private), or a direct message (``is_im``).

    ``user``: the person in a direct message with the bot; None if it is between two people.
    ``is_ext_shared``: shared with another organisation through Slack Connect.
    """

    id: str
    name: str
    members: list[str]
    topic: str = ""
    is_private: bool = False
    is_im: bool = False
    is_mpim: bool = False
    is_ext_shared: bool = False
    is_archived: bool = False
    user: str | None = None

    @property
    def kind(self) -> str:
        """The type of the conversation: https://docs.slack.dev/reference/methods/conversations.list"""
        if self.is_im:
            return "im"
        if self.is_mpim:
            return "mpim"
        return "private_channel" if self.is_private else "public_channel"

    @property
    def is_closed(self) -> bool:
        """Whether only its members know of it."""
        return self.is_private or self.is_im

    @property
    def shown_name(self) -> str:
        """Return the name in payloads of commands and interactions, which hide that of private channels."""
        if self.is_mpim or not self.is_closed:
            return self.name
        return "directmessage" if self.is_im else "privategroup"


TEAM = {"id": "T0SANDBOX", "name": "Acme Docs", "domain": "acme-docs"}
BOT_USER = "U0DOCSBOT"
BOT_ID = "B0DOCSBOT"
APP_ID = "A0DOCSBOT"
PARTNER_TEAM = "T0PARTNER"
"""The organisation with which channels are shared."""

PEOPLE = (
    User("U01ANA", "ana", "Ana Brandt", "Technical writer", "Europe/Berlin", "#8d4a9e"),
    User("U02BEN", "ben", "Ben Okafor", "SDK engineer", "America/New_York", "#2a6fb0"),
    User("U03CHIKA", "chika", "Chika Rao", "Developer relations", "Asia/Kolkata", "#b0582a"),
    User("U04GUS", "gus", "Gus Lind", "Guest", "Europe/Stockholm", "#777777", is_guest=True),
    User(
        *("U05SOL", "sol", "Sol Amari", "Guest of one channel", "Africa/Cairo", "#8a6d3b"),
        is_guest=True,
        is_single_channel=True,
    ),
    User(
        "U06PIA",
        "pia",
        "Pia Moreau",
        "Of another organisation",
        "Europe/Paris",
        "#a03d5c",
        team_id=PARTNER_TEAM,
    ),
    User(BOT_USER, "docs-agent", "docs-agent", "App", "UTC", "#1a5c46", is_bot=True),
)

GROUPS = {"S01WRITERS": ("writers", ("U01ANA", "U02BEN"))}
"""User groups: the handle and members of each id."""


def _channels() -> list[Channel]:
    people = [user.id for user in PEOPLE if not (user.is_bot or user.is_guest or user.is_external)]
    ims = [
        Channel(f"D{user.id[1:]}", user.name, [user.id, BOT_USER], is_im=True, user=user.id)
        for user in PEOPLE
        if not user.is_bot
    ]
    return [
        Channel(
            "C01DOCS",
            "docs",
            [*people, "U04GUS", "U05SOL", BOT_USER],
            "Everything about the documentation",
        ),
        Channel(
            "C02GENERAL",
            "general",
            [*people, "U04GUS"],
            "Company-wide; the bot joins when it is asked",
        ),
        Channel(
            "C03PRODUCT", "product-docs", list(people), "Public; the bot joins when it is asked"
        ),
        Channel(
            "G04SECRET",
            "docs-secret",
            list(people),
            "Private; invite the bot first",
            is_private=True,
        ),
        Channel(
            *(
                "C05PARTNERS",
                "partners",
                [*people, "U06PIA", BOT_USER],
                "Shared with another organisation",
            ),
            is_ext_shared=True,
        ),
        Channel(
            *("C06TRIO", "mpdm-ana--ben--docs-agent-1", ["U01ANA", "U02BEN", BOT_USER]),
            is_private=True,
            is_mpim=True,
        ),
        Channel("D07ANABEN", "ana-ben", ["U01ANA", "U02BEN"], is_im=True),
        *ims,
    ]


@dataclass
class State:
    """The whole state, which is stored on the ``shelf`` before it is sent to anybody; views are not.

    ``events`` are the latest numbered events for the web pages.
    """

    clock: Callable[[], datetime]
    shelf: Shelf
    users: dict[str, User] = field(default_factory=lambda: {user.id: user for user in PEOPLE})
    channels: dict[str, Channel] = field(
        default_factory=lambda: {each.id: each for each in _channels()}
    )
    messages: dict[str, dict[str, Json]] = field(default_factory=dict)
    ephemerals: dict[str, Json] = field(default_factory=dict)
    views: dict[str, Json] = field(default_factory=dict)
    homes: dict[str, Json] = field(default_factory=dict)
    """The view of the bot's Home tab, by person."""
    files: dict[str, Json] = field(default_factory=dict)
    seq: int = field(default_factory=lambda: time.time_ns() // 1_000)
    """The number of the newest event; after a restart above all before, so that open pages load anew."""
    last_ts: int = 0
    events: deque[Json] = field(default_factory=lambda: deque(maxlen=_EVENTS_KEPT))
    watchers: set[Callable[[Json], None]] = field(default_factory=set)

    def __post_init__(self) -> None:
        """Read the state from the shelf."""
        self.channels |= {row["id"]: Channel(**row) for row in self.shelf.all("channel")}
        for message in self.shelf.all("message"):
            self.messages.setdefault(message["channel"], {})[message["ts"]] = message
        self.ephemerals = {row["id"]: row for row in self.shelf.all("ephemeral")}
        self.files = {row["id"]: row for row in self.shelf.all("file")}
        timestamps = [ts for room in self.messages.values() for ts in room]
        newest = max([*timestamps, *(row["ts"] for row in self.ephemerals.values())], default="0")
        self.last_ts = int(newest.replace(".", ""))

    def new_ts(self) -> str:
        """Return a new, unique message timestamp."""
        micros = int(self.clock().timestamp() * 1_000_000)
        self.last_ts = max(micros, self.last_ts + 1)
        return self.newest_ts

    @property
    def newest_ts(self) -> str:
        """Return the timestamp that was made last."""
        return f"{self.last_ts // 1_000_000}.{self.last_ts % 1_000_000:06}"

    def new_id(self, letter: str) -> str:
        """Return a new id in Slack's format."""
        return letter + secrets.token_hex(5).upper()

    def publish(self, kind: str, **fields: Any) -> None:
        """Store a change, and send it as an event to every open web page."""
        self._keep(kind, fields)
        self.seq += 1
        event = {"seq": self.seq, "type": kind, **fields}
        self.events.append(event)
        for watcher in tuple(self.watchers):
            watcher(event)

    def _keep(self, kind: str, fields: Json) -> None:
        match kind:
            case "message":
                message = fields["message"]
                self.shelf.put("message", f"{message['channel']} {message['ts']}", message)
            case "message_deleted":
                self.shelf.put("message", f"{fields['channel']} {fields['ts']}", None)
            case "ephemeral":
                self.shelf.put("ephemeral", fields["ephemeral"]["id"], fields["ephemeral"])
            case "channel" if room := self.channels.get(fields["channel_id"]):
                self.shelf.put("channel", room.id, asdict(room))

    def add_message(self, channel: str, **values: Any) -> Json:
        """Add a message, send it to the web pages and return it."""
        empty = dict.fromkeys(("thread_ts", "user", "bot_id", "blocks", "metadata", "subtype"))
        message: Json = {
            "channel": channel,
            "ts": self.new_ts(),
            "text": "",
            "edited": False,
            **empty,
        }
        message |= {"reactions": [], "files": [], **values}
        self.messages.setdefault(channel, {})[message["ts"]] = message
        self.publish("message", message=message)
        return message

    def message(self, channel: str, ts: str) -> Json | None:
        """Return one message, or None."""
        return self.messages.get(channel, {}).get(ts)

    def history(self, channel: str) -> Iterator[Json]:
        """Return the messages that are not replies in a thread, newest first."""
        for message in reversed(list(self.messages.get(channel, {}).values())):
            if not message["thread_ts"] or message["thread_ts"] == message["ts"]:
                yield message

    def thread(self, channel: str, ts: str) -> list[Json]:
        """Return the root of a thread and its replies, oldest first."""
        return [
            message
            for message in self.messages.get(channel, {}).values()
            if ts in (message["ts"], message["thread_ts"])
        ]

    def is_file_seen_by_bot(self, file_id: str) -> bool:
        """Return whether a file was shared in a conversation that the bot is in."""
        rooms = [room.id for room in self.channels.values() if BOT_USER in room.members]
        shared = (
            file["id"]
            for room in rooms
            for message in self.messages.get(room, {}).values()
            for file in message["files"]
        )
        return file_id in shared

    def add_ephemeral(self, channel: str, user: str, **values: Any) -> Json:
        """Add an ephemeral message for one person and return it."""
        note: Json = {"id": self.new_id("E"), "channel": channel, "user": user, "ts": self.new_ts()}
        note |= {"thread_ts": None, "text": "", "blocks": None, **values}
        self.ephemerals[note["id"]] = note
        self.publish("ephemeral", ephemeral=note)
        return note

    def im_of(self, user: str) -> Channel:
        """Return the direct message channel between this person and the bot."""
        return next(
            channel for channel in self.channels.values() if channel.is_im and channel.user == user
        )
