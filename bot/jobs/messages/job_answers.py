"""Private answers about jobs and limits: lists, the status of a job, and refusals."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from bot.ids import Block, ChannelId, JobNumber, Message, ProjectId, Refusal, UserId
from bot.jobs.messages.problems import key_setting, problem_title, refusal
from bot.jobs.messages.sending import off_note
from bot.jobs.messages.status_message import (
    build_rare_buttons,
    file_names,
    format_changed_lines,
    format_duration,
    format_facts,
    format_link_label,
    format_state,
    name,
    wait_lines,
)
from bot.jobs.model.job_search import MAX_SEARCH_CHARACTERS
from bot.jobs.model.jobs import JobState, Listed, NextStep, TrackedJob, Wait, WaitReason
from bot.jobs.model.prompts import Prompt, PromptKind, UnsentText
from bot.jobs.model.quota import Budget
from bot.messages import blocks as b
from bot.messages.blocks import counted, number
from bot.messages.general import EXAMPLE, QUESTION_EXAMPLE
from bot.messages.help import WAYS_ON
from bot.messages.plain_text import one_line, visible
from bot.messages.slack_text import from_plain
from bot.outbox.model import NotPosted
from bot.projects import Project

EMPTY_FORM = "Tell me what to change. An empty prompt isn't sent."
NO_CHANNEL_CHOSEN = "Choose the channel where I should report."
CHANNEL_NOT_YOURS = (
    "Slack doesn't tell me that you can read this channel. If it is private, invite me there. "
    "Otherwise choose another one, or send this again in a moment."
)
FORM_WITHOUT_JOB = "I couldn't tell which job this is for. Close this and try again."
REPEATED_REQUEST = (
    "You asked exactly this less than a minute ago. Change it, or send it again in a minute."
)
_MAX_LISTED_URL_CHARACTERS = 300
_MAX_LISTED_TITLE_CHARACTERS = 80


def cannot_post(refused: NotPosted, bot_name: str, prompt: str = "") -> Message:
    """Return the answer to a request whose thread could not be opened, so nothing was started."""
    text = (
        f":no_entry: Nothing was started: I can't report in {b.channel(refused.channel)}, because "
    )
    return b.with_prompt(b.words(f"{text}{refusal(refused, bot_name)}"), prompt)


def reply_undelivered(
    job: TrackedJob, refused: NotPosted, bot_name: str, *, reader: UserId
) -> Message:
    """Return the job's state for one person alone, after a post in its thread failed.

    Only its requester gets words and a link: the others may have left the channel since.
    """
    _, _, result = format_state(job).partition(" ")
    where = b.channel(job.channel)
    if reader == job.requester:
        url = b.web_address(job.pr_link)
        if url:
            result = f"{result} · {b.link(url, format_link_label(url))}"
        where = f"{where}, “{b.quoted(job.text, 80)}”"
    if refused.meaning is Refusal.THREAD_GONE:
        text = f"The thread of {name(job.number)} is gone, so here: {result} ({where})."
    else:
        reason = refusal(refused, bot_name)
        text = (
            f"{name(job.number)}: {result} ({where}). "
            f"I can't say so in its thread, because {reason}"
        )
    return b.words(f":warning: {text}")


@dataclass(frozen=True, slots=True)
class JobListing:
    """Which jobs are listed."""

    channel: ChannelId | None = None
    """None for all channels."""
    is_mine: bool = False
    listed: Listed | None = None
    page: int = 0
    """Counts from 0."""
    is_here: bool = True
    has_more: bool = False
    is_complete: bool = True
    """Whether Slack has answered for every channel, so that no job is missing."""
    counts: Mapping[NextStep, int] = field(default_factory=dict)
    """The numbers of all jobs of the list, not of the page; without *done*."""

    def turned(self, by: int) -> str:
        """Return the value of a button that leads to another page."""
        mine = "mine " if self.is_mine else ""
        only = f"{self.listed} " if self.listed else ""
        return f"{self.page + by} {mine}{only}{self.channel or ''}"


@dataclass(frozen=True, slots=True)
class ListedJob:
    """A row of a list."""

    step: NextStep
    job: TrackedJob
    permalink: str | None = None
    """The address of its thread, if known."""


def job_list(rows: Sequence[ListedJob], listing: JobListing) -> Message:
    """Return a page of a list of jobs."""
    if not rows and not listing.listed and not listing.page:
        return b.words(f"No {_format_kind(listing)}. Start one: {b.code(f'/docs-agent {EXAMPLE}')}")
    if not rows:
        more = "more " if listing.page else ""
        return b.words(f"No {more}{_format_kind(listing)}.")
    lines = _group_by_step(rows, listing)
    buttons: list[Block] = []
    if listing.page:
        kind = _format_kind(listing)
        lines.insert(0, f"{kind[:1].upper()}{kind[1:]}, page {listing.page + 1}:")
        buttons.append(b.button("Previous", b.Action.JOBS_NEWER, listing.turned(-1)))
    if listing.has_more:
        buttons.append(b.button("Next", b.Action.JOBS_OLDER, listing.turned(1)))
    if not listing.is_complete:
        lines.append(_MORE_CHANNELS)
    return b.message(*b.text_blocks("\n".join(lines)), *b.actions(buttons))


_STEPS = {
    NextStep.NEEDS_YOU: ("needs you", "need you"),
    NextStep.NEEDS_REQUESTER: ("needs its requester", "need their requesters"),
    NextStep.TO_REVIEW: ("to review", "to review"),
    NextStep.WORKING: ("working", "working"),
}


def _group_by_step(rows: Sequence[ListedJob], listing: JobListing) -> list[str]:
    """Return the rows under the number of all jobs with the same next step."""
    lines: list[str] = []
    for step in NextStep:
        in_step = [_format_row(row, listing) for row in rows if row.step is step]
        if in_step:
            lines += [f"*{_format_heading(step, listing)}*", *in_step]
    return lines


def _format_heading(step: NextStep, listing: JobListing) -> str:
    if step is NextStep.DONE:
        return "Done"
    return _format_step_count(step, listing.counts.get(step, 0), is_complete=listing.is_complete)


def _format_step_count(step: NextStep, count: int, *, is_complete: bool = True) -> str:
    """Return a number with its step: "2 need you", "At least 10 to review"."""
    at_least = "" if is_complete else "At least "
    return f"{at_least}{counted(count, *_STEPS[step])}"


_FIX_EXAMPLE = "Fix the typo on the webhooks page"
_NUMBERS_EXAMPLE = "visitors last week"


def greeting(bot_name: str, *, is_direct: bool, can_answer: bool) -> Message:
    """Return the short welcome with three examples.

    Args:
        bot_name: The name after which people mention the bot.
        is_direct: It is shown in direct messages, where nobody has to be mentioned.
        can_answer: The bot answers questions.
    """
    before = "" if is_direct else f"@{bot_name} "
    opening = "Hi! Tell me what to write or fix in the docs:"
    examples = [EXAMPLE, _FIX_EXAMPLE, _NUMBERS_EXAMPLE]
    if can_answer:
        opening = "Hi! Ask me about the docs, or tell me what to change:"
        examples = [QUESTION_EXAMPLE, EXAMPLE, _NUMBERS_EXAMPLE]
    lines = [opening, *(f"• {b.code(f'{before}{example}')}" for example in examples)]
    ask = b.button("Ask for a change", b.Action.HELLO_ASK, "1")
    return b.message(b.section("\n".join(lines)), *b.actions([ask, *WAYS_ON]))


@dataclass(frozen=True, slots=True)
class ToDo:
    """The numbers of jobs that wait for somebody."""

    needs_you: int
    """Their own jobs that wait for their decision."""
    to_review: int
    """Open pull requests of the channels that they are known to read."""
    is_complete: bool = True
    """Whether Slack has answered for every channel, so that no job is missing."""


def welcome_message(to_do: ToDo, greeted: Message, note: str = "") -> Message:
    """Return the welcome with the numbers of jobs as buttons, before its last buttons.

    ``note``: a line that comes first, in mrkdwn; "" for none.
    """
    buttons = []
    if to_do.needs_you:
        label = _format_step_count(NextStep.NEEDS_YOU, to_do.needs_you)
        needing = JobListing(is_mine=True, listed=Listed.NEEDS_YOU)
        buttons.append(b.button(label, b.Action.SEE_NEEDS_YOU, needing.turned(0)))
    if to_do.to_review:
        label = _format_step_count(
            NextStep.TO_REVIEW, to_do.to_review, is_complete=to_do.is_complete
        )
        reviewing = JobListing(listed=Listed.REVIEW)
        buttons.append(b.button(label, b.Action.SEE_REVIEWS, reviewing.turned(0)))
    *first, ways_on = greeted.blocks
    return b.message(*b.text_blocks(note), *first, *b.actions(buttons), ways_on)


def _format_row(row: ListedJob, listing: JobListing) -> str:
    """Return a job in a line, which begins with its title as a link to the pull request or the
    thread."""
    job = row.job
    permalink = row.permalink
    url = _find_listed_url(job)
    pull = job.pull_request
    sign, _, state = format_state(job).partition(" ")
    title = one_line(pull.title if pull else job.text, _MAX_LISTED_TITLE_CHARACTERS)
    parts = [f"{sign} {b.link(url or permalink, title)}"]
    if not job.awaits_review:
        parts.append(state.replace("*", ""))
    if pull and job.state is JobState.PULL_REQUEST:
        parts.append(format_changed_lines(pull.size))
    if job.project_label:
        parts.append(b.label(job.project_label))
    parts.append(b.mention(job.requester))
    parts.append(b.moment(job.ended_at or job.asked_at, "{ago}"))
    if not listing.is_here or not listing.channel:
        parts.append(b.channel(job.channel))
    parts.append(b.link(permalink if url else None, name(job.number)))
    return " · ".join(parts)


def _find_listed_url(job: TrackedJob) -> str | None:
    """Return the address of a job's pull request; None if it has none, or a very long one."""
    url = b.web_address(job.pr_link) if job.state is JobState.PULL_REQUEST else None
    return url if url and len(url) < _MAX_LISTED_URL_CHARACTERS else None


