"""When a job is looked at next: often at first, then at a share of its age, never in step with others."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PollPace:
    """Bounds and slope of the waiting time between two looks at one job, in seconds."""

    min_seconds: float = 10.0
    max_seconds: float = 60.0
    share_of_age: float = 0.05
    jitter: float = 0.1

    def wait_seconds(self, age_seconds: float, chance: float) -> float:
        """Seconds until the next look at a job of this age; ``chance`` in [0, 1) spreads the looks."""
        wait = min(max(self.min_seconds, age_seconds * self.share_of_age), self.max_seconds)
        return wait * (1 - self.jitter + 2 * self.jitter * chance)


def back_off_seconds(attempts: int, chance: float, *, first: float = 1.0, cap: float = 300.0) -> float:
    """Seconds to wait after the ``attempts``-th failure in a row: doubling, capped, spread by ``chance``."""
    return min(first * 2.0 ** min(max(attempts - 1, 0), 20), cap) * (0.5 + chance / 2)
