"""Benchmark `pace`: polls per job and the delay of their results, at the bot's pace and at fixed intervals.

A simulation of `bot.model.PollPace` with the settings' defaults. Durations are log-normal with a median of
four minutes; one job in a hundred runs for more than an hour. The delay is the time between the job's end
and the poll that finds it.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean

from bench.measure import percentile
from bench.report import Goal, Report, Row
from bot.model import PollPace
from bot.settings import Settings

Wait = Callable[[float, float], float]
"""Maps the job's age in seconds and a random number from 0 to 1 to the seconds until the next poll."""

MEDIAN_SECONDS = 240.0
SIGMA = math.log(15) / 2.326
"""One in a hundred takes 15 times the median: an hour."""
_SHORT_SECONDS = 600.0
FULL, QUICK = 50_000, 500


@dataclass(frozen=True, slots=True)
class Followed:
    """One job's number of polls, and the delay between its end and the last of them."""

    duration_seconds: float
    polls: int
    delay_seconds: float


def measure(jobs: int) -> list[Report]:
    """Simulate the same jobs at each pace."""
    durations = _durations(jobs, random.Random(7))  # noqa: S311 - the same jobs in every run
    fields = Settings.model_fields
    pace = PollPace(fields["poll_min_seconds"].default, fields["poll_max_seconds"].default)
    ours = follow_all(durations, pace.wait_seconds)
    return [_beside(ours, follow_all(durations, _every(seconds)), seconds) for seconds in (5.0, 15.0, 60.0)]


def follow(duration_seconds: float, wait: Wait, chance: Callable[[], float]) -> Followed:
    """Poll a simulated job until a poll finds that it has ended, as the poll worker does."""
    at_seconds, polls = 0.0, 0
    while True:
        at_seconds += wait(at_seconds, chance())
        polls += 1
        if at_seconds >= duration_seconds:
            return Followed(duration_seconds, polls, at_seconds - duration_seconds)


def follow_all(durations: Sequence[float], wait: Wait) -> list[Followed]:
    """Simulate all jobs; every pace gets the same random numbers."""
    chance = random.Random(11).random  # noqa: S311
    return [follow(duration, wait, chance) for duration in durations]


def _durations(jobs: int, chance: random.Random) -> list[float]:
    return [chance.lognormvariate(math.log(MEDIAN_SECONDS), SIGMA) for _ in range(jobs)]


def _every(seconds: float) -> Wait:
    """Return the pace of a fixed interval; a job begins at a random moment within it."""

    def wait(age_seconds: float, chance: float) -> float:
        return seconds * chance if age_seconds == 0.0 else seconds

    return wait


def _beside(ours: list[Followed], theirs: list[Followed], seconds: float) -> Report:
    report = Report(f"pace: beside a fixed interval of {seconds:g} s", "the bot", f"every {seconds:g} s")
    polls = Row("polls a job", "", _mean_polls(ours), _mean_polls(theirs))
    short = Row(
        "mean delay, jobs under ten minutes", "s", _mean_delay(_short(ours)), _mean_delay(_short(theirs))
    )
    late = Row("99th percentile of the delay, the same", "s", _late(_short(ours)), _late(_short(theirs)))
    if seconds == 15.0:
        polls, short = _fewer(polls), _fewer(short)
    report.rows.extend(
        (polls, short, late, Row("mean delay, all jobs", "s", _mean_delay(ours), _mean_delay(theirs)))
    )
    return report


def _fewer(row: Row) -> Row:
    met = row.theirs is not None and row.ours < row.theirs
    return Row(row.what, row.unit, row.ours, row.theirs, Goal("less than every 15 s", met))


def _short(followed: list[Followed]) -> list[Followed]:
    return [each for each in followed if each.duration_seconds < _SHORT_SECONDS]


def _mean_polls(followed: list[Followed]) -> float:
    return fmean(each.polls for each in followed)


def _mean_delay(followed: list[Followed]) -> float:
    return fmean(each.delay_seconds for each in followed)


def _late(followed: list[Followed]) -> float:
    return percentile([each.delay_seconds for each in followed], 0.99)