_MORE_CHANNELS = (
    "I couldn't ask Slack about all channels: `/docs-agent jobs review #channel` lists one's."
)


FEWER_WORDS = b.words(":no_entry: Search for a few words: 150 characters at most.")
"""The answer to a search for a long text."""


@dataclass(frozen=True, slots=True)
class FoundJobs:
    """The result of a search for jobs."""

    text: str
    """The words that people searched for."""
    count: int
    """The number of jobs with them."""
    searched: int
    """The number of jobs that were searched."""
    has_older: bool = False
    """Whether there are older jobs, which were not searched."""
    is_complete: bool = True
    """Whether Slack has answered for every channel, so that no job is missing."""
    page: int = 0
    """Counts from 0."""
    has_more: bool = False

    def turned(self, by: int) -> str:
        """Return the value of a button that leads to another page."""
        return f"{self.page + by} find {visible(self.text)[:MAX_SEARCH_CHARACTERS]}"


def found_jobs(rows: Sequence[ListedJob], found: FoundJobs) -> Message:
    """Return a page of the jobs with some words, and where they were looked for."""
    words = f"“{b.quoted(found.text, MAX_SEARCH_CHARACTERS)}”"
    jobs = counted(found.count, "job", "jobs") if found.count else "No job"
    newest = "newest " if found.has_older else ""
    searched = counted(found.searched, "job", "jobs")
    lines = [f"*{jobs} with {words}*, among the {newest}{searched} that you can read"]
    lines += [_format_row(row, JobListing(is_here=False)) for row in rows]
    if not found.is_complete:
        lines.append(_FEWER_CHANNELS)
    buttons: list[Block] = []
    if found.page:
        buttons.append(b.button("Previous", b.Action.JOBS_NEWER, found.turned(-1)))
    if found.has_more:
        buttons.append(b.button("Next", b.Action.JOBS_OLDER, found.turned(1)))
    return b.message(*b.text_blocks("\n".join(lines)), *b.actions(buttons))


