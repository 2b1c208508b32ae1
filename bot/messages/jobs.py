"""Messages in a job's thread besides its face: the full prompt, and the replies about its progress."""

from __future__ import annotations

from datetime import datetime

from bot.messages import blocks as b
from bot.messages.face import (
    REVIEW_WORDS,
    Action,
    first_line,
    lasted,
    more,
    name,
    open_words,
    run_again,
    view,
)
from bot.messages.plain_text import visible
from bot.messages.problems import Problem, Spent
from bot.model.ids import UserId
from bot.model.jobs import JobState, Review, TrackedJob
from bot.model.message import Block, Message
from bot.model.prompts import Prompt

_PART_LENGTH = 8_000
SEND_AGAIN, DISMISS = "Send again", "Dismiss"
"""The two decisions about an unconfirmed prompt, as their buttons call them."""


def _follow_up(job: TrackedJob) -> Block:
    return b.button("Follow up", Action.FOLLOW_UP, str(job.number))


def full_prompt(job: TrackedJob) -> tuple[Message, ...]:
    """Return the full prompt, split into messages; nothing if the face shows all of it."""
    shown = visible(job.text)
    if shown.strip() == first_line(job):
        return ()
    parts = list(b.split(shown, _PART_LENGTH))
    return tuple(_part(job, part, at + 1, len(parts)) for at, part in enumerate(parts))


def _part(job: TrackedJob, part: str, at: int, of: int) -> Message:
    headline = f"The whole prompt of {name(job.number)}" + (f" ({at} of {of})" if of > 1 else "")
    text = f"{headline}:\n{b.escape(part)}"
    return Message(text, (b.context(headline), b.quote(part)), b.plain(text))


def follow_up_by_command(job: TrackedJob, prompt_text: str, asked_by: UserId) -> Message:
    """Return a follow-up given by command or form, to show it in the thread."""
    whole = visible(prompt_text)
    shown = next(iter(b.split(whole, _PART_LENGTH)), "")
    part = "" if shown == whole else " (its beginning; the agent gets all of it)"
    headline = f"{b.mention(asked_by)} follows up on {name(job.number)}{part}:"
    text = f"{headline}\n{b.escape(shown)}"
    return Message(text, (b.section(headline), b.quote(shown)), b.plain(text))


def follow_up_withdrawn(job: TrackedJob, prompt: Prompt, by: UserId) -> Message:
    """Return the reply about a follow-up that was withdrawn before it was sent."""
    quoted = b.quoted(prompt.text or "", 120)
    who = "" if by == prompt.asked_by else f" by {b.mention(by)}"
    return b.words(
        f":leftwards_arrow_with_hook: The follow-up of {b.mention(prompt.asked_by)} to {name(job.number)} "
        f"(“{quoted}”) was withdrawn{who} and hasn't been sent."
    )


def ended(job: TrackedJob, now: datetime, *, is_new: bool = True, is_first: bool = True) -> Message:
    """Return the reply at the end of an iteration: the result, and what to do next.

    ``is_new``: the job had no pull request before this iteration. ``is_first``: no other job in the thread
    offers its pull request, so this one's button stands out.
    """
    del now
    url = b.web_address(job.pr_link) if job.state is JobState.PULL_REQUEST else None
    address = b.link(url, open_words(url)) if url else ""
    return b.with_buttons(_end(job, is_new), _end_buttons(job, is_first=is_first), address=address)


def outdated_end(job: TrackedJob, *, is_new: bool = True) -> Message:
    """Return an end as it is shown once the job goes on: the same words, without buttons."""
    return b.words(b.clip_bytes(_end(job, is_new), b.EDITED_BYTES))


def _end(job: TrackedJob, is_new: bool) -> str:
    said = _new_pull_request if is_new and job.state is JobState.PULL_REQUEST else _ENDS[job.state]
    return f"{_everybody(job)} {said(job)}"


def _everybody(job: TrackedJob, *first: UserId) -> str:
    """Return mentions of these people and of everybody who waits for the end."""
    return " ".join(b.mention(user) for user in dict.fromkeys((*first, *job.recipients)))


def _what(job: TrackedJob) -> str:
    """Return what ends or runs, for the beginning of a sentence."""
    called = name(job.number)
    return f"The follow-up to {called}" if job.iteration > 1 else called


def _took(job: TrackedJob) -> str:
    return f" after {lasted(job.time_taken)}" if job.time_taken is not None else ""


def _reply_here(job: TrackedJob) -> str:
    """Return how to steer the job: in a thread that people may have begun, with a mention."""
    return "mention me here" if job.thread_ts else "reply here"


