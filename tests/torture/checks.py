"""Counting what was insisted on, and keeping what turned out not to be so."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Checks:
    """``explained`` counts where a fault that lasted excuses what would otherwise be a complaint."""

    made: int = 0
    explained: int = 0
    ends_told: int = 0
    complaints: list[str] = field(default_factory=list)

    def insist(self, holds: object, complaint: str, *, explained: object = False) -> None:
        """A promise: it holds, or something outside explains why it could not be kept."""
        self.made += 1
        if holds:
            return
        if explained:
            self.explained += 1
        else:
            self.complaints.append(complaint)