_FEWER_CHANNELS = (
    "I couldn't ask Slack about all channels. Searching in a channel always includes its own jobs."
)
_KINDS = {
    None: "jobs",
    Listed.OPEN: "open jobs",
    Listed.REVIEW: "jobs to review",
    Listed.NEEDS_YOU: "jobs that need you",
}


def _format_kind(listing: JobListing) -> str:
    kind = _KINDS[listing.listed]
    if listing.is_mine and listing.listed is not Listed.NEEDS_YOU:
        kind += " of yours"
    if listing.is_here:
        return f"{kind} here"
    return f"{kind} in <#{listing.channel}>" if listing.channel else kind


NO_SUCH_CHANNEL = b.words(
    ":no_entry: I don't know that channel, or you can't read it. "
    "Choose it from Slack's suggestions after `#`, or ask for the list in that channel."
)
"""The answer to a list of the jobs of a channel that is unknown or that the person cannot read."""


def _format_line(job: TrackedJob, permalink: str | None = None) -> str:
    url = _find_listed_url(job)
    link = f" · {b.link(url, format_link_label(url))}" if url else ""
    return (
        f"{b.link(permalink, name(job.number))} {format_state(job)}{link} · "
        f"{b.quoted(job.text, 80)} · "
        f"{format_facts(job, '{date_short_pretty} at {time}')}"
    )


