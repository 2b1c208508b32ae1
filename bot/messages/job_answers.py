"""Private answers about jobs and limits: lists, the status of a job, and why something was not done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from bot.messages import blocks as b
from bot.messages.face import file_names, name, open_words, state_words, wait_lines
from bot.messages.numbers import counted, number
from bot.messages.plain_text import one_line, visible
from bot.messages.problems import BETWEEN_PEOPLE, Problem, key_setting, title
from bot.model.ids import ChannelId, JobNumber, Message, ProjectId, Refusal
from bot.model.jobs import JobState, TrackedJob
from bot.model.projects import Project
from bot.model.visitors import Budget
from bot.model.waits import Wait

EMPTY_FORM = "Tell me what to change. An empty prompt isn't sent."
NO_CHANNEL_CHOSEN = "Choose the channel where I should report."
FORM_WITHOUT_JOB = "I couldn't tell which job this is for. Close this and try again."
SAME_ANEW = "You asked exactly this less than a minute ago. Change it, or send it again in a minute."
_LISTED_URL_LENGTH = 300
_COPIED_LENGTH = 10_000


def cannot_post(meaning: Refusal, bot_name: str, prompt: str = "") -> Message:
    """Return the answer to a request whose thread could not be opened, so nothing was started."""
    match meaning:
        case Refusal.BETWEEN_PEOPLE:
            way = BETWEEN_PEOPLE
        case Refusal.NOT_A_MEMBER | Refusal.NOT_VISIBLE:
            way = (
                "I'm not in this channel, so I couldn't report here. "
                f"Type `/invite @{b.quoted(bot_name, 80)}` in the channel, then ask again."
            )
        case Refusal.ARCHIVED:
            way = "The channel is archived. Ask again in another one."
        case Refusal.RESTRICTED:
            way = "I'm not allowed to post in this channel. Ask again in another one, or ask an admin."
        case Refusal.TOKEN | Refusal.SCOPE:
            way = "Slack doesn't accept the bot's token any more. Ask whoever runs this bot to renew it."
        case Refusal.BLOCKS | Refusal.PASSING | Refusal.PERMANENT:
            way = "Slack didn't let me post in this channel. Try another one, or ask whoever runs this bot."
    return with_prompt(b.words(f":no_entry: Nothing was started. {way}"), prompt)


def with_prompt(refusal: Message, prompt: str) -> Message:
    """Return a refusal with the prompt under it to copy, or its beginning if it is too long for a message.

    The refusal stays alone without a prompt, or where people still see what they wrote.
    """
    whole = visible(prompt).strip()
    if not whole:
        return refusal
    shown = next(iter(b.split(whole, _COPIED_LENGTH)), "")
    headline = f"{refusal.text} What you wrote{'' if shown == whole else ' (its beginning)'}, to copy:"
    return b.message(b.section(headline), b.quote(shown))


def undelivered(job: TrackedJob, problem: Problem) -> Message:
    """Return the job's state for its requester alone, after a post in its thread failed for good."""
    url = b.web_address(job.pr_link)
    result = f" {b.link(url, open_words(url))}." if url else ""
    return b.words(
        f":warning: {problem.what} So I'm telling you here: {name(job.number)} "
        f"(“{b.quoted(job.text, 80)}”) is now {state_words(job)}.{result} {problem.next_step}"
    )


@dataclass(frozen=True, slots=True)
class JobListing:
    """Which jobs are listed. ``channel`` is None for those of all channels. ``page`` counts from 0."""

    channel: ChannelId | None = None
    mine: bool = False
    is_open: bool = False
    page: int = 0
    is_here: bool = True
    has_more: bool = False

    def turned(self, by: int) -> str:
        """Return the value of a button that leads to another page."""
        kinds = f"{'mine ' if self.mine else ''}{'open ' if self.is_open else ''}"
        return f"{self.page + by} {kinds}{self.channel or ''}"


def job_list(jobs: Sequence[tuple[TrackedJob, str | None]], listing: JobListing | None = None) -> Message:
    """Return a page of a list of jobs. Each is given with the permalink of its thread, if known."""
    listing = listing or JobListing()
    if not jobs and listing.is_here and not (listing.mine or listing.is_open or listing.page):
        return b.words("No jobs here yet. Start one: `/docs-agent Add a quickstart for the Python SDK`")
    lines = [_line(job, permalink) for job, permalink in jobs]
    heading = _heading(listing, len(jobs))
    back = [b.button("Previous", "jobs_newer", listing.turned(-1))] if listing.page else []
    onward = [b.button("Next", "jobs_older", listing.turned(1))] if listing.has_more else []
    row = b.actions([*back, *onward])
    return b.message(b.section(f"*{heading}*"), *map(b.section, lines), *row)


