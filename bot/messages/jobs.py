"""Messages in a job's thread: its face, the full prompt, and the replies about its progress."""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import StrEnum

from bot.messages import along
from bot.messages import blocks as b
from bot.messages.numbers import counted
from bot.messages.plain_text import clip, one_line, visible
from bot.messages.problems import Problem, Spent, title
from bot.model import Block, JobState, Message, Prompt, QueueWhy, TrackedJob, UserId

QUOTE_LENGTH = 300
"""The face shows a longer prompt clipped; the thread then has it in full."""
_PART_LENGTH = 8_000

_STATE = {
    JobState.WAITING: ":hourglass_flowing_sand: *Waiting to start*",
    JobState.WORKING: ":gear: *Working on it*",
    JobState.PULL_REQUEST: ":memo: *Pull request ready*",
    JobState.NO_CHANGE: ":heavy_minus_sign: *Finished, nothing changed*",
    JobState.FAILED: ":x: *Failed*",
    JobState.ARCHIVED: ":file_folder: *Archived*",
    JobState.GONE: ":ghost: *Gone*",
    JobState.REFUSED: ":no_entry: *Not started*",
    JobState.UNCONFIRMED: ":grey_question: *May or may not have started*",
    JobState.WITHDRAWN: ":leftwards_arrow_with_hook: *Withdrawn*",
    JobState.UNWATCHED: ":zzz: *Still running; no longer watched*",
}


class Action(StrEnum):
    """Action ids of the buttons in the bot's messages, which ``bot.commands`` handles."""

    VIEW_PULL_REQUEST = "view_pull_request"
    FOLLOW_UP = "follow_up"
    RUN_AGAIN = "run_again"
    SEND_AGAIN = "send_again"
    FORGET = "forget"
    WITHDRAW = "withdraw"
    SHOW_ALONG = "show_along"


def state_words(job: TrackedJob) -> str:
    """Return the job's state in words, with its emoji."""
    return _STATE[job.state]


def lasted(time: timedelta) -> str:
    """Return a duration in words, without a line break between a number and its unit."""
    seconds = max(int(time.total_seconds()), 0)
    if seconds < 60:
        return f"{seconds}\N{NO-BREAK SPACE}s"
    minutes, hours = seconds // 60, seconds // 3600
    if hours < 1:
        return f"{minutes}\N{NO-BREAK SPACE}min"
    said = f"{hours} h {minutes % 60} min" if hours < 48 else f"{hours // 24} days"
    return said.replace(" ", "\N{NO-BREAK SPACE}")


def face(job: TrackedJob, now: datetime, frees_at: datetime | None = None) -> Message:
    """Return the job's face: the message that is edited in place and notifies nobody.

    ``frees_at``: when the next use of the quota becomes free, shown if few uses are left.
    """
    del now
    shown = clip(visible(job.text), QUOTE_LENGTH)
    headline = f"{state_words(job)} · #{job.number}"
    details = _details(job, frees_at)
    buttons = _face_buttons(job)
    text = b.clip_bytes(f"{headline}\n{b.escape(shown)}\n{details}", b.EDITED_BYTES)
    drawn = (b.section(headline), b.quote(shown), b.context(details), *b.actions(buttons))
    safe = [made for made in buttons if "url" not in made]
    return Message(text, drawn, (*b.plain(text), *b.actions(safe)))


def redrawn(face: Message, *, posted_plain: bool) -> Message:
    """Return a face as an edit of the one that was posted.

    Slack does not replace rich text by blocks without rich text, so the plain form of an edit keeps it.
    ``posted_plain``: Slack refused the blocks of the face, so only plain ones are drawn.
    https://docs.slack.dev/reference/methods/chat.update
    """
    if posted_plain:
        return Message(face.text, face.plain_blocks, face.plain_blocks)
    row = [block for block in face.plain_blocks if block["type"] == "actions"]
    kept = [block for block in face.blocks if block["type"] != "actions"]
    return Message(face.text, face.blocks, (*kept, *row))


