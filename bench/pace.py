"""Benchmark `pace`: polls per job and the delay of their results, beside a fixed interval of 15 s.

A simulation of `bot.model.PollPace` with the settings' defaults: in a project without a history, and in
projects whose jobs take their time in different ways. There the pace learns as the poll worker does, from the
times at which polls have seen the ends of earlier jobs. The delay is the time between a job's end and the
poll that finds it.

No pace that knows only a job's age can make both small where ends come at no particular age. The product of
polls and delay has a lower limit then, which each report names: it follows from the distribution alone.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean

from bench.measure import percentile
from bench.report import Report, Row, at_most
from bot.model import PollPace
from bot.settings import Settings
from bot.work.jobs.poll import LEARNED_FROM

Wait = Callable[[float, float], float]
"""Maps the job's age in seconds and a random number from 0 to 1 to the seconds until the next poll."""
Draw = Callable[[random.Random], float]
"""Draws the duration of a job, in seconds."""

MEDIAN_SECONDS = 240.0
SIGMA = math.log(15) / 2.326
"""One in a hundred takes 15 times the median: an hour."""
_EVERY_SECONDS = 15.0
_SHORT_SECONDS = 600.0
_LEARNED_EVERY = 20
"""Jobs that end in the time for which a pace is used."""
_LIMIT_STEP_SECONDS = 5.0
_GOAL = 0.75
FULL, QUICK = 10_000, 300


@dataclass(frozen=True, slots=True)
class Followed:
    """One job's number of polls, and the delay between its end and the last of them."""

    duration_seconds: float
    polls: int
    delay_seconds: float


def _log_normal(chance: random.Random) -> float:
    return chance.lognormvariate(math.log(MEDIAN_SECONDS), SIGMA)


def _one_size(chance: random.Random) -> float:
    return max(chance.gauss(300.0, 60.0), 5.0)


def _two_sizes(chance: random.Random) -> float:
    """Small changes, and large ones that take ten times as long."""
    return max(chance.gauss(*((90.0, 20.0) if chance.random() < 0.6 else (900.0, 120.0))), 5.0)


def _long_tail(chance: random.Random) -> float:
    return min(120.0 * chance.paretovariate(1.3), 6 * 3_600.0)


@dataclass(frozen=True, slots=True)
class Project:
    """How long a project's jobs take, and what of a fixed interval's polls and delay the bot may need.

    ``has_history``: earlier jobs have ended.
    """

    name: str
    draw: Draw
    share: float
    has_history: bool = True


PROJECTS = (
    Project("a project without a history, log-normal", _log_normal, 1.0, has_history=False),
    Project("log-normal, median 4 min, one in 100 takes an hour", _log_normal, 1.0),
    Project("one size, 5 min", _one_size, _GOAL),
    Project("two sizes, 90 s and 15 min", _two_sizes, _GOAL),
    Project("a long tail, from 2 min", _long_tail, _GOAL),
)


def measure(jobs: int) -> list[Report]:
    """Simulate the same jobs of each project at both paces."""
    return [_measured(project, jobs) for project in PROJECTS]


def _measured(project: Project, jobs: int) -> Report:
    chance = random.Random(7)  # noqa: S311 - the same jobs in every run
    before = [project.draw(chance) for _ in range(2 * LEARNED_FROM if project.has_history else 0)]
    durations = [project.draw(chance) for _ in range(jobs)]
    ours = follow_learning(before, durations, learns=project.has_history)
    return _beside(project, ours, follow_all(durations, _every(_EVERY_SECONDS)))


def usual_pace() -> PollPace:
    """Return the pace of the settings' defaults."""
    fields = Settings.model_fields
    return PollPace(fields["poll_min_seconds"].default, fields["poll_max_seconds"].default)