def _heading(listing: JobListing, count: int) -> str:
    kind, whose = "open job" if listing.is_open else "job", " of yours" if listing.mine else ""
    where = " here" if listing.is_here else f" in <#{listing.channel}>" if listing.channel else ""
    if not count:
        return f"No {'more ' if listing.page else ''}{kind}s{whose}{where}."
    if listing.page or listing.has_more:
        return f"{kind.capitalize()}s{whose}{where}, page {listing.page + 1}:"
    return f"The last {count} {kind}s{whose}{where}:" if count > 1 else f"The only {kind}{whose}{where}:"


def no_such_channel() -> Message:
    """Return the answer to a list of the jobs of a channel that is unknown or that the person cannot read."""
    return b.words(
        ":no_entry: I don't know that channel, or you can't read it. "
        "Choose it from Slack's suggestions after `#`, or ask for the list in that channel."
    )


def _line(job: TrackedJob, permalink: str | None = None) -> str:
    url = b.web_address(job.pr_link) if job.state is JobState.PULL_REQUEST else None
    shown = f" · {b.link(url, open_words(url))}" if url and len(url) < _LISTED_URL_LENGTH else ""
    project = f"{b.label(job.project_label)} · " if job.project_label else ""
    return (
        f"{b.link(permalink, name(job.number))} {state_words(job)} · {b.quoted(job.text, 80)} · "
        f"{project}{b.mention(job.requester)} · {b.moment(job.asked_at)}{shown}"
    )


def job_status(job: TrackedJob, permalink: str | None = None, waiting: Sequence[Wait] = ()) -> Message:
    """Return the status of one job, as the last poll found it, with a link to its thread.

    ``waiting``: what waits of the job.
    """
    details = [_line(job), *wait_lines(waiting), *_details(job)]
    if job.pr_link and b.web_address(job.pr_link) is None:
        details.append(f"Its pull request, at an address I can't link to: `{b.quoted(job.pr_link, 300)}`")
    if job.problem:
        details.append(f"Problem: {b.quoted(title(job.problem), 200)}")
    if b.web_address(permalink):
        details.append(b.link(permalink, "Go to its thread"))
    return b.words("\n".join(details))


def _code(text: str) -> str:
    return f"`{b.quoted(text, 200)}`"


def _details(job: TrackedJob) -> list[str]:
    """Return what the docs service has told about a job, a line for each subject."""
    where = [_code(job.repository)] if job.repository else []
    branch = [f"branch {_code(job.ref)}"] if job.ref else []
    times = [f"created {b.moment(job.created_at)}"] if job.created_at else []
    archived = [f"archived {b.moment(job.archived_at)}"] if job.archived_at else []
    lines = {
        "Repository": [*where, *branch],
        "Model": [_code(job.model)] if job.model else [],
        "At the docs service": [*times, *archived],
        "The service's id": [_code(job.service_id)] if job.service_id else [],
    }
    said = [f"{name}: {', '.join(parts)}" for name, parts in lines.items() if parts]
    if job.unread_since:
        said.append(
            f":warning: The docs service's answers about it have failed since {b.moment(job.unread_since)}."
        )
    if job.missing_since:
        said.append(f":warning: The docs service hasn't known it since {b.moment(job.missing_since)}.")
    return said


def forgotten(job: TrackedJob) -> Message:
    """Return the answer about a job whose texts are not kept any more."""
    return b.words(
        f":no_entry: {name(job.number)} is over, and I no longer have its prompt and its result. "
        "Nothing was sent. Start a new job with `/docs-agent`."
    )


def no_such_job(named: str) -> Message:
    """Return the answer to a reference that matches no job."""
    return b.words(
        f":no_entry: I don't know the job “{b.quoted(named, 80)}”, so nothing was sent. "
        "`/docs-agent jobs` lists this channel's jobs. "
        "Name one by its number (`42`), the service's id, or a link to its thread."
    )


def no_job_yet(command: str) -> Message:
    """Return the answer to a follow-up without a job to follow up on. ``command`` is the command typed."""
    return b.words(
        ":no_entry: You have no job in this channel to follow up on, so nothing was sent. "
        f"Start one with `/docs-agent`, or name one: `{b.quoted(command, 80)} 42 what to change`."
    )


