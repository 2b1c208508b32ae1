"""A question about the docs, and the newest answered question of a thread."""

from __future__ import annotations

from dataclasses import dataclass

from bot.jobs.model.jobs import GapRef
from bot.jobs.model.prompts import UnsentText


@dataclass(frozen=True, slots=True)
class DocsQuestion:
    """A text to answer from the docs."""

    draft: UnsentText
    """The text, and the request that it came by."""
    is_topic: bool = False
    """The text names a topic and asks nothing: pages about the topic are shown, without a call of
    the assistant.
    """
    is_private: bool = False
    """Only its author sees the answer, where they wrote."""


@dataclass(frozen=True, slots=True)
class AnsweredQuestion:
    """The newest question that was answered in a thread."""

    gap: GapRef
    """The question as a row of the content gaps, whose askers are told when the docs answer it."""
    conversation: str
    """Question and answer, as background of a prompt."""
