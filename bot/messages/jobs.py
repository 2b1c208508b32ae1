"""Messages in a job's thread besides its face: the full prompt, and the replies about its progress."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from bot.messages import blocks as b
from bot.messages.face import (
    REVIEW_WORDS,
    Action,
    first_line,
    lasted,
    more,
    name,
    run_again,
    view,
)
from bot.messages.plain_text import visible
from bot.messages.problems import Problem
from bot.model.ids import Block, Message, UserId
from bot.model.jobs import JobState, Review, TrackedJob
from bot.model.prompts import Prompt

_PART_LENGTH = 8_000
SEND_AGAIN, DISMISS = "Send again", "Dismiss"
"""The two decisions about an unconfirmed prompt, as their buttons call them."""


def full_prompt(job: TrackedJob) -> tuple[Message, ...]:
    """Return the full prompt, split into messages; nothing if the face shows all of it."""
    shown = visible(job.text)
    if shown.strip() == first_line(job):
        return ()
    parts = list(b.split(shown, _PART_LENGTH))
    which = [f" ({at} of {len(parts)})" if len(parts) > 1 else "" for at in range(1, len(parts) + 1)]
    headlines = (f"The whole prompt of {name(job.number)}{each}:" for each in which)
    return tuple(
        b.message(b.context(headline), b.quote(part)) for headline, part in zip(headlines, parts, strict=True)
    )


def follow_up_by_command(job: TrackedJob, prompt_text: str, asked_by: UserId) -> Message:
    """Return a follow-up given by command or form, to show it in the thread."""
    whole = visible(prompt_text)
    shown = next(iter(b.split(whole, _PART_LENGTH)), "")
    part = "" if shown == whole else " (its beginning; the agent gets all of it)"
    headline = f"{b.mention(asked_by)} follows up on {name(job.number)}{part}:"
    return b.message(b.section(headline), b.quote(shown))


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
    return b.with_buttons(_end(job, is_new), _end_buttons(job, is_first=is_first))


def outdated_end(job: TrackedJob, *, is_new: bool = True) -> Message:
    """Return an end as it is shown once the job goes on: the same words, without buttons."""
    return b.words(b.clip_bytes(_end(job, is_new), b.EDITED_BYTES))


def _end(job: TrackedJob, is_new: bool) -> str:
    if job.state is not JobState.PULL_REQUEST:
        return _about(job, _ENDS[job.state])
    if b.web_address(job.pr_link) is None:
        return _about(job, _ODD_ADDRESS, odd=b.quoted(job.pr_link or "", 300))
    return _about(job, _NEW_PULL_REQUEST if is_new else _ENDS[job.state])


def _about(job: TrackedJob, words: str, first: Sequence[UserId] = (), **more: str) -> str:
    """Return words about a job with what they name of it.

    ``{everybody}`` waits for the end, after ``first``; ``{it}`` is what ends or runs, for the beginning of a
    sentence; ``{here}`` is how to steer the job: in a thread that people may have begun, with a mention.
    """
    called, here = name(job.number), "mention me here" if job.thread_ts else "reply here"
    return words.format(
        everybody=" ".join(b.mention(user) for user in dict.fromkeys((*first, *job.recipients))),
        job=called,
        it=f"The follow-up to {called}" if job.iteration > 1 else called,
        took=f" after {lasted(job.time_taken)}" if job.time_taken is not None else "",
        here=here,
        Here=here.capitalize(),
        **more,
    )


_NEW_PULL_REQUEST = (
    "{everybody} :memo: {job} is done{took}: the pull request is ready. "
    "Review it, or {here} to have something changed."
)
_ODD_ADDRESS = (
    "{everybody} :memo: {it} is done{took}, but I can't link to the address of its pull request: `{odd}`. "
    "It must be https, on a host that whoever runs this bot allows. Look for it in the repository."
)
_ENDS = {
    JobState.PULL_REQUEST: (
        "{everybody} :memo: {it} is finished{took}. Look at the pull request: the docs service doesn't say "
        "whether it changed. {Here} to have something else changed."
    ),
    JobState.NO_CHANGE: (
        "{everybody} :heavy_minus_sign: {it} finished{took} without changing a file. "
        "Usually the docs say it already, or the prompt was too broad or too vague. "
        "{Here} and name the page and what it should say."
    ),
    JobState.FAILED: (
        "{everybody} :x: {it} failed{took}: the agent hit an error it couldn't recover from. The docs "
        "service doesn't say more. One use of the hourly limit was spent. "
        "Run it again, or {here} with a smaller step."
    ),
    JobState.ARCHIVED: (
        "{everybody} :file_folder: {it} has been archived at the docs service, so the agent won't go on with "
        "it. Run it again if it's still needed."
    ),
    JobState.GONE: (
        "{everybody} :ghost: The docs service no longer knows {job}, so I can't say how it ended. Check the "
        "repository for its pull request, or run it again. {Here} to see whether it's back."
    ),
    JobState.UNWATCHED: (
        "{everybody} :zzz: {it} was still running{took}, and I stopped checking. "
        "Check the repository for a pull request, or {here} to wake it."
    ),
}
TOLD_ENDS = frozenset(_ENDS)
"""The states in which a reply has told the end of an iteration."""


def _end_buttons(job: TrackedJob, *, is_first: bool = True) -> list[Block]:
    """Return the buttons of an end. *Run again* stands in a menu unless it is the only one."""
    shown = view(job, "primary" if is_first else None) if job.state is JobState.PULL_REQUEST else []
    follow = [b.button("Follow up", Action.FOLLOW_UP, str(job.number))] if job.state.takes_follow_ups else []
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
    return b.with_buttons(_reminder(job), [*view(job), *_review(job)])


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
    words = (
        ":hourglass_flowing_sand: {it} has been running for {time}. "
        "That's unusually long. I'll keep checking once an hour, and tell you here when it ends."
    )
    return b.words(_about(job, words, time=_running(job, now)))


def unwatched(job: TrackedJob, now: datetime) -> Message:
    """Return the reply about a job that is no longer polled."""
    words = (
        "{everybody} :zzz: {it} is still running after {time}; I've stopped checking. "
        "Check the repository for a pull request, or {here} to wake it."
    )
    return b.with_buttons(_about(job, words, time=_running(job, now)), _end_buttons(job))


def _running(job: TrackedJob, now: datetime) -> str:
    return lasted(now - (job.iteration_started_at or job.asked_at))


def stopped_watching(job: TrackedJob, user: UserId) -> Message:
    """Return the reply about a job that somebody has asked not to watch any more."""
    words = (
        "{everybody} :zzz: {job} goes on at the docs service, but I've stopped checking and won't tell you "
        "how it ends. {Here} to wake it."
    )
    return b.words(_about(job, words, first=[user]))


def unread(job: TrackedJob, since: datetime, now: datetime) -> Message:
    """Return the reply about a job that is no longer polled because polls of it have failed since then."""
    words = (
        "{everybody} :zzz: I couldn't read the state of {job} for {time}: the docs service's answers about "
        "it fail. I've stopped checking. Check the repository for a pull request, or {here} to wake it."
    )
    return b.with_buttons(_about(job, words, time=lasted(now - since)), _end_buttons(job))


def not_served(job: TrackedJob) -> Message:
    """Return the reply about a job that is no longer polled because its project is not served any more."""
    words = (
        "{everybody} :zzz: These docs are no longer set up here, so I can't tell how {job} goes. "
        "Check the repository for a pull request."
    )
    return b.with_buttons(_about(job, words), _end_buttons(job))


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
        f"{lost}. It may or may not have started. A use of the hourly limit may have been spent. "
        "I won't resend it, so the work isn't done twice. "
        "Check the repository for a new pull request, then choose."
    )
    buttons = [
        b.button(SEND_AGAIN, Action.SEND_AGAIN, str(prompt_id)),
        b.button(DISMISS, Action.DISMISS, str(prompt_id)),
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
