"""Results of the checks: counts and failures."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Checks:
    """Counts of checks, and the complaints about those that failed.

    ``explained``: number of failed checks that a fault of the run explains.
    """

    made: int = 0
    explained: int = 0
    ends_told: int = 0
    pulls_told: int = 0
    complaints: list[str] = field(default_factory=list)

    def insist(self, holds: object, complaint: str, *, explained: object = False) -> None:
        """Count a check. Adds the complaint if it does not hold and no fault explains it."""
        self.made += 1
        if holds:
            return
        if explained:
            self.explained += 1
        else:
            self.complaints.append(complaint)