def _details(job: TrackedJob, frees_at: datetime | None) -> str:
    parts = [
        f"asked by {b.mention(job.requester)} {b.moment(job.asked_at)}",
        b.quoted(job.project, 80),
    ]
    if job.repository:
        parts.append(b.code(one_line(job.repository, 120)))
    if job.earlier and (words := along.taken_words(job.earlier)):
        parts.append(words)
    if job.iteration > 1:
        parts.append(f"round {job.iteration}")
    if job.queue_until and _may_queue(job):
        parts.append(_queued(job, job.queue_until))
    if job.uses_left is not None and job.state is JobState.WORKING:
        frees = f", the next frees at {b.moment(frees_at, '{time}')}" if frees_at else ""
        parts.append(f"{counted(job.uses_left, 'use', 'uses')} of this hour left{frees}")
    if job.time_taken is not None:
        parts.append(f"took {lasted(job.time_taken)}")
    if job.problem and job.state is JobState.REFUSED:
        parts.append(b.quoted(title(job.problem), 120))
    return " · ".join(parts)


def _queued(job: TrackedJob, until: datetime) -> str:
    """Return why the prompt waits, its queue position, and until when."""
    what = "it" if job.state is JobState.WAITING else "a follow-up"
    at = b.moment(until, "{time}")
    match job.queue_why:
        case QueueWhy.KEY:
            return f"{what} waits: the docs service refuses the bot's key. Next try at {at}"
        case QueueWhy.SERVICE:
            return f"{what} waits: the docs service cannot be reached. Next try at {at}"
        case _ if job.queue_position:
            position = job.queue_position
            return f"{what} waits for the shared hourly limit, place {position}, goes out at about {at}"
        case _:
            return f"{what} goes out at {at}"


def _face_buttons(job: TrackedJob) -> list[Block]:
    buttons = []
    if job.state is JobState.PULL_REQUEST and b.web_address(job.pr_link):
        buttons.append(_view(job, None))
    if job.queue_until and _may_queue(job):
        label = "Withdraw" if job.state is JobState.WAITING else "Withdraw follow-up"
        buttons.append(b.button(label, Action.WITHDRAW, str(job.number)))
    if job.earlier and job.earlier.taken:
        buttons.append(b.button("Show earlier messages", Action.SHOW_ALONG, str(job.number)))
    return buttons


def _may_queue(job: TrackedJob) -> bool:
    return job.state is JobState.WAITING or job.state.takes_follow_ups


def open_words(address: str) -> str:
    """Return the words of a link to a pull request; they say where it leads."""
    return f"Open pull request on {b.host_of(address)}"


def _view(job: TrackedJob, style: str | None) -> Block:
    url = b.web_address(job.pr_link)
    return b.button(open_words(url or ""), Action.VIEW_PULL_REQUEST, str(job.number), style=style, url=url)


def _follow_up(job: TrackedJob) -> Block:
    return b.button("Follow up", Action.FOLLOW_UP, str(job.number))


def _run_again(job: TrackedJob) -> Block:
    return b.button("Run again", Action.RUN_AGAIN, f"{job.number}:{job.iteration}")


def full_prompt(job: TrackedJob) -> tuple[Message, ...]:
    """Return the full prompt, split into messages; nothing if the face shows all of it."""
    shown = visible(job.text)
    if len(shown) <= QUOTE_LENGTH:
        return ()
    parts = list(b.split(shown, _PART_LENGTH))
    return tuple(_part(job, part, at + 1, len(parts)) for at, part in enumerate(parts))


def _part(job: TrackedJob, part: str, at: int, of: int) -> Message:
    headline = f"The whole prompt of #{job.number}" + (f" ({at} of {of})" if of > 1 else "")
    text = f"{headline}:\n{b.escape(part)}"
    return Message(text, (b.context(headline), b.quote(part)), b.plain(text))