def job_status(
    job: TrackedJob, permalink: str | None = None, waiting: Sequence[Wait] = ()
) -> Message:
    """Return the status of one job as of the last poll, with a link to its thread and its buttons.

    ``waiting``: the job's pending work.
    """
    details = [_format_line(job), *wait_lines(waiting), *_format_details(job)]
    if job.pr_link and b.web_address(job.pr_link) is None:
        details.append(
            f"Its pull request, at an address I can't link to: {b.code(job.pr_link, 300)}"
        )
    if job.problem and job.state is not JobState.WITHDRAWN:
        details.append(f"Problem: {b.quoted(problem_title(job.problem), 200)}")
    if job.state.takes_follow_ups:
        which = "all but thanks and talk among yourselves"
        if job.needs_mention:
            which = "those that mention me"
        details.append(
            f"I send the agent replies: {which}. They get :eyes:; "
            "edit or delete one within 8 seconds to take it back"
        )
    if b.web_address(permalink):
        details.append(b.link(permalink, "Go to its thread"))
    return b.message(*b.text_blocks("\n".join(details)), *b.actions(build_rare_buttons(job)))


def _format_code(text: str) -> str:
    return f"{b.code(text, 200)}"


_DETAILS = ("Repository", "Last prompt", "Model", "At the docs service", "The service's id")
"""The names of a status's details, in their order."""


def _format_details(job: TrackedJob) -> list[str]:
    """Return the docs service's details of a job, a line for each subject."""
    facts_of: dict[str, list[str]] = {name: [] for name in _DETAILS}
    if job.repository:
        facts_of["Repository"].append(_format_code(job.repository))
    if job.ref:
        facts_of["Repository"].append(f"branch {_format_code(job.ref)}")
    if job.time_taken is not None:
        facts_of["Last prompt"] = [format_duration(job.time_taken), f"version {job.result_number}"]
    if job.model:
        facts_of["Model"].append(_format_code(job.model))
    if job.service_created_at:
        facts_of["At the docs service"].append(f"created {b.moment(job.service_created_at)}")
    if job.service_archived_at:
        facts_of["At the docs service"].append(f"archived {b.moment(job.service_archived_at)}")
    if job.service_id:
        facts_of["The service's id"].append(_format_code(job.service_id))
    rows = [f"{name}: {', '.join(parts)}" for name, parts in facts_of.items() if parts]
    if job.poll_failing_since:
        rows.append(
            ":warning: The docs service's answers about it have failed "
            f"since {b.moment(job.poll_failing_since)}."
        )
    if job.not_found_since:
        rows.append(
            f":warning: The docs service hasn't known it since {b.moment(job.not_found_since)}."
        )
    return rows


def forgotten(job: TrackedJob) -> Message:
    """Return the answer about a job whose texts were deleted."""
    return b.words(
        f":no_entry: {name(job.number)} is over, and I no longer have its prompt and its result. "
        "Nothing was sent. Ask me in the channel for a new one."
    )


_REASONS_FOR_AUTHORS = (WaitReason.HELD, WaitReason.PERSON)
"""Reasons whose words tell a prompt's author, or the people of its thread, what they can do."""