def _new_pull_request(job: TrackedJob) -> str:
    called = name(job.number)
    if b.web_address(job.pr_link) is None:
        return _odd_address(job, called)
    return (
        f":memo: {called} is done{_took(job)}: the pull request is ready. "
        f"Review it, or {_reply_here(job)} to have something changed."
    )


def _pull_request(job: TrackedJob) -> str:
    if b.web_address(job.pr_link) is None:
        return _odd_address(job, _what(job))
    return (
        f":memo: {_what(job)} is finished{_took(job)}. Look at the pull request: "
        "the docs service doesn't say whether it changed. "
        f"{_reply_here(job).capitalize()} to have something else changed."
    )


def _odd_address(job: TrackedJob, what: str) -> str:
    odd = b.quoted(job.pr_link or "", 300)
    return (
        f":memo: {what} is done{_took(job)}, but I can't link to the address of its pull "
        f"request: `{odd}`. It must be https, on a host that whoever runs this bot allows. "
        "Look for it in the repository."
    )


def _no_change(job: TrackedJob) -> str:
    return (
        f":heavy_minus_sign: {_what(job)} finished{_took(job)} without changing a file. "
        "Usually the docs say it already, or the prompt was too broad or too vague. "
        f"{_reply_here(job).capitalize()} and name the page and what it should say."
    )


def _failed(job: TrackedJob) -> str:
    return (
        f":x: {_what(job)} failed{_took(job)}: the agent hit an error it couldn't recover from. "
        f"The docs service doesn't say more. {Spent.YES.value} "
        f"Run it again, or {_reply_here(job)} with a smaller step."
    )


def _archived(job: TrackedJob) -> str:
    return (
        f":file_folder: {_what(job)} has been archived at the docs service, "
        "so the agent won't go on with it. "
        "Run it again if it's still needed."
    )


def _gone(job: TrackedJob) -> str:
    return (
        f":ghost: The docs service no longer knows {name(job.number)}, so I can't say how it ended. "
        "Check the repository for its pull request, or run it again. "
        f"{_reply_here(job).capitalize()} to see whether it's back."
    )


def _unwatched(job: TrackedJob) -> str:
    return (
        f":zzz: {_what(job)} was still running{_took(job)}, and I stopped checking. "
        f"Check the repository for a pull request, or {_reply_here(job)} to wake it."
    )


_ENDS = {
    JobState.PULL_REQUEST: _pull_request,
    JobState.NO_CHANGE: _no_change,
    JobState.FAILED: _failed,
    JobState.ARCHIVED: _archived,
    JobState.GONE: _gone,
    JobState.UNWATCHED: _unwatched,
}


TOLD_ENDS = frozenset(_ENDS)
"""The states in which a reply has told the end of an iteration."""


def _end_buttons(job: TrackedJob, *, is_first: bool = True) -> list[Block]:
    """Return the buttons of an end. *Run again* stands in a menu unless it is the only one."""
    shown = view(job, "primary" if is_first else None) if job.state is JobState.PULL_REQUEST else []
    follow = [_follow_up(job)] if job.state.takes_follow_ups else []
    return [*shown, *follow, *_review(job), *more(job)] if shown or follow else [run_again(job)]


def _review(job: TrackedJob) -> list[Block]:
    """Return the buttons that say what became of the pull request; nothing if somebody has said it."""
    if not (job.awaits_review and view(job)):
        return []
    actions = {Review.REVIEWED: Action.REVIEWED, Review.NOT_NEEDED: Action.NOT_NEEDED}
    return [b.button(REVIEW_WORDS[each], action, str(job.number)) for each, action in actions.items()]


def reviewed_end(job: TrackedJob, *, is_new: bool = True) -> Message:
    """Return the end of a job as it is shown once somebody has said what became of its pull request."""
    return b.with_buttons(b.clip_bytes(_end(job, is_new), b.EDITED_BYTES), _end_buttons(job, is_first=False))


def reminder(job: TrackedJob) -> Message:
    """Return the reply, sent once, about a pull request of which nobody has said what became of it."""
    url = b.web_address(job.pr_link)
    address = b.link(url, open_words(url)) if url else ""
    return b.with_buttons(_reminder(job), [*view(job), *_review(job)], address=address)


def outdated_reminder(job: TrackedJob) -> Message:
    """Return a reminder as it is shown once it is no longer needed: the same words, without buttons."""
    return b.words(_reminder(job))


def _reminder(job: TrackedJob) -> str:
    since = f" since {b.moment(job.ended_at, '{date_short_pretty}')}" if job.ended_at else ""
    return (
        f"{b.mention(job.recipient)} :memo: The pull request of {name(job.number)} waits for review{since}."
    )


