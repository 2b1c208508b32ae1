"""Answers to texts that are not sent to the agent: a no, a question, and the bot's own words about a job."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from bot.ids import Message
from bot.jobs.messages.status_message import (
    file_names,
    name,
    open_words,
    run_again_button,
    running,
    state_words,
    view,
    wait_lines,
)
from bot.jobs.model.jobs import JobState, TrackedJob, Wait
from bot.jobs.model.prompts import Unsent
from bot.messages import blocks as b
from bot.messages.blocks import COPIED_LENGTH
from bot.messages.help import WAYS_ON
from bot.messages.plain_text import visible

_TITLE_LENGTH = 80
WHAT_SHOULD_CHANGE = b.words("What should change? Reply with what it should say.")
"""The answer to a no."""


def cannot_answer(unsent: Unsent) -> Message:
    """Return the answer to a question, with a button that sends it to the agent."""
    text = "I change docs; I can't answer questions here."
    return b.with_buttons(
        text, [b.button("Draft a page on it", b.Action.SEND_ANYWAY, unsent.dumps())]
    )


def taken_as_task(unsent: Unsent) -> Message:
    """Return the note to the author of a text that started a job and may be a question."""
    button = b.button("Just answer it", b.Action.JUST_ANSWER, unsent.dumps())
    return b.with_buttons("I took that as a task for the agent.", [button])


def did_you_mean(unsent: Unsent, job: TrackedJob | None) -> Message:
    """Return the answer to a word that is almost one of the bot's own. ``job``: the newest one here."""
    steps = (
        [b.button(f"Status of {name(job.number)}", b.Action.DETAILS, str(job.number))]
        if job
        else []
    )
    steps += [*WAYS_ON, b.button("Help", b.Action.HELP_MORE, "1")]
    steps.append(b.button("Send it to the agent", b.Action.SEND_ANYWAY, unsent.dumps()))
    return b.with_buttons("Did you mean one of these?", steps)


def page_is_taken(job: TrackedJob, permalink: str | None, draft: Unsent) -> Message:
    """Return the question before a prompt about a page that ``job`` changes."""
    since = b.moment(job.asked_at, "{date_short_pretty}")
    whose = (
        f"{b.link(permalink, name(job.number))} ({b.mention(job.requester)}, open since {since})"
    )
    reply = replace(draft, job=job.number).dumps()
    to_job = b.button(f"Send it to {name(job.number)}", b.Action.SEND_TO_JOB, reply)
    anew = b.button("Start a new one", b.Action.SEND_ANYWAY, draft.dumps())
    return b.with_buttons(
        f"{whose} changes this page. Reply there, or start a new one.", [to_job, anew]
    )


def files_cannot_go(files: Sequence[str], draft: Unsent) -> Message:
    """Return the question before a prompt whose files cannot be sent."""
    start = b.button("Start without it", b.Action.SEND_ANYWAY, draft.dumps())
    cancel = b.button("Cancel", b.Action.CANCEL, "1")
    return b.with_buttons(f"I can't send {file_names(files)}.", [start, cancel])


CANCELLED = b.words("Nothing was started.")
"""The text in the place of a question that was cancelled."""


def merged_before(job: TrackedJob) -> Message:
    """Return the reply about an instruction in the thread of a job whose pull request is merged."""
    url = b.web_address(job.pr_link)
    return b.words(
        f"{b.link(url, open_words(url, 'PR')) if url else 'It'} is merged, so this is a new job."
    )


def key_found(unsent: Unsent | None, typed: str = "") -> Message:
    """Return the answer to a prompt with a key in it. ``typed``: the text to copy, if Slack hides it."""
    steps = [b.button("Send it anyway", b.Action.SEND_WITH_KEY, unsent.dumps())] if unsent else []
    made_up = "" if unsent else " If it is made up, write “example” into it."
    text = f"There is a key or a password in it, so I didn't send it. Take it out and try again.{made_up}"
    quotes = [b.quote(part) for part in list(b.split(visible(typed).strip(), COPIED_LENGTH))[:1]]
    return b.message(b.section(text), *quotes, *b.actions(steps))


