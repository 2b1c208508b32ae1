"""Compares two versions that were measured in turns, and separates differences from noise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import median

_LEAST_MARGIN = 0.05
"""Two runs of the same code differ by about this share, however often they are repeated."""
_ERRORS = 3.0
"""How many standard errors a significant difference has; 2 would be too few for thirty figures per run."""
_SIGMA_OF_MAD = 1.4826
_ERROR_OF_MEDIAN = 1.2533
"""For normal samples: https://en.wikipedia.org/wiki/Median#Efficiency"""


class Result(StrEnum):
    """The result of a comparison; less is better in every figure."""

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
    def result(self) -> Result:
        """Return whether ours is more than theirs beyond the margin, or less."""
        if self.ratio > 1 + self.margin:
            return Result.WORSE
        return Result.BETTER if self.ratio < 1 - self.margin else Result.SAME


def compare(ours: Sequence[float], theirs: Sequence[float]) -> Compared:
    """Compare samples turn by turn, since the speed changes less within a turn than between turns."""
    ratios = [_ratio(a, b) for a, b in zip(ours, theirs, strict=True)]
    middle = median(ratios)
    return Compared(median(ours), median(theirs), middle, max(_margin(ratios, middle), _LEAST_MARGIN))


def _margin(ratios: Sequence[float], middle: float) -> float:
    """Return the margin of noise: ``_ERRORS`` standard errors of the median, and more for few turns."""
    count = len(ratios)
    if count < 2 or math.isinf(middle):
        return math.inf if count < 2 else 0.0
    sigma = _SIGMA_OF_MAD * median(abs(each - middle) for each in ratios)
    return _ERRORS * count / (count - 1.5) * _ERROR_OF_MEDIAN * sigma / math.sqrt(count)


def _ratio(ours: float, theirs: float) -> float:
    """Return ours / theirs; 1 if both are zero, infinity if only theirs is."""
    if theirs:
        return ours / theirs
    return math.inf if ours else 1.0