def still_running(job: TrackedJob, now: datetime) -> Message:
    """Return the reply, sent once, about a job that runs unusually long."""
    started = job.iteration_started_at or job.asked_at
    return b.words(
        f":hourglass_flowing_sand: {_what(job)} has been running for {lasted(now - started)}. "
        "That's unusually long. I'll keep checking once an hour, and tell you here when it ends."
    )


def unwatched(job: TrackedJob, now: datetime) -> Message:
    """Return the reply about a job that is no longer polled."""
    started = job.iteration_started_at or job.asked_at
    said = (
        f"{_everybody(job)} :zzz: {_what(job)} is still running after {lasted(now - started)}; "
        "I've stopped checking. "
        f"Check the repository for a pull request, or {_reply_here(job)} to wake it."
    )
    return b.with_buttons(said, _end_buttons(job))


def stopped_watching(job: TrackedJob, user: UserId) -> Message:
    """Return the reply about a job that somebody has asked not to watch any more."""
    said = (
        f"{_everybody(job, user)} :zzz: {name(job.number)} goes on at the docs service, but I've stopped "
        f"checking and won't tell you how it ends. {_reply_here(job).capitalize()} to wake it."
    )
    return b.words(said)


def unread(job: TrackedJob, since: datetime, now: datetime) -> Message:
    """Return the reply about a job that is no longer polled because polls of it have failed since then."""
    said = (
        f"{_everybody(job)} :zzz: I couldn't read the state of {name(job.number)} for "
        f"{lasted(now - since)}: the docs service's answers about it fail. I've stopped checking. "
        f"Check the repository for a pull request, or {_reply_here(job)} to wake it."
    )
    return b.with_buttons(said, _end_buttons(job))


def not_served(job: TrackedJob) -> Message:
    """Return the reply about a job that is no longer polled because its project is not served any more."""
    said = (
        f"{_everybody(job)} :zzz: These docs are no longer set up here, so I can't tell how "
        f"{name(job.number)} goes. Check the repository for a pull request."
    )
    return b.with_buttons(said, _end_buttons(job))


def run_again_as(job: TrackedJob, permalink: str) -> Message:
    """Return the reply in the thread of a job whose prompt was run again as ``job``."""
    return b.words(f"{b.mention(job.requester)} ran this again as {b.link(permalink, name(job.number))}.")


def refused(job: TrackedJob, problem: Problem) -> Message:
    """Return the reply about a first prompt that was refused."""
    said = f"{b.mention(job.requester)} :no_entry: {name(job.number)} wasn't started. {problem.text}"
    return b.with_buttons(said, [run_again(job)])


def follow_up_refused(asked_by: UserId, problem: Problem) -> Message:
    """Return the reply about a follow-up that was refused."""
    return b.words(f"{b.mention(asked_by)} :no_entry: {problem.text}")


def unconfirmed(
    job: TrackedJob, prompt_id: int, asked_by: UserId, follow_up: bool, *, answered: bool = False
) -> Message:
    """Return the question to the requester about an unconfirmed prompt: send it again, or dismiss it.

    ``answered``: the docs service has answered with an error; otherwise its answer was lost.
    """
    lost = "and the docs service answered with an error" if answered else "but its answer was lost"
    said = (
        f"{b.mention(asked_by)} :grey_question: {_sent(job, follow_up)} was sent to the docs service, "
        f"{lost}. It may or may not have started. {Spent.PERHAPS.value} "
        "I won't resend it, so the work isn't done twice. "
        "Check the repository for a new pull request, then choose."
    )
    buttons = [
        b.button(SEND_AGAIN, Action.SEND_AGAIN, str(prompt_id)),
        b.button(DISMISS, Action.FORGET, str(prompt_id)),
    ]
    return b.with_buttons(said, buttons)


def decided(job: TrackedJob, asked_by: UserId, follow_up: bool, decision: str, by: UserId) -> Message:
    """Return the question about an unconfirmed prompt as it is shown once somebody has decided it."""
    return b.words(
        f"{b.mention(asked_by)} :grey_question: {_sent(job, follow_up)} was sent, and nobody knew whether it "
        f"had started. {b.mention(by)} chose *{decision}*."
    )


def _sent(job: TrackedJob, follow_up: bool) -> str:
    return f"Your follow-up to {name(job.number)}" if follow_up else name(job.number)


def behind_unconfirmed(job: TrackedJob, asked_by: UserId) -> Message:
    """Return the reply to the sender of a follow-up that waits behind the job's unconfirmed first prompt."""
    return b.words(
        f"{b.mention(asked_by)} :hourglass_flowing_sand: Your follow-up to {name(job.number)} waits, because "
        "nobody knows whether the job has started. *Send again* above sends the job and then your follow-up. "
        "After *Dismiss* it isn't sent. "
        f"{b.mention(job.requester)} or an admin of this bot can choose."
    )