def unreadable_job(
    job: TrackedJob,
    waiting: Sequence[Wait],
    *,
    can_withdraw: bool,
    unconfirmed: Prompt | None = None,
    is_unsent: bool = False,
) -> Message:
    """Return the answer to an admin about a job that they may not read, without a word of it.

    Args:
        job: The job.
        waiting: Its pending work.
        can_withdraw: A prompt of it is not sent yet.
        unconfirmed: Its prompt about which a person decides, if there is one.
        is_unsent: The admin wanted to send the job a follow-up.
    """
    sign, _, state = format_state(job).partition(" ")
    facts = [f"{sign} {name(job.number)} · {state}", b.mention(job.requester)]
    facts.append(b.moment(job.ended_at or job.asked_at))
    lines = [" · ".join(facts)]
    lines += wait_lines([wait for wait in waiting if wait.reason not in _REASONS_FOR_AUTHORS])
    if unconfirmed is not None and unconfirmed.kind is not PromptKind.START:
        lines.append("The agent may or may not have a follow-up to it.")
    refusal = "Slack doesn't tell me that you can read its channel, so I show no words of it."
    lines.append(f"{refusal} Nothing was sent." if is_unsent else refusal)
    number = str(job.number)
    buttons = []
    if can_withdraw:
        buttons.append(b.button("Withdraw", b.Action.WITHDRAW, number))
    if unconfirmed is not None:
        if unconfirmed.raw:
            buttons.append(b.button("Send again", b.Action.SEND_AGAIN, str(unconfirmed.id)))
        buttons.append(b.button("Dismiss", b.Action.DISMISS, str(unconfirmed.id)))
    if job.state is JobState.WORKING:
        buttons.append(b.button("Keep quiet about it", b.Action.KEEP_QUIET, number))
    return b.with_buttons("\n".join(lines), buttons)


def no_such_job(named: str) -> Message:
    """Return the answer to a reference that matches no job."""
    number = named.removeprefix("#")
    job = f"job “{b.quoted(named, 80)}”"
    if re.fullmatch("[0-9]{1,9}", number):
        job = f"Job {number}"
    return b.words(f":no_entry: There's no {job} that you can see. `jobs` lists this channel's.")


def no_job_yet(command: str) -> Message:
    """Return the answer to a follow-up without a job to follow up on.

    ``command`` is the command typed.
    """
    return b.words(
        ":no_entry: You have no job in this channel to follow up on, so nothing was sent. "
        f"Start one with `/docs-agent`, or name one: {b.code(f'{command} 42 what to change')}."
    )


def follow_up_taken(job: TrackedJob, *, guessed: bool) -> Message:
    """Return the confirmation of a follow-up.

    ``guessed``: the user named no job, so their latest one was chosen.
    """
    which = "your latest job here, " if guessed else ""
    return b.words(
        f"Sent to {which}{name(job.number)} (“{b.quoted(job.text, 80)}”). "
        "I'll report in its thread."
    )


_REASON_BY_STATE = {
    JobState.ARCHIVED: "has been archived at the docs service",
    JobState.REFUSED: "was never started",
    JobState.WITHDRAWN: "was withdrawn",
    JobState.UNCONFIRMED: (
        "may or may not have started (choose *Send again* or *Dismiss* in its thread)"
    ),
}


_FINAL_STATES = frozenset({JobState.ARCHIVED, JobState.REFUSED, JobState.WITHDRAWN})
"""States of jobs whose requests a new job takes along."""


def cannot_follow_up(job: TrackedJob, draft: UnsentText | None = None) -> Message:
    """Return the reason that this job takes no follow-up.

    ``draft``: the follow-up, for a button that starts a new job with it; None if there is none.
    """
    if job.is_forgotten:
        return forgotten(job)
    reason = _REASON_BY_STATE.get(job.state, "can't take a follow-up now")
    text = f":no_entry: {name(job.number)} {reason}, so nothing was sent."
    if draft is not None and job.state in _FINAL_STATES:
        whole = replace(draft, raw=f"{from_plain(job.text)}\n\n{draft.raw}")
        if len(whole.raw) <= UnsentText.LONGEST:
            start = b.button("Start a new job", b.Action.SEND_ANYWAY, whole.dumps())
            return b.with_buttons(f"{text} A new job can do both: its request and this.", [start])
    return b.words(f"{text} Ask me in the channel for a new one.")


CHANNEL_NOT_READ = b.words(
    ":no_entry: Slack doesn't tell me that you can read that channel, so I did nothing."
)
"""The answer to a button in a direct message about a channel that its reader has left."""
DECIDED_BEFORE = b.words(
    "That's been decided already, so I did nothing. The thread shows what was chosen."
)
"""The answer to a button whose decision has already been made."""
NO_WORDS_LEFT = b.words("Those words are gone, so there is nothing to send again. Press *Dismiss*.")
"""The answer to *Send again* for an unconfirmed prompt whose messages were deleted."""