def follow_up_taken(job: TrackedJob, *, guessed: bool) -> Message:
    """Return the confirmation of a follow-up.

    ``guessed``: the user named no job, so their latest one was chosen.
    """
    which = "your latest job here, " if guessed else ""
    return b.words(
        f"Sent to {which}{name(job.number)} (“{b.quoted(job.text, 80)}”). I'll report in its thread."
    )


def cannot_follow_up(job: TrackedJob) -> Message:
    """Return why this job takes no follow-up."""
    if job.is_forgotten:
        return forgotten(job)
    why = {
        JobState.ARCHIVED: "has been archived at the docs service",
        JobState.REFUSED: "was never started",
        JobState.WITHDRAWN: "was withdrawn",
        JobState.UNCONFIRMED: "may or may not have started (choose *Send again* or *Dismiss* in its thread)",
    }.get(job.state, "can't take a follow-up now")
    return b.words(
        f":no_entry: {name(job.number)} {why}, so nothing was sent. Start a new job with `/docs-agent`."
    )


def too_late() -> Message:
    """Return the answer to a button whose decision has already been made."""
    return b.words("That's been decided already, so I did nothing. The thread shows what was chosen.")


def run_again_before(number: JobNumber) -> Message:
    """Return the answer to a second press of *Run again*; the first one started job ``number``."""
    return b.words(f"That's been run again already, as {name(number)}. I started nothing new.")


def same_job(job: JobNumber) -> Message:
    """Return the answer to a request repeated within a minute, with a button to start it anyway."""
    said = (
        f"You asked for exactly this less than a minute ago: it's {name(job)}. "
        "I started nothing new. Do you want it twice?"
    )
    return b.with_buttons(said, [b.button("Start it once more", "ask_anyway", str(job))])


def same_follow_up(job: JobNumber, prompt: int) -> Message:
    """Return the answer to a follow-up repeated within a minute, with a button to send it anyway."""
    said = f"That's exactly what you sent to {name(job)} less than a minute ago, so I haven't sent it again."
    return b.with_buttons(said, [b.button("Send it once more", "follow_up_anyway", str(prompt))])


def edited_too_late(job: TrackedJob) -> Message:
    """Return the word to the author of a message that was edited after it went to the agent."""
    return b.words(
        f"You edited a message that the agent already has, for {name(job.number)}. "
        "It works with the text as it was. A follow-up can tell it what is new."
    )


def nothing_to_send(files: Sequence[str]) -> Message:
    """Return the answer to a message without text. ``files`` are the names of the files in it."""
    if not files:
        return b.words(":no_entry: There are no words in that, so nothing was sent.")
    return b.words(
        f":no_entry: There are no words in that, so nothing was sent, not even {file_names(files)}. "
        "Tell me in words what to change. Text files up to 20 kB in the same message go along."
    )


def greeting(bot_name: str) -> Message:
    """Return the answer to a mention of the bot without text."""
    return b.words(
        "Tell me what to change in the docs, and I'll open a pull request. "
        f"Mention me: `@{b.quoted(bot_name, 80)} Add a quickstart for the Python SDK`, "
        "or type `/docs-agent Add a quickstart for the Python SDK`. `/docs-agent help` shows the rest."
    )


def too_many_waiting(limit: int, prompt_text: str) -> Message:
    """Return the answer to a prompt that is not taken, because so many of the person's prompts wait.

    The prompt is quoted, so that the person can copy it and send it later.
    """
    waiting = counted(limit, "prompt of yours waits", "prompts of yours wait")
    said = (
        f":no_entry: {waiting} already, so I haven't taken this one. "
        "Send it again when one of them has started."
    )
    return with_prompt(b.words(said), prompt_text)


def key_refused(
    project: ProjectId, *, forbidden: bool, shown: Project | None = None, entry: Project | None = None
) -> Message:
    """Return the notice to admins that the service refuses the key, with what to do.

    ``forbidden``: the service answered 403 instead of 401. ``shown`` and ``entry``: see ``Projects``.
    """
    named = _named(project, shown)
    said = "may read (only a prompt shows whether it may write)" if forbidden else "is good"
    what = (
        f"The docs service knows the key for {named} but doesn't let it do this (403): "
        "it lacks a right, or the bot's address isn't allowed."
        if forbidden
        else f"The docs service doesn't accept the key for {named} any more (401): "
        "it is unknown or has expired."
    )
    return b.words(
        f":warning: {what} I've stopped calling it. What people ask waits, and nothing is lost. "
        "Check the key on the API keys page of the project's dashboard, "
        f"put a new one into {key_setting(entry)}, and restart the bot. "
        f"`docs-bot doctor` says whether it {said}. I'll also try again by myself."
    )


