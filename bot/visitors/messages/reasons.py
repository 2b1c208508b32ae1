"""The reasons why numbers are missing, in words."""

from __future__ import annotations

from bot.ids import Refusal
from bot.jobs.messages.problems import refusal_reason
from bot.messages import blocks as b
from bot.visitors.model.readings import ReadingProblem

REASON_LENGTH = 200
_PROBLEMS = {
    ReadingProblem.UNWELL: "the docs service didn't give a usable answer",
    ReadingProblem.KEY: "the docs service doesn't accept the bot's key",
    ReadingProblem.FORBIDDEN: "the docs service doesn't let the bot's key read them",
    ReadingProblem.PROJECT: "the docs service doesn't know the project",
    ReadingProblem.NOT_HERE: "the docs service doesn't give them here",
    ReadingProblem.REJECTED: "the docs service didn't accept the request",
    ReadingProblem.ENDLESS: "the docs service says there is more but shows nothing new",
    ReadingProblem.LATE: "they couldn't be read in time",
    ReadingProblem.DOWN: "the bot wasn't running when it was due",
    ReadingProblem.NOT_SERVED: "these docs are no longer set up here",
}


def reading_problem(code: str) -> str:
    """Return why numbers were not read, or a digest not posted, as the end of a sentence, in mrkdwn."""
    return b.quoted(problem_text(code), REASON_LENGTH)


def problem_text(code: str) -> str:
    """Return the text of a stored ReadingProblem or Refusal; a code of a newer version stays as it is."""
    if code in set(Refusal):
        return refusal_reason(Refusal(code))
    return _PROBLEMS[ReadingProblem(code)] if code in set(ReadingProblem) else code
