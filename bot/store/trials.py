"""The trials of ``docs-bot doctor --try``, and the notes of the running bot about their events.

A person types a trial's token. By it the running bot knows the event, notes it here and does
nothing else. Words are not stored.
"""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta

from pydantic import TypeAdapter
from sqlalchemy import Column, Table, delete, insert, select, true, update

from bot.ids import ChannelId, UserId
from bot.store.retention import RetentionRule
from bot.store.schema import Channel, Id, Json, Owner, Repository, UtcDateTime, metadata

_KEPT_FOR = timedelta(days=1)
"""For how long a trial stays stored after its end. Until then its token starts nothing."""
_MAX_NOTES = 100
"""The most notes of one trial; later ones are not stored."""
TOKEN_HEAD = "doctor-"  # noqa: S105 (no secret: the beginning of each token)
_TOKEN_PATTERN = re.compile(rf"{TOKEN_HEAD}[0-9a-f]{{12}}(?![0-9a-zA-Z])")


@dataclass(frozen=True, slots=True)
class TrialNote:
    """An event that reached the running bot, or a call that it made about one."""

    name: str
    """The name of an event or a method, such as ``app_mention`` or ``press``."""
    at: datetime
    code: str = ""
    """The code of Slack's refusal; empty if all went well."""
    shape: object = None
    """The shape of the payload (`bot.store.shapes`); None for a call."""


@dataclass(frozen=True, slots=True)
class OpenTrial:
    """A trial whose token is valid."""

    token: str
    user: UserId
    channel: ChannelId


_NOTES = TypeAdapter(tuple[TrialNote, ...])
trials = Table(
    "trials",
    metadata,
    Column("token", Id(40), primary_key=True),
    Column("user", Owner(40), nullable=False),
    Column("channel", Channel(40), nullable=False),
    Column("expires_at", UtcDateTime, nullable=False),
    Column("notes", Json(tuple[TrialNote, ...]), nullable=False),
)
TRIALS_RULE = RetentionRule(
    "trials of the doctor", trials, true(), trials.c.expires_at, delete_when=true()
)


def new_token() -> str:
    """Return a token that nobody can guess."""
    return f"{TOKEN_HEAD}{secrets.token_hex(6)}"


def token_in(text: str) -> str | None:
    """Return the token at the beginning of a text; None for any other text.

    ``text``: without a mention of the bot before it.
    """
    found = _TOKEN_PATTERN.match(text.strip())
    return found[0] if found else None


class Trials(Repository):
    """The trials, within one transaction."""

    def begin(self, trial: OpenTrial, now: datetime, expires_at: datetime) -> None:
        """Store a trial, and delete trials that ended over a day ago."""
        self.connection.execute(delete(trials).where(trials.c.expires_at < now - _KEPT_FOR))
        values = {"token": trial.token, "user": trial.user, "channel": trial.channel}
        self.connection.execute(insert(trials).values(**values, expires_at=expires_at, notes=()))

    def end(self, token: str, now: datetime) -> None:
        """Make a token invalid."""
        self.connection.execute(
            update(trials).where(trials.c.token == token).values(expires_at=now)
        )

    def of_token(self, token: str, user: UserId, now: datetime) -> OpenTrial | None:
        """Return the trial of a token; None if it is over or another person's."""
        found = select(trials.c.channel).where(
            trials.c.token == token, trials.c.user == user, trials.c.expires_at > now
        )
        channel = self.connection.execute(found).scalar_one_or_none()
        return None if channel is None else OpenTrial(token, user, ChannelId(channel))

    def of_user(self, user: UserId, now: datetime) -> OpenTrial | None:
        """Return a person's trial that is under way; None without one."""
        found = select(trials.c.token).where(trials.c.user == user, trials.c.expires_at > now)
        token = self.connection.execute(found).scalars().first()
        return self.of_token(token, user, now) if token else None

    def of_channel(self, channel: ChannelId, now: datetime) -> OpenTrial | None:
        """Return the trial that is under way in a channel; None without one."""
        found = select(trials.c.token, trials.c.user).where(
            trials.c.channel == channel, trials.c.expires_at > now
        )
        row = self.connection.execute(found).first()
        return None if row is None else OpenTrial(row.token, UserId(row.user), channel)

    def notes(self, token: str) -> tuple[TrialNote, ...]:
        """Return the notes of a trial, in the order of the events."""
        found = select(trials.c.notes).where(trials.c.token == token)
        stored = self.connection.execute(found).scalar_one_or_none()
        return _NOTES.validate_python(stored or [])

    def add_note(self, token: str, note: TrialNote) -> None:
        """Add a note to a trial."""
        notes = (*self.notes(token), note)[:_MAX_NOTES]
        self.connection.execute(update(trials).where(trials.c.token == token).values(notes=notes))