def follow_up_by_command(job: TrackedJob, prompt_text: str, asked_by: UserId) -> Message:
    """Return a follow-up given by command or form, to show it in the thread."""
    whole = visible(prompt_text)
    shown = next(iter(b.split(whole, _PART_LENGTH)), "")
    part = "" if shown == whole else " (its beginning; the agent gets all of it)"
    headline = f":speech_balloon: {b.mention(asked_by)} follows up on #{job.number}{part}:"
    text = f"{headline}\n{b.escape(shown)}"
    return Message(text, (b.section(headline), b.quote(shown)), b.plain(text))


def follow_up_withdrawn(job: TrackedJob, prompt: Prompt) -> Message:
    """Return the reply about a follow-up that was withdrawn before it was sent."""
    quoted = b.quoted(prompt.text or "", 120)
    return b.words(
        f":leftwards_arrow_with_hook: The follow-up of {b.mention(prompt.asked_by)} to #{job.number} "
        f"(“{quoted}”) was withdrawn and has not been sent. {Spent.NO.value}"
    )


def ended(job: TrackedJob, now: datetime, *, was_lost: bool = False) -> Message:
    """Return the reply at the end of an iteration: the result, and what to do next.

    ``was_lost``: the thread was told that the docs service does not know the job.
    """
    del now
    again = " (The docs service knows it again.)" if was_lost else ""
    said = f"{_everybody(job)} {_ENDS[job.state](job)}{again}"
    url = b.web_address(job.pr_link) if job.state is JobState.PULL_REQUEST else None
    address = b.link(url, open_words(url)) if url else ""
    return b.with_buttons(said, _end_buttons(job), address=address)


def _everybody(job: TrackedJob) -> str:
    """Return mentions of everybody who waits for the end."""
    return " ".join(b.mention(user) for user in job.recipients)


def _what(job: TrackedJob) -> str:
    return f"the follow-up to #{job.number}" if job.iteration > 1 else f"#{job.number}"


def _took(job: TrackedJob) -> str:
    return f" after {lasted(job.time_taken)}" if job.time_taken is not None else ""


def _reply_here(job: TrackedJob) -> str:
    """Return how to steer the job: in a thread that people may have begun, with a mention."""
    return "mention me here" if job.thread_ts else "reply here"


def _pull_request(job: TrackedJob) -> str:
    if b.web_address(job.pr_link) is None:
        odd = b.quoted(job.pr_link or "", 300)
        return (
            f":memo: {_what(job)} is done{_took(job)}, but the address of its pull request is not one "
            f"I can link to: `{odd}`. It must be https, on a host that whoever runs this bot allows. "
            "Look for it in the repository."
        )
    again = "has been updated" if job.iteration > 1 else "is ready"
    return (
        f":memo: {_what(job)} is done{_took(job)}: the pull request {again}. "
        f"Review it, or {_reply_here(job)} to have something changed."
    )


def _no_change(job: TrackedJob) -> str:
    return (
        f":heavy_minus_sign: {_what(job)} finished{_took(job)} without changing a file. "
        "Usually the docs say it already, or the prompt was too wide or too vague. "
        f"{_reply_here(job).capitalize()} with the page and what should stand there, "
        "or ask it to explain what it found."
    )


def _failed(job: TrackedJob) -> str:
    return (
        f":x: {_what(job)} failed{_took(job)}: the agent hit an error it could not recover from. "
        f"The docs service does not say more. {Spent.YES.value} "
        f"Run it again, or {_reply_here(job)} with a smaller step."
    )


def _archived(job: TrackedJob) -> str:
    return (
        f":file_folder: {_what(job)} has been archived at the docs service, "
        "so the agent will not go on with it. "
        "Run it again if it is still needed."
    )


def _gone(job: TrackedJob) -> str:
    return (
        f":ghost: the docs service no longer knows #{job.number}, so I cannot say how it ended. "
        "Look in the repository for its pull request, or run it again. "
        "I ask for it once an hour for a day more, and tell you here if it comes back."
    )


