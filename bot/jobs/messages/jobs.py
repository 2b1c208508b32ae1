"""Messages in a job's thread below its status message: follow-ups, and replies about progress."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from bot.ids import Block, Message, UserId
from bot.jobs.messages.problems import Problem
from bot.jobs.messages.status_message import (
    build_view_button,
    format_duration,
    format_link_label,
    format_withdrawal,
    list_address,
    name,
    run_again_button,
)
from bot.jobs.model.jobs import JobProblem, JobState, TrackedJob
from bot.jobs.model.prompts import Prompt
from bot.messages import blocks as b
from bot.messages.plain_text import visible

_MAX_PART_CHARACTERS = 8_000
_MAX_SUMMARY_CHARACTERS = 80
_MAX_TITLE_CHARACTERS = 80
SEND_AGAIN = "Send again"
"""A decision about an unconfirmed prompt, as its button calls it."""
DISMISS = "Dismiss"
"""The other decision."""


def follow_up_by_command(job: TrackedJob, prompt_text: str, asked_by: UserId) -> Message:
    """Return a follow-up given by command or form, to show it in the thread."""
    whole = visible(prompt_text)
    head = next(iter(b.split(whole, _MAX_PART_CHARACTERS)), "")
    part = "" if head == whole else " (its beginning; the agent gets all of it)"
    headline = f"{b.mention(asked_by)} follows up on {name(job.number)}{part}:"
    return b.message(b.section(headline), b.quote(head))


def follow_up_withdrawn(job: TrackedJob, prompt: Prompt, end: JobProblem, by: UserId) -> Message:
    """Return the reply about a follow-up that was withdrawn before it was sent."""
    return b.words(
        f":leftwards_arrow_with_hook: The follow-up of {b.mention(prompt.asked_by)} "
        f"to {name(job.number)} (“{b.quoted(prompt.text or '', 120)}”) wasn't sent. "
        f"It was withdrawn{format_withdrawal(end, by)}."
    )


def format_result(job: TrackedJob, summary: str) -> Message:
    """Return the reply at the end of an iteration: the result, and the way on.

    ``summary``: the summary of the iteration's prompt. A bot with the feature *pull requests*
    formats their ends itself.
    """
    text = " ".join(fill_end(job, summary, end_texts(job))).rstrip()
    buttons: list[Block] = []
    if job.state is JobState.PULL_REQUEST:
        buttons = build_view_button(job, style="primary", called="Review")
    elif job.state in _FAILED_STATES:
        buttons = [run_again_button(job)]
    return b.message(b.section(b.clip_bytes(text, b.TEXT_BYTES)), *b.actions(buttons))


def outdated_end(job: TrackedJob, summary: str) -> Message:
    """Return the message about an outdated end: its result, without advice and buttons."""
    result, _advice = fill_end(job, summary, end_texts(job))
    return b.words(result)


def end_texts(job: TrackedJob) -> tuple[str, str]:
    """Return the texts of a job's result and of the advice, to be filled in."""
    if job.state is JobState.PULL_REQUEST and b.web_address(job.pr_link) is None:
        return _UNLINKED_END
    return _END_TEXTS[job.state]


def fill_end(job: TrackedJob, summary: str, texts: tuple[str, str], **more: str) -> tuple[str, str]:
    """Fill in the texts of a result and of its advice, which may be empty.

    ``more``: further values of the texts.
    """
    url = b.web_address(job.pr_link)
    is_live = job.ref and job.branch is None
    values = {
        "summary": b.quoted(summary, _MAX_SUMMARY_CHARACTERS),
        "link": b.link(url, format_link_label(url, "PR")) if url else "",
        "odd": b.quoted(job.pr_link or "", 300),
        "live": f" It may be on {b.code(job.ref or '')} already." if is_live else "",
        "change": "",
        **more,
    }
    result, advice = texts
    return _fill_text(job, "{everybody} " + result, (), **values), _fill_text(
        job, advice, (), **values
    )