def not_reviewable(job: TrackedJob) -> Message:
    """Return the answer to an outdated review button of a job that has gone on."""
    return b.words(
        f"{name(job.number)} has gone on since, so I did nothing. Its first message shows how."
    )


def started_before(number: JobNumber) -> Message:
    """Return the answer to a second press of a button that has started the job ``number``."""
    return b.words(f"That's been started already, as {name(number)}. I started nothing new.")


def same_job(job: JobNumber) -> Message:
    """Return the answer to a request repeated within a minute, with a button to start it anyway."""
    text = (
        f"You asked for exactly this less than a minute ago: it's {name(job)}. "
        "I started nothing new. Do you want it twice?"
    )
    return b.with_buttons(text, [b.button("Start it once more", b.Action.ASK_ANYWAY, str(job))])


def same_follow_up(job: JobNumber, prompt: int) -> Message:
    """Return the answer to a follow-up repeated within a minute.

    A button sends it anyway.
    """
    text = (
        f"That's exactly what you sent to {name(job)} less than a minute ago, "
        "so I haven't sent it again."
    )
    return b.with_buttons(
        text, [b.button("Send it once more", b.Action.FOLLOW_UP_ANYWAY, str(prompt))]
    )


def edited_too_late(job: TrackedJob) -> Message:
    """Return the answer to an edit of a message that the agent already has."""
    return b.words(
        f"You edited a message that the agent already has, for {name(job.number)}. "
        "It works with the text as it was. A follow-up can tell it what is new."
    )


def nothing_to_send(files: Sequence[str]) -> Message:
    """Return the answer to a message of files without text. ``files``: their names."""
    return b.words(
        ":no_entry: There are no words in that, so nothing was sent, "
        f"not even {file_names(files)}. "
        "Tell me in words what to change. Text files up to 20 kB in the same message go along."
    )


def too_many_waiting(limit: int, prompt_text: str) -> Message:
    """Return the answer to a prompt that is not stored, because ``limit`` prompts already wait.

    The prompt is quoted, so that the person can copy it and send it later.
    """
    waiting = counted(limit, "prompt of yours waits", "prompts of yours wait")
    text = (
        f":no_entry: {waiting} already, so I haven't taken this one. "
        "Send it again when one of them has started."
    )
    return b.with_prompt(b.words(text), prompt_text)


def key_notice(
    project: ProjectId,
    *,
    forbidden: bool,
    docs: Project | None = None,
    entry: Project | None = None,
) -> Message:
    """Return the notice to admins of a refused key, with the next steps.

    ``forbidden``: the service answered 403 instead of 401. ``docs`` and ``entry``: see
    ``Projects``.
    """
    named = named_docs(project, docs)
    result = "is good"
    cause = (
        f"The docs service doesn't accept the key for {named} any more (401): "
        "it is unknown or has expired."
    )
    if forbidden:
        result = "may read (only a prompt shows whether it may write)"
        cause = (
            f"The docs service knows the key for {named} but doesn't let it do this (403): "
            "it lacks a right, or the bot's address isn't allowed."
        )
    return b.words(
        f":warning: {cause} I've stopped calling it. What people ask waits, and nothing is lost. "
        "Check the key on the API keys page of the project's dashboard, "
        f"put a new one into {key_setting(entry)}, and restart the bot. "
        f"`docs-bot doctor` says whether it {result}. I'll also try again by myself."
    )


def key_may_expire(
    project: ProjectId,
    days: int,
    *,
    is_assistants: bool,
    docs: Project | None = None,
    entry: Project | None = None,
) -> Message:
    """Return the notice to admins of a key that has been in use for long.

    ``docs`` and ``entry``: see ``Projects``.
    """
    whose = "The assistant's key" if is_assistants else "The key of the docs service"
    setting = _format_assistants_setting(entry) if is_assistants else key_setting(entry)
    return b.words(
        f":warning: {whose} for {named_docs(project, docs)} has been in use here for {days} days. "
        "Keys expire after 90 days by default, and the service doesn't tell me their age. "
        f"If yours expires: make a new one on the API keys page, put it into {setting}, "
        "and restart the bot."
    )


def _format_assistants_setting(entry: Project | None) -> str:
    if entry is None:
        return "`ASSISTANT_KEY`"
    return f"`assistant_key` in the entry {b.code(entry.name)} of `DOCS_PROJECTS`"


