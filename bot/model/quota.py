"""The queue for the docs service's hourly quota, and the fair order of its prompts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.model.ids import JobNumber, PromptId, UserId
from bot.model.prompts import PromptKind

MAY_NOT_WRITE = "ForbiddenToWrite"
"""The reason of a back-off because prompts are refused; reading goes on, and does not end it."""
QUOTA_PERIOD = timedelta(hours=1)
_MARGIN = timedelta(seconds=1)
"""Allowance for a difference between the bot's clock and the service's."""


@dataclass(frozen=True, slots=True)
class Queued:
    """A prompt that is ready to be sent as soon as the quota allows it.

    ``queue_position`` and ``due_at`` are those last written; no position: it has not waited yet.
    ``refused_at``: when it was sent and refused as with a bad key, None if it was not.
    """

    id: PromptId
    job: JobNumber
    kind: PromptKind
    asked_by: UserId
    asked_at: datetime
    due_at: datetime
    queue_position: int | None = None
    refused_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Use:
    """One use of the quota: a create or a follow-up."""

    asked_by: UserId
    at: datetime


def fair_order(queue: Sequence[Queued], uses: Sequence[Use]) -> list[Queued]:
    """Return the queue in fair order: a user with fewer uses goes first.

    A user's count is their ``uses`` (see ``remembered_since``) plus their prompts earlier in the queue. With
    equal counts, follow-ups go before new jobs, then older prompts before newer ones.
    """
    counts: dict[UserId, int] = {}
    for use in uses:
        counts[use.asked_by] = counts.get(use.asked_by, 0) + 1
    ranked: list[tuple[int, bool, PromptId, Queued]] = []
    for waiting in sorted(queue, key=lambda each: (each.kind is PromptKind.START, each.id)):
        rank = counts.get(waiting.asked_by, 0)
        counts[waiting.asked_by] = rank + 1
        ranked.append((rank, waiting.kind is PromptKind.START, waiting.id, waiting))
    return [waiting for *_, waiting in sorted(ranked, key=lambda each: each[:3])]


def least_tried_first(queue: Sequence[Queued]) -> list[Queued]:
    """Return the order in which prompts try a refused key: who has not tried, then who tried longest ago.

    Perhaps the service refuses only one of them, which must not hold up the others.
    """
    tried = [each for each in queue if each.refused_at is not None]
    untried = [each for each in queue if each.refused_at is None]
    return [*untried, *sorted(tried, key=lambda each: each.refused_at or each.asked_at)]


def remembered_since(queue: Sequence[Queued], now: datetime) -> datetime:
    """Return the time from which uses count for ``fair_order``.

    That is an hour ago, or when the oldest waiting prompt was requested if that is earlier.
    Otherwise a user whose last use is over an hour old would overtake one who has waited since then.
    """
    return min([now - QUOTA_PERIOD, *(waiting.asked_at for waiting in queue)])


def still_counted(uses: Sequence[Use], now: datetime) -> list[Use]:
    """Return the uses of the last hour, which count against the limit."""
    return [use for use in uses if use.at > now - QUOTA_PERIOD]


def frees_at(uses: Sequence[Use], limit: int, queue_position: int) -> datetime | None:
    """Return when the prompt at ``queue_position`` (from 1) can be sent, as the uses of the last hour expire.

    Returns None if there are no uses: then the time is unknown.
    """
    if not uses:
        return None
    # If there are more uses than the limit allows, only the newest delay the queue.
    times = sorted(use.at for use in uses)[-limit:]
    hours, turn = divmod(queue_position - 1, len(times))
    return times[turn] + QUOTA_PERIOD * (hours + 1) + _MARGIN


def spent_by(uses: Sequence[Use]) -> Mapping[UserId, int]:
    """Return the number of uses of each user."""
    counts: dict[UserId, int] = {}
    for use in uses:
        counts[use.asked_by] = counts.get(use.asked_by, 0) + 1
    return counts
