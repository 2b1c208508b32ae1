"""Messages about errors: the event, its cost in uses of the quota, and the next step."""

from __future__ import annotations

from dataclasses import dataclass

from bot.ids import Message, Refusal
from bot.jobs.model.jobs import JobProblem
from bot.messages.blocks import code, moment, quoted, words
from bot.outbox.model import NotPosted
from bot.projects import Project

_NOT_A_MEMBER = ("I'm not a member", "Type `/invite @{bot}` there.")
_REFUSED = ("Slack refused it", "Your bot admin finds why in its log ({reference}).")
_REASONS = {
    Refusal.NOT_A_MEMBER: _NOT_A_MEMBER,
    Refusal.NOT_VISIBLE: _NOT_A_MEMBER,
    Refusal.ARCHIVED: ("the channel is archived", "Use another one."),
    Refusal.RESTRICTED: ("I'm not allowed to post there", "Ask an admin, or use another channel."),
    Refusal.THREAD_GONE: ("the thread is gone", "Use the channel itself."),
    Refusal.TOKEN: (
        "Slack doesn't accept my token any more",
        "Ask your bot admin to renew it.",
    ),
    Refusal.SCOPE: ("I lack a right in Slack", "Ask your bot admin to install it again."),
    Refusal.BETWEEN_PEOPLE: (
        "nobody can invite me into a direct message between two people",
        "Use a channel, a group direct message that I am in, or a direct message with me.",
    ),
}
"""The reason of a refused post, as the end of a sentence, and the next step."""


def refusal(refused: NotPosted, bot_name: str) -> str:
    """Return the reason of a refused post, as the end of a sentence, and the next step.

    Both in mrkdwn.
    """
    reason, way = _REASONS.get(refused.meaning, _REFUSED)
    reference = moment(refused.at, "{time}")
    if refused.job is not None:
        reference = f"Job {refused.job}, {reference}"
    return f"{reason}. {way.format(bot=quoted(bot_name, 80), reference=reference)}"


def refusal_reason(meaning: Refusal) -> str:
    """Return the reason of a refused post, as the end of a sentence."""
    return _REASONS.get(meaning, _REFUSED)[0]


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem that cost nothing, with its event and the next step in escaped mrkdwn."""

    code: JobProblem
    text: str


_TITLES = {
    JobProblem.REJECTED: "the docs service didn't accept the prompt",
    JobProblem.KEY_REFUSED: "the docs service refused our key",
    JobProblem.KEY_FORBIDDEN: "the docs service doesn't let our key do this",
    JobProblem.PROJECT_UNKNOWN: "the docs service doesn't know the project",
    JobProblem.NOT_SERVED: "these docs are no longer set up here",
    JobProblem.NOT_ALLOWED: "its author was told why, in private",
    JobProblem.JOB_UNKNOWN: "the docs service no longer knows the job",
    JobProblem.NOT_STARTED: "the job didn't start",
    JobProblem.SLACK_REFUSED: "Slack didn't let me post",
    JobProblem.DISMISSED: "nobody knew whether it had started, and somebody dismissed it",
    JobProblem.WITHDRAWN: "somebody withdrew it",
    JobProblem.DELETED: "its message was deleted",
    JobProblem.EDITED: "its message was edited and asks for nothing now",
}


def problem_title(stored: str) -> str:
    """Return a job's stored problem in a few words.

    A code of a newer version is returned as it is.
    """
    code = stored.partition(":")[0]
    return _TITLES[JobProblem(code)] if code in set(JobProblem) else stored


def service_rejected(text: str) -> Problem:
    """Return the problem for a prompt that the service rejects as invalid.

    ``text`` is its message.
    """
    reason = quoted(text, 300) or "(no reason was given)"
    return Problem(
        JobProblem.REJECTED,
        f"The docs service didn't accept the prompt: “{reason}” Change the prompt and ask again.",
    )


def refuse_prompt_alone(status_code: int | None) -> Problem:
    """Return the problem for 401 or 403 on one prompt while others are taken."""
    return Problem(
        JobProblem.REJECTED,
        f"The docs service takes other prompts but refuses this one (HTTP {status_code}). "
        "Perhaps a firewall in front of it objects to something in the text. "
        "Change the prompt and ask again, for example without code or markup.",
    )


def key_setting(entry: Project | None) -> str:
    """Return the settings that may have a project's key, in mrkdwn.

    ``entry``: see ``Projects.entry``.
    """
    own = f" (or into the entry {code(entry.name)} of `DOCS_PROJECTS`)" if entry else ""
    return f"`DOCS_API_KEY`{own}"


def key_refused(entry: Project | None = None) -> Problem:
    """Return the problem for 401: the key is unknown or has expired.

    ``entry``: see ``Projects.entry``.
    """
    return Problem(
        JobProblem.KEY_REFUSED,
        "The docs service doesn't accept the bot's key: it is unknown or has expired. "
        f"Ask your bot admin to put a new key into {key_setting(entry)}, then run it again.",
    )


KEY_FORBIDDEN = Problem(
    JobProblem.KEY_FORBIDDEN,
    "The docs service knows the bot's key but doesn't let it start jobs: "
    "it lacks the right to write, or the bot's address isn't allowed. "
    "Ask your bot admin to check the key's rights and addresses, then run it again.",
)
"""The problem for 403: the key lacks a right, or the bot's address is not allowed."""