def _fill_text(job: TrackedJob, text: str, first: Sequence[UserId] = (), **more: str) -> str:
    """Fill in a text about a job.

    ``{everybody}`` are ``first`` and the people who wait for the end. ``{it}`` begins a sentence:
    the follow-up after an earlier end, or else the job. ``{here}`` and ``{A_reply}`` are ways to
    steer the job, see ``TrackedJob.needs_mention``.
    """
    called = name(job.number)
    people = dict.fromkeys((*first, *job.recipients))
    after = f" after {format_duration(job.time_taken)}" if job.time_taken is not None else ""
    way = "mention me here" if job.needs_mention else "reply here"
    return text.format(
        everybody=" ".join(b.mention(user) for user in people),
        job=called,
        it=f"The follow-up to {called}" if job.result_number > 1 else called,
        after=after,
        here=way,
        Here=way.capitalize(),
        A_reply="A mention" if job.needs_mention else "A reply",
        **more,
    )


_UNLINKED_END = (
    ":memo: *{summary}* is done, but I can't link to the address of its pull request: `{odd}`.",
    "It must be https, on a host that your bot admin allows. Look for it in the repository.",
)
_END_TEXTS = {
    JobState.PULL_REQUEST: (":memo: *{summary}* is done: {link}{change}.", ""),
    JobState.NO_PULL_REQUEST: (
        ":heavy_minus_sign: *{summary}*: the agent made no pull request.{live}",
        "Which page should change, and what should it say? {Here}.",
    ),
    JobState.FAILED: (
        ":x: *{summary}* failed{after}, without a reason from the docs service.",
        "*Run again*, or {here} with a smaller step. (One use spent.)",
    ),
    JobState.ARCHIVED: (
        ":file_folder: {job} was archived at the docs service, so the agent won't go on with it.",
        "Run it again if it's still needed.",
    ),
    JobState.GONE: (
        ":ghost: The docs service no longer knows {job}, so I can't tell how it goes.",
        "Look for its pull request in the repository. None there? Run it again.",
    ),
}
"""The result and the advice of each end. An outdated end has no advice."""
_FAILED_STATES = frozenset({JobState.FAILED, JobState.ARCHIVED, JobState.GONE})
STATES_WITH_BUTTONS = _FAILED_STATES | {JobState.PULL_REQUEST}
"""The states whose end has a button in the thread."""


def still_running(job: TrackedJob, now: datetime) -> Message:
    """Return the reply, sent once, about a job that runs unusually long."""
    text = (
        ":hourglass_flowing_sand: {it} has been running for {time}. "
        "That's unusually long. I now check once an hour, and tell you here when it ends."
    )
    return b.words(_fill_text(job, text, time=_format_running_time(job, now)))


def unwatched_message(job: TrackedJob, now: datetime) -> Message:
    """Return the reply about a job that is no longer polled."""
    text = (
        "{everybody} :zzz: {it} is still running after {time}, so I've stopped checking. "
        "Look for a pull request in the repository. {A_reply} here is a new follow-up (one use)."
    )
    return b.words(_fill_text(job, text, time=_format_running_time(job, now)))


def _format_running_time(job: TrackedJob, now: datetime) -> str:
    return format_duration(now - (job.iteration_started_at or job.asked_at))


def stopped_watching(job: TrackedJob, user: UserId) -> Message:
    """Return the reply about a job that somebody has muted."""
    text = (
        "{everybody} :zzz: I'll stay quiet about {job}; the agent still works on it. "
        "{A_reply} here is a new follow-up (one use)."
    )
    return b.words(_fill_text(job, text, first=[user]))


def polls_failed(job: TrackedJob, since: datetime, now: datetime) -> Message:
    """Return the reply about a job that is no longer polled after polls that failed since then."""
    text = (
        "{everybody} :zzz: The docs service gave no usable answer about {job} for {time}, "
        "so I've stopped checking. "
        "Look for a pull request in the repository. {A_reply} here is a new follow-up (one use)."
    )
    return b.words(_fill_text(job, text, time=format_duration(now - since)))


def not_served(job: TrackedJob) -> Message:
    """Return the reply about a job of a project that is no longer served."""
    text = (
        "{everybody} :zzz: These docs are no longer set up here, so I can't tell how {job} goes. "
        "Look for a pull request in the repository."
    )
    return b.words(_fill_text(job, text))


