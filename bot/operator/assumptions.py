"""What is held true of Slack and the docs service without having been seen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bot.operator.trial import STEPS
from bot.operator.trial_step import StepResult


@dataclass(frozen=True, slots=True)
class Assumption:
    """A statement about Slack or the docs service that the code relies on."""

    id: str
    statement: str
    source: str
    """A page, a library's file or a report."""
    read_on: str
    """The day on which the source was read."""
    place: str
    """The code that relies on it: a file and a name in it."""
    if_wrong: str
    seen_on: str = "not yet"
    """The day on which the statement was seen to be true at Slack or the docs service itself."""


ASSUMPTIONS: tuple[Assumption, ...] = ()


def describe_seen(results: Iterable[StepResult]) -> str:
    """Return which assumptions a trial has seen, and which it has not."""
    return ""


_ = (Sequence, STEPS)
