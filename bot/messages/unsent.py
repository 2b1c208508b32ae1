"""Private answers to texts that are no instruction: what they were taken for, and what to do."""

from __future__ import annotations

from collections.abc import Sequence

from bot.messages import blocks as b
from bot.messages.face import name
from bot.messages.job_answers import job_status
from bot.messages.plain_text import visible
from bot.model.examples import PROMPT
from bot.model.ids import Block, Message
from bot.model.jobs import JobState, TrackedJob
from bot.model.prompts import Unsent
from bot.model.reflexes import Reflex, Taken
from bot.model.waits import Wait

SEND_ANYWAY = "send_anyway"
"""The action id of the button that sends the words to the agent."""


KEEP_QUIET = "keep_quiet"
"""The action id of the button that ends the bot's messages about a job."""
_TAKEN = {
    Reflex.STOP: "That looks like a wish to stop something",
    Reflex.STATUS: "That's a question about jobs",
    Reflex.REVIEWED: "That sounds as if something is reviewed or merged",
    Reflex.QUESTION: "That's a question, and this agent changes docs rather than answers",
    Reflex.HELP: "That's a question about me",
    Reflex.COMMAND: "That looks like a command that I don't have",
    Reflex.THANKS: "That looks like thanks or agreement",
    Reflex.GREETING: "That looks like a greeting",
    Reflex.WORD: "I see nothing to change in that",
}
_NEXT = {
    Reflex.STOP: (
        "A job that the agent works on can't be stopped; one that still waits has *Withdraw* in its message."
    ),
    Reflex.STATUS: "`/docs-agent jobs` lists this channel's jobs, `/docs-agent status 42` shows one.",
    Reflex.REVIEWED: "Say it in the job's thread.",
    Reflex.QUESTION: "Tell me what to change: “Explain retries on the webhooks page”.",
    Reflex.HELP: "`/docs-agent help` shows what I can do.",
    Reflex.COMMAND: "`/docs-agent help` lists those that I have.",
    Reflex.GREETING: f"Tell me what to change: `/docs-agent {PROMPT}`.",
    Reflex.WORD: f"Say what to change: `/docs-agent {PROMPT}`.",
}


def not_sent(taken: Taken, text: str, unsent: Unsent) -> Message:
    """Return the answer to words that were not sent to the agent, with a button to send them anyway.

    ``text``: these words, as a person reads them.
    """
    said, onward = _TAKEN[taken.reflex], _NEXT.get(taken.reflex, "")
    if taken.command:
        said, onward = (
            f"That looks like {b.code(taken.command)}",
            "Type that if you mean it.",
        )
    elif taken.reflex is Reflex.COMMAND and "merge" in text.casefold():
        onward = "Merge a pull request where it is: the button in its job's thread leads there."
    quoted = f"“{b.quoted(text, 80)}”: " if visible(text).strip() else ""
    return b.with_buttons(f"{quoted}{said}, so nothing was started. {onward}".strip(), [_send_anyway(unsent)])


def sent() -> Message:
    """Return what stands in the place of such an answer once its words were sent to the agent."""
    return b.words("Sent to the agent.")


def cannot_stop(job: TrackedJob, unsent: Unsent, *, may_steer: bool) -> Message:
    """Return the answer to ``stop`` in a job's thread. ``may_steer``: its reader may decide about the job."""
    shown = name(job.number)
    match job.state:
        case JobState.WAITING:
            said, label, action = f"{shown} hasn't started yet.", "Withdraw", "withdraw"
        case JobState.WORKING:
            said = "The docs service can't stop a job once it runs."
            said += f" I can keep quiet about {shown}." if may_steer else f" {shown} goes on."
            label, action = "Keep quiet about it", KEEP_QUIET
        case _:
            said, label, action = f"{shown} isn't running, so there is nothing to stop.", "", ""
    steps = [b.button(label, action, str(job.number))] if action and may_steer else []
    return b.with_buttons(f"{said} Nothing was sent.", [*steps, _send_anyway(unsent)])


def status_unsent(job: TrackedJob, waiting: Sequence[Wait], unsent: Unsent) -> Message:
    """Return the state of a job to somebody who asks in its thread. ``waiting``: see ``job_status``."""
    return job_status(job, None, waiting, [_send_anyway(unsent)])


def _send_anyway(unsent: Unsent) -> Block:
    return b.button("Send it to the agent anyway", SEND_ANYWAY, unsent.dumps())