def run_again_as(job: TrackedJob, permalink: str | None) -> Message:
    """Return the reply in the thread of a job whose prompt was run again as ``job``."""
    return b.words(
        f"{b.mention(job.requester)} ran this again as {b.link(permalink, name(job.number))}."
    )


def refused_message(job: TrackedJob, problem: Problem) -> Message:
    """Return the reply about a first prompt that was refused."""
    text = (
        f"{b.mention(job.requester)} :no_entry: {name(job.number)} wasn't started. {problem.text}"
    )
    return b.with_buttons(text, [run_again_button(job)])


def follow_up_refused(asked_by: UserId, problem: Problem) -> Message:
    """Return the reply about a follow-up that was refused."""
    return b.words(f"{b.mention(asked_by)} :no_entry: {problem.text}")


def unconfirmed_message(
    job: TrackedJob,
    prompt_id: int,
    asked_by: UserId,
    follow_up: bool,
    *,
    answered: bool = False,
    earlier: str | None = None,
) -> Message:
    """Return the message that asks whether to send an unconfirmed prompt again.

    ``answered``: the docs service has answered with an error; otherwise its answer was lost.
    ``earlier``: the address of a pull request in the same repository.
    """
    lost = "answered with an error" if answered else "gave no answer"
    started = name(job.number)
    look = "a new pull request"
    where = list_address(earlier)
    if follow_up:
        started = f"your follow-up to {started}"
        look = "a change in the pull request"
    elif where:
        look = b.link(where, look)
    text = (
        f"{b.mention(asked_by)} :grey_question: Did {started} start? The docs service {lost}. "
        f"Look for {look}; none there? *{SEND_AGAIN}*."
    )
    buttons = [
        *build_view_button(job),
        b.button(SEND_AGAIN, b.Action.SEND_AGAIN, str(prompt_id)),
        b.button(DISMISS, b.Action.DISMISS, str(prompt_id)),
    ]
    return b.with_buttons(text, buttons)


def unconfirmed_without_words(
    job: TrackedJob, prompt_id: int, asked_by: UserId, follow_up: bool
) -> Message:
    """Return the message about an unconfirmed prompt whose author has taken back all its words."""
    text = (
        f"{b.mention(asked_by)} :grey_question: {_format_sent_prompt(job, follow_up)} may have started. "
        "Its words are taken back, so it isn't sent again."
    )
    return b.with_buttons(
        text, [*build_view_button(job), b.button(DISMISS, b.Action.DISMISS, str(prompt_id))]
    )


def close_question(
    job: TrackedJob, asked_by: UserId, follow_up: bool, decision: str, by: UserId
) -> Message:
    """Return the question about an unconfirmed prompt after its decision."""
    return b.words(
        f"{b.mention(asked_by)} :grey_question: {_format_sent_prompt(job, follow_up)} was sent, "
        f"and nobody knew whether it had started. {b.mention(by)} chose *{decision}*."
    )


def close_answered_question(job: TrackedJob, asked_by: UserId, follow_up: bool) -> Message:
    """Return the question about an unconfirmed prompt after a late answer."""
    prompt = _format_sent_prompt(job, follow_up)
    return b.words(f"{b.mention(asked_by)} :white_check_mark: {prompt} has started after all.")


def _format_sent_prompt(job: TrackedJob, follow_up: bool) -> str:
    return f"Your follow-up to {name(job.number)}" if follow_up else name(job.number)


def behind_unconfirmed(job: TrackedJob, asked_by: UserId) -> Message:
    """Return the reply to a follow-up that waits behind the job's unconfirmed first prompt."""
    return b.words(
        f"{b.mention(asked_by)} :hourglass_flowing_sand: Your follow-up to {name(job.number)} "
        "waits, because nobody knows whether the job has started. "
        "*Send again* above sends the job and then your follow-up. "
        "After *Dismiss* it isn't sent. "
        f"{b.mention(job.requester)} or an admin of this bot can choose."
    )


FIXING_PREVIEW = b.words(":wrench: Fixing the preview…")
"""The message in the thread of a job whose preview the agent is to mend."""
