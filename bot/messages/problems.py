"""What a person reads when something went wrong: what happened, whether a use was spent, what to do next."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from bot.messages.blocks import quoted, words
from bot.model import JobProblem, Message, ReadingProblem


class Spent(StrEnum):
    """Whether one of the service's uses an hour was spent, in the words that are shown."""

    YES = "One use of the hourly limit was spent."
    NO = "No use of the hourly limit was spent."
    PERHAPS = "A use of the hourly limit may have been spent."


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem in escaped mrkdwn: its code, a sentence, the cost, the way on."""

    code: JobProblem
    what: str
    spent: Spent
    next_step: str

    @property
    def text(self) -> str:
        """All of it, as a paragraph."""
        return f"{self.what} {self.spent.value} {self.next_step}"


_TITLES = {
    JobProblem.REJECTED: "the docs service did not accept the prompt",
    JobProblem.KEY_REFUSED: "the docs service refused our key",
    JobProblem.KEY_FORBIDDEN: "the docs service does not let our key do this",
    JobProblem.PROJECT_UNKNOWN: "the docs service does not know the project",
    JobProblem.JOB_UNKNOWN: "the docs service no longer knows the job",
    JobProblem.NOT_STARTED: "the job did not start",
    JobProblem.SLACK_REFUSED: "Slack did not let me post",
    JobProblem.NOT_ALLOWED: "whoever asked may not use the bot",
}

_READING = {
    ReadingProblem.UNWELL: "the docs service did not give a usable answer",
    ReadingProblem.KEY: "the docs service does not accept the bot's key",
    ReadingProblem.FORBIDDEN: "the docs service does not let the bot's key read them",
    ReadingProblem.PROJECT: "the docs service does not know the project",
    ReadingProblem.REJECTED: "the docs service did not accept the request",
    ReadingProblem.ENDLESS: "the docs service says that there is more but shows nothing new",
    ReadingProblem.LATE: "they could not be read in time",
    ReadingProblem.DOWN: "the bot was not running when it was due",
}


def title(stored: str) -> str:
    """Return a stored problem of a job in a few words. Older versions stored the words themselves."""
    code = stored.partition(":")[0]
    return _TITLES[JobProblem(code)] if code in set(JobProblem) else stored


def reading_problem(stored: str) -> str:
    """Return why numbers could not be read, as the end of a sentence. Older versions stored it so."""
    return _READING[ReadingProblem(stored)] if stored in set(ReadingProblem) else stored


def _quoted(text: str) -> str:
    return quoted(text, 300) or "(no reason was given)"


def service_rejected(text: str) -> Problem:
    """400 and its like, with the service's own words."""
    return Problem(
        JobProblem.REJECTED,
        f"The docs service did not accept the prompt: “{_quoted(text)}”",
        Spent.NO,
        "Change the prompt and ask again.",
    )


def key_refused() -> Problem:
    """401: unknown or expired key."""
    return Problem(
        JobProblem.KEY_REFUSED,
        "The docs service does not accept the bot's key: it is unknown or has expired.",
        Spent.NO,
        "Ask whoever runs this bot to put a new key into `DOCS_API_KEY`; then run it again.",
    )


def key_forbidden() -> Problem:
    """403: the key lacks the right, or the address is not allowed."""
    return Problem(
        JobProblem.KEY_FORBIDDEN,
        "The docs service knows the bot's key but does not let it start jobs: "
        "it lacks the right to write, or the bot's address is not allowed.",
        Spent.NO,
        "Ask whoever runs this bot to look at the key's rights and addresses; then run it again.",
    )


def project_unknown() -> Problem:
    """404 when a job was to be created."""
    return Problem(
        JobProblem.PROJECT_UNKNOWN,
        "The docs service does not know the project that this bot is set up for.",
        Spent.NO,
        "Ask whoever runs this bot to look at `DOCS_PROJECT_ID` and `DOCS_API_URL`; then run it again.",
    )


def job_unknown() -> Problem:
    """404 when a follow-up was to be sent."""
    return Problem(
        JobProblem.JOB_UNKNOWN,
        "The docs service no longer knows this job, so nothing can be added to it.",
        Spent.NO,
        "Start a new one with `/docs-agent`.",
    )


def job_not_started() -> Problem:
    """A follow-up for a job that will never start."""
    return Problem(
        JobProblem.NOT_STARTED,
        "The job did not start, so the follow-up was not sent.",
        Spent.NO,
        "Ask anew with `/docs-agent`.",
    )


def slack_refused(code: str) -> Problem:
    """Slack did not let the bot say something. ``code`` is Slack's own word for why."""
    return Problem(
        JobProblem.SLACK_REFUSED,
        f"Slack did not let me post in the thread (`{quoted(code, 60)}`).",
        Spent.NO,
        "Look whether the channel is archived, or whether I was removed from it.",
    )


def form_not_opened() -> Message:
    """Slack did not let the form be opened."""
    return words(
        ":warning: Slack did not let me open the form; perhaps it took too long. "
        f"{Spent.NO.value} Try again, or type the prompt after the command."
    )


def unknown_command() -> Message:
    """Slack offers what this version does not have."""
    return words(
        ":warning: This version of the bot does not know that. "
        f"{Spent.NO.value} Ask whoever runs it whether the app in Slack and the bot are of the same version."
    )


def something_broke(reference: str) -> Message:
    """The last resort. The reference stands beside the error in the log."""
    return words(
        ":warning: Something went wrong on my side and nothing was started. "
        f"{Spent.NO.value} Please try again; if it happens again, give whoever runs this bot "
        f"the reference `{quoted(reference, 40)}`."
    )