def assistants_key_refused(
    project: ProjectId, docs: Project | None = None, entry: Project | None = None
) -> Message:
    """Return the notice to admins that the service refuses the assistant's key.

    ``docs`` and ``entry``: see ``Projects``.
    """
    return b.words(
        f":warning: The docs service refuses the assistant's key for {named_docs(project, docs)}: it is "
        "unknown, has expired, or may not be used from here. Meanwhile I answer no questions; "
        "jobs go on. Make a new assistant key on the API keys page, put it into "
        f"{_format_assistants_setting(entry)}, and restart the bot."
    )


def assistants_key_accepted(project: ProjectId, docs: Project | None = None) -> Message:
    """Return the notice to admins that the service accepts the assistant's key again."""
    return b.words(
        ":white_check_mark: The docs service accepts the assistant's key for "
        f"{named_docs(project, docs)} again. Questions are answered."
    )


def named_docs(project: ProjectId, docs: Project | None) -> str:
    """Return a project as its notices to admins name it."""
    code = b.code(project, 80)
    return f"*{b.label(docs.label)}* ({code})" if docs else code


ONLY_ADMINS = b.words(":no_entry: Only an admin of this bot can choose that.")
"""The refusal of a choice that is reserved for admins."""


def key_accepted(project: ProjectId, docs: Project | None = None) -> Message:
    """Return the notice to admins that the service accepts the key again."""
    return b.words(
        f":white_check_mark: The docs service accepts the key for {named_docs(project, docs)} again. "
        "What waited goes out now."
    )


@dataclass(frozen=True, slots=True)
class Limits:
    """The use of both hourly limits of a project."""

    used: int
    """Jobs and follow-ups of the last hour."""
    limit: int
    """The most jobs and follow-ups of an hour."""
    frees_at: datetime | None
    """When the next use becomes free; None without uses."""
    waiting: int
    """The number of queued prompts."""
    mine: int
    """The reader's own uses in the last hour."""
    analytics: Budget
    """The calls about visitors."""
    key_is_refused: bool = False
    failing_since: datetime | None = None
    """Since when the docs service has given no usable answer; None while it does."""
    project: Project | None = None


def limits(projects: Sequence[Limits], off_since: datetime | None = None) -> Message:
    """Return the uses left of both hourly limits, for each project.

    ``off_since``: since when sending to the agent is switched off; None while it is on.
    """
    lines = [off_note(off_since)] if off_since else []
    return b.words("\n".join([*lines, *map(_format_uses_left, projects)]))


_KEY_REFUSED = ":warning: The docs service refuses my key, so everything waits until that's fixed."
_SERVICE_FAILING = (
    ":warning: The docs service hasn't answered since {}, so everything waits. I keep asking."
)


def _format_uses_left(of: Limits) -> str:
    heading = f"*{b.label(of.project.label)}*: " if of.project else ""
    return (
        f"{_format_trouble(of)}{heading}{_format_jobs_left(of)} {_format_reads_left(of.analytics)}"
    )


def _format_trouble(of: Limits) -> str:
    if of.key_is_refused:
        return f"{_KEY_REFUSED}\n"
    if of.failing_since:
        since = b.moment(of.failing_since, "{time}")
        return f"{_SERVICE_FAILING.format(since)}\n"
    return ""


def _format_jobs_left(of: Limits) -> str:
    free = max(0, of.limit - of.used)
    text = f"*{number(free)} of {number(of.limit)} jobs and follow-ups left this hour*"
    if of.mine:
        text += f" (you used {number(of.mine)})"
    if of.frees_at and not free:
        text += f"; the next frees at {b.moment(of.frees_at, '{time}')}"
    text += "."
    if of.waiting:
        text += f" {counted(of.waiting, 'prompt waits', 'prompts wait')}; people take turns."
    return text


def _format_reads_left(analytics: Budget) -> str:
    reads = max(0, analytics.limit - analytics.used)
    text = f"Visitors: {number(reads)} of {number(analytics.limit)} reads left"
    if analytics.free_at:
        text += f"; the next at {b.moment(analytics.free_at, '{time}')}"
    return f"{text}."


def not_yours(job: JobNumber, requester: UserId) -> Message:
    """Return the answer to a user who pressed a button reserved for the requester and admins."""
    return b.words(
        f":no_entry: Only {b.mention(requester)} or an admin of this bot "
        f"can decide that about {name(job)}."
    )