def project_unknown(entry: Project | None = None) -> Problem:
    """Return the problem for 404 on the creation of a job. ``entry``: see ``Projects.entry``."""
    setting = f"the entry {code(entry.name)} of `DOCS_PROJECTS`" if entry else "`DOCS_PROJECT_ID`"
    return Problem(
        JobProblem.PROJECT_UNKNOWN,
        "The docs service doesn't know the project this bot is set up for. "
        f"Ask your bot admin to check {setting} and `DOCS_API_URL`, then run it again.",
    )


NOT_SERVED = Problem(
    JobProblem.NOT_SERVED,
    "These docs are no longer set up here. "
    "Ask your bot admin to check `DOCS_PROJECTS`, then run it again.",
)
"""The problem for a project that the bot does not serve any more."""


JOB_UNKNOWN = Problem(
    JobProblem.JOB_UNKNOWN,
    "The docs service no longer knows this job, so I couldn't add to it. "
    "Start a new one with `/docs-agent`.",
)
"""The problem for 404 on a follow-up."""


FOLLOW_UP_NOT_TAKEN = Problem(
    JobProblem.REJECTED,
    "The docs service still knows this job but takes nothing more for it. "
    "Start a new one with `/docs-agent`.",
)
"""The problem for 404 on a follow-up again and again, though the service knows the job."""


JOB_NOT_STARTED = Problem(
    JobProblem.NOT_STARTED,
    "The job didn't start, so your follow-up wasn't sent. Start a new one with `/docs-agent`.",
)
"""The problem for a follow-up to a job that will never start."""


FORM_NOT_OPENED = words(
    ":warning: Slack didn't let me open the form; perhaps it took too long. "
    "Try again, or type the prompt after the command."
)
"""The answer if Slack refused to open the form."""


UNKNOWN_COMMAND = words(
    ":warning: I don't know that one. Ask your bot admin: "
    "the app in Slack and the bot are probably of different versions."
)
"""The answer to a command or action that this version of the bot does not have."""


def something_broke(reference: str, *, may_be_stored: bool = False) -> Message:
    """Return the answer after an unexpected error. ``reference`` is logged with the error.

    ``may_be_stored``: the request may be carried out.
    """
    text = "Something went wrong on my side, and nothing was started. Try again."
    if may_be_stored:
        text = (
            "Something went wrong on my side. I may have taken this; "
            "see `/docs-agent jobs` before you try again."
        )
    return words(
        f":warning: {text} "
        f"If it happens again, give your bot admin the reference {code(reference, 40)}."
    )