def _named(project: ProjectId, shown: Project | None) -> str:
    said = b.code(one_line(project, 80))
    return f"*{b.label(shown.label)}* ({said})" if shown else said


def key_accepted(project: ProjectId, shown: Project | None = None) -> Message:
    """Return the notice to admins that the service accepts the key again."""
    return b.words(
        f":white_check_mark: The docs service accepts the key for {_named(project, shown)} again. "
        "What waited goes out now."
    )


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of both hourly limits of a project is used.

    ``used`` and ``limit`` are jobs and follow-ups, ``analytics`` the calls about visitors. ``waiting`` is the
    number of queued prompts; ``mine`` is the reader's own uses in the last hour.
    """

    used: int
    limit: int
    frees_at: datetime | None
    waiting: int
    mine: int
    analytics: Budget
    key_is_refused: bool = False
    shown: Project | None = None


def limits(projects: Sequence[Limits]) -> Message:
    """Return how much of both hourly limits is left, for each project."""
    cost = "A use is one new job or one follow-up; looking costs nothing."
    between = "\n\n" if len(projects) > 1 else "\n"
    return b.words(between.join([*map(_left, projects), cost]))


def _left(of: Limits) -> str:
    left = max(0, of.limit - of.used)
    frees = f", the next frees at {b.moment(of.frees_at, '{time}')}" if of.frees_at and of.used else ""
    queue = counted(of.waiting, "prompt waits", "prompts wait") if of.waiting else "Nothing waits"
    calls_left = max(0, of.analytics.limit - of.analytics.used)
    calls_at = of.analytics.free_at
    possible = f", the next is possible at {b.moment(calls_at, '{time}')}" if calls_at else ""
    key = ":warning: The docs service refuses the bot's key, so everything waits until that's fixed.\n"
    heading = f"*{b.label(of.shown.label)}*\n" if of.shown else ""
    return (
        f"{heading}{key if of.key_is_refused else ''}"
        f"*{number(left)} of {number(of.limit)} uses left*{frees}. "
        f"Of those spent in the last hour, {counted(of.mine, 'was yours', 'were yours')}.\n"
        f"{queue} for a use. People take turns: your second waits until everybody's first is out. "
        "One person can have half of an hour's uses while others ask, and four fifths otherwise.\n"
        f"Visitors: {number(calls_left)} of {number(of.analytics.limit)} analytics calls left{possible}."
    )


SEND_ANYWAY = "send_anyway"
"""The action id of the button that sends the words to the agent."""


class Reflex(StrEnum):
    """What words were taken for, as the answer says it."""

    STATUS = "a question about jobs"
    STOP = "a wish to stop something"
    PROJECT = "a question about projects"
    LIMITS = "a question about the hourly limit"
    VISITORS = "a question about visitors"
    HELP = "a question about what I can do"
    GREETING = "a greeting"
    COMMAND = "a command that I don't have"
    THANKS = "thanks"


_NEXT = {
    Reflex.STATUS: "`/docs-agent jobs` lists this channel's jobs, `/docs-agent status 42` shows one.",
    Reflex.STOP: (
        "Nothing was stopped either: a job that waits has *Withdraw* in its message, and one that the agent "
        "works on can't be stopped."
    ),
    Reflex.PROJECT: "`/docs-agent project` shows which docs this channel's prompts are for.",
    Reflex.LIMITS: "`/docs-agent limits` shows how much of the hour is left.",
    Reflex.VISITORS: "`/docs-visitors last week` shows who reads the docs.",
    Reflex.HELP: "`/docs-agent help` shows it.",
    Reflex.GREETING: "Tell me what to change: `/docs-agent Add a quickstart for the Python SDK`.",
    Reflex.COMMAND: "`/docs-agent help` lists those that I have.",
    Reflex.THANKS: "Nothing more is needed.",
}


def not_sent(reflex: Reflex, text: str, value: str) -> Message:
    """Return the answer to words that were not sent to the agent, with a button to send them anyway."""
    said = (
        f"I took “{b.quoted(text, 80)}” for {reflex.value}, so nothing was sent to the agent. {_NEXT[reflex]}"
    )
    return b.with_buttons(said, [b.button("Send it to the agent anyway", SEND_ANYWAY, value)])