_ENDS = {
    JobState.PULL_REQUEST: _pull_request,
    JobState.NO_CHANGE: _no_change,
    JobState.FAILED: _failed,
    JobState.ARCHIVED: _archived,
    JobState.GONE: _gone,
}


def _end_buttons(job: TrackedJob) -> list[Block]:
    view = (
        [_view(job, "primary")] if job.state is JobState.PULL_REQUEST and b.web_address(job.pr_link) else []
    )
    follow = [_follow_up(job)] if job.state.takes_follow_ups else []
    return [*view, *follow, _run_again(job)]


def still_running(job: TrackedJob, now: datetime) -> Message:
    """Return the reply, sent once, about a job that runs unusually long."""
    started = job.iteration_started_at or job.asked_at
    return b.words(
        f":hourglass_flowing_sand: {_what(job)} has been running for {lasted(now - started)}. "
        "That is unusually long. I keep looking, once an hour, and tell you here when it ends."
    )


def unwatched(job: TrackedJob, now: datetime) -> Message:
    """Return the reply about a job that is no longer polled."""
    started = job.iteration_started_at or job.asked_at
    said = (
        f"{_everybody(job)} :zzz: {_what(job)} is still running after {lasted(now - started)}; "
        "I stop watching it now. "
        f"Look in the repository for a pull request, or {_reply_here(job)} to wake it."
    )
    return b.with_buttons(said, [_follow_up(job), _run_again(job)])


def unread(job: TrackedJob, since: datetime, now: datetime) -> Message:
    """Return the reply about a job that is no longer polled because polls of it have failed since then."""
    said = (
        f"{b.mention(job.recipient)} :zzz: I have not been able to read how {_what(job)} goes for "
        f"{lasted(now - since)}: the docs service's answers about it fail. I stop asking now. "
        f"Look in the repository for a pull request, or {_reply_here(job)} to wake it."
    )
    return b.with_buttons(said, [_follow_up(job), _run_again(job)])


def found_again(job: TrackedJob) -> Message:
    """Return the reply about a job that seemed lost and still runs."""
    return b.words(
        f"{b.mention(job.recipient)} :mag: the docs service knows #{job.number} again and still works on it. "
        "I follow it again, and tell you here how it ends."
    )


def refused(job: TrackedJob, problem: Problem) -> Message:
    """Return the reply about a first prompt that was refused."""
    said = f"{b.mention(job.requester)} :no_entry: #{job.number} was not started. {problem.text}"
    return b.with_buttons(said, [_run_again(job)])


def follow_up_refused(asked_by: UserId, problem: Problem) -> Message:
    """Return the reply about a follow-up that was refused."""
    return b.words(f"{b.mention(asked_by)} :no_entry: {problem.text}")


def unconfirmed(job: TrackedJob, prompt_id: int, asked_by: UserId, follow_up: bool) -> Message:
    """Return the question to the requester about an unconfirmed prompt: send it again, or forget it."""
    what = f"Your follow-up to #{job.number}" if follow_up else f"#{job.number}"
    said = (
        f"{b.mention(asked_by)} :grey_question: {what} was sent, but the docs service's answer was lost. "
        f"It may or may not have started. {Spent.PERHAPS.value} I do not send it again by myself, since that "
        "could do the work twice. Look in the repository whether something happens, then choose."
    )
    buttons = [
        b.button("Send again", Action.SEND_AGAIN, str(prompt_id)),
        b.button("Forget it", Action.FORGET, str(prompt_id)),
    ]
    return b.with_buttons(said, buttons)


def behind_unconfirmed(job: TrackedJob, asked_by: UserId) -> Message:
    """Return the reply to the sender of a follow-up that waits behind the job's unconfirmed first prompt."""
    return b.words(
        f"{b.mention(asked_by)} :hourglass_flowing_sand: Your follow-up to #{job.number} waits, because "
        "nobody knows whether the job has started. *Send again* above sends the job and then your follow-up. "
        "After *Forget it* your follow-up is not sent. "
        f"{b.mention(job.requester)} or an admin of this bot can choose."
    )