def follow_learning(before: Sequence[float], durations: Sequence[float], *, learns: bool) -> list[Followed]:
    """Simulate all jobs, ``before`` first; the pace is learned anew from what was seen of the latest ones."""
    chance, usual = random.Random(11).random, usual_pace()  # noqa: S311
    pace, seen, followed = usual, list[float](), list[Followed]()
    for number, duration in enumerate((*before, *durations)):
        if learns and number % _LEARNED_EVERY == 0:
            pace = usual.learned(seen[-LEARNED_FROM:])
        found = follow(duration, pace.wait_seconds, chance)
        seen.append(found.duration_seconds + found.delay_seconds)
        followed.append(found)
    return followed[len(before) :]


def follow(duration_seconds: float, wait: Wait, chance: Callable[[], float]) -> Followed:
    """Poll a simulated job until a poll finds that it has ended, as the poll worker does."""
    at_seconds, polls = 0.0, 0
    while True:
        at_seconds += wait(at_seconds, chance())
        polls += 1
        if at_seconds >= duration_seconds:
            return Followed(duration_seconds, polls, at_seconds - duration_seconds)


def follow_all(durations: Sequence[float], wait: Wait) -> list[Followed]:
    """Simulate all jobs at one pace."""
    chance = random.Random(11).random  # noqa: S311
    return [follow(duration, wait, chance) for duration in durations]


def _every(seconds: float) -> Wait:
    """Return the pace of a fixed interval; a job begins at a random moment within it."""

    def wait(age_seconds: float, chance: float) -> float:
        return seconds * chance if age_seconds == 0.0 else seconds

    return wait


def least_product(durations: Sequence[float]) -> float:
    """Return the least product of polls and delay, as a share of a fixed interval's, at any pace by age.

    Polls cost the integral of S·r, and the delay of jobs under ten minutes that of f/2r, where r is the rate
    of polls at an age, S the share of jobs older than it, and f the density of those that end there. By the
    inequality of Cauchy and Schwarz the product is at least (∫√(S·f))²/2, and E[duration]/2 at a fixed one.
    """
    ends = [0] * (int(max(durations) / _LIMIT_STEP_SECONDS) + 1)
    for each in durations:
        ends[int(each / _LIMIT_STEP_SECONDS)] += 1
    short = sum(each < _SHORT_SECONDS for each in durations)
    alive, total = len(durations), 0.0
    for count in ends[: int(_SHORT_SECONDS / _LIMIT_STEP_SECONDS)]:
        older = (alive - count / 2) / len(durations)
        total += math.sqrt(older * count / short * _LIMIT_STEP_SECONDS)
        alive -= count
    return total**2 / fmean(durations)


def _beside(project: Project, ours: list[Followed], theirs: list[Followed]) -> Report:
    every = f"every {_EVERY_SECONDS:g} s"
    report = Report(f"pace: {project.name}", "the bot", every)
    polls = Row("polls a job", "", _mean_polls(ours), _mean_polls(theirs))
    delay = Row(
        "mean delay, jobs under ten minutes", "s", _mean_delay(_short(ours)), _mean_delay(_short(theirs))
    )
    late = Row("99th percentile of the delay, the same", "s", _late(_short(ours)), _late(_short(theirs)))
    report.rows.extend((at_most(polls, project.share), at_most(delay, project.share), late))
    report.rows.append(Row("mean delay, all jobs", "s", _mean_delay(ours), _mean_delay(theirs)))
    least = least_product([each.duration_seconds for each in ours])
    report.notes.append(
        f"Polls times delay, as shares of theirs: {(polls.ratio or 0) * (delay.ratio or 0):.2f}; "
        f"no pace by age has less than {least:.2f} (both at {math.sqrt(least):.2f})."
    )
    return report


def _short(followed: list[Followed]) -> list[Followed]:
    return [each for each in followed if each.duration_seconds < _SHORT_SECONDS]


def _mean_polls(followed: list[Followed]) -> float:
    return fmean(each.polls for each in followed)


def _mean_delay(followed: list[Followed]) -> float:
    return fmean(each.delay_seconds for each in followed)


def _late(followed: list[Followed]) -> float:
    return percentile([each.delay_seconds for each in followed], 0.99)
