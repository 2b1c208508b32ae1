"""The message of a job that is edited in place: state, prompt, buttons, attachments, wait."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from urllib.parse import urlsplit

from bot.ids import Block, JobNumber, Message, UserId
from bot.jobs.messages.problems import problem_title
from bot.jobs.model.jobs import (
    JobProblem,
    JobState,
    NotAttached,
    Review,
    ThreadContext,
    TrackedJob,
    Wait,
    Waiting,
    WaitReason,
)
from bot.jobs.model.prompts import first_line_of
from bot.jobs.model.pull_request import PullRequestSnapshot, Size
from bot.messages import blocks as b
from bot.messages.blocks import counted, number
from bot.messages.plain_text import clip, one_line, visible

_MAX_NAME_CHARACTERS = 80
_MAX_PART_CHARACTERS = 3_000
_MAX_PARTS = 20
_MAX_NAMED = 10


def file_names(names: Sequence[str]) -> str:
    """Return the names of files, for a sentence."""
    return ", ".join(b.code(name, _MAX_NAME_CHARACTERS) for name in names[:_MAX_NAMED])


def parts_not_sent(
    other: Sequence[str], unread: Sequence[str], omitted_parts: Sequence[str] = ()
) -> Message:
    """Return the reply that names the parts of a message that the agent did not get.

    Args:
        other: Files that are no text files, or too large.
        unread: Files that Slack did not return.
        omitted_parts: Parts that are no files and cannot be read as text.
    """
    rows = []
    if other:
        rows.append(
            f"Not sent to the agent: {file_names(other)}. I send up to 5 text files of up to 20 kB."
        )
    if unread:
        rows.append(
            f"Not sent to the agent, because Slack didn't let me read it: {file_names(unread)}."
        )
    if omitted_parts:
        rows.append(f"Left out: {file_names(omitted_parts)}.")
    return b.words(f":warning: {' '.join(rows)}")


def format_attached_count(earlier: ThreadContext) -> str:
    """Return the number of attached earlier messages, for the job's status message; "" for none."""
    if earlier.not_attached is NotAttached.UNREAD:
        return "without the thread's earlier messages: Slack didn't let me read them"
    if not earlier.attached and not earlier.omitted:
        return ""
    without = f" ({earlier.omitted:,} left out)" if earlier.omitted else ""
    return f"with {counted(earlier.attached, 'earlier message', 'earlier messages')}{without}"


def prompt_view(job: TrackedJob, texts: Sequence[str]) -> Block:
    """Return the view of a job's prompt and of the attachments of its prompts, ``texts``."""
    whole = "\n\n".join(map(visible, (job.text, *texts)))
    parts = list(b.split(whole, _MAX_PART_CHARACTERS))[:_MAX_PARTS]
    return b.modal("What the agent got", *map(b.quote, parts), callback_id="prompt")


MAX_QUOTE_CHARACTERS = 80
"""Maximum length of a prompt's first line in the status message.

*Details* leads to all of it.
"""
_NUMBERED_PATTERN = re.compile(
    r"/(?:pulls?|pull-requests|pullrequest|merge_requests)/([0-9]{1,8})(?![^/?#])"
)
"""The number of a pull request in its address.

As GitHub, GitLab, Bitbucket, Azure and Gitea write it.
"""
_KNOWN_HOSTS = frozenset(
    {"github.com", "gitlab.com", "bitbucket.org", "codeberg.org", "dev.azure.com"}
)

