"""The table of events: the consequence of each event for a message, its author or its channel.

It is one for prompts that start a job, follow-ups and questions. The inbox consults it for edits,
deletions and withdrawals, ``docs-bot forget`` for a person, and whoever is about to carry a request
out for its author and its channel.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum


class Stage(StrEnum):
    """How far the request of a message has come."""

    NO_REQUEST = "no request"
    """The message was answered, or left alone."""
    WAITING = "waiting"
    """A prompt that is held, or waits to be sent."""
    SENDING = "sending"
    UNCONFIRMED = "unconfirmed"
    SENT = "sent"
    REFUSED = "refused"
    WITHDRAWN = "withdrawn"
    OPEN_QUESTION = "open question"
    ANSWERED = "answered"
    """A question with an answer, or a gap."""


class Event(StrEnum):
    """Something that happens to a request."""

    EDITED = "edited"
    """Its author edits one of its messages."""
    DELETED = "deleted"
    """One of its messages is deleted."""
    WITHDRAWN = "withdrawn"
    """Somebody presses *Withdraw*, or its author says ``stop`` or "never mind"."""
    AUTHOR_FORGOTTEN = "author forgotten"
    AUTHOR_EXCLUDED = "author excluded"
    """Its author may no longer use the bot, or has left the channel."""
    CHANNEL_GONE = "channel gone"
    """Its channel is archived or deleted, or the bot was removed from it."""


class Consequence(StrEnum):
    """The bot's reaction to an event."""

    DECIDE_AGAIN = "decide again"
    """The message is decided like a new one."""
    MAKE_ANEW = "make anew"
    """The request is made anew of its other messages, and taken back if there are none."""
    WAIT = "wait"
    """The event waits for the outcome of a call."""
    INFORM = "inform"
    """Its author reads, once, that the agent has the text as it was."""
    TAKE_BACK = "take back"
    """The request is not carried out, and the question is in no list."""
    REFUSE = "refuse"
    """The request is not carried out, and its author reads why, once."""
    GO_ON = "go on"
    """The request goes on to its end."""
    NOTHING = "nothing"


CONSEQUENCES: Mapping[Stage, Mapping[Event, Consequence]] = {
    Stage.NO_REQUEST: {
        Event.EDITED: Consequence.DECIDE_AGAIN,
        Event.DELETED: Consequence.NOTHING,
        Event.WITHDRAWN: Consequence.NOTHING,
        Event.AUTHOR_FORGOTTEN: Consequence.NOTHING,
        Event.AUTHOR_EXCLUDED: Consequence.NOTHING,
        Event.CHANNEL_GONE: Consequence.NOTHING,
    },
    Stage.WAITING: {
        Event.EDITED: Consequence.DECIDE_AGAIN,
        Event.DELETED: Consequence.MAKE_ANEW,
        Event.WITHDRAWN: Consequence.TAKE_BACK,
        Event.AUTHOR_FORGOTTEN: Consequence.TAKE_BACK,
        Event.AUTHOR_EXCLUDED: Consequence.REFUSE,
        Event.CHANNEL_GONE: Consequence.REFUSE,
    },
    Stage.SENDING: {
        Event.EDITED: Consequence.WAIT,
        Event.DELETED: Consequence.WAIT,
        Event.WITHDRAWN: Consequence.WAIT,
        Event.AUTHOR_FORGOTTEN: Consequence.GO_ON,
        Event.AUTHOR_EXCLUDED: Consequence.GO_ON,
        Event.CHANNEL_GONE: Consequence.GO_ON,
    },
    Stage.UNCONFIRMED: {
        Event.EDITED: Consequence.DECIDE_AGAIN,
        Event.DELETED: Consequence.MAKE_ANEW,
        Event.WITHDRAWN: Consequence.INFORM,
        Event.AUTHOR_FORGOTTEN: Consequence.GO_ON,
        Event.AUTHOR_EXCLUDED: Consequence.GO_ON,
        Event.CHANNEL_GONE: Consequence.GO_ON,
    },
    Stage.SENT: {
        Event.EDITED: Consequence.INFORM,
        Event.DELETED: Consequence.INFORM,
        Event.WITHDRAWN: Consequence.INFORM,
        Event.AUTHOR_FORGOTTEN: Consequence.GO_ON,
        Event.AUTHOR_EXCLUDED: Consequence.GO_ON,
        Event.CHANNEL_GONE: Consequence.GO_ON,
    },
    Stage.REFUSED: {
        Event.EDITED: Consequence.DECIDE_AGAIN,
        Event.DELETED: Consequence.NOTHING,
        Event.WITHDRAWN: Consequence.NOTHING,
        Event.AUTHOR_FORGOTTEN: Consequence.NOTHING,
        Event.AUTHOR_EXCLUDED: Consequence.NOTHING,
        Event.CHANNEL_GONE: Consequence.NOTHING,
    },
    Stage.WITHDRAWN: {
        Event.EDITED: Consequence.NOTHING,
        Event.DELETED: Consequence.NOTHING,
        Event.WITHDRAWN: Consequence.NOTHING,
        Event.AUTHOR_FORGOTTEN: Consequence.NOTHING,
        Event.AUTHOR_EXCLUDED: Consequence.NOTHING,
        Event.CHANNEL_GONE: Consequence.NOTHING,
    },
    Stage.OPEN_QUESTION: {
        Event.EDITED: Consequence.DECIDE_AGAIN,
        Event.DELETED: Consequence.TAKE_BACK,
        Event.WITHDRAWN: Consequence.TAKE_BACK,
        Event.AUTHOR_FORGOTTEN: Consequence.TAKE_BACK,
        Event.AUTHOR_EXCLUDED: Consequence.REFUSE,
        Event.CHANNEL_GONE: Consequence.REFUSE,
    },
    Stage.ANSWERED: {
        Event.EDITED: Consequence.DECIDE_AGAIN,
        Event.DELETED: Consequence.TAKE_BACK,
        Event.WITHDRAWN: Consequence.TAKE_BACK,
        Event.AUTHOR_FORGOTTEN: Consequence.GO_ON,
        Event.AUTHOR_EXCLUDED: Consequence.GO_ON,
        Event.CHANNEL_GONE: Consequence.GO_ON,
    },
}
"""All consequences. ``bot/store/retention.py`` erases the texts of open requests at their ends.
After an
outage or a crash a request goes on from the state in its rows.
"""
