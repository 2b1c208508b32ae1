"""Two versions measured in turns: how much one differs, and how much difference says nothing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import median

_LEAST_MARGIN = 0.05
"""Two runs of the same code differ by so much however often they are repeated."""
_ERRORS = 3.0
"""A difference counts from so many standard errors on: with some thirty figures a run, 2 would be too few."""
_SIGMA_OF_MAD = 1.4826
_ERROR_OF_MEDIAN = 1.2533
"""Of normal samples: https://en.wikipedia.org/wiki/Median#Efficiency"""


class PollResult(StrEnum):
    """What a comparison says; less is better in every figure."""

    BETTER = "better"
    SAME = "same"
    WORSE = "worse"


@dataclass(frozen=True, slots=True)
class Compared:
    """The medians of both sides, the median of the ratios by turn, and the margin that is noise."""

    ours: float
    theirs: float
    ratio: float
    margin: float

    @property
    def verdict(self) -> PollResult:
        """Return whether ours is more than theirs beyond the margin, or less."""
        if self.ratio > 1 + self.margin:
            return PollResult.WORSE
        return PollResult.BETTER if self.ratio < 1 - self.margin else PollResult.SAME


def compare(ours: Sequence[float], theirs: Sequence[float]) -> Compared:
    """Compare samples of the same turns: the machine's speed changes less within a turn than between two."""
    ratios = [_ratio(a, b) for a, b in zip(ours, theirs, strict=True)]
    middle = median(ratios)
    return Compared(median(ours), median(theirs), middle, max(_margin(ratios, middle), _LEAST_MARGIN))


def _margin(ratios: Sequence[float], middle: float) -> float:
    """Some standard errors of the median; more for few turns, which tell little of their own spread."""
    count = len(ratios)
    if count < 2 or math.isinf(middle):
        return math.inf if count < 2 else 0.0
    sigma = _SIGMA_OF_MAD * median(abs(each - middle) for each in ratios)
    return _ERRORS * count / (count - 1.5) * _ERROR_OF_MEDIAN * sigma / math.sqrt(count)


def _ratio(ours: float, theirs: float) -> float:
    """Two zeros are the same; anything is infinitely more than zero."""
    if theirs:
        return ours / theirs
    return math.inf if ours else 1.0