_STATE_WORDS = {
    JobState.WAITING: ":hourglass_flowing_sand: *Waiting to start*",
    JobState.WORKING: ":gear: *Working on it*",
    JobState.PULL_REQUEST: ":memo: *Pull request ready*",
    JobState.NO_PULL_REQUEST: ":heavy_minus_sign: *Finished without a pull request*",
    JobState.FAILED: ":x: *Failed*",
    JobState.ARCHIVED: ":file_folder: *Archived*",
    JobState.GONE: ":ghost: *Lost track*",
    JobState.REFUSED: ":no_entry: *Not started*",
    JobState.UNCONFIRMED: ":grey_question: *Unconfirmed* (may or may not have started)",
    JobState.WITHDRAWN: ":leftwards_arrow_with_hook: *Withdrawn*",
    JobState.UNWATCHED: ":zzz: *Stopped checking*",
}
_OUTCOME_WORDS = {
    Review.REVIEWED: ":white_check_mark: *Reviewed*",
    Review.MERGED: ":white_check_mark: *Merged*",
    Review.CLOSED: ":no_entry_sign: *Closed*",
}
_WITHDRAWN_WORDS = {
    JobProblem.WITHDRAWN: " by {}",
    JobProblem.DISMISSED: ", dismissed by {}",
    JobProblem.DELETED: ": its message was deleted",
    JobProblem.EDITED: ": {} edited its message",
}
_DISMISSED_WORDS = ":grey_question: *Outcome unknown*"


def name(number: JobNumber) -> str:
    """Return the name of a job."""
    return f"Job {number}"


def format_state(job: TrackedJob) -> str:
    """Return the job's state in words, with its emoji: the beginning of a status message."""
    if job.state is JobState.WITHDRAWN and job.withdrawn is not None:
        end, by = job.withdrawn
        state = _DISMISSED_WORDS if end is JobProblem.DISMISSED else _STATE_WORDS[job.state]
        return f"{state}{format_withdrawal(end, by)}"
    if job.state is JobState.PULL_REQUEST and job.review is not None:
        return _OUTCOME_WORDS[job.review]
    if job.state is JobState.UNWATCHED and job.time_taken is not None:
        return f":zzz: *Stopped checking after {format_duration(job.time_taken)}*"
    return _STATE_WORDS[job.state]


def format_withdrawal(end: JobProblem, by: UserId) -> str:
    """Return the end of a sentence about a withdrawal: its kind and its person."""
    return _WITHDRAWN_WORDS.get(end, "").format(b.mention(by))


def format_duration(time: timedelta) -> str:
    """Return a duration in words, without a line break between a number and its unit."""
    seconds = max(int(time.total_seconds()), 0)
    if seconds < 60:
        return f"{seconds}\N{NO-BREAK SPACE}s"
    minutes = seconds // 60
    hours = seconds // 3600
    if hours < 1:
        return f"{minutes}\N{NO-BREAK SPACE}min"
    text = f"{hours} h {minutes % 60} min" if hours < 48 else f"{hours // 24} days"
    return text.replace(" ", "\N{NO-BREAK SPACE}")


def first_line(job: TrackedJob) -> str:
    """Return the part of the prompt that the status message shows."""
    line, has_more = first_line_of(visible(job.text))
    return clip(f"{line} …" if has_more else line, MAX_QUOTE_CHARACTERS)


def format_status_message(
    job: TrackedJob, frees_at: datetime | None = None, usual: timedelta | None = None
) -> Message:
    """Return the job's status message: the message that is edited in place and notifies nobody.

    It has two lines where all goes well; `job_status` has the rest. ``frees_at``: when the next use
    of the quota becomes free, shown if few uses are left. ``usual``: the usual time of the
    project's jobs; None if unknown.
    """
    pull = job.pull_request
    title = one_line(pull.title, MAX_QUOTE_CHARACTERS) if pull else first_line(job)
    # Small print: Slack notifies of a mention in a section.
    headline = b.context(" · ".join(filter(None, _format_headline(job, usual))))
    notes = map(b.context, _format_notes(job, frees_at))
    return b.message(headline, b.quote(title), *notes, *b.actions(_build_buttons(job)))


def _format_headline(job: TrackedJob, usual: timedelta | None) -> list[str]:
    """Return the parts of a status message's first line; empty ones are left out."""
    parts = [format_state(job), name(job.number)]
    url = b.web_address(job.pr_link)
    if url:
        parts.append(b.link(url, format_link_label(url, "PR")))
    if job.pull_request:
        parts.append(_format_size(job.pull_request))
        if job.pull_request.as_of:
            parts.append(f"as of {b.moment(job.pull_request.as_of)}")
    parts.append(format_facts(job))
    parts.append(format_working_time(job, usual))
    if job.thread_context:
        parts.append(format_attached_count(job.thread_context))
    if job.needs_mention and _may_queue(job) and not job.review:
        parts.append("mention me here to change it")
    return parts


