"""When to poll a job next, and how long to wait after failures."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PollPace:
    """The delay between two polls of a job.

    The delay is ``share_of_age`` of the job's age, at least ``min_seconds`` and at most ``max_seconds``.
    ``jitter`` is the share by which it varies at random, so that jobs are not polled all at once.
    """

    min_seconds: float = 10.0
    max_seconds: float = 60.0
    share_of_age: float = 0.05
    jitter: float = 0.1

    def wait_seconds(self, age_seconds: float, chance: float) -> float:
        """Return the seconds until the next poll of a job; ``chance`` is a random number in [0, 1)."""
        wait = min(max(self.min_seconds, age_seconds * self.share_of_age), self.max_seconds)
        return wait * (1 - self.jitter + 2 * self.jitter * chance)

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