SENT = b.words("Sent to the agent.")
"""The text in the place of that answer once the text was sent to the agent."""


YOU_ARE_WELCOME = b.words(":+1:")
"""The answer to thanks by a command, which leaves no message to react to."""


CANNOT_PING = b.words("I can't mention people for you. Type `@` and their name here.")
"""The answer to somebody who wants the bot to mention others."""


NO_JOB_HERE = b.words("You have no job here yet. Tell me what to change, and I'll start one.")
"""The answer to a word about a job, from somebody without one in this channel."""


def reviewed(job: TrackedJob) -> Message:
    """Return the answer to "merged" by a command. Its job's first message shows the rest."""
    return b.words(f":+1: {name(job.number)}: {state_words(job)}")


def cannot_stop(job: TrackedJob, *, withdraws: bool, may_steer: bool) -> Message:
    """Return the answer to ``stop`` about a job.

    ``withdraws``: its reader may take back a prompt of the job that still waits. ``may_steer``: they may
    decide about the job.
    """
    title, number = name(job.number), str(job.number)
    if withdraws or job.state is JobState.WAITING:
        text = (
            f"{title} hasn't started yet."
            if job.state is JobState.WAITING
            else "A follow-up still waits."
        )
        return b.with_buttons(
            text, [b.button("Withdraw", b.Action.WITHDRAW, number)] if withdraws else []
        )
    if job.state is JobState.WORKING:
        steps = [b.button("Keep quiet about it", b.Action.KEEP_QUIET, number)] if may_steer else []
        return b.with_buttons(f"I can't stop {title} once it runs.", steps)
    close = " Close its pull request there:" if view(job) else ""
    return b.with_buttons(f"{title} is over, so there is nothing to stop.{close}", view(job))


def not_failed(job: TrackedJob) -> Message:
    """Return the answer to ``retry`` about a job that has not failed."""
    return b.with_buttons(f"{name(job.number)} hasn't failed.", [run_again_button(job)])


def cannot_merge(job: TrackedJob) -> Message:
    """Return the answer to ``merge it`` and ``close the PR``."""
    if not view(job):
        return b.words(f"{name(job.number)} has no pull request that I could link to.")
    return b.with_buttons("I can't merge or close it from here:", view(job))


def _unanswered(job: TrackedJob) -> list[str]:
    """Return since when polls of a job fail; nothing while they are answered."""
    if job.unread_since is None:
        return []
    return [
        f"the docs service hasn't answered about it since {b.moment(job.unread_since, '{time}')}"
    ]


def status_line(
    job: TrackedJob, waiting: Sequence[Wait], usual: timedelta | None = None, *, asks: bool
) -> Message:
    """Return a job's status in one line.

    Args:
        waiting: its pending work.
        usual: the usual time of the project's jobs; None if unknown.
        asks: for a yes or no.
    """
    url, ended = (
        b.web_address(job.pr_link),
        b.moment(job.ended_at, "{time}") if job.ended_at else "",
    )
    title = b.quoted(job.pull_request.title if job.pull_request else job.text, _TITLE_LENGTH)
    sign, _, state = state_words(job).partition(" ")
    since = (
        [running(job, usual)]
        if job.state is JobState.WORKING
        else [f"since {ended}"]
        if ended
        else []
    )
    since += wait_lines(waiting) or _unanswered(job)
    link = f" · {b.link(url, open_words(url, 'PR'))}" if url else ""
    text = ", ".join([f"{sign} *{title}*{link} · {state.replace('*', '')}", *filter(None, since)])
    if asks and job.awaits_review and url:
        text = f":memo: Yes: {b.link(url, open_words(url, 'pull request'))}, since {ended}."
    elif asks and job.state.is_open:
        text = f"Not yet. {text}"
    details = b.button("Details", b.Action.DETAILS, str(job.number))
    return b.message({**b.section(text), "accessory": details})
