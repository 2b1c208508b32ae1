"""The queue for the shared limit: who goes first when not everybody can."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.model.ids import JobNumber, PromptId, UserId
from bot.model.prompts import PromptKind

WINDOW = timedelta(hours=1)
_MARGIN = timedelta(seconds=1)
"""Our clock and the service's need not agree to the millisecond."""


@dataclass(frozen=True, slots=True)
class Queued:
    """A prompt that may go to the service as soon as the limit lets it.

    ``place`` and ``due_at`` are those it was given the last time; no place: it has not waited yet.
    """

    id: PromptId
    job: JobNumber
    kind: PromptKind
    asked_by: UserId
    asked_at: datetime
    due_at: datetime
    queue_position: int | None = None


@dataclass(frozen=True, slots=True)
class Use:
    """One use of the shared limit."""

    asked_by: UserId
    at: datetime


def fair_order(queue: Sequence[Queued], uses: Sequence[Use]) -> list[Queued]:
    """Nobody's tenth before another's first; among equals follow-ups before new jobs, then who came first.

    What somebody had counts (``uses``: see ``remembered_since``), and so does what they have waiting before.
    """
    had: dict[UserId, int] = {}
    for use in uses:
        had[use.asked_by] = had.get(use.asked_by, 0) + 1
    ranked: list[tuple[int, bool, PromptId, Queued]] = []
    for waiting in sorted(queue, key=lambda each: (each.kind is PromptKind.START, each.id)):
        rank = had.get(waiting.asked_by, 0)
        had[waiting.asked_by] = rank + 1
        ranked.append((rank, waiting.kind is PromptKind.START, waiting.id, waiting))
    return [waiting for *_, waiting in sorted(ranked, key=lambda each: each[:3])]


def remembered_since(queue: Sequence[Queued], now: datetime) -> datetime:
    """From when on uses count for the order: those of this hour, and all since the queue began.

    Else whoever had a turn an hour ago would come before somebody who has been waiting all the time.
    """
    return min([now - WINDOW, *(waiting.asked_at for waiting in queue)])


def still_counted(uses: Sequence[Use], now: datetime) -> list[Use]:
    """Those of the last hour: the ones that the limit counts."""
    return [use for use in uses if use.at > now - WINDOW]


def frees_at(uses: Sequence[Use], limit: int, queue_position: int) -> datetime | None:
    """When the ``place``-th waiting prompt (from 1) can go, as the uses of the last hour run out one by one.

    None when nothing has been used, so that only the service knows.
    """
    if not uses:
        return None
    # Of more uses than the limit allows, the last ones decide.
    times = sorted(use.at for use in uses)[-limit:]
    hours, turn = divmod(queue_position - 1, len(times))
    return times[turn] + WINDOW * (hours + 1) + _MARGIN


def spent_by(uses: Sequence[Use]) -> Mapping[UserId, int]:
    """How many uses each person had."""
    counts: dict[UserId, int] = {}
    for use in uses:
        counts[use.asked_by] = counts.get(use.asked_by, 0) + 1
    return counts
