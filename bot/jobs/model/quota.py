"""The queue for the docs service's hourly quota, its fair order, and how often jobs are polled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from operator import itemgetter

from bot.ids import JobNumber, PromptId, UserId
from bot.jobs.model.prompts import PromptKind

MAY_NOT_WRITE = "ForbiddenToWrite"
"""The reason of a back-off for prompts alone. Polls go on, and do not end it."""
KEY_REASONS = frozenset({"Unauthorized", "Forbidden", MAY_NOT_WRITE})
"""The reasons of back-offs because the key is refused. Other reasons are names of errors, too."""
QUOTA_PERIOD = timedelta(hours=1)
LONGEST_BACK_OFF = timedelta(minutes=65)
"""The docs service may ask to wait for an hour at most."""
UNKNOWN_WAIT = timedelta(seconds=60)
"""Wait when the time of the next free use is unknown."""
_CLOCK_MARGIN = timedelta(seconds=1)
"""Allowance for a difference between the bot's clock and the service's."""


@dataclass(frozen=True, slots=True)
class BackOff:
    """A pause of the calls for a project, because the service fails or refuses the key.

    The pause may be over.
    """

    reason: str
    """The name of the latest error, or ``MAY_NOT_WRITE``."""
    began_at: datetime
    """When the trouble began."""
    retry_at: datetime
    attempts: int = 1
    """How many times in a row it went on after the wait."""

    def lasts(self, now: datetime) -> bool:
        """Return whether calls wait."""
        return now < self.retry_at

    @property
    def is_refusal(self) -> bool:
        """Whether the service refuses the key, at least for writing."""
        return self.reason in KEY_REASONS

    @property
    def refuses_reading(self) -> bool:
        """Whether the service refuses the key for reading, too."""
        return self.is_refusal and self.reason != MAY_NOT_WRITE


@dataclass(frozen=True, slots=True)
class QueuedPrompt:
    """A prompt that is ready to be sent as soon as the quota allows it."""

    id: PromptId
    job: JobNumber
    kind: PromptKind
    asked_by: UserId
    asked_at: datetime
    due_at: datetime
    """The time last written."""
    is_awaiting_quota: bool = False
    """False if it has not waited yet."""
    refused_at: datetime | None = None
    """When it was sent and refused as with a bad key; None if it was not."""
    verified_at: datetime | None = None
    """When its messages, its author and its channel were last known to be as stored."""
    displayed_until: datetime | None = None
    """Until when it waits at the earliest, as its job's status message shows."""


@dataclass(frozen=True, slots=True)
class Use:
    """One use of the quota: a create or a follow-up."""

    asked_by: UserId
    sent_at: datetime


def sort_fairly(queue: Sequence[QueuedPrompt], uses: Sequence[Use]) -> list[QueuedPrompt]:
    """Return the queue in fair order: a user with fewer uses goes first.

    A user's count is their ``uses`` (see ``uses_count_since``) plus their prompts earlier in the
    queue. With equal counts, follow-ups go before new jobs, then older prompts before newer ones.
    """
    counts = Counter(use.asked_by for use in uses)
    ranked: list[tuple[int, QueuedPrompt]] = []
    for waiting in sorted(queue, key=_rank_by_age):
        ranked.append((counts[waiting.asked_by], waiting))
        counts[waiting.asked_by] += 1
    return [waiting for _, waiting in sorted(ranked, key=itemgetter(0))]


def _rank_by_age(waiting: QueuedPrompt) -> tuple[bool, PromptId]:
    return waiting.kind is PromptKind.START, waiting.id


def sort_least_tried_first(queue: Sequence[QueuedPrompt]) -> list[QueuedPrompt]:
    """Return the order in which prompts try a refused key: untried ones, then the longest untried.

    Perhaps the service refuses only one of them, which must not hold up the others.
    """
    tried = [prompt for prompt in queue if prompt.refused_at is not None]
    untried = [prompt for prompt in queue if prompt.refused_at is None]
    return [*untried, *sorted(tried, key=_find_last_attempt)]


def _find_last_attempt(prompt: QueuedPrompt) -> datetime:
    return prompt.refused_at or prompt.asked_at


def share(limit: int, *, is_alone: bool) -> int:
    """Return one person's share of the uses of an hour.

    Half of the limit is kept for others who have asked within the hour, or a fifth for a newcomer.
    """
    return max(1, limit - limit // (5 if is_alone else 2))


def split_by_turn(
    queue: Sequence[QueuedPrompt], uses: Sequence[Use], limit: int, held_until: datetime | None
) -> tuple[Sequence[QueuedPrompt], Sequence[QueuedPrompt]]:
    """Divide a queue into prompts that may go now and prompts that wait, each in order.

    Args:
        uses: The uses of the last hour.
        held_until: the time until which the service accepts none.
    """
    count = Counter(use.asked_by for use in uses)
    people = set(count) | {waiting.asked_by for waiting in queue}
    most = share(limit, is_alone=len(people) == 1)
    room = 0 if held_until else limit - len(uses)
    going: list[QueuedPrompt] = []
    others: list[QueuedPrompt] = []
    for waiting in queue:
        if len(going) < room and count[waiting.asked_by] < most:
            going.append(waiting)
        else:
            others.append(waiting)
        count[waiting.asked_by] += 1
    return going, others


def next_free_at(
    uses: Sequence[Use], limit: int, now: datetime, held_until: datetime | None
) -> datetime:
    """Return the earliest time at which a waiting prompt can go.

    Then a use frees or a share grows.
    """
    if held_until and len(uses) < limit:
        return held_until
    return max(frees_at(uses, limit) or now + UNKNOWN_WAIT, held_until or now)


def uses_count_since(queue: Sequence[QueuedPrompt], now: datetime) -> datetime:
    """Return the time from which uses count for ``sort_fairly``.

    That is an hour ago, or when the oldest waiting prompt was requested if that is earlier.
    Otherwise a user whose last use is over an hour old would overtake one who has waited since
    then.
    """
    return min([now - QUOTA_PERIOD, *(waiting.asked_at for waiting in queue)])


def list_counted_uses(uses: Sequence[Use], now: datetime) -> list[Use]:
    """Return the uses of the last hour, which count against the limit."""
    return [use for use in uses if use.sent_at > now - QUOTA_PERIOD]


def frees_at(uses: Sequence[Use], limit: int) -> datetime | None:
    """Return the time when the next use of the last hour expires; None without uses."""
    # If there are more uses than the limit allows, only the newest delay the queue.
    times = sorted(use.sent_at for use in uses)[-limit:]
    return times[0] + QUOTA_PERIOD + _CLOCK_MARGIN if times else None


@dataclass(frozen=True, slots=True)
class Budget:
    """The hourly budget of analytics calls."""

    limit: int
    used: int
    free_at: datetime | None
    """The time of the next possible call; None for now."""

    @property
    def free(self) -> int:
        """Number of calls that are possible now."""
        return 0 if self.free_at is not None else max(0, self.limit - self.used)

    @property
    def digest_calls_left(self) -> int:
        """Number of calls that digests may make now. The other calls are for waiting people."""
        return min(max(1, self.limit * 7 // 10) - self.used, self.free)
