"""A question gap the docs, and the one that a thread has answered."""

from __future__ import annotations

from dataclasses import dataclass

from bot.jobs.model.jobs import GapRef
from bot.jobs.model.prompts import Unsent


@dataclass(frozen=True, slots=True)
class DocsQuestion:
    """A text to answer from the docs."""

    draft: Unsent
    """The text, and the request that it came by."""
    is_topic: bool = False
    """It names a topic and asks nothing: pages gap it are shown, which costs nothing."""
    is_private: bool = False
    """Only its author sees the answer, where they wrote."""


@dataclass(frozen=True, slots=True)
class Answered:
    """The newest question that was answered in a thread."""

    gap: GapRef
    """The question as a row of the content gaps, whose askers are told when the docs answer it."""
    conversation: str
    """Question and answer, as background of a prompt."""
