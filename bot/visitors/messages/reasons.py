"""The reasons why numbers are missing, in one sentence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from bot.ids import Refusal
from bot.jobs.messages.problems import refusal_reason
from bot.messages import blocks as b
from bot.visitors.model.readings import Reading, ReadingProblem, is_passing

TIME_OF_DAY = "{time}"
MAX_REASON_CHARACTERS = 200
_PROBLEMS = {
    ReadingProblem.UNWELL: "the docs service didn't give a usable answer",
    ReadingProblem.KEY: "the docs service doesn't accept the bot's key",
    ReadingProblem.FORBIDDEN: "the docs service doesn't let the bot's key read them",
    ReadingProblem.PROJECT: "the docs service doesn't know the project",
    ReadingProblem.NOT_HERE: "the docs service doesn't give them here",
    ReadingProblem.REJECTED: "the docs service didn't accept the request",
    ReadingProblem.ENDLESS: "the docs service says there is more but shows nothing new",
    ReadingProblem.NO_CALLS: "all analytics calls of this hour are used",
    ReadingProblem.LIMITED: "the docs service takes no more calls for a while",
    ReadingProblem.SHARE: "one question takes a third of the hour's analytics calls at most",
    ReadingProblem.KEPT: "the analytics calls left in this hour are kept for people's questions",
    ReadingProblem.LATE: "it took too long",
    ReadingProblem.TOO_LARGE: "the site has so many pages that they take more than ten calls",
    ReadingProblem.DOWN: "the bot wasn't running when it was due",
    ReadingProblem.NOT_SERVED: "these docs are no longer set up here",
}


def not_read(what: str, problem: str) -> str:
    """Return the sentence about numbers that are missing.

    *Votes couldn't be read: it took too long.* ``what``: the subject in mrkdwn, with a capital.
    """
    return f"{what} couldn't be read: {b.quoted(problem_text(problem), MAX_REASON_CHARACTERS)}."


def problem_text(code: str) -> str:
    """Return the text of a stored ReadingProblem or Refusal.

    A code of a newer version stays as it is.
    """
    if code in set(Refusal):
        return refusal_reason(Refusal(code))
    return _PROBLEMS[ReadingProblem(code)] if code in set(ReadingProblem) else code


def next_step(problem: str, free_at: datetime | None) -> str:
    """Return the next step of a person whose numbers are missing.

    ``free_at``: the time of the next possible call; None for now.
    """
    if not is_passing(problem):
        return "Try again later. If it keeps failing, ask your bot admin."
    when = f" after {b.moment(free_at, TIME_OF_DAY)}" if free_at else ""
    return f"Ask again{when}, and I'll go on where I stopped."


def unread_sources(readings: Iterable[Reading]) -> list[str]:
    """Return a sentence for each reason why sources were not read, with their names."""
    sources: dict[str, dict[str, None]] = {}
    for reading in readings:
        if not reading.is_read:
            sources.setdefault(reading.problem or ReadingProblem.LATE, {})[reading.source] = None
    return [
        not_read(_enumerate(list(names)).capitalize(), problem)
        for problem, names in sources.items()
    ]


def _enumerate(names: Sequence[str]) -> str:
    """Return votes, comments and questions."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