def format_facts(job: TrackedJob, asked_at: str = "{time}") -> str:
    """Return a job's small line: its docs, its requester, and the outcome of its pull request.

    ``asked_at``: the form of the time, see `blocks.moment`.
    """
    parts = [b.label(job.project_label)] if job.project_label else []
    parts.append(f"{b.mention(job.requester)}, {b.moment(job.asked_at, asked_at)}")
    if job.reviewed_by and job.reviewed_at and job.state is JobState.PULL_REQUEST:
        parts.append(f"marked by {b.mention(job.reviewed_by)} {b.moment(job.reviewed_at)}")
    if job.pull_request and job.pull_request.ended_at and job.state is JobState.PULL_REQUEST:
        outcome = (
            f"merged{format_merger(job.pull_request)}" if job.pull_request.is_merged else "closed"
        )
        parts.append(f"{outcome} {b.moment(job.pull_request.ended_at)}")
    return " · ".join(parts)


def format_working_time(job: TrackedJob, usual: timedelta | None) -> str:
    """Return the agent's working time, which Slack keeps current, and the usual working time."""
    if job.state is not JobState.WORKING or job.iteration_started_at is None:
        return ""
    usually = f", usually done in {format_duration(usual)}" if usual else ""
    if job.is_slow:
        usually = (
            f", longer than usual ({format_duration(usual)})" if usual else ", longer than usual"
        )
    return f"started {b.moment(job.iteration_started_at, '{ago}')}{usually}"


def _format_notes(job: TrackedJob, frees_at: datetime | None) -> list[str]:
    """Return a status message's notes: its wait, the hour's uses left, the reason of a refusal."""
    notes = []
    if job.wait_until and _may_queue(job):
        noun = "It" if job.state is JobState.WAITING else "A follow-up"
        # While the service fails the time moves with each failed call, which redraws nothing.
        until = None if job.wait_reason is WaitReason.SERVICE else job.wait_until
        notes.append(wait_words(job.wait_reason, until, noun=noun))
    if job.uses_left is not None and job.state is JobState.WORKING:
        frees = f", the next frees at {b.moment(frees_at, '{time}')}" if frees_at else ""
        notes.append(f"{counted(job.uses_left, 'use', 'uses')} of this hour left{frees}")
    if job.state is JobState.REFUSED and job.problem:
        notes.append(b.quoted(problem_title(job.problem), 120))
    return notes


def _build_buttons(job: TrackedJob) -> list[Block]:
    number = str(job.number)
    buttons: list[Block] = []
    if job.state is JobState.PULL_REQUEST and not job.sees_pull_request:
        # People mark the outcome, which the bot cannot poll. A second press removes the mark.
        if job.review is Review.REVIEWED:
            buttons.append(b.button("Reviewed", b.Action.UNDO_REVIEW, number, style="primary"))
        else:
            buttons.append(b.button("Reviewed", b.Action.REVIEWED, number))
    if job.wait_until and _may_queue(job):
        label = "Withdraw" if job.state is JobState.WAITING else "Withdraw follow-up"
        buttons.append(b.button(label, b.Action.WITHDRAW, number))
    if job.state is JobState.WITHDRAWN:
        # The thread has no message about this end, so the status message has its button.
        buttons.append(run_again_button(job))
    return buttons


def _may_queue(job: TrackedJob) -> bool:
    return job.state is JobState.WAITING or job.state.takes_follow_ups


def format_link_label(address: str, called: str = "Pull request") -> str:
    """Return the text of a link to a pull request: its number, and its host.

    The host is left out for `_KNOWN_HOSTS` and for this machine (the sandbox).
    """
    parts = urlsplit(address)
    match = _NUMBERED_PATTERN.search(address)
    words = f"{called} #{match[1]}" if match else called
    is_known = parts.hostname in _KNOWN_HOSTS or parts.scheme == "http"
    return words if is_known else f"{words} · {b.host_of(address)}"


