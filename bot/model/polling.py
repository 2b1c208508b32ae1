"""When to poll a job next, and how long to wait after failures."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from statistics import fmean

_FEWEST_ENDS = 20
"""With fewer ends a project's history says nothing yet."""
_SPREAD = (-0.15, -0.1, -0.05, 0.0, 0.05, 0.1, 0.15)
"""Each end of the history counts as several around it, as shares of its age."""
_USUAL_JOBS = 2 * len(_SPREAD)
"""How many ends count as if they came at the usual pace, so that a gap in the history is polled as well."""
_PATIENCE_SECONDS = 600.0
"""A delay counts in full for jobs up to this age; for one three times as old it counts a third."""
_ACCEPTED_SHARE = 0.8
"""The delay to expect at which a poll is made, in (shortest wait)² / (mean duration) seconds.

A fixed interval of 1.5 times the shortest wait accepts 1.1 of it at each poll.
"""


@dataclass(frozen=True, slots=True)
class History:
    """At which ages earlier jobs of a project ended, in ascending order, and the sums up to each of them.

    ``weights`` are the sums of what their delays count, ``ages`` of that times the age.
    """

    ends: tuple[float, ...]
    weights: tuple[float, ...]
    ages: tuple[float, ...]
    mean: float

    def delay_seconds(self, age: float, wait: float) -> float:
        """Return the sum of the delays of those that ended within the ``wait`` seconds after ``age``."""
        begin, end = bisect_right(self.ends, age), bisect_right(self.ends, age + wait)
        weight = self.weights[end] - self.weights[begin]
        return max((age + wait) * weight - (self.ages[end] - self.ages[begin]), 0.0)

    def later(self, age: float) -> int:
        """Return how many ended after ``age``."""
        return len(self.ends) - bisect_right(self.ends, age)


@dataclass(frozen=True, slots=True)
class PollPace:
    """The delay between two polls of a job.

    The delay is ``share_of_age`` of the job's age, at least ``min_seconds`` and at most ``max_seconds``.
    ``jitter`` is the share by which it varies at random, so that jobs are not polled all at once.
    With a ``history`` the delay is short at ages at which many jobs end, and long where few do: a poll is
    made when the delay to expect has grown to the same small amount each time.
    """

    min_seconds: float = 10.0
    max_seconds: float = 60.0
    share_of_age: float = 0.05
    jitter: float = 0.1
    history: History | None = None

    def learned(self, durations: Sequence[float]) -> PollPace:
        """Return the pace for a project whose latest jobs took so many seconds until a poll saw their end."""
        if len(durations) < _FEWEST_ENDS:
            return replace(self, history=None)
        seen_late = self.min_seconds / 2
        ends = sorted(max(each * (1 + by) - seen_late, 1.0) for each in durations for by in _SPREAD)
        weights = [_PATIENCE_SECONDS / max(each, _PATIENCE_SECONDS) for each in ends]
        ages = (each * weight for each, weight in zip(ends, weights, strict=True))
        history = History(
            tuple(ends),
            tuple(accumulate(weights, initial=0.0)),
            tuple(accumulate(ages, initial=0.0)),
            fmean(ends),
        )
        return replace(self, history=history)

    def wait_seconds(self, age_seconds: float, chance: float) -> float:
        """Return the seconds until the next poll of a job; ``chance`` is a random number in [0, 1)."""
        wait = min(max(self.min_seconds, age_seconds * self.share_of_age), self.max_seconds)
        if self.history is not None:
            wait = self._learned_wait(self.history, age_seconds, wait)
        return wait * (1 - self.jitter + 2 * self.jitter * chance)

    def _learned_wait(self, history: History, age: float, usual: float) -> float:
        """Return the wait, in steps of a second, after which the delay to expect is the accepted one."""
        accepted = _ACCEPTED_SHARE * self.min_seconds**2 / history.mean
        enough = accepted * (history.later(age) + _USUAL_JOBS)

        def delay(more: int) -> float:
            wait = self.min_seconds + more
            return history.delay_seconds(age, wait) + _USUAL_JOBS * accepted * (wait / usual) ** 2

        most = max(self.max_seconds - self.min_seconds, 0.0)
        more = bisect_left(range(int(most) + 1), enough, key=delay)
        return min(self.min_seconds + more, self.max_seconds)

    def retry_seconds(self, failing_seconds: float, chance: float, *, cap: float) -> float:
        """Return the seconds until the next poll of a job whose polls have failed for so long.

        The delay is about as long as they have failed, so it doubles with each failure, up to ``cap``.
        """
        wait = min(max(self.min_seconds, failing_seconds), max(self.min_seconds, cap))
        return wait * (1 - self.jitter + 2 * self.jitter * chance)


def back_off_seconds(attempts: int, chance: float, *, first: float = 1.0, cap: float = 300.0) -> float:
    """Return the seconds to wait after ``attempts`` failures in a row.

    The delay doubles with each failure up to ``cap``; ``chance``, a random number in [0, 1), takes off up
    to half of it.
    """
    return min(first * 2.0 ** min(max(attempts - 1, 0), 20), cap) * (0.5 + chance / 2)
