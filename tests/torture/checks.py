"""Results of the checks: counts and failures."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Checks:
    """Counts of checks, and the complaints about those that failed."""

    made: int = 0
    explained: int = 0
    """Failed checks that a fault of the run explains."""
    reported_ends: int = 0
    reported_pulls: int = 0
    complaints: list[str] = field(default_factory=list)

    def insist(self, holds: object, complaint: str, *, explained: object = False) -> None:
        """Count a check. Add its complaint if it fails without a fault that explains this."""
        self.made += 1
        if holds:
            return
        if explained:
            self.explained += 1
        else:
            self.complaints.append(complaint)