def list_address(pull_request: str | None) -> str | None:
    """Return the address of the list to which a pull request belongs, from its own address."""
    match = _NUMBERED_PATTERN.search(b.web_address(pull_request) or "")
    if match is None:
        return None
    before_number = match.string[: match.start(1) - 1]
    return f"{before_number.rstrip('s')}s"


def build_view_button(
    job: TrackedJob, *, style: str | None = None, called: str = "Pull request"
) -> list[Block]:
    """Return the button to the job's pull request; nothing without a safe link."""
    url = b.web_address(job.pr_link)
    if url is None:
        return []
    label = format_link_label(url, called)
    number = str(job.number)
    return [b.button(label, b.Action.VIEW_PULL_REQUEST, number, style=style, url=url)]


def run_again_button(job: TrackedJob) -> Block:
    """Return the button that opens the prompt to run it again as a new job."""
    return b.button("Run again", b.Action.RUN_AGAIN, str(job.number))


def build_rare_buttons(job: TrackedJob) -> list[Block]:
    """Return the rare buttons of a job, which only its status has."""
    is_over = job.state not in (JobState.WAITING, JobState.WORKING, JobState.UNCONFIRMED)
    buttons = [run_again_button(job)] if is_over else []
    has_earlier = job.thread_context is not None and job.thread_context.attached > 0
    has_more = visible(job.text).strip() != first_line(job)
    if has_earlier or has_more:
        buttons.append(b.button("Whole prompt", b.Action.SHOW_ATTACHMENTS, str(job.number)))
    return buttons


def wait_lines(waiting: Sequence[Wait]) -> list[str]:
    """Return the reason and the end of a job's wait, as one line at most."""
    waits = [
        wait for wait in waiting if wait.reason or (wait.kind is Waiting.PROMPT and wait.until)
    ]
    return [wait_words(wait.reason, wait.until, noun="It") for wait in waits[:1]]


_WAIT_WORDS = {
    None: "{what} goes out {soon}",
    WaitReason.HELD: "Starting in a moment: edit or delete your message to change it",
    WaitReason.LIMIT: "{what} starts {soon} at the earliest: the hourly limit is used up",
    WaitReason.SERVICE: "{what} waits: I can't reach the docs service. I'll try again {soon}",
    WaitReason.KEY: "{what} waits: the docs service refuses the bot's key. I'll try again {soon}",
    WaitReason.SWITCHED_OFF: "{what} waits: an admin has switched sending off for now",
    WaitReason.PERSON: "{what} waits for somebody to choose *Send again* or *Dismiss* in its thread",
}


def wait_words(kind: WaitReason | None, until: datetime | None, *, noun: str) -> str:
    """Return the reason and the end of a wait, as a sentence whose subject is ``noun``."""
    soon = f"at {b.moment(until, '{time}')}" if until else "soon"
    return _WAIT_WORDS[kind].format(what=noun, soon=soon)


_MAX_TITLE_CHARACTERS = 120
_MAX_LOGIN_CHARACTERS = 40


def pull_request_line(pull: PullRequestSnapshot) -> str:
    """Return the title and the size of a pull request."""
    return (
        f"{_format_facts(pull)} · as of {b.moment(pull.as_of)}"
        if pull.as_of
        else _format_facts(pull)
    )


def format_merger(pull: PullRequestSnapshot) -> str:
    """Return the login that merged it, as the end of a sentence. Slack does not know the login."""
    return f" by {b.quoted(pull.merged_by, _MAX_LOGIN_CHARACTERS)}" if pull.merged_by else ""


def _format_facts(pull: PullRequestSnapshot) -> str:
    return f"“{b.quoted(pull.title, _MAX_TITLE_CHARACTERS)}” · {_format_size(pull)}"


def _format_size(pull: PullRequestSnapshot) -> str:
    draft = "draft · " if pull.is_draft else ""
    return (
        f"{draft}{format_changed_lines(pull.size)} in {counted(pull.size.files, 'file', 'files')}"
    )


def format_changed_lines(size: Size) -> str:
    """Return the numbers of added and removed lines."""
    return f"+{number(size.additions)} −{number(size.deletions)}"
