"""What examples name where somebody asks for help, so that they work when they are typed there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from bot.model.ids import JobNumber
from bot.model.projects import Projects

PROMPT = "Add a quickstart for the Python SDK"
"""The example of a prompt."""


class Needs(StrEnum):
    """What there must be for something that people type to have an effect."""

    JOB = "job"
    """A job that takes follow-ups."""
    OWN_JOB = "own_job"
    """Such a job that the person asked for in this channel."""


@dataclass(frozen=True, slots=True)
class Examples:
    """What is known where somebody asks for help.

    ``job``: the newest there that takes follow-ups; in a thread that of the thread. ``own_job``: the person's
    latest in the channel takes them. ``section``: one of the docs that people read. ``project``: that of the
    channel. ``in_thread``: Slack allows no slash commands there. ``is_direct``: nobody else is there.
    ``by_mention``: see ``TrackedJob``.
    """

    bot_name: str
    projects: Projects
    project: str
    job: JobNumber | None = None
    own_job: bool = False
    section: str | None = None
    in_thread: bool = False
    is_direct: bool = False
    by_mention: bool = False

    def has(self, needs: Needs | None) -> bool:
        """Return whether there is what something needs."""
        return {Needs.JOB: self.job is not None, Needs.OWN_JOB: self.own_job, None: True}[needs]

    def filled(self, text: str) -> str:
        """Return a text with what is known in the place of ``42``, ``/api`` and ``acme``."""
        known = self._known()
        return " ".join(known.get(word, word) for word in text.split(" "))

    def _known(self) -> Mapping[str, str]:
        others = [each.name for each in self.projects.known if each.name != self.project]
        given = {
            "42": self.job and str(self.job),
            "/api": self.section,
            "acme": others[0] if others else None,
        }
        return {word: value for word, value in given.items() if value}

    def mentioned(self, text: str) -> str:
        """Return a text as it is said to the bot: after a mention, where others are."""
        return text if self.is_direct else f"@{self.bot_name} {text}"
